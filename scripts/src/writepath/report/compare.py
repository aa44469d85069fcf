"""In what do two suite runs differ? Figure by figure in per cent, and every setting that is not the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from writepath.report.fingerprint import fingerprint
from writepath.report.model import ABSENT, Cell, Column, Row, Table, shown, text
from writepath.report.tables import tables
from writepath.stats import Spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.report.figures import SuiteFigures

COMPARED = ("latency", "throughput", "clocks", "resources", "answers")
SKIPPED = ("planned", "acknowledges", "durability", "component")
FIGURE_COLUMNS = (
    Column(key="variant", title="variant"),
    Column(key="compared_figure", title="figure"),
    Column(key="a", title="A"),
    Column(key="b", title="B"),
    Column(key="difference_percent", title="B against A", unit="%"),
)
SETTING_COLUMNS = (
    Column(key="compared_setting", title="what"),
    Column(key="a_setting", title="A"),
    Column(key="b_setting", title="B"),
)


def compared(a: SuiteFigures, b: SuiteFigures) -> tuple[Table, Table]:
    """The table of figures and the table of settings."""
    return _figures(a, b), _settings(a, b)


def _figures(a: SuiteFigures, b: SuiteFigures) -> Table:
    left, right = dict(_cells(a)), dict(_cells(b))
    rows = [
        Row(
            cells=(
                text(key[0]),
                text(column.header),
                _shown(cell, column),
                _shown(right[key][0], column),
                _percent(cell, right[key][0]),
            )
        )
        for key, (cell, column) in left.items()
        if key in right and not _equal(cell, right[key][0])
    ]
    only = [
        name
        for name in (v.name for v in (*a.suite.variants, *b.suite.variants))
        if not (a.of(name) and b.of(name))
    ]
    notes = [f"In one of the two only: {', '.join(dict.fromkeys(only))}."] if only else []
    notes.append(
        "Figures that are the same in both are left out. Whether a difference is more than noise, two runs cannot say."
    )
    return Table(
        key="compare",
        title="A against B",
        caption=f"A: {a.suite.suite} {a.suite.stamp}. B: {b.suite.suite} {b.suite.stamp}.",
        columns=FIGURE_COLUMNS,
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _cells(figures: SuiteFigures) -> Iterator[tuple[tuple[str, str, str], tuple[Cell, Column]]]:
    """By (variant or variant and component, table, column)."""
    for table in tables(figures):
        if table.key in COMPARED:
            for row in table.rows:
                name = shown(row.cells[0], table.columns[0]).removesuffix(" †")
                if table.key == "resources":
                    name = f"{name}, {shown(row.cells[1], table.columns[1])}"
                for column, cell in zip(table.columns[1:], row.cells[1:], strict=True):
                    if column.key not in SKIPPED and cell.figure is not None:
                        yield (name, table.key, column.key), (cell, column)


def _equal(a: Cell, b: Cell) -> bool:
    return a.figure is not None and b.figure is not None and a.figure.median == b.figure.median


def _shown(cell: Cell, column: Column) -> Cell:
    return text(shown(cell, column))


def _percent(a: Cell, b: Cell) -> Cell:
    if a.figure is None or b.figure is None or not a.figure.median:
        return Cell()
    percent = (b.figure.median / a.figure.median - 1) * 100
    if not math.isfinite(percent):
        return Cell()
    return Cell(figure=Spread(median=percent, low=percent, high=percent, repetitions=1))


def _settings(a: SuiteFigures, b: SuiteFigures) -> Table:
    left, right = _facts(a), _facts(b)
    rows = [
        Row(cells=(text(fact), text(left.get(fact, ABSENT)), text(right.get(fact, ABSENT))))
        for fact in dict.fromkeys([*left, *right])
        if left.get(fact) != right.get(fact)
    ]
    return Table(
        key="compare_settings",
        title="Settings that differ",
        caption="Everything in the fingerprint that is not the same."
        if rows
        else "None: the fingerprints are the same.",
        columns=SETTING_COLUMNS,
        rows=tuple(rows),
    )


def _facts(figures: SuiteFigures) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for row in fingerprint(figures).rows:
        group, fact, value, variants = (cell.text or "" for cell in row.cells)
        if (group, fact) == ("suite", "name"):
            continue
        where = "" if variants == "all" else f" ({variants})"
        found.setdefault(f"{group}: {fact}{where}", []).append(value)
    return {fact: "; ".join(values) for fact, values in found.items()}
