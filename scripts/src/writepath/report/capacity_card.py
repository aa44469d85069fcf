"""Which write path for which rate? Sentences for a busy engineer, each from figures and with the searches behind it.

Only paths of the same promise are compared without a footnote: a queue path's 201 comes before its row is stored.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from writepath.report.capacity_cost import cpu_s_by_block, passed_at
from writepath.report.capacity_figures import BISECTION, times
from writepath.report.capacity_tables import LATER, resource_in_words
from writepath.report.card import Card, Line, listed, short
from writepath.report.model import number
from writepath.report.rows import AGAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from writepath.report.capacity_figures import Capacity, CapacityFigures, VariantFigures
    from writepath.report.capacity_raw import Found


def card(figures: CapacityFigures) -> Card:
    """Empty where nothing was searched."""
    direct = _by_capacity(one for one in figures.main if not one.later)
    queues = _by_capacity(one for one in figures.main if one.later)
    plain = figures.one(figures.suite.baseline)
    lines: list[Line] = []
    if plain is not None:
        lines.append(_plain(plain))
        lines += _beyond_plain(figures, plain, direct)
    for queue in queues:
        lines.append(_queue(figures, queue, _best(figures, plain, direct)))
    if (cheap := _cheapest(figures)) is not None:
        lines.append(cheap)
    lines += [_twin(figures, one) for one in figures.variants if one.variant.tutorial_of]
    if (top := _top(figures)) is not None:
        lines.append(top)
    notes = ((LATER,) if queues else ()) + (_resolution(figures),)
    slo = number(figures.suite.slo_ms)
    title = f"Which write path, at p99 ≤ {slo} ms {figures.here}?"
    return Card(title=title, lines=tuple(lines), notes=notes)


def _by_capacity(found: Iterable[VariantFigures]) -> list[VariantFigures]:
    return sorted(found, key=lambda one: (-one.sustained.per_s, one.variant.name))


def _plain(plain: VariantFigures) -> Line:
    """The baseline, which needs the fewest parts."""
    name, capacity = plain.label, plain.sustained
    if not capacity.per_s:
        return Line(text=f"{name} carried none of the rates tried at this SLO.", folders=plain.folders)
    words = f"{'Up to' if capacity.at_least else 'Below'} {about(capacity)}: {name}, the plain path."
    if plain.p99_at_last_pass is not None and plain.limited.first is not None:
        late = short(plain.p99_at_last_pass.median)
        words += f" At its limit: p99 {late} ms; beyond, limited by {resource_in_words(plain.limited.first)}."
    return Line(text=words, folders=plain.folders)


def _beyond_plain(
    figures: CapacityFigures, plain: VariantFigures, direct: Sequence[VariantFigures]
) -> list[Line]:
    """The other paths whose 201 is with the store."""
    others = [one for one in direct if one is not plain]
    if plain.later or not others:
        return []
    ties = [one for one in others if figures.tie(one.sustained, plain.sustained)]
    more = [one for one in others if one not in ties and one.sustained.per_s > plain.sustained.per_s]
    less = [one for one in others if one not in ties and one not in more]
    lines = []
    if ties:
        names = listed(f"{one.label} ({about(one.sustained)})" for one in ties)
        lines.append(
            Line(
                text=f"A tie with {plain.label}: {names}. Capacity does not decide between them.",
                folders=_folders(plain, *ties),
                tie=True,
            )
        )
    if more:
        names = listed(f"{one.label} up to {about(one.sustained)}" for one in more)
        text = f"Above, if the row must be stored when the 201 comes: {names}."
        lines.append(Line(text=text, folders=_folders(*more)))
    if less:
        names = listed(f"{one.label} ({about(one.sustained)})" for one in less)
        lines.append(Line(text=f"Less than {plain.label}: {names}.", folders=_folders(plain, *less)))
    return lines


def _best(
    figures: CapacityFigures, plain: VariantFigures | None, direct: Sequence[VariantFigures]
) -> VariantFigures | None:
    """Of the paths whose 201 is with the store the one that carries most; the plain one where that is a tie."""
    if plain in direct and plain is not None and figures.tie(plain.sustained, direct[0].sustained):
        return plain
    return direct[0] if direct else None


def _queue(figures: CapacityFigures, queue: VariantFigures, best: VariantFigures | None) -> Line:
    """Against the best path whose 201 is with the store; the footnote says that the promises differ."""
    name = queue.label
    folders = _folders(queue, *([best] if best else []))
    words, tie = "", False
    if not queue.burst.per_s:
        return Line(text=f"{name} carried none of the rates tried at this SLO.", folders=folders)
    if best is None or not best.sustained.per_s:
        words = f"{name}: up to {about(queue.sustained)} for any length of time."
    elif figures.tie(queue.sustained, best.sustained):
        words, tie = f"{name}: stores as much as {best.label}, a tie ({about(queue.sustained)}).", True
    elif queue.sustained.per_s > best.sustained.per_s:
        words = (
            f"Above {about(best.sustained)}: {name}, up to {about(queue.sustained)} for any length of time."
        )
    else:
        words = f"{name}: stores less than {best.label} ({about(queue.sustained)})."
    if not figures.tie(queue.burst, queue.sustained) and queue.burst.per_s > queue.sustained.per_s:
        words += f" {_burst(figures, queue)}"
    return Line(text=words, folders=folders, tie=tie)


def _burst(figures: CapacityFigures, queue: VariantFigures) -> str:
    """How late the last write of a burst is stored."""
    waits = [
        seconds
        for found in queue.searches
        for hold in found.counted
        if hold.verdict == "fail" and hold.burst and hold.backlog is not None
        and found.search.burst is not None and hold.rate_per_s == found.search.burst.last_pass_per_s
        and (seconds := hold.drain_seconds if hold.drain_seconds is not None else hold.backlog.work_seconds)
        is not None
    ]  # fmt: skip
    held = f"{figures.suite.hold_seconds:g}"
    words = f"Bursts up to {about(queue.burst)}"
    if not waits:
        return f"{words}, if delay is acceptable: the backlog grows all the while."
    late = short(statistics.median(waits))
    return (
        f"{words}, if {late} s of delay are acceptable after {held} s of it:"
        " the backlog grows all the while, so it is no rate to stay at."
    )


def _cheapest(figures: CapacityFigures) -> Line | None:
    """At the highest rate that most variants held; a tie with those that are not dearer in every block."""
    rated = [
        (per_s, [one for one in figures.main if all(passed_at(one, per_s))])
        for per_s in sorted(figures.common_rates_per_s, reverse=True)
    ]
    if not rated:
        return None
    per_s, held = max(rated, key=lambda entry: len(entry[1]))
    known = [(used, one) for one in held if (used := cpu_s_by_block(one, per_s))]
    if len(known) < 2:  # noqa: PLR2004 - one alone is not the cheapest of anything
        return None
    known.sort(key=lambda entry: statistics.median(entry[0].values()))
    low, high = known[0][0], known[-1]
    ties = [one for used, one in known if not _dearer(used, low)]
    first = listed(one.label for one in ties)
    text = (
        f"Cheapest at {number(per_s)}/s: {first}{', a tie,' if len(ties) > 1 else ''} with"
        f" {short(statistics.median(low.values()))} CPU seconds per 1,000 stored writes; dearest: {high[1].label} with"
        f" {short(statistics.median(high[0].values()))}."
    )
    return Line(text=text, folders=_folders(*(one for _, one in known)), tie=len(ties) > 1)


def _dearer(used: Mapping[int, float], low: Mapping[int, float]) -> bool:
    """In every block, and by more than a twentieth."""
    by_block = [used[block] / low[block] for block in used.keys() & low.keys()]
    return bool(by_block) and min(by_block) > 1 and statistics.geometric_mean(by_block) > 1 + BISECTION


def _twin(figures: CapacityFigures, twin: VariantFigures) -> Line:
    """A path as tutorials have it, beside the one it should be."""
    of = figures.one(twin.variant.tutorial_of or "")
    if of is None or not of.sustained.per_s:
        return Line(text=f"{twin.label}: {about(twin.sustained)}.", folders=twin.folders)
    tie = figures.tie(twin.sustained, of.sustained)
    carried = times(twin.sustained, of.sustained).ratio
    if carried is None:  # where nothing passed in one block and something in another
        carried = twin.sustained.per_s / of.sustained.per_s
    words = f"a tie with {of.label}" if tie else f"{short(carried)} times what {of.label} carries"
    less = f" Its 201 promises less: class {twin.level}, not {of.level}." if twin.level > of.level else ""
    text = f"{twin.label}: {about(twin.sustained)}, {words}.{less}"
    return Line(text=text, folders=_folders(twin, of), tie=tie)


def _top(figures: CapacityFigures) -> Line | None:
    """Where the card ends: at the highest rate of any one search, the A/A twin's too."""
    carried = [
        (per_s, bracket.at_least, one)
        for one in figures.data.searches
        if (bracket := one.search.sustained) is not None and (per_s := bracket.last_pass_per_s)
    ]
    if not carried:
        return None
    per_s, at_least, top = max(carried, key=lambda entry: entry[0])
    known = f"no path was seen to carry it for any length of time {figures.here}"
    if at_least:
        known = f"not known; generator or host ended the search of {_label(figures, top)}"
    return Line(
        text=f"Above {'' if at_least else '~'}{_two_digits(per_s)}/s: {known}.", folders=(top.folder,)
    )


def _label(figures: CapacityFigures, found: Found) -> str:
    """Of one search; with the footnote's mark where its variant has one."""
    variant = figures.one(found.search.variant)
    name = found.search.title if variant is None else variant.label
    return f"{name}{AGAIN}" if found.search.again else name


def _resolution(figures: CapacityFigures) -> str:
    percent = short(100 * figures.resolution)
    if not figures.twin_ratios:
        return f"No A/A twin: capacities closer than {percent} % are called a tie."
    return f"A tie: not in every block does the same one carry more by {percent} %, the least told apart here (A/A)."


def about(capacity: Capacity) -> str:
    """`~2,300/s`: two digits, rounded down, for a search ends at 5 %; `at least` where it may be more."""
    value = capacity.per_s
    if not value:
        return "none of the rates tried"
    return f"{'at least ' if capacity.at_least else '~'}{_two_digits(value)}/s"


def _two_digits(per_s: float) -> str:
    """Rounded down."""
    unit = 10.0 ** (math.floor(math.log10(per_s)) - 1)
    return f"{math.floor(per_s / unit) * unit:,.0f}"


def _folders(*found: VariantFigures) -> tuple[str, ...]:
    return tuple(folder for one in found for folder in one.folders)
