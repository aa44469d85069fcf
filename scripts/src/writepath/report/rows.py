"""Builds table rows from cells: one row a variant at its levels, one value a repetition; for every kind."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from writepath.records.index import Index
from writepath.report.data import CellData, RowKey, SuiteData
from writepath.report.model import Column, Subject, Table, Value, cell, row_of

Label = Callable[[RowKey], str]

R = TypeVar("R")
S = TypeVar("S")  # what a figure is read from: a cell, or a part of its result

VARIANT = Column(key="variant", title="variant")
HOST = Column(key="host", title="host")
DAGGER = "†"
ONE_REPETITION = "One repetition: small differences may be noise."
AGAIN = " (A/A control)"  # after the title of the baseline's second cell in a block
RANKS = ("median", "p95", "p99")
LEGEND = (
    "∞: the request at this rank was not acknowledged (dropped, failed, refused or timed out)."
    " –: no value, or too few requests for this percentile (p95 needs 200, p99 needs 1,000)."
)


@dataclass(frozen=True, kw_only=True)
class Field(Column, Generic[S]):
    """A column, and where its value comes from."""

    get: Callable[[S], Value] = dataclasses.field(compare=False)


def field(
    key: str, title: str, get: Callable[[S], Value], unit: str = "", *, exact: bool = False
) -> Field[S]:
    """A field with these properties."""
    return Field(key=key, title=title, get=get, unit=unit, exact=exact)


@runtime_checkable
class OfRow(Protocol):
    """What is about a row of the suite."""

    @property
    def row(self) -> RowKey:
        """That row."""


def subject_of(found: object) -> Subject | None:
    """Of a row of the suite, of a cell, of what is about a row, and of a tuple with one of them in it; else None."""
    match found:
        case RowKey():
            return Subject(variant=found.variant.name, levels=found.levels)
        case CellData():
            own = found.record
            levels = tuple(own.levels.items())
            return Subject(variant=own.variant, levels=levels, block=own.block, role=own.role)
        case tuple():
            return next(filter(None, map(subject_of, found)), None)
        case OfRow():
            return subject_of(found.row)
        case _:
            return None


def table(
    key: str,
    title: str,
    caption: str,
    fields: Sequence[Field[S]],
    found: Iterable[S],
    *,
    mark: Callable[[S], str] = lambda _: "",
    **more: Any,
) -> Table:
    """A table of one row for each that was found, one column a field. more: of the table."""
    return Table(
        key=key,
        title=title,
        caption=caption,
        columns=tuple(fields),
        rows=tuple(
            row_of(*(field.get(one) for field in fields), mark=mark(one), about=subject_of(one))
            for one in found
        ),
        **more,
    )


def by_row(data: SuiteData[R], fields: Sequence[Field[CellData[R]]], label: Label, **more: Any) -> Table:
    """A table of one row a variant and its levels, in the suite's order. more: of the table."""
    rows = []
    for key in data.rows:
        cells = data.shown(key)
        values = (cell(map(field.get, cells)) for field in fields)
        rows.append(row_of(label(key), *values, mark=mark(cells), about=subject_of(key)))
    return Table(columns=(VARIANT, *fields), rows=tuple(rows), **more)


def by_part(
    data: SuiteData[R],
    fields: Sequence[Field[S]],
    label: Label,
    part: Column,
    parts: Callable[[Sequence[R]], Iterable[tuple[str, Sequence[S]]]],
    **more: Any,
) -> Table:
    """A table of one row a part of a variant's results. part: the column of its name.

    parts: of a variant's repetitions, the part's name and its value in each. more: of the table.
    """
    rows = []
    for key in data.rows:
        cells = [one for one in data.shown(key) if one.result is not None]
        for name, own in parts([one.result for one in cells if one.result is not None]):
            values = (cell(map(field.get, own)) for field in fields)
            rows.append(row_of(label(key), name, *values, mark=mark(cells), about=subject_of(key)))
    return Table(columns=(VARIANT, part, *fields), rows=tuple(rows), names=2, **more)


def cell_title(one: CellData[R], mode: str = "") -> str:
    """`JPA, POOL_SIZE=5 (A/A control)`. mode: how it searches, before the role."""
    levels = "".join(f", {name}={level}" for name, level in one.record.levels.items())
    return f"{one.record.title}{levels}{mode}{AGAIN if one.record.role == 'A/A control' else ''}"


def status(one: CellData[R]) -> str:
    """The cell's verdict; invalid too where something else than the verdict forbids its figures."""
    verdict = one.record.verdict.status
    return "invalid" if one.reasons and verdict == "valid" else verdict


def mark(cells: Sequence[CellData[R]]) -> str:
    """`invalid` or `unknown` where no cell of the row counts."""
    if any(one.counts for one in cells):
        return ""
    return "unknown" if all(one.record.verdict.status == "unknown" for one in cells) else "invalid"


def spread_note(index: Index) -> str:
    """How cells with several repetitions are read."""
    if index.repetitions > 1:
        return "Cells: median of the repetitions (lowest–highest)."
    return ONE_REPETITION


def replaced_note(index: Index) -> str:
    """How many cells were rerun; nothing where none was."""
    count = sum(entry.replaced for entry in index.cells)
    if not count:
        return ""
    runs = "1 run was" if count == 1 else f"{count} runs were"
    return f"{runs} rerun because the host was noisy or the run was stopped before its end; the replaced runs are kept."


def mixed(tables: Iterable[Table], hosts: Sequence[str]) -> tuple[Table, ...]:
    """Tables whose rows mix cells of several hosts say so in their headings."""
    words = " (mixes hosts, not publishable)" if len(hosts) > 1 else ""
    return tuple(replace(table, title=table.title + words) for table in tables)


def told(known: Sequence[tuple[str, S]], tell: Callable[[S], Iterable[str]]) -> Iterator[str]:
    """What is told of each host, the first sentence with its name where there are several."""
    for host, data in known:
        for place, words in enumerate(tell(data)):
            yield f"On {host}: {words}" if place == 0 and len(known) > 1 else words


def merged(tables: Sequence[tuple[str, Table | None]]) -> Table | None:
    """One table of all hosts' tables, with a first column for the host; a single host's table as it is."""
    known = [(host, table) for host, table in tables if table is not None]
    if not known:
        return None
    if len(tables) == 1:
        return known[0][1]
    widest = max((table for _, table in known), key=lambda table: len(table.columns))
    rows = tuple(
        row_of(
            *(host, *row.cells, *[None] * (len(widest.columns) - len(row.cells))),
            mark=row.mark,
            about=row.about and replace(row.about, host=host),
        )
        for host, table in known
        for row in table.rows
    )
    return replace(
        widest,
        columns=(HOST, *widest.columns),
        rows=rows,
        notes=_notes(known),
        names=widest.names + 1,
        resolution=max(
            (table.resolution for _, table in known if table.resolution is not None), default=None
        ),
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
