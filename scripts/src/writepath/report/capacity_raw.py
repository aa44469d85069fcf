"""What did a capacity suite run leave behind? Reads its records; a published run has the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.records.base import inside
from writepath.records.capacity import CAPACITY_FILE, load_ceilings, load_search, load_suite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from writepath.records import Code
    from writepath.records.capacity import CapacitySuite, Ceilings, Hold, Search


@dataclass(frozen=True, kw_only=True)
class Found:
    """One search, and where it lies below the suite's folder."""

    search: Search
    folder: str

    @property
    def counted(self) -> tuple[Hold, ...]:
        """Its holds without the ramp and without noise."""
        return tuple(hold for hold in self.search.holds if hold.kind != "ramp" and hold.verdict != "noise")


@dataclass(frozen=True, kw_only=True)
class CapacityData:
    """A capacity suite run: its index, its searches in the order they ran, its ceilings by block."""

    suite: CapacitySuite
    searches: tuple[Found, ...]
    ceilings: tuple[Ceilings, ...]

    def of(self, variant: str, *, again: bool = False) -> tuple[Found, ...]:
        """The finished searches of a variant, or of its A/A control, by block."""
        mine = (one for one in self.searches if (one.search.variant, one.search.again) == (variant, again))
        return tuple(sorted((one for one in mine if finished(one)), key=lambda one: one.search.block))


def finished(one: Found) -> bool:
    """Whether it came to brackets."""
    return one.search.outcome == "finished" and one.search.sustained is not None


def read(folder: Path) -> CapacityData:
    """Of a folder with capacity.json; UsageError where a listed record is missing or broken."""
    suite = load_suite(folder)
    return CapacityData(
        suite=suite,
        searches=tuple(
            Found(search=load_search(inside(folder, line.folder)), folder=line.folder)
            for line in suite.searches
        ),
        ceilings=tuple(load_ceilings(inside(folder, name)) for name in suite.ceilings),
    )


def capacity_folders(place: Path) -> list[Path]:
    """The place itself and what lies right below it, where that is a capacity suite run; in order."""
    return sorted(file.parent for name in (CAPACITY_FILE, f"*/{CAPACITY_FILE}") for file in place.glob(name))


def commits(found: Iterable[Found]) -> tuple[Code, ...]:
    """Of the searches, each once."""
    return tuple(dict.fromkeys(one.search.code for one in found))
