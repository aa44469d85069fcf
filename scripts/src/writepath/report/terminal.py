"""Prints tables and reports on a terminal; of a table that is too wide, each row is printed as a list."""

from collections.abc import Iterable
from dataclasses import replace

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from writepath.report.model import Report, Table, texts
from writepath.report.render import one_line, trimmed

WIDTH_OF_A_FILE = 200  # where there is no terminal, nothing needs folding
STYLES = {"invalid": "red", "unknown": "yellow"}


def console() -> Console:
    """A console as wide as the terminal; wide where the output is a file."""
    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=WIDTH_OF_A_FILE)


def print_report(report: Report, to: Console) -> None:
    """The answer, then the tables without columns that say nothing."""
    to.print(Text(one_line(report.title), style="bold"))
    to.print(Text(one_line(" ".join(report.answer))))
    to.print(Text(one_line(report.facts), style="dim"))
    for table in report.tables:
        own, dropped = trimmed(table)
        print_tables([replace(own, caption=f"{own.caption} {dropped}".rstrip())], to)


def print_tables(tables: Iterable[Table], to: Console) -> None:
    """All tables, each with its caption and notes."""
    for table in tables:
        to.print()
        to.print(Text(one_line(table.title), style="bold"))
        to.print(Text(one_line(table.caption), style="dim"))
        _print_rows(table, to)
        for note in table.notes:
            to.print(Text(one_line(note), style="dim"))


def _print_rows(table: Table, to: Console) -> None:
    """Headers and texts fold at their words, figures do not fold."""
    lines = [([one_line(value) for value in texts(table, row)], STYLES.get(row.mark)) for row in table.rows]
    drawn, width = RichTable(box=None, pad_edge=False, header_style="bold"), 0
    for index, column in enumerate(table.columns):
        values = [values[index] for values, _ in lines]
        parts = values if column.numeric else [word for value in values for word in value.split()]
        least = max(len(part) for part in (*parts, *column.header.split()))
        width += least + 2
        drawn.add_column(
            Text(column.header),
            justify="right" if column.numeric else "left",
            width=least if column.numeric else None,
            min_width=least,
            overflow="fold",
        )
    for values, style in lines:
        drawn.add_row(*map(Text, values), style=style)
    if width <= to.width:
        to.print(drawn)
        return
    for values, style in lines:
        for column, value in zip(table.columns, values, strict=True):
            to.print(Text(f"{column.header}: {value}", style=style or ""))
        to.print()
