"""Groups searches during writes by the host on which they were measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.report.data import host_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.records.search_load import DuringWrites, SearchLoad
    from writepath.report.capacity.figures import Suite
    from writepath.report.data import RowKey


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A row's searches during writes, by block."""

    row: RowKey
    mode: str
    loads: tuple[DuringWrites, ...]

    @property
    def warm(self) -> tuple[DuringWrites, ...]:
        """Those whose times are valid."""
        return tuple(load for load in self.loads if load.warm)


@dataclass(frozen=True, kw_only=True)
class _One:
    """Of one cell."""

    row: RowKey
    block: int
    host: str
    searches: SearchLoad
    during: DuringWrites


def during_writes(data: Suite) -> tuple[tuple[str, tuple[Searched, ...]], ...]:
    """By host, in order of the first block; at least one, and only rows that have such loads on it."""
    cells = list(_cells(data))
    hosts = dict.fromkeys(one.host for one in sorted(cells, key=lambda one: one.block))
    found = tuple((host, tuple(_rows(data, [one for one in cells if one.host == host]))) for host in hosts)
    return found or (("", ()),)


def _cells(data: Suite) -> Iterator[_One]:
    for row in data.rows:
        for cell in data.of(row):
            searches = None if cell.result is None else cell.result.searches
            if searches is not None and (during := searches.during_writes) is not None:
                host = host_name(during.rerun_host or cell.record.host)
                yield _One(row=row, block=cell.record.block, host=host, searches=searches, during=during)


def _rows(data: Suite, cells: list[_One]) -> Iterator[Searched]:
    for row in data.rows:
        own = [one for one in cells if one.row == row]
        if own:
            loads = tuple(one.during for one in own)
            yield Searched(row=row, mode=own[0].searches.data_set.mode, loads=loads)
