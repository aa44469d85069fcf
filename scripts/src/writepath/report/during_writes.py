"""The searches of a capacity suite during writes, by the host on which they were measured."""

from dataclasses import dataclass

from writepath.records.search_load import DuringWrites
from writepath.report.capacity import Suite
from writepath.report.data import RowKey, host_name


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


def during_writes(data: Suite) -> tuple[tuple[str, tuple[Searched, ...]], ...]:
    """By host, in order of the first block; at least one, and only rows that have such loads on it."""
    found: dict[str, list[Searched]] = {}
    first: dict[str, int] = {}  # block
    for row in data.rows:
        own: dict[tuple[str, str], list[DuringWrites]] = {}  # by host and mode, of which a row has one
        for cell in data.of(row):
            searches = cell.result.searches if cell.result else None
            if searches and (during := searches.during_writes):
                host, block = host_name(during.rerun_host or cell.record.host), cell.record.block
                first[host] = min(block, first.get(host, block))
                own.setdefault((host, searches.data_set.mode), []).append(during)
        for (host, mode), loads in own.items():
            found.setdefault(host, []).append(Searched(row=row, mode=mode, loads=tuple(loads)))
    hosts = sorted(found, key=lambda host: first[host])
    return tuple((host, tuple(found[host])) for host in hosts) or (("", ()),)
