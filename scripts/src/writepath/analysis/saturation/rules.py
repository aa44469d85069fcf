"""Rules: when each resource is at its limit, with its reason in words.

A queue alone says that what it waits for is too small or too slow; together with a saturated part behind it, it is that
part's symptom, which the order of RESOURCES says.
"""

from collections.abc import Iterator

import numpy as np
from scipy.stats import theilslopes

from writepath.analysis.saturation.signals import Line, Sampled, Signal, ratio, where
from writepath.analysis.stats import US_PER_S
from writepath.records.measures import Generator
from writepath.records.steps import Saturated

DISKS = "disk_busy_seconds"  # then a disk's number, where there are several
METRICS = frozenset(
    (
        *("busy_seconds", "total_seconds", "runner_seconds", "core_busy_max"),
        *("pressure_memory_seconds", "pressure_io_seconds", "cpu_seconds", "write_bytes"),
        *("jvm_gc_seconds", "jvm_seconds", "index_gc_seconds", "index_seconds"),
        *("database_waiting", "database_between_statements", "blocked"),
        *("pool_max", "pool_waiting", "pool_active"),
        *("in_flight", "in_flight_max", "in_flight_rejected", "unconfirmed"),
        *("bulks_in_flight", "bulks_in_flight_max", "bulk_queued", "bulk_rejected", "singles_rejected"),
        *("index_write_threads", "index_write_active", "index_write_queue", "index_write_rejected"),
        *("consumer_loops", "consumer_busy_seconds", "consumed", "queue_ready", "queue_unacknowledged"),
        *("connections_open", "connections_max", "connections_refused"),
    )
)


def read_by_rules(metric: str) -> bool:
    """Whether a rule or a figure of a load step reads it."""
    return metric in METRICS or metric.startswith((DISKS, WAIT))


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
        yield Signal(HOST_CPU, HOST, busy, BUSY, lambda since: _of_processors(sampled, busy, cores, since))
    yield from _of_disks(sampled)
    stall = sampled.rate_per_s(HOST, "pressure_memory_seconds")
    if stall is not None:
        yield Signal(
            "memory",
            HOST,
            stall,
            MEMORY_STALL,
            lambda since: f"processes waited for memory {stall.since(since):.0%} of the time",
        )
    for machine, name in (("jvm", None), ("index", "elasticsearch")):
        for component in sampled.having(f"{machine}_gc_seconds"):
            collected = sampled.rate_per_s(component, f"{machine}_gc_seconds")
            stopped = ratio(collected, sampled.rate_per_s(component, f"{machine}_seconds"))
            if stopped is not None:
                yield _collecting(name or component, stopped)


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
            GENERATOR,
            K6,
            used,
            GENERATOR_CPU,
            lambda since: f"k6 used {used.since(since):.2f} cores (limit {GENERATOR_CPU}); {NOT_FULL}",
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
            "disk",
            HOST,
            disk,
            DISK_BUSY,
            lambda since, disk=disk: _of_disk(disk, stall, since),  # type: ignore[misc]
        )
    if not disks and stall is not None:  # no disk is seen, as in many containers: what waits for one still is
        yield Signal(
            "disk",
            HOST,
            stall,
            DISK_BUSY,
            lambda since: f"processes waited for a disk {stall.since(since):.0%} of the time",
        )


def _of_disk(disk: Line, stall: Line | None, since_us: int) -> str:
    words = f"a disk was busy {disk.since(since_us):.0%} of the time"
    return words if stall is None else f"{words}; processes waited for a disk {stall.since(since_us):.0%}"


def _collecting(component: str, stopped: Line) -> Signal:
    return Signal(
        "memory",
        component,
        stopped,
        STOPPED,
        lambda since: f"{component} spent {stopped.since(since):.0%} of the time on garbage collection",
    )


def _one_core(component: str, used: Line, busiest: Line | None) -> Signal:
    def words(since_us: int) -> str:
        said = f"{component} used {used.since(since_us):.2f} of the one core it can use"
        return said if busiest is None else f"{said}; the busiest core was {busiest.since(since_us):.0%} busy"

    return Signal("one-core", component, used, BUSY, words)


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

    return Signal("database-waits", "postgres", used, WAITING, words)


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
        "broker-blocked",
        "rabbitmq",
        blocked,
        BLOCKED,
        lambda since: f"the broker blocked publishers {blocked.since(since):.0%} of the time",
    )


FULL = 0.90  # of all that can be used at once: readings each second miss the moments between two uses
AS_MANY_WAIT = 1.0  # as many wait as are served: each one's wait doubles. A queue of 5 is so long at 87 % use
MOST_WAIT = 0.50  # of the permits: more requests wait at this one place than at all others
REFUSED = 1.0  # anything at all
AT_WORK = 0.80  # of the time: the rest of it a loop that never rests spends on gathering its next batch
WORK_S = 1.0  # of messages: below it a queue is what lies between two batches
GROWS = 0.01  # of what arrives: the rule by which a step is called unstable


def of_queues(sampled: Sampled) -> Iterator[Signal]:
    """One or none for each queue that was sampled."""
    for component in sampled.having("pool_waiting"):
        yield from _pool(sampled, component)
    for component in sampled.having("in_flight_max"):
        yield from _in_flight(sampled, component)
        yield from _bulks(sampled, component)
        yield from _confirms(sampled, component)
    for component in sampled.having("index_write_queue"):
        yield from _index_writes(sampled, component)
    yield from _index_rejections(sampled)
    for component in sampled.having("consumer_busy_seconds"):
        yield from _consumer(sampled, component)
    for component in sampled.having("queue_ready"):
        yield from _queue(sampled, component)
    yield from _connections(sampled)


def _pool(sampled: Sampled, component: str) -> Iterator[Signal]:
    most, waiting = sampled.level(component, "pool_max"), sampled.level(component, "pool_waiting")
    active = ratio(sampled.level(component, "pool_active"), most)
    used = where(ratio(waiting, most), active, FULL)
    if used is None or waiting is None or most is None:
        return

    def words(since_us: int) -> str:
        said = (
            f"{waiting.since(since_us):.0f} requests waited for one of {most.since(since_us):.0f} pool connections"
            f" ({_share(active, since_us)} in use)"
        )
        idle = sampled.level(component, "database_between_statements")
        return (
            said
            if idle is None
            else f"{said}; {idle.since(since_us):.1f} connections were idle in PostgreSQL"
        )

    yield Signal("pool", component, used, AS_MANY_WAIT, words)


def _in_flight(sampled: Sampled, component: str) -> Iterator[Signal]:
    inside, most = sampled.level(component, "in_flight"), sampled.level(component, "in_flight_max")
    used = ratio(inside, most)
    if used is None or inside is None or most is None:
        return
    refused = sampled.rate_per_s(component, "in_flight_rejected")
    used = _all_where(used, refused)

    def words(since_us: int) -> str:
        said = f"{inside.since(since_us):.0f} of at most {most.since(since_us):.0f} requests were in flight"
        rate = 0.0 if refused is None else refused.since(since_us)
        return f"{said}, {rate:.0f}/s refused" if rate else said

    yield Signal("in-flight", component, used, FULL, words)


def _bulks(sampled: Sampled, component: str) -> Iterator[Signal]:
    slots = sampled.level(component, "bulks_in_flight_max")
    sent = ratio(sampled.level(component, "bulks_in_flight"), slots)
    waiting, permits = sampled.level(component, "bulk_queued"), sampled.level(component, "in_flight_max")
    used = where(ratio(waiting, permits), sent, FULL)
    if used is None or waiting is None or slots is None:
        return

    def words(since_us: int) -> str:
        return (
            f"{waiting.since(since_us):.0f} documents waited for one of {slots.since(since_us):.0f} bulk requests"
            f" ({_share(sent, since_us)} in flight)"
        )

    yield Signal("bulks", component, used, MOST_WAIT, words)


def _confirms(sampled: Sampled, component: str) -> Iterator[Signal]:
    waiting, permits = sampled.level(component, "unconfirmed"), sampled.level(component, "in_flight_max")
    used = ratio(waiting, permits)
    if used is None or waiting is None or permits is None:
        return

    def words(since_us: int) -> str:
        return (
            f"{waiting.since(since_us):.0f} of at most {permits.since(since_us):.0f} requests"
            " waited for the broker's confirm"
        )

    yield Signal("confirms", component, used, MOST_WAIT, words)


def _index_writes(sampled: Sampled, component: str) -> Iterator[Signal]:
    threads = sampled.level(component, "index_write_threads")
    active = ratio(sampled.level(component, "index_write_active"), threads)
    queued = sampled.level(component, "index_write_queue")
    used = where(ratio(queued, threads), active, FULL)
    if used is None or queued is None or threads is None:
        return

    def words(since_us: int) -> str:
        return (
            f"{queued.since(since_us):.0f} writes waited for one of Elasticsearch's {threads.since(since_us):.0f}"
            f" write threads ({_share(active, since_us)} busy)"
        )

    yield Signal("index-writes", "elasticsearch", used, AS_MANY_WAIT, words)


def _index_rejections(sampled: Sampled) -> Iterator[Signal]:
    """As Elasticsearch counts them; what the writer saw of it is the same, and counted where it alone answers."""
    for metric in ("index_write_rejected", "bulk_rejected", "singles_rejected"):
        for component in sampled.having(metric):
            rejected = sampled.rate_per_s(component, metric)
            if rejected is not None and rejected.value.any():
                yield Signal(
                    "index-rejections",
                    "elasticsearch",
                    Line(at_us=rejected.at_us, value=(rejected.value > 0).astype(np.float64)),
                    REFUSED,
                    lambda since, rejected=rejected: (  # type: ignore[misc]
                        f"Elasticsearch rejected {rejected.since(since):.0f} writes/s"
                    ),
                )
                return


def _consumer(sampled: Sampled, component: str) -> Iterator[Signal]:
    busy = ratio(
        sampled.rate_per_s(component, "consumer_busy_seconds"), sampled.rate_per_s(component, "jvm_seconds")
    )
    if busy is None:
        return
    stored = sampled.rate_per_s(component, "consumed")

    def words(since_us: int) -> str:
        said = f"the consumer was processing a batch {busy.since(since_us):.0%} of the time"
        return said if stored is None else f"{said}, {stored.since(since_us):.0f} messages/s"

    yield Signal("consumer", component, busy, AT_WORK, words)


def _queue(sampled: Sampled, component: str) -> Iterator[Signal]:
    """Depth in seconds of work, as long as it grows; of a queue that shrinks nothing is said."""
    depth, consumed = sampled.level(component, "queue_ready"), sampled.rate_per_s(component, "consumed")
    if depth is None or consumed is None:
        return
    taken_per_s = np.interp(depth.at_us, consumed.at_us, consumed.value)
    at_once = np.where(depth.value > 0, np.inf, 0.0)  # nothing is taken: what waits, waits for ever
    work_s = np.divide(depth.value, taken_per_s, out=at_once, where=taken_per_s > 0)
    grows_per_s = float(theilslopes(depth.value, depth.at_us / US_PER_S).slope)
    if grows_per_s < GROWS * float(consumed.value.mean()):
        return

    def words(since_us: int) -> str:
        return (
            f"{depth.since(since_us):.0f} messages waited, growing by {grows_per_s:.0f}/s;"
            f" {consumed.since(since_us):.0f}/s were consumed"
        )

    yield Signal("queue", "rabbitmq", Line(at_us=depth.at_us, value=work_s), WORK_S, words)


def _connections(sampled: Sampled) -> Iterator[Signal]:
    """A client's connection counts, and for each request under way one to the application."""
    open_now, most = sampled.level(PROXY, "connections_open"), sampled.level(PROXY, "connections_max")
    used = ratio(open_now, most)
    if used is None or open_now is None or most is None:
        return
    refused = sampled.rate_per_s(PROXY, "connections_refused")
    used = _all_where(used, refused)

    def words(since_us: int) -> str:
        most_open, limit = open_now.since(since_us), most.since(since_us)
        said = f"nginx had {most_open:.0f} of at most {limit:.0f} connections open"
        rate = 0.0 if refused is None else refused.since(since_us)
        return f"{said}, {rate:.0f}/s refused" if rate else said

    yield Signal("proxy-connections", PROXY, used, FULL, words)


def _all_where(used: Line, refused: Line | None) -> Line:
    """Whoever refuses has no more to give, whatever was read at the moments in between."""
    if refused is None:
        return used
    refusing = np.interp(used.at_us, refused.at_us, refused.value) > 0
    return Line(at_us=used.at_us, value=np.where(refusing, 1.0, used.value))


def _share(line: Line | None, since_us: int) -> str:
    return "–" if line is None else f"{line.since(since_us):.0%}"
