"""Puts the tables of several hosts together: values of different hosts are never in one median."""

from collections.abc import Sequence

from writepath.report.model import Cell, Column, Row, Table, text

HOST = Column(key="host", title="host")


def merged(tables: Sequence[tuple[str, Table | None]]) -> Table | None:
    """One table of all hosts' tables, with a first column for the host; a single host's table as it is."""
    known = [(host, table) for host, table in tables if table is not None]
    if not known:
        return None
    if len(tables) == 1:
        return known[0][1]
    widest = max((table for _, table in known), key=lambda table: len(table.columns))
    rows = tuple(
        Row(cells=(text(host), *row.cells, *[Cell()] * (len(widest.columns) - len(row.cells))), mark=row.mark)
        for host, table in known
        for row in table.rows
    )
    return Table(
        key=widest.key,
        title=widest.title,
        caption=widest.caption,
        columns=(HOST, *widest.columns),
        rows=rows,
        notes=_notes(known),
        names=widest.names + 1,
        compared=widest.compared,
    )


def _notes(tables: Sequence[tuple[str, Table]]) -> tuple[str, ...]:
    """A note of all hosts once; one of some hosts with their names."""
    of: dict[str, list[str]] = {}
    for host, table in tables:
        for note in table.notes:
            of.setdefault(note, []).append(host)
    return tuple(
        note if len(own) == len(tables) else f"On {' and '.join(own)}: {note}" for note, own in of.items()
    )
