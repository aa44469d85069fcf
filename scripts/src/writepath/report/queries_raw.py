"""What did a suite run of searches leave behind? Reads its records; a published run has the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.records.base import inside
from writepath.records.queries import QUERIES_FILE, load_read, load_suite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from writepath.records import Code
    from writepath.records.queries import QueriesSuite, Read


@dataclass(frozen=True, kw_only=True)
class Found:
    """One variant in one block, and where it lies below the suite's folder."""

    read: Read
    folder: str


@dataclass(frozen=True, kw_only=True)
class QueriesData:
    """A suite run of searches: its index, and what was read in the order it ran."""

    suite: QueriesSuite
    reads: tuple[Found, ...]

    @property
    def names(self) -> list[str]:
        """Of its variants, in order."""
        return [variant.name for variant in self.suite.variants]

    def of(self, variant: str, *, again: bool = False) -> tuple[Found, ...]:
        """What finished of a variant, or of its A/A control, by block."""
        mine = (one for one in self.reads if (one.read.variant, one.read.again) == (variant, again))
        return tuple(sorted((one for one in mine if finished(one)), key=lambda one: one.read.block))


def finished(one: Found) -> bool:
    """Whether it came to its end."""
    return one.read.outcome == "finished"


def read(folder: Path) -> QueriesData:
    """Of a folder with queries.json; UsageError where a listed record is missing or broken."""
    suite = load_suite(folder)
    return QueriesData(
        suite=suite,
        reads=tuple(
            Found(read=load_read(inside(folder, line.folder)), folder=line.folder) for line in suite.reads
        ),
    )


def queries_folders(place: Path) -> list[Path]:
    """The place itself and what lies right below it, where that is a suite run of searches; in order."""
    return sorted(file.parent for name in (QUERIES_FILE, f"*/{QUERIES_FILE}") for file in place.glob(name))


def commits(found: Iterable[Found]) -> tuple[Code, ...]:
    """Of the reads, each once."""
    return tuple(dict.fromkeys(one.read.code for one in found))
