"""Finds which resource was at its limit first while a load ran: a pure function of samples.

Of each resource a rule makes one series: what it used of its limit. A resource is saturated from the first moment after
which that stays over the rule's threshold. A queue alone says that what it waits for is too small or too slow; together
with a saturated part behind it, it is that part's symptom, which the order of RESOURCES says.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from scipy.stats import theilslopes

from writepath.analysis.samples import HOST, K6, SIDES, Line, Sampled, is_split, together
from writepath.analysis.stats import US_PER_S, Floats, Ints
from writepath.analysis.verdict import CPU_SHARE_LIMIT, LATENESS_MS_LIMIT
from writepath.records.measures import Generator
from writepath.records.steps import LimitedBy, Saturated

TIE_US = 5 * US_PER_S  # samples are smoothed over 5 s: events that lie closer have no known order
TIE_SHARE = 0.1  # of the load, where that is longer
STAYS_SHARE = 0.8  # of the readings from then on: one good second in five does not end a saturation
FEWEST_READINGS = 5  # fewer tell a peak from a level no more
SHORTEST_SHARE = 0.1  # of the load: what began in its last moments cannot have limited it

# From the furthest back to the furthest in front. Of two that began at the same time the one further back counts: what
# stands before a saturated resource waits for it, and is a symptom.
RESOURCES: Mapping[str, str] = {
    "memory": "memory",
    "host-cpu": "host CPU",
    "system-cpu": "CPU of the system under test",
    "disk": "disk",
    "database-waits": "database waits",
    "index-writes": "index write threads",
    "index-rejections": "index rejections",
    "broker-blocked": "broker alarm",
    "consumer": "consumer (one batch at a time)",
    "pool": "connection pool",
    "bulks": "bulk requests in flight",
    "inserts": "inserts in flight",
    "confirms": "broker confirms",
    "queue": "queue",
    "in-flight": "requests in flight",
    "one-core": "single-threaded component",
    "proxy-connections": "proxy connections",
    "generator": "load generator",
}

PROXY = "nginx"
HOST_CPU, SYSTEM_CPU, GENERATOR = "host-cpu", "system-cpu", "generator"
DISKS = "disk_busy_seconds"  # then a disk's number, where there are several
WAIT = "database_wait."  # then the kind of wait, as PostgreSQL names it
REJECTED = ("index_write_rejected", "bulk_rejected", "singles_rejected")
METRICS = frozenset(
    (
        *("busy_seconds", "total_seconds", "runner_seconds", "core_busy_max", *SIDES),
        *("pressure_memory_seconds", "pressure_io_seconds", "cpu_seconds", "write_bytes"),
        *("jvm_gc_seconds", "jvm_seconds", "index_gc_seconds", "index_seconds"),
        *("database_waiting", "database_between_statements", "blocked"),
        *("pool_max", "pool_waiting", "pool_active"),
        *("in_flight", "in_flight_max", "in_flight_rejected", "unconfirmed"),
        *("bulks_in_flight", "bulks_in_flight_max", "bulk_queued", *REJECTED),
        *("inserts_in_flight", "inserts_in_flight_max", "insert_queued"),
        *("index_write_threads", "index_write_active", "index_write_queue"),
        *("consumer_loops", "consumer_busy_seconds", "consumed", "queue_ready", "queue_unacknowledged"),
        *("connections_open", "connections_max", "connections_refused"),
    )
)

FULL = 0.90  # of all that can be used at once: readings each second miss the moments between two uses
GROWS = 0.01  # of what arrives: the rule by which a step is called unstable
LARGEST = 3  # users of processors named in the evidence
FOREIGN_CORES = 0.10  # of programs outside the run, from which they are named, too
NOT_FULL = "the host CPU was not saturated"


def read_by_rules(metric: str) -> bool:
    """Whether a rule or a figure of a load step reads it."""
    return metric in METRICS or metric.startswith((DISKS, WAIT))


def in_words(found: Saturated) -> str:
    """Which resource, and whose where it is not the host's: `connection pool (jpa-writer)`."""
    title = RESOURCES.get(found.resource, found.resource)
    return title if found.component == HOST else f"{title} ({found.component})"


def unsaturated(nearest: Saturated | None) -> str:
    """Where no resource was at its limit: which one used the most of it, if that is known."""
    return "none saturated" + (f"; highest use: {in_words(nearest)}" if nearest else "")


class Means(dict[str, Any]):
    """What fills a signal's templates: by metrics as Sampled.share() takes them, their mean from a moment on."""

    def __init__(self, signal: "Signal", since_us: int) -> None:
        self.sampled, self.owner, self.since_us = signal.sampled, signal.owner, since_us
        cores = f"{self.sampled.cores} {'core' if self.sampled.cores == 1 else 'cores'}"
        super().__init__(cores=cores, component=signal.component, used=signal.used.since(since_us))

    def __missing__(self, metrics: str) -> float:
        line = self.sampled.share(self.owner, metrics)
        if line is None:
            raise KeyError(metrics)
        return line.since(self.since_us)

    def fill(self, template: str) -> str:
        """The template with its figures; empty where one of them was not sampled."""
        try:
            return template.format_map(self)
        except KeyError:
            return ""


@dataclass(frozen=True)
class Rule:
    """When a resource is at its limit. Templates have metrics in braces, as Sampled.share() takes them."""

    resource: str  # a key of RESOURCES
    used: str  # metrics; the components that have the first one are looked at
    threshold: float  # of what is used
    words: str  # template
    more: str = ""  # template of what follows, where all of it was sampled
    also: Callable[[Means], str] = lambda _: ""  # what follows, where it needs more than a template
    of: str | None = None  # this component alone
    named: str | None = None  # the component in the result, if not the one that has the samples
    full: str = ""  # metrics: nothing counts as used while this share is not full
    refused: str = ""  # a counter: whoever refuses has no more to give, whatever was read in between

    def signals(self, sampled: Sampled) -> "Iterator[Signal]":
        """One or none a component."""
        for owner in [self.of] if self.of else sampled.having(self.used.split(" / ", maxsplit=1)[0]):
            used = sampled.share(owner, self.used)
            if self.full:
                full = sampled.share(owner, self.full)
                used = together(used, full, lambda one, other: np.where(other >= FULL, one, 0.0))
            if used is None:
                continue
            refused = sampled.line(owner, self.refused)
            if refused is not None:
                refusing = np.interp(used.at_us, refused.at_us, refused.value) > 0
                used = replace(used, value=np.where(refusing, 1.0, used.value))
            yield Signal(self, sampled, owner, used, refused)


@dataclass(frozen=True, eq=False)
class Signal:
    """What of a resource's limit one component uses: 1.0 is all of it."""

    rule: Rule
    sampled: Sampled
    owner: str  # of the samples
    used: Line
    refused: Line | None = None

    @property
    def component(self) -> str:
        """In the result."""
        return self.rule.named or self.owner

    def begin_us(self) -> int | None:
        """The first moment over the threshold from which it stays so: soon after, and to the end."""
        over = self.used.value >= self.rule.threshold
        fewest = max(FEWEST_READINGS, int(np.ceil(SHORTEST_SHARE * over.size)))
        for first in np.flatnonzero(over):
            soon, to_the_end = over[first : first + FEWEST_READINGS].mean(), over[first:].mean()
            if over.size - first >= fewest and min(soon, to_the_end) >= STAYS_SHARE:
                return int(self.used.at_us[first])
        return None

    def share(self) -> float:
        """Of its threshold, on average; a moment beyond counts as full, for one long queue is no limit."""
        of_limit = self.used.value / self.rule.threshold
        return float(of_limit.clip(max=1.0).mean()) if of_limit.size else 0.0

    def told(self, since_us: int, began: str = "") -> Saturated:
        """As records have it, with the evidence from a moment on."""
        rule, means = self.rule, Means(self, since_us)
        rate = self.refused.since(since_us) if self.refused else 0.0
        refusals = f", {rate:.0f}/s refused" if rate else ""
        words = (means.fill(rule.words), refusals, means.fill(rule.more), rule.also(means), began)
        return Saturated(resource=rule.resource, component=self.component, evidence="".join(words))


def _cores_used(means: Means) -> str:
    """Of the largest users, and of programs outside the run; where split, on the system's processors."""
    split = is_split(means.sampled.series)
    users = [name for name in means.sampled.having("cpu_seconds") if not (split and name == K6)]
    used = {name: means.sampled.line(name, "cpu_seconds") for name in users}
    cores = [(line.since(means.since_us), name) for name, line in used.items() if line is not None]
    named = [f"{name} {each:.2f}" for each, name in sorted(cores, reverse=True)[:LARGEST]]
    if means.fill("{runner_seconds}"):
        busy = means["system_busy_seconds"] if split else means["busy_seconds"] - means["runner_seconds"]
        foreign = busy - sum(each for each, _ in cores)
        named += [f"other programs {foreign:.2f}"] if foreign >= FOREIGN_CORES else []
    return f"; cores used: {', '.join(named)}" if named else ""


def _largest_waits(means: Means) -> str:
    """A kind of wait has a reading only where somebody waited so."""
    sampled, total = means.sampled, {}
    for name in ("database_waiting", *sampled.named(means.owner, WAIT)):
        at_us, value = sampled.series[means.owner, name]
        total[name] = float(value[at_us >= means.since_us].sum())
    waited = total.pop("database_waiting")
    largest = sorted(((amount, name.removeprefix(WAIT)) for name, amount in total.items()), reverse=True)[:2]
    events = [f"{name} {amount / waited:.0%}" for amount, name in largest if amount and waited]
    return f": {', '.join(events)}" if events else ""


COLLECTING = 0.10  # of the time: a collector aims at half of that, so the heap is too small
COLLECTION = "{component} spent {used:.0%} of the time on garbage collection"
WAITED_FOR_DISK = "processes waited for a disk {pressure_io_seconds:.0%}"
DISK = Rule(
    "disk",
    DISKS,
    0.90,  # of the time with a request under way: a flush comes after another one nearly always
    "a disk was busy {used:.0%} of the time",
    more=f"; {WAITED_FOR_DISK}",
)
NO_DISK_RULE = Rule("disk", "pressure_io_seconds", DISK.threshold, f"{WAITED_FOR_DISK} of the time")
REJECTIONS = Rule(
    "index-rejections",
    "",
    0.001,  # any at all
    "Elasticsearch rejected {used:.0f} writes/s",
    named="elasticsearch",
)
QUEUE = Rule(
    "queue", "queue_ready", 1.0, "", named="rabbitmq"
)  # seconds of work: less is between two batches
HOST_RULE = Rule(
    HOST_CPU,
    "busy_seconds / total_seconds",
    0.90,  # seconds of 90 % hold moments of 100 %, and waiting grows as 1 / (1 - busy)
    "the host CPU ({cores}) was {used:.0%} busy",
    also=_cores_used,
)
SYSTEM_RULE = replace(
    HOST_RULE,
    resource=SYSTEM_CPU,
    used="system_busy_seconds / system_total_seconds",
    words="the CPU of the system under test ({cores}) was {used:.0%} busy",
)
RULES = (
    Rule(
        "memory",
        "pressure_memory_seconds",
        0.10,  # of the time something waited for memory: the host reclaims instead of working
        "processes waited for memory {used:.0%} of the time",
    ),
    Rule("memory", "jvm_gc_seconds / jvm_seconds", COLLECTING, COLLECTION),
    Rule("memory", "index_gc_seconds / index_seconds", COLLECTING, COLLECTION, named="elasticsearch"),
    Rule(
        "one-core",
        "cpu_seconds",
        0.90,  # as of the host
        "{component} used {used:.2f} of the one core it can use",
        more="; the busiest core was {core_busy_max:.0%} busy",
        of=PROXY,  # it has one worker
    ),
    *(
        Rule(
            "database-waits",
            f"database_waiting / {most}",
            0.50,  # of the connections that can write at once: one more session would mostly wait, too
            f"{{database_waiting:.1f}} of {{{most}:.0f}} writing connections waited inside PostgreSQL",
            also=_largest_waits,
            named="postgres",
        )
        # Of a component with two of them, the fewer are told first.
        for most in ("consumer_loops", "inserts_in_flight_max", "pool_max")
    ),
    Rule(
        "broker-blocked",
        "blocked",
        0.50,  # of the time
        "the broker blocked publishers {used:.0%} of the time",
        named="rabbitmq",
    ),
    Rule(
        "pool",
        "pool_waiting / pool_max",
        1.0,  # as many wait as are served: each one's wait doubles. A queue of 5 is so long at 87 % use
        "{pool_waiting:.0f} requests waited for one of {pool_max:.0f} pool connections"
        " ({pool_active / pool_max:.0%} in use)",
        more="; {database_between_statements:.1f} connections were idle in PostgreSQL",
        full="pool_active / pool_max",
    ),
    Rule(
        "in-flight",
        "in_flight / in_flight_max",
        FULL,
        "{in_flight:.0f} of at most {in_flight_max:.0f} requests were in flight",
        refused="in_flight_rejected",
    ),
    Rule(
        "bulks",
        "bulk_queued / in_flight_max",
        0.50,  # of the permits: more requests wait at this one place than at all others
        "{bulk_queued:.0f} documents waited for one of {bulks_in_flight_max:.0f} bulk requests"
        " ({bulks_in_flight / bulks_in_flight_max:.0%} in flight)",
        full="bulks_in_flight / bulks_in_flight_max",
    ),
    Rule(
        "inserts",
        "insert_queued / in_flight_max",
        0.50,  # as of bulks
        "{insert_queued:.0f} posts waited for one of {inserts_in_flight_max:.0f} inserts"
        " ({inserts_in_flight / inserts_in_flight_max:.0%} in flight)",
        full="inserts_in_flight / inserts_in_flight_max",
    ),
    Rule(
        "confirms",
        "unconfirmed / in_flight_max",
        0.50,  # as of bulks
        "{unconfirmed:.0f} of at most {in_flight_max:.0f} requests waited for the broker's confirm",
    ),
    Rule(
        "index-writes",
        "index_write_queue / index_write_threads",
        1.0,  # as of a pool
        "{index_write_queue:.0f} writes waited for one of Elasticsearch's {index_write_threads:.0f}"
        " write threads ({index_write_active / index_write_threads:.0%} busy)",
        full="index_write_active / index_write_threads",
        named="elasticsearch",
    ),
    Rule(
        "consumer",
        "consumer_busy_seconds / jvm_seconds",
        0.80,  # of the time: the rest of it a loop that never rests spends on gathering its next batch
        "the consumer was processing a batch {used:.0%} of the time",
        more=", {consumed:.0f} messages/s",
    ),
    Rule(
        "proxy-connections",  # a client's connection counts, and for each request under way one to the application
        "connections_open / connections_max",
        FULL,
        "nginx had {connections_open:.0f} of at most {connections_max:.0f} connections open",
        refused="connections_refused",
    ),
)
GENERATOR_RULE = Rule(
    GENERATOR,
    "cpu_seconds",
    CPU_SHARE_LIMIT,
    f"k6 used {{used:.2f}} cores (limit {CPU_SHARE_LIMIT}); {NOT_FULL}",
    of=K6,
)
OWN_GENERATOR_RULE = Rule(
    GENERATOR,
    "generator_busy_seconds / generator_total_seconds",  # the runner's and the samplers' part included
    CPU_SHARE_LIMIT,
    f"the processors of the load generator were {{used:.0%}} busy (limit {CPU_SHARE_LIMIT:.0%})",
    named=K6,
)


def _disks(sampled: Sampled) -> Iterator[Signal]:
    """Where no disk is seen, as in many containers, what waits for one still is."""
    names = [name for name in sampled.named(HOST, DISKS) if sampled.line(HOST, name) is not None]
    for rule in [replace(DISK, used=name) for name in names] or [NO_DISK_RULE]:
        yield from rule.signals(sampled)


def _rejections(sampled: Sampled) -> Iterator[Signal]:
    """As Elasticsearch counts them; what the writer saw of it is the same, and counted where it alone answers."""
    rules = [replace(REJECTIONS, used=metric) for metric in REJECTED]
    found = (signal for rule in rules for signal in rule.signals(sampled) if signal.used.value.any())
    return islice(found, 1)


def _queues(sampled: Sampled) -> Iterator[Signal]:
    """Depth in seconds of work, as long as it grows; of a queue that shrinks nothing is said."""
    for owner in sampled.having(QUEUE.used):
        depth, consumed = sampled.line(owner, QUEUE.used), sampled.line(owner, "consumed")
        if depth is None or consumed is None:
            continue
        taken_per_s = np.interp(depth.at_us, consumed.at_us, consumed.value)
        at_once = np.where(depth.value > 0, np.inf, 0.0)  # nothing is taken: what waits, waits for ever
        work_s = np.divide(depth.value, taken_per_s, out=at_once, where=taken_per_s > 0)
        grows_per_s = float(theilslopes(depth.value, depth.at_us / US_PER_S).slope)
        if grows_per_s >= GROWS * float(consumed.value.mean()):
            words = f"{{queue_ready:.0f}} posts waited, growing by {grows_per_s:.0f}/s"
            rule = replace(QUEUE, words=f"{words}; {{consumed:.0f}}/s were consumed")
            yield Signal(rule, sampled, owner, replace(depth, value=work_s))


def limited_by(
    series: Mapping[tuple[str, str], tuple[Ints, Floats]], cores: int, generator: Generator
) -> LimitedBy:
    """series: by component and metric, moments (epoch us) and values, of the load alone; cores: of the system."""
    sampled, split = Sampled(series=series, cores=cores), is_split(series)
    rules = ((SYSTEM_RULE, OWN_GENERATOR_RULE) if split else (HOST_RULE,)) + RULES
    signals = [signal for rule in rules for signal in rule.signals(sampled)]
    signals += [*_disks(sampled), *_rejections(sampled), *_queues(sampled)]
    late_ms, late = generator.lateness_ms_p99, None
    if all(signal.rule.resource != HOST_CPU or signal.begin_us() is None for signal in signals):
        if not split:
            signals += GENERATOR_RULE.signals(sampled)  # on a full host its lack of processor is the host's
        if late_ms is not None and late_ms > LATENESS_MS_LIMIT:
            words = f"k6 sent {late_ms:.0f} ms late at p99 (limit {LATENESS_MS_LIMIT:.0f} ms)"
            words += "" if split else f"; {NOT_FULL}"
            late = Saturated(resource=GENERATOR, component=K6, evidence=words)
    ordered = [*_in_order(signals, sampled)]
    if late is not None and all(each.resource != GENERATOR for each in ordered):
        ordered.append(late)  # last: when it was late, the record does not say
    if ordered:
        return LimitedBy(first=ordered[0], others=tuple(ordered[1:]))
    nearest = max(signals, key=Signal.share, default=None)
    used = nearest is not None and nearest.share() > 0
    return LimitedBy(first=None, nearest=nearest.told(sampled.start_us) if nearest and used else None)


def _in_order(signals: list[Signal], sampled: Sampled) -> Iterator[Saturated]:
    """Those that were at their limit, the first one first."""
    depths, tie_us = [*RESOURCES], max(TIE_US, TIE_SHARE * sampled.span_us)
    begun = [(begin, signal) for signal in signals if (begin := signal.begin_us()) is not None]
    left = sorted(begun, key=lambda each: each[0])
    while left:
        together = [each for each in left if each[0] <= left[0][0] + tie_us]
        begin_us, signal = min(together, key=lambda each: depths.index(each[1].rule.resource))
        after_us = begin_us - sampled.start_us
        began = "" if after_us <= TIE_US else f", starting at {after_us / US_PER_S:.0f} s"
        told = signal.told(begin_us, began)
        yield told
        # Both ends of a queue look at the same store: it is told once.
        key = (told.resource, told.component)
        left = [each for each in left if (each[1].rule.resource, each[1].component) != key]
