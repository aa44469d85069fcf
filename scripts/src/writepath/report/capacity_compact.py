"""How do the raw values of a search fit into a few kilobytes of git? One file of lines, of load steps and overload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.report import hold_values, overload_values, packed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from writepath.records.capacity import Search
    from writepath.report.hold_values import HoldData
    from writepath.report.overload_values import OverloadData

HOLDS_FILE = "holds.txt.xz"
OVERLOAD = "overload"  # stands where a hold's number does


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchData:
    """What is published of one capacity run with its record."""

    holds: Mapping[int, HoldData]  # by number
    overload: OverloadData | None = None  # None where there was none

    def lines(self) -> dict[str, list[str]]:
        """By what they are of: a hold's number of two digits, or the overload."""
        found = {f"{number:02}": [*hold_values.to_lines(data)] for number, data in self.holds.items()}
        if self.overload is not None:
            found[OVERLOAD] = [*overload_values.to_lines(self.overload)]
        return found


def from_raw(search: Search, folder: Path) -> SearchData:
    """Of a search's raw folder; UsageError where a file is missing or torn."""
    overload = search.overload
    return SearchData(
        holds={hold.number: hold_values.from_raw(folder, hold) for hold in search.holds},
        overload=None if overload is None else overload_values.from_raw(folder, overload, search.slo_ms),
    )


def write(search: Search, source: Path, target: Path) -> None:
    """holds.txt.xz of a search, from its raw folder."""
    packed.save(packed.named(from_raw(search, source).lines()), target / HOLDS_FILE)


def read(folder: Path) -> SearchData:
    """What write() kept; UsageError where it is anything else."""
    found = packed.load(folder / HOLDS_FILE)
    overload = found.pop(OVERLOAD, None)
    try:
        return SearchData(
            holds={int(whose): hold_values.from_lines(lines) for whose, lines in found.items()},
            overload=None if overload is None else overload_values.from_lines(overload),
        )
    except (LookupError, ValueError) as error:
        raise UsageError(
            f"{folder / HOLDS_FILE}: its lines do not fit together ({error}); it was edited"
        ) from error
