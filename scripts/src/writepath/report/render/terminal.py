"""Prints tables and reports on a terminal; a table that is too wide is turned on its side, and no number is folded."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from writepath.report.model import Report, Row, Table, shown
from writepath.report.render import escape
from writepath.report.render.tables import is_numeric, trimmed

WIDTH_OF_A_FILE = 200  # where there is no terminal, nothing needs folding
MOST_TURNED = 12  # rows of a table that is turned: of more, nobody would find the beginning
TURNED_WIDTH = 13  # of a row's column
STYLES = {"invalid": "red", "unknown": "yellow"}


def console() -> Console:
    """A console as wide as the terminal; wide where the output is a file."""
    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=WIDTH_OF_A_FILE)


def print_report(report: Report, to: Console) -> None:
    """The answer, then the tables without columns that say nothing."""
    to.print(Text(escape.terminal(report.title), style="bold"))
    to.print(Text(escape.terminal(" ".join(report.answer))))
    to.print(Text(escape.terminal(report.facts), style="dim"))
    for table in report.tables:
        own, dropped = trimmed(table)
        print_tables([replace(own, caption=f"{own.caption} {dropped}".rstrip())], to)


def print_tables(tables: Iterable[Table], to: Console) -> None:
    """All tables, each with its caption and notes."""
    for table in tables:
        to.print()
        to.print(Text(escape.terminal(table.title), style="bold"))
        to.print(Text(escape.terminal(table.caption), style="dim"))
        if sum(_least_widths(table)) + 2 * len(table.columns) <= to.width or len(table.rows) > MOST_TURNED:
            to.print(_upright(table))
        else:
            for block in _turned(table, to.width):
                to.print(block)
        for note in table.notes:
            to.print(Text(escape.terminal(note), style="dim"))


def _upright(table: Table) -> RichTable:
    drawn = RichTable(box=None, pad_edge=False, header_style="bold")
    for column, width in zip(table.columns, _least_widths(table), strict=True):
        right = is_numeric(column)
        drawn.add_column(
            Text(column.header),
            justify="right" if right else "left",
            width=width if right else None,  # the header folds, the figures fit
            min_width=width,
            overflow="fold",
        )
    previous = ""
    for row in table.rows:
        values = _values(table, row)
        repeated = values[0] == previous
        previous = values[0]
        if repeated:
            values[0] = ""
        drawn.add_row(*(Text(value) for value in values), style=STYLES.get(row.mark))
    return drawn


def _turned(table: Table, width: int) -> Iterator[RichTable]:
    """A line a column, a column a row; as many rows side by side as the width holds."""
    header = max(len(column.header) for column in table.columns)
    together = max(1, (width - header) // TURNED_WIDTH)
    for start in range(0, len(table.rows), together):
        rows = table.rows[start : start + together]
        values = [_values(table, row) for row in rows]
        drawn = RichTable(box=None, pad_edge=False, header_style="bold")
        drawn.add_column(Text(table.columns[0].header), no_wrap=True)
        for row, own in zip(rows, values, strict=True):
            drawn.add_column(Text(own[0]), justify="right", style=STYLES.get(row.mark), overflow="fold")
        for index, column in enumerate(table.columns[1:], 1):
            drawn.add_row(Text(column.header), *(Text(own[index]) for own in values))
        yield drawn


def _least_widths(table: Table) -> list[int]:
    """By column, with figures unfolded, headers and texts folded at their words."""
    widths = []
    for index, column in enumerate(table.columns):
        values = [_values(table, row)[index] for row in table.rows]
        words = values if is_numeric(column) else [word for value in values for word in value.split()]
        widths.append(max(len(word) for word in [*words, *column.header.split()]))
    return widths


def _values(table: Table, row: Row) -> list[str]:
    values = [escape.terminal(shown(cell, c)) for cell, c in zip(row.cells, table.columns, strict=True)]
    if row.mark:
        values[0] = f"{values[0]} ({row.mark})"
    return values
