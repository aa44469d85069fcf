"""Which records were made on which host? Values of different hosts are never put into one median."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from writepath.report.model import Cell, Column, Row, Table, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from writepath.records import Host

HOST = Column(key="host", title="host")
UNKNOWN = "unknown host"

T = TypeVar("T")


def name(host: Host | None) -> str:
    """`AMD EPYC, 2 cores`."""
    return UNKNOWN if host is None else f"{host.cpu_model}, {host.cores} cores"


def split(records: Iterable[T], of: Callable[[T], tuple[int, Host | None]]) -> dict[str, tuple[T, ...]]:
    """By host, in the order of their first blocks. of: a record's block and host."""
    groups: dict[str, list[T]] = {}
    for one in sorted(records, key=lambda record: of(record)[0]):
        groups.setdefault(name(of(one)[1]), []).append(one)
    return {host: tuple(own) for host, own in groups.items()}


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
