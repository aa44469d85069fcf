"""Columns of a load's tables, and the labels of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.report.load_ranks import durable_later
from writepath.report.model import ABSENT, Column, Value, number
from writepath.report.rows import DAGGER, RANKS, Field

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.records.load import LoadResult
    from writepath.report.data import CellData, RowKey, SuiteData
    from writepath.report.rows import Label

    Suite = SuiteData[LoadResult]
    Cell = CellData[LoadResult]
    Rank = Callable[[LoadResult, str], float | None]  # of a result, by the name of the rank


def field(column: Column, get: Callable[[LoadResult], Value]) -> Field[LoadResult]:
    """A column of the result; without a value where there is no result."""
    return Field(column=column, get=lambda one: None if one.result is None else get(one.result))


def ms(key: str, title: str, get: Callable[[LoadResult], float | None]) -> Field[LoadResult]:
    """A column of milliseconds."""
    return field(Column(key=f"{key}_ms", title=title, unit="ms"), get)


def count(key: str, title: str, get: Callable[[LoadResult], int | None]) -> Field[LoadResult]:
    """A column of exact counts."""
    return field(Column(key=key, title=title, exact=True), get)


def ranks(of: Rank, prefix: str = "", title: str = "{}") -> tuple[Field[LoadResult], ...]:
    """Median, p95 and p99. title: with {} in the place of these names."""

    def one(name: str) -> Field[LoadResult]:
        return ms(f"{prefix}{name}", title.format(name), lambda result: of(result, name))

    return tuple(one(name) for name in RANKS)


def is_later(data: Suite, row: RowKey) -> bool:
    """Whether its rows become durable after their 201."""
    return any(one.result is not None and one.result.durable_later for one in data.shown(row))


def label(data: Suite) -> Label:
    """The row's title; a dagger where its 201 comes before the row is in its store."""
    return lambda row: f"{row.title} {DAGGER}" if is_later(data, row) else row.title


def durable_notes(data: Suite) -> tuple[str, ...]:
    """Time to durable of each row whose 201 comes first."""
    notes = []
    for row in data.rows:
        later = [one.result for one in data.shown(row) if one.result is not None and one.result.durable_later]
        if later:
            times = ", ".join(
                f"{name} {_middle([durable_later(one, name) for one in later])}" for name in RANKS
            )
            notes.append(
                f"{DAGGER} {row.title}: the 201 comes before the row is in its final store"
                f" ({row.variant.acknowledges}). Time to durable in ms: {times}."
            )
    return tuple(notes)


def _middle(values: list[float | None]) -> str:
    figure = stats.spread(values)
    return ABSENT if figure is None else number(figure.median)
