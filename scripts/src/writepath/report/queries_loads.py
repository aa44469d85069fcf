"""How many searches per second does each variant sustain, and how do searches and writes affect each other?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.report.capacity_baseline import BY_BASELINE, baseline_in_words, by_baseline
from writepath.report.capacity_tables import (
    bound_notes,
    comparison_notes,
    confidence,
    limit_in_words,
    rate,
)
from writepath.report.model import Cell, Column, Row, Table, cell, number, text
from writepath.report.queries_tables import BLOCKS, MODE
from writepath.report.rows import VARIANT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from writepath.records import Latency
    from writepath.records.queries import Beside
    from writepath.report.model import Value
    from writepath.report.queries_figures import QueriesFigures, VariantFigures

CAPACITY_COLUMNS = (
    VARIANT,
    MODE,
    Column(key="searches_per_s", title="searches", unit="1/s"),
    Column(key="searches_first_fail_per_s", title="lowest failing rate", unit="1/s"),
    BY_BASELINE,
    Column(key="searches_p99_ms", title="p99 at highest passing rate", unit="ms"),
    Column(key="searches_limited_by", title="bottleneck"),
    Column(key="searches_bound", title="confidence"),
)


def capacity(figures: QueriesFigures) -> Table | None:
    """The highest rate of searches within the SLO; None where none was measured."""
    body, asked = [], []
    for one in figures.variants:
        carried = figures.carried.one(one.variant.name)
        if carried is not None:
            cells = (
                rate(carried.sustained),
                Cell(figure=carried.sustained.first_fail),
                by_baseline(figures.carried, carried),
                Cell(figure=carried.p99_at_last_pass),
                text(limit_in_words(carried.limited)),
                text(confidence(carried)),
            )
            body.append(Row(cells=(text(one.label), text(one.mode), *cells)))
            asked.append(carried)
    if not body:
        return None
    return Table(
        key="search_capacity",
        title="Search capacity",
        caption="The highest rate of first pages at which at least 99.9 % of the scheduled requests were answered with"
        f" the right total, p99 from the scheduled send time was at most {number(figures.suite.slo_ms)} ms and no"
        " request was dropped. Keywords are words of the posts, drawn as often as they occur in them. Median over"
        f" blocks (lowest–highest).{baseline_in_words(figures.carried)}",
        columns=CAPACITY_COLUMNS,
        rows=tuple(body),
        notes=(*bound_notes(asked), *comparison_notes(figures.carried, asked)),
    )


BESIDE_COLUMNS = (
    VARIANT,
    MODE,
    Column(key="beside_search_per_s", title="searches", unit="1/s"),
    Column(key="beside_write_per_s", title="writes", unit="1/s"),
    Column(key="alone_median_ms", title="search alone, median", unit="ms"),
    Column(key="beside_median_ms", title="search with writes, median", unit="ms"),
    Column(key="alone_p99_ms", title="search alone, p99", unit="ms"),
    Column(key="beside_p99_ms", title="search with writes, p99", unit="ms"),
    Column(key="beside_times", title="p99 with writes ÷ alone", unit="×"),
    Column(key="beside_write_p99_ms", title="write, p99", unit="ms"),
    Column(key="beside_visible_median_ms", title="searchable after, median", unit="ms"),
    Column(key="beside_visible_p95_ms", title="searchable after, p95", unit="ms"),
    Column(key="beside_acknowledged", title="acknowledged", exact=True),
    Column(key="beside_found", title="found of these", exact=True),
    Column(key="beside_found_percent", title="found", unit="%"),
    Column(key="beside_wrong", title="wrong answers", exact=True),
)


COLD = (
    "Times of blocks measured without a warm-up of both loads together are not shown: service and store had not"
    " written yet."
)


def beside(figures: QueriesFigures) -> Table | None:
    """Searches while posts are written; None where none were measured."""
    body = [
        Row(cells=(text(one.label), text(one.mode), *_beside_cells(one)))
        for one in figures.variants
        if one.beside
    ]
    cold = any(not load.warm for one in figures.variants for load in one.beside)
    if not body:
        return None
    return Table(
        key="beside_writes",
        title="Searching while writing",
        caption="The same rate of searches without writes and with writes. Times from the scheduled send time."
        " Searchable after: from sending the POST until a search found the post. Found of these: of the writes answered"
        f" 201, by searches after the last refresh. Wrong: a total below the one before the load. {BLOCKS}",
        columns=BESIDE_COLUMNS,
        rows=tuple(body),
        notes=(*((COLD,) if cold else ()), *_rerun(figures)),
    )


def _rerun(figures: QueriesFigures) -> Iterator[str]:
    """Loads that were rerun alone because of a noisy host."""
    for one in figures.variants:
        for found in one.reads:
            if found.read.beside is not None and found.read.beside.host is not None:
                yield f"{one.label}, block {found.read.block}: rerun alone, because the host had been noisy."


def _beside_cells(one: VariantFigures) -> tuple[Cell, ...]:
    def times(get: Callable[[Beside], Value]) -> Cell:
        return cell(get(load) for load in one.warm_beside)

    def of(get: Callable[[Beside], Value]) -> Cell:
        return cell(get(load) for load in one.beside)

    def rank(
        name: str, latency: Callable[[Beside], Latency | None], per_s: Callable[[Beside], float]
    ) -> Cell:
        return times(lambda load: _rank(name, latency(load), per_s(load) * load.seconds))

    def searches_per_s(load: Beside) -> float:
        return load.search_rate_per_s

    return (
        of(searches_per_s),
        of(lambda load: load.write_rate_per_s),
        rank("median", lambda load: load.alone_latency_ms, searches_per_s),
        rank("median", lambda load: load.search_latency_ms, searches_per_s),
        rank("p99", lambda load: load.alone_latency_ms, searches_per_s),
        rank("p99", lambda load: load.search_latency_ms, searches_per_s),
        times(slower_times),
        rank("p99", lambda load: load.write_latency_ms, lambda load: load.write_rate_per_s),
        times(lambda load: load.visible_ms_median),
        times(lambda load: load.visible_ms_p95),
        of(lambda load: load.writes_acknowledged),
        of(lambda load: load.writes_found),
        of(found_percent),
        of(lambda load: load.wrong_answers),
    )


def _rank(name: str, latency: Latency | None, planned: float) -> Value:
    """Infinite where the sample could carry the rank and it falls on a request that was not answered."""
    value: float | None = getattr(latency, name) if latency is not None else None
    carried = stats.carries(int(planned), {"median": 0.5, "p99": 0.99}[name])
    return stats.UNSERVED if latency is not None and value is None and carried else value


def slower_times(load: Beside) -> float | None:
    """p99 with writes ÷ p99 alone."""
    alone = load.alone_latency_ms.p99 if load.alone_latency_ms is not None else None
    both = load.search_latency_ms.p99
    return both / alone if alone and both is not None else None


def found_percent(load: Beside) -> float | None:
    """Of the writes that were acknowledged."""
    return 100 * load.writes_found / load.writes_acknowledged if load.writes_acknowledged else None
