"""In what do suite runs differ? Figure by figure in per cent of the first, every setting, and what is no noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from writepath.report import compare_words
from writepath.report.compare_words import letters
from writepath.report.fingerprint import fingerprint
from writepath.report.model import ABSENT, Cell, Column, Row, Table, shown, text
from writepath.report.tables import tables
from writepath.stats import Spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.report.figures import SuiteFigures

    Found = dict[
        tuple[str, str, str], tuple[Cell, Column]
    ]  # by (variant or variant and component, table, column)

COMPARED = ("latency", "throughput", "clocks", "resources", "answers")
SKIPPED = ("planned", "acknowledges", "durability", "component")
UNTOLD = "One run per side cannot show whether a difference is more than noise; several repetitions of a variant can."
TOLD = "The next table tests which differences exceed noise, for variants with several repetitions on both sides."


def compared(*runs: SuiteFigures, labels: Sequence[str] = ()) -> tuple[Table, ...]:
    """The table of values, that of differences beyond noise if there are repetitions, and that of settings."""
    names = list(labels) or [one.suite.stamp for one in runs]
    told = compare_words.more_than_noise(runs, names)
    figures = _figures(runs, names, told=told is not None)
    return (figures, *([told] if told is not None else []), _settings(runs, names))


def _figures(runs: Sequence[SuiteFigures], names: Sequence[str], *, told: bool) -> Table:
    first, *others = [dict(_cells(one)) for one in runs]
    rows = [
        _row(key, first, others)
        for key in first
        if any(key in other and not _equal(first[key][0], other[key][0]) for other in others)
    ]
    notes = ["Metrics with the same value everywhere are omitted.", TOLD if told else UNTOLD]
    if only := _not_in_all(runs):
        notes.insert(0, f"Not in every suite run: {', '.join(only)}.")
    return Table(
        key="compare",
        title="Side by side",
        caption=" ".join(
            f"{letter}: {one.suite.suite} {one.suite.stamp}."
            for letter, one in zip(letters(len(runs)), runs, strict=True)
        ),
        columns=_figure_columns(names),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _figure_columns(names: Sequence[str]) -> tuple[Column, ...]:
    columns = [
        Column(key="variant", title="variant"),
        Column(key="compared_figure", title="metric"),
        Column(key="a", title=f"A {names[0]}"),
    ]
    for letter, name in zip(letters(len(names))[1:], names[1:], strict=True):
        columns.append(Column(key=letter.lower(), title=f"{letter} {name}"))
        columns.append(Column(key=f"{letter.lower()}_percent", title=f"{letter} versus A", unit="%"))
    return tuple(columns)


def _row(key: tuple[str, str, str], first: Found, others: Sequence[Found]) -> Row:
    cell, column = first[key]
    cells = [text(key[0]), text(column.header), text(shown(cell, column))]
    for other in others:
        there = other[key][0] if key in other else Cell()
        cells += [text(shown(there, column)), _percent(cell, there)]
    return Row(cells=tuple(cells))


def _not_in_all(runs: Sequence[SuiteFigures]) -> list[str]:
    names = dict.fromkeys(variant.name for one in runs for variant in one.suite.variants)
    return [name for name in names if not all(one.of(name) for one in runs)]


def _cells(figures: SuiteFigures) -> Iterator[tuple[tuple[str, str, str], tuple[Cell, Column]]]:
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


def _percent(a: Cell, b: Cell) -> Cell:
    if a.figure is None or b.figure is None or not a.figure.median:
        return Cell()
    percent = (b.figure.median / a.figure.median - 1) * 100
    if not math.isfinite(percent):
        return Cell()
    return Cell(figure=Spread(median=percent, low=percent, high=percent, repetitions=1))


def _settings(runs: Sequence[SuiteFigures], names: Sequence[str]) -> Table:
    facts = [_facts(one) for one in runs]
    rows = [
        Row(cells=(text(fact), *(text(one.get(fact, ABSENT)) for one in facts)))
        for fact in dict.fromkeys(fact for one in facts for fact in one)
        if len({one.get(fact) for one in facts}) > 1
    ]
    return Table(
        key="compare_settings",
        title="Settings that differ",
        caption="All facts of the fingerprints that differ." if rows else "None: the fingerprints are equal.",
        columns=(
            Column(key="compared_setting", title="setting"),
            *(
                Column(key=f"{letter.lower()}_setting", title=f"{letter} {name}")
                for letter, name in zip(letters(len(names)), names, strict=True)
            ),
        ),
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
