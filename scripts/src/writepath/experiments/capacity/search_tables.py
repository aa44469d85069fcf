"""Sentences and a table of searches during writes: how searches and writes affect each other."""

from collections.abc import Callable, Iterator, Sequence

from writepath.analysis import stats
from writepath.records.measures import Latency
from writepath.records.search import SearchMode
from writepath.records.search_load import DuringWrites
from writepath.report import rows
from writepath.report.capacity.bounds import limits
from writepath.report.capacity.figures import (
    CapacityFigures,
    Searched,
    Suite,
    VariantFigures,
    about,
    during_writes,
)
from writepath.report.model import Cell, Column, Row, Table, Value, cell, listed, number, short, text
from writepath.report.rows import VARIANT

FINDS: dict[SearchMode, str] = {
    "substring": "Every post that contains a keyword",
    "native": "The posts that the store's own word search finds",
}
COLUMNS = (
    VARIANT,
    Column(key="search_mode", title="mode"),
    Column(key="during_search_per_s", title="searches", unit="1/s"),
    Column(key="during_write_per_s", title="writes", unit="1/s"),
    Column(key="alone_median_ms", title="search alone, median", unit="ms"),
    Column(key="during_median_ms", title="search with writes, median", unit="ms"),
    Column(key="alone_p99_ms", title="search alone, p99", unit="ms"),
    Column(key="during_p99_ms", title="search with writes, p99", unit="ms"),
    Column(key="during_times", title="p99 with writes ÷ alone", unit="×"),
    Column(key="during_write_p99_ms", title="write, p99", unit="ms"),
    Column(key="during_visible_median_ms", title="searchable after, median", unit="ms"),
    Column(key="during_visible_p95_ms", title="searchable after, p95", unit="ms"),
    Column(key="during_acknowledged", title="acknowledged", exact=True),
    Column(key="during_found", title="found of these", exact=True),
    Column(key="during_found_percent", title="found", unit="%"),
    Column(key="during_wrong", title="wrong answers", exact=True),
)
COLD = (
    "Times of blocks measured without a warm-up of both loads together are not shown: service and store had not"
    " written yet."
)


def answer(figures: CapacityFigures) -> Iterator[str]:
    """Who sustains most searches of each mode; bounds have no rank."""
    for mode, words in FINDS.items():
        found = [one for one in figures.variants if one.mode == mode]
        if found:
            yield f"{words}: {'; '.join(_ranked(figures, found))}."


def _ranked(figures: CapacityFigures, found: Sequence[VariantFigures]) -> Iterator[str]:
    measured = [
        one for one in found if all(low == high for low, high in map(limits, one.sustained.by_block.values()))
    ]
    if bounds := [one for one in found if one not in measured]:
        yield f"not resolved for {_rates(bounds)}"
    if not measured:
        return
    best = measured[0]
    for one in measured:
        if figures.compare(one.sustained, best.sustained) == "more":
            best = one
    first = [one for one in measured if figures.compare(one.sustained, best.sustained) == "within noise"]
    yield f"highest measured rate with {_rates(first)}{' (no measurable difference)' if len(first) > 1 else ''}"
    less = [one for one in measured if one not in first]
    if less:
        yield f"lower with {_rates(sorted(less, key=lambda one: -one.sustained.per_s))}"


def _rates(variants: Sequence[VariantFigures]) -> str:
    return listed(f"{one.row.title} ({about(one.sustained)})" for one in variants)


def findings(figures: CapacityFigures) -> Iterator[str]:
    """Half of each one's capacity for searches, while posts are written."""
    known = [one for one in during_writes(figures.data)[0][1] if one.warm]
    if not known:
        return
    writes = max(load.write_rate_per_s for one in known for load in one.warm)
    met = [one for one in known if all(_within(load, figures.slo_ms) for load in one.warm)]
    results = (
        f"p99 {words} {number(figures.slo_ms)} ms: {listed(map(_median, some))}"
        for words, some in (("within", met), ("above", [one for one in known if one not in met]))
        if some
    )
    yield (f"Searches at half of each path's maximum rate during {writes:g} writes/s, {'; '.join(results)}.")


def _median(one: Searched) -> str:
    """The slowest block's."""
    medians = [load.search_latency_ms.median for load in one.warm]
    known = [median for median in medians if median is not None]
    return f"{one.row.title} (median {f'{short(max(known))} ms' if len(known) == len(medians) else '∞'})"


def _within(load: DuringWrites, slo_ms: float) -> bool:
    """The p99; the median where so few searches carry no p99."""
    latency = load.search_latency_ms
    carries_p99 = stats.carries(int(load.search_rate_per_s * load.seconds), 0.99)
    value = latency.p99 if carries_p99 else latency.median
    return value is not None and value <= slo_ms


def during(data: Suite) -> Table | None:
    """Searches while posts are written, by the host on which they were measured; None where none were."""
    return rows.merged([(host, _table(known)) for host, known in during_writes(data)])


def _table(known: Sequence[Searched]) -> Table | None:
    if not known:
        return None
    cold = any(not load.warm for one in known for load in one.loads)
    reruns = (
        f"{one.row.title}: rerun alone, because the host had been noisy."
        for one in known
        if any(load.rerun_host is not None for load in one.loads)
    )
    return Table(
        key="during_writes",
        title="Searching while writing",
        caption="The same rate of searches without writes and with writes. Times from the scheduled send time."
        " Searchable after: from sending the POST until a search found the post. Found of these: of the writes answered"
        " 201, by searches after the last refresh. Wrong: a total below the one before the load. Several blocks: median"
        " (lowest–highest).",
        columns=COLUMNS,
        rows=tuple(Row(cells=(text(one.row.title), text(one.mode), *_cells(one))) for one in known),
        notes=(*((COLD,) if cold else ()), *reruns),
        names=2,
    )


def _cells(one: Searched) -> tuple[Cell, ...]:
    def times(get: Callable[[DuringWrites], Value]) -> Cell:
        return cell(map(get, one.warm))

    def of(get: Callable[[DuringWrites], Value]) -> Cell:
        return cell(map(get, one.loads))

    def rank(name: str, latency: Callable[[DuringWrites], Latency]) -> Cell:
        return times(lambda load: _rank(name, latency(load), load.search_rate_per_s * load.seconds))

    return (
        of(lambda load: load.search_rate_per_s),
        of(lambda load: load.write_rate_per_s),
        rank("median", lambda load: load.alone_latency_ms),
        rank("median", lambda load: load.search_latency_ms),
        rank("p99", lambda load: load.alone_latency_ms),
        rank("p99", lambda load: load.search_latency_ms),
        times(_slower_times),
        times(lambda load: _rank("p99", load.write_latency_ms, load.write_rate_per_s * load.seconds)),
        times(lambda load: load.visible_ms_median),
        times(lambda load: load.visible_ms_p95),
        of(lambda load: load.writes_acknowledged),
        of(lambda load: load.writes_found),
        of(_found_percent),
        of(lambda load: load.wrong_answers),
    )


def _rank(name: str, latency: Latency, planned: float) -> Value:
    """Infinite where the sample could carry the rank and it falls on a request that was not answered."""
    value: float | None = getattr(latency, name)
    carried = stats.carries(int(planned), {"median": 0.5, "p99": 0.99}[name])
    return stats.UNSERVED if value is None and carried else value


def _slower_times(load: DuringWrites) -> float | None:
    alone, both = load.alone_latency_ms.p99, load.search_latency_ms.p99
    return both / alone if alone and both is not None else None


def _found_percent(load: DuringWrites) -> float | None:
    return 100 * load.writes_found / load.writes_acknowledged if load.writes_acknowledged else None
