"""Sentences and a table of searches during writes: how searches and writes affect each other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from writepath.analysis import stats
from writepath.records.search import SearchMode
from writepath.records.search_load import DuringWrites
from writepath.report import load_ranks, rows
from writepath.report.capacity import (
    CapacityFigures,
    Suite,
    VariantFigures,
    about,
)
from writepath.report.data import RowKey
from writepath.report.model import Table, Value, cell, listed, number, short
from writepath.report.rows import Field, field

FINDS: dict[SearchMode, str] = {
    "substring": "Every post that contains a keyword",
    "native": "The posts that the store's own word search finds",
}


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A row's searches during writes, by block."""

    row: RowKey
    mode: str
    loads: tuple[DuringWrites, ...]


def _searched(data: Suite) -> tuple[Searched, ...]:
    """Of the rows that have such loads."""
    found = list[Searched]()
    for row in data.rows:
        searches = [cell.result.searches for cell in data.of(row) if cell.result and cell.result.searches]
        if loads := tuple(one.during_writes for one in searches if one.during_writes):
            found.append(Searched(row=row, mode=searches[0].data_set.mode, loads=loads))
    return tuple(found)


def answer(figures: CapacityFigures) -> Iterator[str]:
    """Who sustains most searches of each mode; bounds have no rank."""
    for mode, words in FINDS.items():
        found = [one for one in figures.variants if one.mode == mode]
        if found:
            yield f"{words}: {'; '.join(_ranked(figures, found))}."


def _ranked(figures: CapacityFigures, found: Sequence[VariantFigures]) -> Iterator[str]:
    measured = [one for one in found if one.sustained.measured]
    if bounds := [one for one in found if one not in measured]:
        yield f"not resolved for {_rates(bounds)}"
    if not measured:
        return
    best = measured[0]
    for one in measured:
        best = one if figures.compare(one.sustained, best.sustained) == "more" else best
    first = [one for one in measured if figures.compare(one.sustained, best.sustained) == "within noise"]
    yield f"highest measured rate with {_rates(first)}{' (no measurable difference)' if len(first) > 1 else ''}"
    if less := [one for one in measured if one not in first]:
        yield f"lower with {_rates(sorted(less, key=lambda one: -one.sustained.per_s))}"


def _rates(variants: Sequence[VariantFigures]) -> str:
    return listed(f"{one.row.title} ({about(one.sustained)})" for one in variants)


def findings(figures: CapacityFigures) -> Iterator[str]:
    """Half of each one's capacity for searches, while posts are written."""
    known = _searched(figures.data)
    if not known:
        return
    writes = max(load.write_rate_per_s for one in known for load in one.loads)
    met = [one for one in known if all(_within(load, figures.slo_ms) for load in one.loads)]
    results = (
        f"p99 {words} {number(figures.slo_ms)} ms: {listed(map(_median, some))}"
        for words, some in (("within", met), ("above", [one for one in known if one not in met]))
        if some
    )
    yield f"Searches at half of each path's maximum rate during {writes:g} writes/s, {'; '.join(results)}."


def _median(one: Searched) -> str:
    """The slowest block's."""
    medians = [load.search_latency_ms.median for load in one.loads]
    shown = "∞" if None in medians else f"{short(max(filter(None, medians)))} ms"
    return f"{one.row.title} (median {shown})"


def _within(load: DuringWrites, slo_ms: float) -> bool:
    """The p99; the median where so few searches carry no p99."""
    latency = load.search_latency_ms
    carries_p99 = stats.carries(int(load.search_rate_per_s * load.seconds), 0.99)
    value = latency.p99 if carries_p99 else latency.median
    return value is not None and value <= slo_ms


def _of(key: str, title: str, get: Callable[[DuringWrites], Value], unit: str = "") -> Field[Searched]:
    """Over all blocks."""
    return field(key, title, lambda one: cell(map(get, one.loads)), unit, exact=not unit)


def _rank(name: str, of: str) -> Callable[[DuringWrites], Value]:
    """of: whose latency."""

    def get(load: DuringWrites) -> Value:
        per_s = load.write_rate_per_s if of == "write" else load.search_rate_per_s
        return load_ranks.rank(getattr(load, f"{of}_latency_ms"), name, int(per_s * load.seconds))

    return get


def _slower_times(load: DuringWrites) -> float | None:
    alone, both = load.alone_latency_ms.p99, load.search_latency_ms.p99
    return both / alone if alone and both is not None else None


def _found_percent(load: DuringWrites) -> float | None:
    return 100 * load.writes_found / load.writes_acknowledged if load.writes_acknowledged else None


DURING: tuple[Field[Searched], ...] = (
    field("variant", "variant", lambda one: one.row.title),
    field("search_mode", "mode", lambda one: one.mode),
    _of("during_search_per_s", "searches", lambda load: load.search_rate_per_s, "1/s"),
    _of("during_write_per_s", "writes", lambda load: load.write_rate_per_s, "1/s"),
    _of("alone_median_ms", "search alone, median", _rank("median", "alone"), "ms"),
    _of("during_median_ms", "search with writes, median", _rank("median", "search"), "ms"),
    _of("alone_p99_ms", "search alone, p99", _rank("p99", "alone"), "ms"),
    _of("during_p99_ms", "search with writes, p99", _rank("p99", "search"), "ms"),
    _of("during_times", "p99 with writes ÷ alone", _slower_times, "×"),
    _of("during_write_p99_ms", "write, p99", _rank("p99", "write"), "ms"),
    _of("during_visible_median_ms", "searchable after, median", lambda load: load.visible_ms_median, "ms"),
    _of("during_visible_p95_ms", "searchable after, p95", lambda load: load.visible_ms_p95, "ms"),
    _of("during_acknowledged", "acknowledged", lambda load: load.writes_acknowledged),
    _of("during_found", "found of these", lambda load: load.writes_found),
    _of("during_found_percent", "found", _found_percent, "%"),
    _of("during_wrong", "wrong answers", lambda load: load.wrong_answers),
)


def during(data: Suite) -> Table | None:
    """Searches while posts are written, by the host on which they were measured; None where none were."""
    return rows.merged([(host, _during(_searched(own))) for host, own in data.by_host()])


def _during(known: Sequence[Searched]) -> Table | None:
    if not known:
        return None
    return rows.table(
        "during_writes",
        "Searching while writing",
        "The same rate of searches without writes and with writes. Times from the scheduled send time."
        " Searchable after: from sending the POST until a search found the post. Found of these: of the writes answered"
        " 201, by searches after the last refresh. Wrong: a total below the one before the load. Several blocks: median"
        " (lowest–highest).",
        DURING,
        known,
        names=2,
    )
