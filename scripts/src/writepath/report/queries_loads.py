"""How many searches a second does each variant carry, and what do searches and writes do to each other?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath import stats
from writepath.report.capacity_baseline import BY_BASELINE, baseline_in_words, by_baseline
from writepath.report.capacity_tables import (
    bound_notes,
    confidence,
    limit_in_words,
    rate,
    resolution_in_words,
)
from writepath.report.model import Cell, Column, Row, Table, cell, number, text
from writepath.report.queries_tables import BLOCKS, MODE
from writepath.report.rows import VARIANT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from writepath.report.model import Value
    from writepath.report.queries_figures import QueriesFigures, VariantFigures
    from writepath.result import Latency
    from writepath.result.queries import Beside

CAPACITY_COLUMNS = (
    VARIANT,
    MODE,
    Column(key="searches_per_s", title="searches", unit="1/s"),
    Column(key="searches_first_fail_per_s", title="first fail", unit="1/s"),
    BY_BASELINE,
    Column(key="searches_p99_ms", title="p99 at the last pass", unit="ms"),
    Column(key="searches_limited_by", title="limited by"),
    Column(key="searches_bound", title="known as"),
)


def capacity(figures: QueriesFigures) -> Table | None:
    """The highest rate of searches within the SLO; None where nobody was asked."""
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
        caption="First pages a second, the highest rate that passed: at least 99.9 % answered with the right total, p99"
        f" from the planned moment at most {number(figures.suite.slo_ms)} ms, nothing dropped. Keywords are words of"
        " the posts, each as often as it stands in them. Median over blocks (lowest–highest)."
        f"{baseline_in_words(figures.carried)} {resolution_in_words(figures.carried)}",
        columns=CAPACITY_COLUMNS,
        rows=tuple(body),
        notes=tuple(bound_notes(figures.carried, asked)),
    )


BESIDE_COLUMNS = (
    VARIANT,
    MODE,
    Column(key="beside_search_per_s", title="searches", unit="1/s"),
    Column(key="beside_write_per_s", title="writes", unit="1/s"),
    Column(key="alone_median_ms", title="search alone, median", unit="ms"),
    Column(key="beside_median_ms", title="beside writes, median", unit="ms"),
    Column(key="alone_p99_ms", title="search alone, p99", unit="ms"),
    Column(key="beside_p99_ms", title="beside writes, p99", unit="ms"),
    Column(key="beside_times", title="p99 beside by alone", unit="1 = as long"),
    Column(key="beside_write_p99_ms", title="write, p99", unit="ms"),
    Column(key="beside_visible_median_ms", title="found after, median", unit="ms"),
    Column(key="beside_visible_p95_ms", title="found after, p95", unit="ms"),
    Column(key="beside_acknowledged", title="acknowledged", exact=True),
    Column(key="beside_found", title="found of them", exact=True),
    Column(key="beside_found_percent", title="found", unit="%"),
    Column(key="beside_wrong", title="wrong answers", exact=True),
)


COLD = (
    "Times of blocks that were made before both loads were warmed up together are not shown: they were those of a"
    " service and a store that had not written yet."
)


def beside(figures: QueriesFigures) -> Table | None:
    """Searches while posts are written; None where nobody did both."""
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
        caption="The same rate of searches without writes and beside them. Times from the planned moment. Found after:"
        " from sending the POST until a search found the post. Found of them: of the writes answered 201, by searches"
        f" after the last refresh. Wrong: a total below what was there before the load. {BLOCKS}",
        columns=BESIDE_COLUMNS,
        rows=tuple(body),
        notes=(*((COLD,) if cold else ()), *_made_later(figures)),
    )


def _made_later(figures: QueriesFigures) -> Iterator[str]:
    """Loads that noise spoilt, and that were made again alone."""
    for one in figures.variants:
        for found in one.reads:
            host = found.read.beside.host if found.read.beside is not None else None
            if host is not None:
                yield (
                    f"{one.label}, block {found.read.block}: made again by itself, on {host.cpu_model}, because noise"
                    " had spoilt it."
                )


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
    """Infinite where the sample could carry the rank and it falls on an unserved request."""
    value: float | None = getattr(latency, name) if latency is not None else None
    carried = stats.carries(int(planned), {"median": 0.5, "p99": 0.99}[name])
    return stats.UNSERVED if latency is not None and value is None and carried else value


def slower_times(load: Beside) -> float | None:
    """p99 beside writes by p99 alone."""
    alone = load.alone_latency_ms.p99 if load.alone_latency_ms is not None else None
    both = load.search_latency_ms.p99
    return both / alone if alone and both is not None else None


def found_percent(load: Beside) -> float | None:
    """Of the writes that were acknowledged."""
    return 100 * load.writes_found / load.writes_acknowledged if load.writes_acknowledged else None
