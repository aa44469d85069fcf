"""Rules for the host, its parts and the load generator: when each resource is at its limit, with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis.saturation.signals import Line, Sampled, Signal, ratio
from writepath.records.steps import Saturated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.records.measures import Generator

HOST, K6, PROXY = "host", "k6", "nginx"
HOST_CPU, GENERATOR = "host-cpu", "generator"
NOT_FULL = "the host CPU was not saturated"
WAIT = "database_wait."  # then the kind of wait, as PostgreSQL names it

BUSY = 0.90  # of a processor: seconds of 90 % hold moments of 100 %, and waiting grows as 1 / (1 - busy)
DISK_BUSY = 0.90  # of the time with a request under way: a flush comes after another one nearly always
STOPPED = 0.10  # of the time: a collector aims at half of that, so the heap is too small
MEMORY_STALL = 0.10  # of the time something waited for memory: the host reclaims instead of working
WAITING = 0.50  # of all connections: one more session would mostly wait, too
GENERATOR_CPU = 0.80  # of one core: k6's own rule; above it its timings are its own
GENERATOR_LATE_MS = 250.0  # 99th percentile behind its plan: as in a run's verdict
BLOCKED = 0.50  # of the time

ONE_CORE = (PROXY,)  # parts that can use one processor only: nginx has one worker
LARGEST = 3  # users named in the evidence
FOREIGN_CORES = 0.10  # of programs outside the run, from which they are named beside


def of_the_host(sampled: Sampled, cores: int) -> Iterator[Signal]:
    """Processors, disks and memory of the whole machine."""
    busy = ratio(sampled.rate_per_s(HOST, "busy_seconds"), sampled.rate_per_s(HOST, "total_seconds"))
    if busy is not None:
        yield Signal(
            resource=HOST_CPU,
            component=HOST,
            used=busy,
            threshold=BUSY,
            words=lambda since: _of_processors(sampled, busy, cores, since),
        )
    yield from _of_disks(sampled)
    stall = sampled.rate_per_s(HOST, "pressure_memory_seconds")
    if stall is not None:
        yield Signal(
            resource="memory",
            component=HOST,
            used=stall,
            threshold=MEMORY_STALL,
            words=lambda since: f"processes waited for memory {stall.since(since):.0%} of the time",
        )
    for component in sampled.having("jvm_gc_seconds"):
        stopped = ratio(
            sampled.rate_per_s(component, "jvm_gc_seconds"), sampled.rate_per_s(component, "jvm_seconds")
        )
        if stopped is not None:
            yield _collecting(component, stopped)
    for component in sampled.having("index_gc_seconds"):
        stopped = ratio(
            sampled.rate_per_s(component, "index_gc_seconds"), sampled.rate_per_s(component, "index_seconds")
        )
        if stopped is not None:
            yield _collecting("elasticsearch", stopped)


def of_parts(sampled: Sampled) -> Iterator[Signal]:
    """What one part alone cannot exceed: one processor, the database's waits, the broker's alarm."""
    for component in ONE_CORE:
        used = sampled.rate_per_s(component, "cpu_seconds")
        if used is not None:
            yield _one_core(component, used, sampled.level(HOST, "core_busy_max"))
    for component in sampled.having("database_waiting"):
        signal = _database_waits(sampled, component)
        if signal is not None:
            yield signal
    for component in sampled.having("blocked"):
        blocked = sampled.level(component, "blocked")
        if blocked is not None:
            yield _broker_blocked(blocked)


def of_the_generator(sampled: Sampled) -> Iterator[Signal]:
    """k6 by its own rule; a full host is not its fault, so this is asked only of one that is not."""
    used = sampled.rate_per_s(K6, "cpu_seconds")
    if used is not None:
        yield Signal(
            resource=GENERATOR,
            component=K6,
            used=used,
            threshold=GENERATOR_CPU,
            words=lambda since: f"k6 used {used.since(since):.2f} cores (limit {GENERATOR_CPU}); {NOT_FULL}",
        )


def lateness(generator: Generator) -> Saturated | None:
    """A generator that fell behind its plan, whatever it used."""
    late = generator.lateness_ms_p99
    if late is None or late <= GENERATOR_LATE_MS:
        return None
    words = f"k6 sent {late:.0f} ms late at p99 (limit {GENERATOR_LATE_MS:.0f} ms); {NOT_FULL}"
    return Saturated(resource=GENERATOR, component=K6, evidence=words)


def _of_processors(sampled: Sampled, busy: Line, cores: int, since_us: int) -> str:
    used = [
        (line.since(since_us), component)
        for component in sampled.having("cpu_seconds")
        if (line := sampled.rate_per_s(component, "cpu_seconds")) is not None
    ]
    named = [f"{name} {each:.2f}" for each, name in sorted(used, reverse=True)[:LARGEST]]
    every = sampled.rate_per_s(HOST, "busy_seconds")
    runner = sampled.rate_per_s(HOST, "runner_seconds")
    if every is not None and runner is not None:
        foreign = every.since(since_us) - runner.since(since_us) - sum(each for each, _ in used)
        named += [f"other programs {foreign:.2f}"] if foreign >= FOREIGN_CORES else []
    said = f"the host CPU ({cores} {'core' if cores == 1 else 'cores'}) was {busy.since(since_us):.0%} busy"
    return f"{said}; cores used: {', '.join(named)}" if named else said


def _of_disks(sampled: Sampled) -> Iterator[Signal]:
    disks = [
        line
        for name in sampled.named(HOST, "disk_busy_seconds")
        if (line := sampled.rate_per_s(HOST, name)) is not None
    ]
    stall = sampled.rate_per_s(HOST, "pressure_io_seconds")
    for disk in disks:
        yield Signal(
            resource="disk",
            component=HOST,
            used=disk,
            threshold=DISK_BUSY,
            words=lambda since, disk=disk: _of_disk(disk, stall, since),  # type: ignore[misc]
        )
    if not disks and stall is not None:  # no disk is seen, as in many containers: what waits for one still is
        yield Signal(
            resource="disk",
            component=HOST,
            used=stall,
            threshold=DISK_BUSY,
            words=lambda since: f"processes waited for a disk {stall.since(since):.0%} of the time",
        )


def _of_disk(disk: Line, stall: Line | None, since_us: int) -> str:
    words = f"a disk was busy {disk.since(since_us):.0%} of the time"
    return words if stall is None else f"{words}; processes waited for a disk {stall.since(since_us):.0%}"


def _collecting(component: str, stopped: Line) -> Signal:
    return Signal(
        resource="memory",
        component=component,
        used=stopped,
        threshold=STOPPED,
        words=lambda since: f"{component} spent {stopped.since(since):.0%} of the time on garbage collection",
    )


def _one_core(component: str, used: Line, busiest: Line | None) -> Signal:
    def words(since_us: int) -> str:
        said = f"{component} used {used.since(since_us):.2f} of the one core it can use"
        return said if busiest is None else f"{said}; the busiest core was {busiest.since(since_us):.0%} busy"

    return Signal(resource="one-core", component=component, used=used, threshold=BUSY, words=words)


def _database_waits(sampled: Sampled, component: str) -> Signal | None:
    """Of the connections that can write at once: a consumer's one, else the pool."""
    waiting = sampled.level(component, "database_waiting")
    most = sampled.level(component, "consumer_loops") or sampled.level(component, "pool_max")
    used = ratio(waiting, most)
    if used is None or waiting is None or most is None:
        return None

    def words(since_us: int) -> str:
        mean = waiting.since(since_us)
        said = f"{mean:.1f} of {most.since(since_us):.0f} writing connections waited inside PostgreSQL"
        events = _largest_waits(sampled, component, since_us)
        return f"{said}: {events}" if events else said

    return Signal(resource="database-waits", component="postgres", used=used, threshold=WAITING, words=words)


def _largest_waits(sampled: Sampled, component: str, since_us: int) -> str:
    """A kind of wait has a reading only where somebody waited so."""
    waited = sampled.amount(component, "database_waiting", since_us)
    amounts = [
        (sampled.amount(component, name, since_us), name.removeprefix(WAIT))
        for name in sampled.named(component, WAIT)
    ]
    largest = sorted(amounts, reverse=True)[:2] if waited else []
    return ", ".join(f"{name} {amount / waited:.0%}" for amount, name in largest if amount)


def _broker_blocked(blocked: Line) -> Signal:
    return Signal(
        resource="broker-blocked",
        component="rabbitmq",
        used=blocked,
        threshold=BLOCKED,
        words=lambda since: f"the broker blocked publishers {blocked.since(since):.0%} of the time",
    )
