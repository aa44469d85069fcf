"""Which write path for which rate? Sentences for a busy engineer, each from figures and with the runs behind it.

Paths whose 201 is sent before the row is in its final store have a footnote's mark: they do not guarantee the same.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from writepath.report.capacity_bounds import UNKNOWN, limits
from writepath.report.capacity_cost import cpu_s_by_block, passed_at
from writepath.report.capacity_figures import BISECTION, by_host, times
from writepath.report.capacity_tables import LATER, UNRESOLVED, resource_in_words
from writepath.report.card import Card, Line, listed, short
from writepath.report.model import number
from writepath.report.rows import DAGGER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from writepath.report.capacity_bounds import Capacity, Comparison
    from writepath.report.capacity_figures import CapacityFigures, VariantFigures
    from writepath.report.capacity_raw import CapacityData

THIS_HOST = "this host"
NO_DIFFERENCE = "No measurable difference"
AGAINST: dict[Comparison, str] = {
    "more": "Sustains more than",
    "within noise": f"{NO_DIFFERENCE} from",
    "less": "Sustains less than",
    "not resolved": "Not resolved against",
}


def cards(data: CapacityData) -> tuple[Card, ...]:
    """One summary per host."""
    known = by_host(data)
    return tuple(card(figures, host if len(known) > 1 else THIS_HOST) for host, figures in known)


def card(figures: CapacityFigures, host: str = THIS_HOST) -> Card:
    """Empty where no capacity run finished."""
    plain = figures.one(figures.suite.baseline)
    lines = [
        *([] if plain is None else _plain(plain)),
        *_compared(figures, plain, [one for one in figures.main if one is not plain]),
        *(_burst(figures, one) for one in figures.main if _bursts(figures, one)),
        *_cheapest(figures),
        *(_defaults(figures, one) for one in figures.variants if one.variant.tutorial_of),
        *_top(figures, host),
    ]
    percent = short(100 * figures.resolution)
    notes = {
        DAGGER: LATER,
        NO_DIFFERENCE: f"{NO_DIFFERENCE}: neither path is ahead by more than {percent} % in every block.",
        AGAINST["not resolved"]: UNRESOLVED,
    }
    return Card(
        title=f"Summary: maximum sustainable write rate at p99 ≤ {number(figures.suite.slo_ms)} ms on {host}",
        lines=tuple(lines),
        notes=tuple(note for words, note in notes.items() if any(_says(line.text, words) for line in lines)),
    )


def _says(text: str, words: str) -> bool:
    return words.lower() in text.lower()


def _plain(plain: VariantFigures) -> Iterator[Line]:
    """The baseline, which needs the fewest parts."""
    known = plain.sustained
    words = f"{plain.label} (baseline): {about(known)}"
    low, high = known.limits
    if low == high:
        words += "."
        if plain.p99_at_last_pass is not None and plain.limited.first is not None:
            late = short(plain.p99_at_last_pass.median)
            bottleneck = resource_in_words(plain.limited.first)
            words += f" p99 at this rate: {late} ms; bottleneck above it: {bottleneck}."
    elif any(one.at_least and one.first_fail_per_s is not None for one in known.by_block.values()):
        words += "; the load generator may have been the limit."
    else:
        words += "; no higher rate failed." if low else "; the lowest rate tried failed."
    yield Line(text=words, folders=plain.folders)


def _compared(
    figures: CapacityFigures, plain: VariantFigures | None, others: Sequence[VariantFigures]
) -> Iterator[Line]:
    """The other paths against the baseline, one sentence per result."""
    if plain is None:
        if others:
            yield Line(
                text=f"Not compared, for want of a baseline: {rates(others)}.", folders=_folders(*others)
            )
        return
    for result, words in AGAINST.items():
        own = [one for one in others if figures.compare(one.sustained, plain.sustained) == result]
        if own:
            yield Line(text=f"{words} {plain.label}: {rates(own)}.", folders=_folders(plain, *own))


def rates(variants: Sequence[VariantFigures]) -> str:
    """`A (~2,300/s) and B (at least 1,900/s)`."""
    return listed(f"{one.label} ({about(one.sustained)})" for one in variants)


def _bursts(figures: CapacityFigures, one: VariantFigures) -> bool:
    """Whether in every block it answers more than it stores, by what noise does not explain."""
    known = [limits(bracket) for bracket in one.sustained.by_block.values()]
    apart = 1 + figures.resolution
    return all(
        low == high and burst > apart * low
        for (low, high), burst in zip(known, one.burst.passed.values(), strict=True)
    )


def _burst(figures: CapacityFigures, queue: VariantFigures) -> Line:
    """How late the last row of a burst is stored."""
    waits = [
        seconds
        for found in queue.searches
        for hold in found.counted
        if hold.verdict == "fail" and hold.burst and hold.backlog is not None
        and found.search.burst is not None and hold.rate_per_s == found.search.burst.last_pass_per_s
        and (seconds := hold.drain_seconds if hold.drain_seconds is not None else hold.backlog.work_seconds)
        is not None
    ]  # fmt: skip
    words = f"{queue.label}, in bursts of {figures.suite.hold_seconds:g} s: {about(queue.burst)}. The backlog grows"
    if waits:
        words += f"; the last row is stored {short(statistics.median(waits))} s after the burst"
    return Line(text=f"{words}.", folders=queue.folders)


def _cheapest(figures: CapacityFigures) -> Iterator[Line]:
    """At the highest rate that most variants passed."""
    rated = [
        (per_s, [one for one in figures.main if all(passed_at(one, per_s))])
        for per_s in sorted(figures.common_rates_per_s, reverse=True)
    ]
    if not rated:
        return
    per_s, passed = max(rated, key=lambda entry: len(entry[1]))
    known = [(used, one) for one in passed if (used := cpu_s_by_block(one, per_s))]
    if len(known) < 2:  # noqa: PLR2004 - one alone is not the cheapest of anything
        return
    known.sort(key=lambda entry: statistics.median(entry[0].values()))
    low, high = known[0][0], known[-1]
    alike = [one for used, one in known if not _costs_more(used, low)]
    first = listed(one.label for one in alike)
    if len(alike) > 1:
        first += " (no measurable difference)"
    text = (
        f"Lowest CPU time per 1,000 stored writes at {number(per_s)}/s: {first},"
        f" {short(statistics.median(low.values()))} s; highest: {high[1].label},"
        f" {short(statistics.median(high[0].values()))} s."
    )
    yield Line(text=text, folders=_folders(*(one for _, one in known)))


def _costs_more(used: Mapping[int, float], low: Mapping[int, float]) -> bool:
    """In every block, and by more than a twentieth."""
    by_block = [used[block] / low[block] for block in used.keys() & low.keys()]
    return bool(by_block) and min(by_block) > 1 and statistics.geometric_mean(by_block) > 1 + BISECTION


def _defaults(figures: CapacityFigures, one: VariantFigures) -> Line:
    """A path with Spring Boot defaults, against the tuned one."""
    of = figures.one(one.variant.tutorial_of or "")
    if of is None:
        return Line(text=f"{one.label}: {about(one.sustained)}.", folders=one.folders)
    result = figures.compare(one.sustained, of.sustained)
    words = f"{AGAINST[result][0].lower()}{AGAINST[result][1:]} {of.label}"
    ratio = times(one.sustained, of.sustained).ratio
    if result in ("more", "less") and ratio is not None:
        words = f"{short(ratio)} × {of.label}"
    less = ""
    if one.level > of.level:
        less = f" Its 201 guarantees less: durability class {one.level}, not {of.level}."
    return Line(text=f"{one.label}: {about(one.sustained)}; {words}.{less}", folders=_folders(one, of))


def _top(figures: CapacityFigures, host: str) -> Iterator[Line]:
    """What is known above the highest rate of any run, the A/A control's included."""
    runs = [
        (limits(bracket), one)
        for one in figures.data.searches
        if (bracket := one.search.sustained) is not None
    ]
    (top, _), highest = max(runs, key=lambda run: run[0][0], default=((0.0, 0.0), None))
    if highest is None or not top:
        return
    above = sum(high > top for (_, high), _ in runs)
    known = f"no path sustained it on {host}"
    if above:
        known = f"{UNKNOWN}; {above} of {len(runs)} capacity runs did not find an upper limit"
    yield Line(text=f"Above {'' if above else '~'}{_two_digits(top)}/s: {known}.", folders=(highest.folder,))


def about(capacity: Capacity) -> str:
    """`~2,300/s`, `at least 2,300/s`, `below 200/s`; two digits, rounded down, as a run ends at 5 %."""
    low, high = capacity.limits
    if low:
        words = f"{'~' if low == high else 'at least '}{_two_digits(low)}/s"
    else:
        words = UNKNOWN if high == math.inf else f"below {number(high)}/s"
    blocks = len(capacity.by_block)
    if unsure := capacity.inconclusive:
        words += f", inconclusive in {unsure} of {blocks} block{'s' if blocks > 1 else ''}"
    return words


def _two_digits(per_s: float) -> str:
    """Rounded down."""
    unit = 10.0 ** (math.floor(math.log10(per_s)) - 1)
    return f"{math.floor(per_s / unit) * unit:,.0f}"


def _folders(*found: VariantFigures) -> tuple[str, ...]:
    return tuple(folder for one in found for folder in one.folders)
