"""Finds which resource was at its limit first while a load ran: a pure function of samples.

Of each resource a rule (`rules`) makes one series: what it used of its limit. A resource is saturated from the first
moment after which that stays over the rule's threshold (`signals.begins_us`).
"""

from collections.abc import Iterator, Mapping

from writepath.analysis.saturation import rules
from writepath.analysis.saturation.signals import Sampled, Signal, begins_us
from writepath.analysis.stats import US_PER_S, Floats, Ints
from writepath.records.measures import Generator
from writepath.records.steps import LimitedBy, Saturated

TIE_US = 5 * US_PER_S  # samples are smoothed over 5 s: events that lie closer have no known order
TIE_SHARE = 0.1  # of the load, where that is longer

# From the furthest back to the furthest in front. Of two that began at the same time the one further back counts: what
# stands before a saturated resource waits for it, and is a symptom.
RESOURCES: Mapping[str, str] = {
    "memory": "memory",
    "host-cpu": "host CPU",
    "disk": "disk",
    "database-waits": "database waits",
    "index-writes": "index write threads",
    "index-rejections": "index rejections",
    "broker-blocked": "broker alarm",
    "consumer": "consumer (one batch at a time)",
    "pool": "connection pool",
    "bulks": "bulk requests in flight",
    "confirms": "broker confirms",
    "queue": "queue",
    "in-flight": "requests in flight",
    "one-core": "single-threaded component",
    "proxy-connections": "proxy connections",
    "generator": "load generator",
}
_DEPTH = {resource: depth for depth, resource in enumerate(RESOURCES)}


def limited_by(
    series: Mapping[tuple[str, str], tuple[Ints, Floats]], cores: int, generator: Generator
) -> LimitedBy:
    """series: by component and metric, moments (epoch us) and values, of the load alone; cores: of the host."""
    sampled = Sampled(series=series)
    signals = [*rules.of_the_host(sampled, cores), *rules.of_parts(sampled), *rules.of_queues(sampled)]
    found = _begun(signals)
    host_is_full = any(signal.resource == rules.HOST_CPU for _, signal in found)
    if not host_is_full:  # else the generator's lack of processor is the host's
        ours = [*rules.of_the_generator(sampled)]
        signals += ours
        found += _begun(ours)
    ordered = [_told(signal, begin, sampled) for begin, signal in _in_order(found, sampled.span_us)]
    late = None if host_is_full else rules.lateness(generator)
    if late is not None and all(each.resource != rules.GENERATOR for each in ordered):
        ordered.append(late)  # last: when it was late, the record does not say
    if not ordered:
        return LimitedBy(first=None, nearest=_nearest(signals, sampled.start_us))
    return LimitedBy(first=ordered[0], others=tuple(ordered[1:]))


def _begun(signals: list[Signal]) -> list[tuple[int, Signal]]:
    return [(begin, signal) for signal in signals if (begin := begins_us(signal)) is not None]


def _in_order(found: list[tuple[int, Signal]], span_us: int) -> Iterator[tuple[int, Signal]]:
    tie_us = max(TIE_US, TIE_SHARE * span_us)
    left = sorted(found, key=lambda each: each[0])
    while left:
        together = [each for each in left if each[0] <= left[0][0] + tie_us]
        chosen = min(together, key=lambda each: _DEPTH[each[1].resource])
        left.remove(chosen)
        yield chosen
        signal = chosen[1]  # both ends of a queue look at the same store: it is told once
        left = [
            each
            for each in left
            if (each[1].resource, each[1].component) != (signal.resource, signal.component)
        ]


def _nearest(signals: list[Signal], start_us: int) -> Saturated | None:
    """That which used most of its limit over the whole load; None where nothing was used at all."""
    share, signal = max(
        ((_share(each), each) for each in signals), key=lambda each: each[0], default=(0.0, None)
    )
    if signal is None or not share:
        return None
    return Saturated(resource=signal.resource, component=signal.component, evidence=signal.words(start_us))


def _share(signal: Signal) -> float:
    """Of its threshold, on average; a moment beyond counts as full, for one long queue is no limit."""
    of_limit = signal.used.value / signal.threshold
    return float(of_limit.clip(max=1.0).mean()) if of_limit.size else 0.0


def _told(signal: Signal, begin_us: int, sampled: Sampled) -> Saturated:
    after_us = begin_us - sampled.start_us
    words = signal.words(begin_us)
    evidence = words if after_us <= TIE_US else f"{words}, starting at {after_us / US_PER_S:.0f} s"
    return Saturated(resource=signal.resource, component=signal.component, evidence=evidence)
