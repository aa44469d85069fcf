"""Renders tables as Markdown, and leaves out columns that say nothing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from writepath.report.model import ABSENT, Cell, Column, Row, Table, shown
from writepath.report.render import escape


def markdown(table: Table) -> str:
    """Heading, caption, a pipe table and its notes."""
    parts = [f"## {escape.markdown(table.title)}", escape.markdown(table.caption), bare(table)]
    parts += [escape.markdown(note) for note in table.notes]
    return "\n\n".join(parts) + "\n"


def bare(table: Table) -> str:
    """Its rows alone, as a pipe table."""
    return pipe_table(table.columns, [_marked(row.cells, table.columns, row.mark) for row in table.rows])


def pipe_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """Cells as plain text, escaped here."""
    numeric = [is_numeric(column) for column in columns]
    lines = [
        [escape.markdown(column.header) for column in columns],
        ["---:" if right else "---" for right in numeric],
        *([escape.markdown(value) for value in row] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def is_numeric(column: Column) -> bool:
    """Whether a column holds figures: it has a unit or is a count."""
    return bool(column.unit) or column.exact


def _marked(cells: Sequence[Cell], columns: Sequence[Column], mark: str) -> list[str]:
    values = [shown(cell, column) for cell, column in zip(cells, columns, strict=True)]
    return [f"{values[0]} ({mark})" if mark else values[0], *values[1:]]


def trimmed(table: Table) -> tuple[Table, str]:
    """Without the columns that are 0 or without a value in every row, and a sentence that names them."""
    zeros, absent = (_columns(table, test) for test in (_is_zero, _is_absent))
    left = [index for index in range(len(table.columns)) if index not in {*zeros, *absent}]
    words = [
        f"{begin}: {', '.join(table.columns[index].title for index in own)}."
        for begin, own in (("0 in every row", zeros), ("No value in any row", absent))
        if own
    ]
    shorter = replace(
        table,
        columns=tuple(table.columns[index] for index in left),
        rows=tuple(Row(cells=tuple(row.cells[at] for at in left), mark=row.mark) for row in table.rows),
    )
    return shorter, " ".join(words)


def _columns(table: Table, test: Callable[[Cell], bool]) -> list[int]:
    """Of those behind the columns that name a row."""
    return [
        index
        for index in range(table.names, len(table.columns))
        if table.rows and all(test(row.cells[index]) for row in table.rows)
    ]


def _is_zero(cell: Cell) -> bool:
    return cell.figure is not None and cell.figure.low == cell.figure.high == 0


def _is_absent(cell: Cell) -> bool:
    return cell.figure is None and (cell.text is None or cell.text in ("", ABSENT))
