"""Which resource was at its limit first while a load ran? A pure function of samples.

Of each resource a rule (`rules`) makes one series: what it used of its limit. A resource is saturated from the first
moment after which that stays over the rule's threshold (`signals.begins_ms`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.result.capacity import LimitedBy, Saturated
from writepath.saturation import queues, rules
from writepath.saturation.signals import Sampled, Signal, begins_ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from writepath.result.measures import Generator
    from writepath.stats import Floats

TIE_MS = 5000.0  # samples come each second and are smoothed over 5: what lies closer cannot be told apart
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
    series: Mapping[tuple[str, str], tuple[Floats, Floats]], cores: int, generator: Generator
) -> LimitedBy:
    """series: by component and metric, moments (epoch ms) and values, of the load alone; cores: of the host."""
    sampled = Sampled(series=series)
    signals = [*rules.of_the_host(sampled, cores), *rules.of_parts(sampled), *queues.of(sampled)]
    found = _begun(signals)
    host_is_full = any(signal.resource == rules.HOST_CPU for _, signal in found)
    if not host_is_full:  # else the generator's lack of processor is the host's
        ours = [*rules.of_the_generator(sampled)]
        signals += ours
        found += _begun(ours)
    ordered = [_told(signal, begin, sampled) for begin, signal in _in_order(found, sampled.span_ms)]
    late = None if host_is_full else rules.lateness(generator)
    if late is not None and all(each.resource != rules.GENERATOR for each in ordered):
        ordered.append(late)  # last: when it was late, the record does not say
    if not ordered:
        return LimitedBy(first=None, nearest=_nearest(signals, sampled.start_ms))
    return LimitedBy(first=ordered[0], others=tuple(ordered[1:]))


def _begun(signals: list[Signal]) -> list[tuple[float, Signal]]:
    return [(begin, signal) for signal in signals if (begin := begins_ms(signal)) is not None]


def _in_order(found: list[tuple[float, Signal]], span_ms: float) -> Iterator[tuple[float, Signal]]:
    tie_ms = max(TIE_MS, TIE_SHARE * span_ms)
    left = sorted(found, key=lambda each: each[0])
    while left:
        together = [each for each in left if each[0] <= left[0][0] + tie_ms]
        chosen = min(together, key=lambda each: _DEPTH[each[1].resource])
        left.remove(chosen)
        yield chosen
        signal = chosen[1]  # both ends of a queue look at the same store: it is told once
        left = [
            each
            for each in left
            if (each[1].resource, each[1].component) != (signal.resource, signal.component)
        ]


def _nearest(signals: list[Signal], start_ms: float) -> Saturated | None:
    """That which used most of its limit over the whole load; None where nothing was used at all."""
    share, signal = max(
        ((_share(each), each) for each in signals), key=lambda each: each[0], default=(0.0, None)
    )
    if signal is None or not share:
        return None
    return Saturated(resource=signal.resource, component=signal.component, evidence=signal.words(start_ms))


def _share(signal: Signal) -> float:
    """Of its threshold, on average; a moment beyond counts as full, for one long queue is no limit."""
    of_limit = signal.used.value / signal.threshold
    return float(of_limit.clip(max=1.0).mean()) if of_limit.size else 0.0


def _told(signal: Signal, begin_ms: float, sampled: Sampled) -> Saturated:
    after_s = (begin_ms - sampled.start_ms) / 1000
    words = signal.words(begin_ms)
    evidence = words if after_s * 1000 <= TIE_MS else f"{words}, starting at {after_s:.0f} s"
    return Saturated(resource=signal.resource, component=signal.component, evidence=evidence)
