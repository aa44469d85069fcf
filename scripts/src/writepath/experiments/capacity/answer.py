"""Sentences that a capacity suite's page opens with, each from figures of one host.

Paths whose 201 is sent before the row is in its final store have a dagger: they do not guarantee the same.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from writepath.report.capacity.bounds import Comparison
from writepath.report.capacity.figures import (
    BISECTION,
    CapacityFigures,
    VariantFigures,
    about,
    cpu_s,
    per_1000,
    resource_in_words,
    times,
)
from writepath.report.model import listed, number, short

NO_DIFFERENCE = "No measurable difference"
AGAINST: dict[Comparison, str] = {
    "more": "Sustains more than",
    "within noise": f"{NO_DIFFERENCE} from",
    "less": "Sustains less than",
    "not resolved": "Not resolved against",
}


def answer(figures: CapacityFigures) -> Iterator[str]:
    """The baseline, and the other paths against it."""
    base = figures.base
    others = [one for one in figures.main if one is not base]
    if base is None:
        if others:
            yield f"Not compared, for want of a baseline: {_rates(others)}."
        return
    yield _baseline(base)
    for result, words in AGAINST.items():
        own = [one for one in others if figures.compare(one.sustained, base.sustained) == result]
        if own:
            yield f"{words} {base.label}: {_rates(own)}."


def findings(figures: CapacityFigures) -> Iterator[str]:
    """What else is known: bursts, cost, defaults."""
    yield from (_burst(figures, one) for one in figures.main if _bursts(figures, one))
    yield from _cheapest(figures)
    yield from (_defaults(figures, one) for one in figures.variants if one.variant.tutorial_of)


def _baseline(base: VariantFigures) -> str:
    known = base.sustained
    words = f"{base.label} (baseline): {about(known)}"
    low, high = known.limits
    if low == high:
        late, first = base.p99_at(), base.limited(burst=False).first
        if late is None or first is None:
            return f"{words}."
        return f"{words}. p99 at this rate: {short(late.median)} ms; bottleneck above it: {resource_in_words(first)}."
    if any(one.lower_bound and one.lowest_failing_per_s is not None for one in known.by_block.values()):
        return f"{words}; the load generator may have been the limit."
    return f"{words}; {'no higher rate failed' if low else 'the lowest rate tried failed'}."


def _rates(variants: Sequence[VariantFigures]) -> str:
    """`A (~2,300/s) and B (at least 1,900/s)`."""
    return listed(f"{one.label} ({about(one.sustained)})" for one in variants)


def _bursts(figures: CapacityFigures, one: VariantFigures) -> bool:
    """Whether in every block it answers more than it stores, by what noise does not explain."""
    pairs = zip(one.sustained.passed.values(), one.burst.passed.values(), strict=True)
    return one.sustained.measured and all(burst > (1 + figures.resolution) * low for low, burst in pairs)


def _burst(figures: CapacityFigures, queue: VariantFigures) -> str:
    """How late the last row of a burst is stored."""
    waits = [
        seconds
        for run in queue.runs.values()
        for step in run.steps
        if step.counted and step.verdict == "fail" and step.burst and step.backlog is not None
        and step.rate_per_s == run.burst.highest_passing_per_s
        and (seconds := step.drain_seconds if step.drain_seconds is not None else step.backlog.work_seconds)
        is not None
    ]  # fmt: skip
    words = f"{queue.label}, in bursts of {figures.step_seconds:g} s: {about(queue.burst)}. The backlog grows"
    if waits:
        words += f"; the last row is stored {short(statistics.median(waits))} s after the burst"
    return f"{words}."


def _cheapest(figures: CapacityFigures) -> Iterator[str]:
    """At the highest rate that most variants passed."""
    rated = [
        (per_s, [one for one in figures.main if all(one.passed_at(per_s).values())])
        for per_s in sorted(figures.common_rates_per_s, reverse=True)
    ]
    if not rated:
        return
    per_s, passed = max(rated, key=lambda entry: len(entry[1]))
    known = [(used, one) for one in passed if (used := per_1000(one.passed_at(per_s), cpu_s))]
    if len(known) < 2:  # noqa: PLR2004 - one alone is not the cheapest of anything
        return
    known.sort(key=lambda entry: statistics.median(entry[0].values()))
    (low, _), (high, most_expensive) = known[0], known[-1]
    alike = [one for used, one in known if not _costs_more(used, low)]
    first = listed(one.label for one in alike) + (" (no measurable difference)" if len(alike) > 1 else "")
    yield (
        f"Lowest CPU time per 1,000 stored writes at {number(per_s)}/s: {first},"
        f" {short(statistics.median(low.values()))} s; highest: {most_expensive.label},"
        f" {short(statistics.median(high.values()))} s."
    )


def _costs_more(used: Mapping[int, float], low: Mapping[int, float]) -> bool:
    """In every block, and by more than a twentieth."""
    ratios = [used[block] / low[block] for block in used.keys() & low.keys()]
    return bool(ratios) and min(ratios) > 1 and statistics.geometric_mean(ratios) > 1 + BISECTION


def _defaults(figures: CapacityFigures, one: VariantFigures) -> str:
    """A path with Spring Boot defaults, against the tuned one."""
    of = figures.one(one.variant.tutorial_of or "")
    if of is None:
        return f"{one.label}: {about(one.sustained)}."
    result = figures.compare(one.sustained, of.sustained)
    words = f"{AGAINST[result][0].lower()}{AGAINST[result][1:]} {of.label}"
    if result in ("more", "less") and (ratio := times(one.sustained, of.sustained).ratio) is not None:
        words = f"{short(ratio)} × {of.label}"
    less = f" Its 201 guarantees less: durability class {one.level}, not {of.level}."
    return f"{one.label}: {about(one.sustained)}; {words}.{less if one.level > of.level else ''}"
