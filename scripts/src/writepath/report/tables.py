"""Which tables does a report have, in which order? A new table is a function named in this tuple."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from writepath.report import (
    clock_tables,
    comparison_table,
    cost_tables,
    fingerprint,
    load_tables,
    original,
    twins,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.report.figures import SuiteFigures
    from writepath.report.model import Table

BUILDERS: tuple[Callable[[SuiteFigures], Table | None], ...] = (
    load_tables.latency,
    comparison_table.comparison,
    original.beside,
    load_tables.phases,
    load_tables.answers,
    load_tables.throughput,
    clock_tables.clocks,
    clock_tables.order,
    cost_tables.resources,
    cost_tables.audit,
    twins.twins,
    cost_tables.runs,
    fingerprint.fingerprint,
)
OF_ALL = (  # the others rank: without controls
    comparison_table.comparison,
    twins.twins,
    cost_tables.runs,
    fingerprint.fingerprint,
)
BY_RUN = ("runs", "fingerprint")  # a row is of one run or names its variants


def tables(figures: SuiteFigures) -> tuple[Table, ...]:
    """All tables that apply to this suite run. Headings say where cells mix runs of several hosts."""
    ranked = figures.ranked
    built = (build(figures if build in OF_ALL else ranked) for build in BUILDERS)
    found = tuple(table for table in built if table is not None)
    if len(fingerprint.hosts(figures)) <= 1:
        return found
    return tuple(table if table.key in BY_RUN else _mixed(table) for table in found)


def _mixed(table: Table) -> Table:
    return replace(table, title=f"{table.title} (mixes hosts, not publishable)")
