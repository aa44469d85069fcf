"""Which path for which search? Sentences for a busy engineer, each from figures and with the records behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath import stats
from writepath.report.capacity_card import about
from writepath.report.card import Card, Line, listed, short
from writepath.report.model import number
from writepath.report.queries_figures import pairs
from writepath.report.queries_stores import recall_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.report.capacity_figures import Capacity
    from writepath.report.queries_figures import Pair, QueriesFigures, VariantFigures
    from writepath.result.queries import Beside, SearchMode

FINDS: dict[SearchMode, str] = {
    "substring": "To find every text that holds a keyword",
    "native": "To find what the path's own words give",
}


def card(figures: QueriesFigures) -> Card:
    """Empty where nothing finished."""
    most = (_most(figures, mode) for mode in FINDS)
    lines = [
        *(line for line in most if line is not None),
        *(_pair(figures, pair) for pair in pairs(figures.variants) if _same_posts(figures, pair)),
        *_beside(figures),
        *_loading(figures),
    ]
    slo = number(figures.suite.slo_ms)
    return Card(
        title=f"Which path for which search, at p99 ≤ {slo} ms {figures.carried.here}?", lines=tuple(lines)
    )


def _most(figures: QueriesFigures, mode: SearchMode) -> Line | None:
    """Who carries most searches of a mode, and what is left of it with the others."""
    found = sorted(
        (
            (one, carried)
            for one in figures.variants
            if one.mode == mode and (carried := _carried(figures, one))
        ),
        key=lambda entry: -entry[1].per_s,
    )
    if not found:
        return None
    (_, most), *_ = found
    first = [entry for entry in found if entry[1] is most or figures.carried.tie(entry[1], most)]
    less = [entry for entry in found if entry not in first]
    words = f"{FINDS[mode]}: {_rates(first)}."
    if less:
        words += f" Less: {_rates(less)}."
    if mode == "native" and (recalls := _recalls(figures, [one for one, _ in found])):
        ends = dict.fromkeys(short(percent) for percent in (min(recalls), max(recalls)))
        words += f" They return {' to '.join(ends)} % of the posts that hold the keyword."
    return Line(text=words, folders=_folders(*(one for one, _ in found)), tie=len(first) > 1)


def _carried(figures: QueriesFigures, one: VariantFigures) -> Capacity | None:
    carried = figures.carried.one(one.variant.name)
    return None if carried is None else carried.sustained


def _rates(entries: Sequence[tuple[VariantFigures, Capacity]]) -> str:
    return listed(f"{one.label} ({about(carried)})" for one, carried in entries)


def _recalls(figures: QueriesFigures, variants: Sequence[VariantFigures]) -> list[float]:
    """In percent, of the rounds' keywords."""
    found = (hits for one in variants for keyword in figures.suite.keywords for hits in one.hits(keyword))
    return [percent for hits in found if (percent := recall_percent(hits)) is not None]


def _same_posts(figures: QueriesFigures, pair: Pair) -> bool:
    """Else they do not do the same work."""
    return bool(figures.twin_times) and all(
        {hits.found for hits in pair.variant.hits(keyword)}
        == {hits.found for hits in pair.base.hits(keyword)}
        for keyword in figures.suite.keywords
    )


def _pair(figures: QueriesFigures, pair: Pair) -> Line:
    """First pages of each keyword; a ratio that chance can make of the A/A twin as well is no difference."""
    low, high = figures.apart_beyond
    known = {
        keyword: ratio
        for keyword in figures.suite.keywords
        if (ratio := figures.ratio(pair.variant, pair.base, keyword, "first-page").ratio) is not None
    }
    differ = [keyword for keyword, ratio in known.items() if not low <= ratio <= high]
    alike = [keyword for keyword in known if keyword not in differ]
    words = f"{pair.variant.label} beside {pair.base.label}: "
    if differ:
        times = listed(f"{short(known[keyword])} ({keyword})" for keyword in differ)
        words += f"first pages take {times} times as long"
    if alike:
        words += f"{'; ' if differ else ''}no difference told apart for {listed(alike)}"
    return Line(text=f"{words}.", folders=_folders(pair.variant, pair.base), tie=not differ)


def _beside(figures: QueriesFigures) -> list[Line]:
    """Half of each one's capacity for searches, while posts are written."""
    known = [one for one in figures.variants if one.warm_beside]
    if not known:
        return []
    slo_ms, writes = (
        figures.suite.slo_ms,
        max(load.write_rate_per_s for one in known for load in one.warm_beside),
    )
    held = [one for one in known if all(_within(load, slo_ms) for load in one.warm_beside)]
    lost = [one for one in known if one not in held]
    said = [
        f"{words} {listed(map(_median, some))}"
        for words, some in ((f"within {number(slo_ms)} ms with", held), ("not with", lost))
        if some
    ]
    text = f"Half of its own rate beside {writes:g} writes/s: {'; '.join(said)}."
    return [Line(text=text, folders=_folders(*known))]


def _median(one: VariantFigures) -> str:
    """The slowest block's."""
    medians = [load.search_latency_ms.median for load in one.warm_beside]
    known = [median for median in medians if median is not None]
    return f"{one.label} (median {f'{short(max(known))} ms' if len(known) == len(medians) else '∞'})"


def _within(load: Beside, slo_ms: float) -> bool:
    """The p99; the median where so few searches carry no p99."""
    latency = load.search_latency_ms
    carries_p99 = stats.carries(int(load.search_rate_per_s * load.seconds), 0.99)
    value = latency.p99 if carries_p99 else latency.median
    return value is not None and value <= slo_ms


def _loading(figures: QueriesFigures) -> list[Line]:
    """The bulk path, its index included."""
    known = [(one, rate) for one in figures.variants if (rate := _loaded_per_s(one)) is not None]
    if len(known) < 2:  # noqa: PLR2004 - one alone is not the fastest of anything
        return []
    known.sort(key=lambda entry: -entry[1])
    (fast, most), (slow, least) = known[0], known[-1]
    text = (
        f"Loading in bulk, index and copies included: {fast.label} fastest with {short(most)} posts a second,"
        f" {slow.label} slowest with {short(least)}."
    )
    return [Line(text=text, folders=_folders(fast, slow))]


def _loaded_per_s(one: VariantFigures) -> float | None:
    """The median over its blocks."""
    loadings = [read.read.loading for read in one.reads if read.read.loading is not None]
    rates = stats.spread(
        loading.documents / (loading.seconds + (loading.build_seconds or 0.0) + loading.settle_seconds)
        for loading in loadings
    )
    return None if rates is None else rates.median


def _folders(*found: VariantFigures) -> tuple[str, ...]:
    return tuple(dict.fromkeys(read.folder for one in found for read in one.reads))
