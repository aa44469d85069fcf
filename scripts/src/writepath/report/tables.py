"""Which tables does a report have, in which order? A new table is a function named in this tuple."""

from __future__ import annotations

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
OF_ALL = (  # the others rank: without naive twins and controls
    comparison_table.comparison,
    twins.twins,
    cost_tables.runs,
    fingerprint.fingerprint,
)


def tables(figures: SuiteFigures) -> tuple[Table, ...]:
    """All tables that apply to this suite run."""
    ranked = figures.ranked
    built = (build(figures if build in OF_ALL else ranked) for build in BUILDERS)
    return tuple(table for table in built if table is not None)
