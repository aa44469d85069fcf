"""What a report is made of: an experiment's index and its cells, each with its result."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml

from writepath.analysis.comparison import Better
from writepath.analysis.evidence import Evidence
from writepath.records.cell import CellRecord
from writepath.records.index import CellEntry, Index, VariantRecord
from writepath.records.measures import Host

R = TypeVar("R")
UNKNOWN_HOST = "unknown host"
ORIGINAL = Path(__file__).with_name("original.yaml")


def host_name(host: Host | None) -> str:
    """`AMD EPYC, 2 cores`; with its split, where there is one."""
    if host is None:
        return UNKNOWN_HOST
    own = "" if host.split is None else f", {len(host.split.generator)} for the load generator"
    return f"{host.cpu_model}, {host.cores} cores{own}"


@dataclass(frozen=True, kw_only=True, eq=False)
class CellData(Generic[R]):
    """One cell, with the evidence that its result follows from."""

    entry: CellEntry
    record: CellRecord
    result: R | None  # None where the cell did not get that far
    evidence: Evidence | None  # None where there is no result, or nothing was derived again
    problems: tuple[str, ...] = ()  # why its figures do not count, beside the verdict's reasons

    @property
    def counts(self) -> bool:
        """Whether its figures may be published."""
        return self.record.counts and not self.problems

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not count, in words."""
        own = self.record.verdict.reasons or ((self.record.error,) if self.record.error else ())
        return tuple(dict.fromkeys((*own, *self.problems)))


@dataclass(frozen=True, kw_only=True)
class RowKey:
    """What a row of a table is about: a variant at certain levels of the factors."""

    variant: VariantRecord
    levels: tuple[tuple[str, str], ...]  # factor and level, in the index's order

    @property
    def title(self) -> str:
        """`JPA`, `JPA, POOL_SIZE=5`."""
        return ", ".join([self.variant.title, *(f"{name}={level}" for name, level in self.levels)])


@dataclass(frozen=True, kw_only=True, eq=False)
class SuiteData(Generic[R]):
    """All cells of an experiment, in the order they ran."""

    index: Index
    cells: tuple[CellData[R], ...]
    references: tuple[CellData[Any], ...] = ()  # of the kind that index.references names

    @property
    def all_cells(self) -> tuple[CellData[Any], ...]:
        """The references too."""
        return (*self.cells, *self.references)

    def by_host(self) -> tuple[tuple[str, "SuiteData[R]"], ...]:
        """What was measured on each host, in order of the first block; at least one, itself."""
        by_block = sorted(self.cells, key=lambda cell: cell.record.block)
        hosts = dict.fromkeys(host_name(cell.record.host) for cell in by_block if cell.result is not None)
        if len(hosts) < 2:  # noqa: PLR2004 - all is of one host
            return ((next(iter(hosts), UNKNOWN_HOST), self),)

        def of(cells: tuple[CellData[Any], ...], host: str) -> tuple[CellData[Any], ...]:
            return tuple(cell for cell in cells if host_name(cell.record.host) == host)

        return tuple(
            (host, replace(self, cells=of(self.cells, host), references=of(self.references, host)))
            for host in hosts
        )

    @property
    def ranked(self) -> "SuiteData[R]":
        """Without weakened and slowed-down controls, which no table or plot ranks."""
        return self.only(lambda variant: variant.naive_twin_of is None and variant.control_of is None)

    def only(self, keep: Callable[[VariantRecord], bool]) -> "SuiteData[R]":
        """With these variants alone."""
        variants = tuple(variant for variant in self.index.variants if keep(variant))
        names = {variant.name for variant in variants}
        cells = tuple(cell for cell in self.cells if cell.record.variant in names)
        return replace(self, index=replace(self.index, variants=variants), cells=cells)

    @property
    def rows(self) -> tuple[RowKey, ...]:
        """Variants in the suite's order, each with the levels that ran, in the factors' order."""
        found = dict.fromkeys(
            (cell.record.variant, tuple(cell.record.levels.items()))
            for cell in self.cells
            if cell.record.role == "measured"
        )
        by_level = {factor.name: factor.levels for factor in self.index.factors}
        return tuple(
            RowKey(variant=variant, levels=levels)
            for variant in self.index.variants
            for own, levels in sorted(
                found, key=lambda key: [by_level[name].index(level) for name, level in key[1]]
            )
            if own == variant.name
        )

    def of(self, row: RowKey, *, control: bool = False) -> tuple[CellData[R], ...]:
        """The row's cells, by block; control: the A/A control's, which no table ranks."""
        role = "A/A control" if control else "measured"
        key = (role, row.variant.name, dict(row.levels))
        own = [
            cell for cell in self.cells if (cell.record.role, cell.record.variant, cell.record.levels) == key
        ]
        return tuple(sorted(own, key=lambda cell: cell.record.block))

    def shown(self, row: RowKey) -> tuple[CellData[R], ...]:
        """The cells a row shows: those that count; where none does, all, and the row is marked."""
        cells = self.of(row)
        return tuple(cell for cell in cells if cell.counts) or cells


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[R]):
    """`get` gives None where the result has no such figure."""

    key: str
    title: str
    better: Better
    get: Callable[[R], float | None]
    words: tuple[str, str] = ("faster", "slower")


@cache
def published_figures() -> dict[str, Any]:
    """Of the original experiment: `variants` by name, `source` and `remarks`."""
    data: dict[str, Any] = yaml.safe_load(ORIGINAL.read_text(encoding="utf-8"))
    return data
