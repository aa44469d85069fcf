"""Which path for which search? Sentences for a busy engineer, each from figures and with the records behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.report.capacity_bounds import limits
from writepath.report.capacity_card import NO_DIFFERENCE, THIS_HOST, about
from writepath.report.card import Card, Line, listed, short
from writepath.report.model import number
from writepath.report.queries_figures import by_host, pairs
from writepath.report.queries_stores import recall_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.records.queries import Beside, SearchMode
    from writepath.report.capacity_bounds import Capacity
    from writepath.report.queries_figures import Pair, QueriesFigures, VariantFigures

FINDS: dict[SearchMode, str] = {
    "substring": "Every post that contains a keyword",
    "native": "The posts that the store's own word search finds",
}


def cards(figures: QueriesFigures) -> tuple[Card, ...]:
    """One summary per host."""
    known = by_host(figures)
    return tuple(card(own, host if len(known) > 1 else THIS_HOST) for host, own in known)


def card(figures: QueriesFigures, host: str = THIS_HOST) -> Card:
    """Empty where nothing finished."""
    lines = [
        *(line for mode in FINDS for line in _most(figures, mode)),
        *(_pair(figures, pair) for pair in pairs(figures.variants) if _same_posts(figures, pair)),
        *_beside(figures),
        *_loading(figures),
    ]
    slo = number(figures.suite.slo_ms)
    return Card(title=f"Summary: keyword search at p99 ≤ {slo} ms on {host}", lines=tuple(lines))


def _most(figures: QueriesFigures, mode: SearchMode) -> Iterator[Line]:
    """Who sustains most searches of a mode; bounds have no rank."""
    found = [
        (one, carried)
        for one in figures.variants
        if one.mode == mode and (carried := _carried(figures, one)) is not None
    ]
    if not found:
        return
    ranked = [entry for entry in found if _measured(entry[1])]
    bounds = [entry for entry in found if entry not in ranked]
    words = []
    if bounds:
        words.append(f"not resolved for {_rates(bounds)}")
    if ranked:
        best = ranked[0]
        for entry in ranked:
            if figures.carried.compare(entry[1], best[1]) == "more":
                best = entry
        first = [one for one in ranked if figures.carried.compare(one[1], best[1]) == "within noise"]
        less = sorted((one for one in ranked if one not in first), key=lambda entry: -entry[1].per_s)
        alike = " (no measurable difference)" if len(first) > 1 else ""
        words.append(f"highest measured rate with {_rates(first)}{alike}")
        if less:
            words.append(f"lower with {_rates(less)}")
    text = f"{FINDS[mode]}: {'; '.join(words)}."
    if mode == "native" and (recalls := _recalls(figures, [one for one, _ in found])):
        ends = dict.fromkeys(short(percent) for percent in (min(recalls), max(recalls)))
        text += f" They return {' to '.join(ends)} % of the posts that contain the keyword."
    yield Line(text=text, folders=_folders(*(one for one, _ in found)))


def _measured(carried: Capacity) -> bool:
    return all(low == high for low, high in map(limits, carried.by_block.values()))


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
    """First pages of each keyword; a ratio that the A/A control shows as well is no difference."""
    low, high = figures.apart_beyond
    known = {
        keyword: ratio
        for keyword in figures.suite.keywords
        if (ratio := figures.ratio(pair.variant, pair.base, keyword, "first-page").ratio) is not None
    }
    differ = [keyword for keyword, ratio in known.items() if not low <= ratio <= high]
    alike = [keyword for keyword in known if keyword not in differ]
    words = []
    if differ:
        times = listed(f"{short(known[keyword])} ({keyword})" for keyword in differ)
        words.append(f"first pages take {times} times as long")
    if alike:
        words.append(f"{NO_DIFFERENCE.lower()} for {listed(alike)}")
    text = f"{pair.variant.label} compared with {pair.base.label}: {'; '.join(words)}."
    return Line(text=text, folders=_folders(pair.variant, pair.base))


def _beside(figures: QueriesFigures) -> Iterator[Line]:
    """Half of each one's capacity for searches, while posts are written."""
    known = [one for one in figures.variants if one.warm_beside]
    if not known:
        return
    slo_ms = figures.suite.slo_ms
    writes = max(load.write_rate_per_s for one in known for load in one.warm_beside)
    met = [one for one in known if all(_within(load, slo_ms) for load in one.warm_beside)]
    missed = [one for one in known if one not in met]
    results = [
        f"p99 {words} {number(slo_ms)} ms: {listed(map(_median, some))}"
        for words, some in (("within", met), ("above", missed))
        if some
    ]
    text = f"Searches at half of each path's maximum rate during {writes:g} writes/s, {'; '.join(results)}."
    yield Line(text=text, folders=_folders(*known))


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


def _loading(figures: QueriesFigures) -> Iterator[Line]:
    """The bulk path, its index included."""
    known = [(one, rate) for one in figures.variants if (rate := _loaded_per_s(one)) is not None]
    if len(known) < 2:  # noqa: PLR2004 - one alone is not the fastest of anything
        return
    known.sort(key=lambda entry: -entry[1])
    (fast, most), (slow, least) = known[0], known[-1]
    text = (
        f"Bulk load with index and copies: fastest {fast.label} with {short(most)} posts/s,"
        f" slowest {slow.label} with {short(least)} posts/s."
    )
    yield Line(text=text, folders=_folders(fast, slow))


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
