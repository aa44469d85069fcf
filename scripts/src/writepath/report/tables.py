"""Which tables does a report have, in which order? A new table is a function named in this tuple."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report import cost_tables, fingerprint, load_tables, original

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.report.figures import SuiteFigures
    from writepath.report.model import Table

BUILDERS: tuple[Callable[[SuiteFigures], Table | None], ...] = (
    load_tables.latency,
    original.beside,
    load_tables.phases,
    load_tables.answers,
    load_tables.throughput,
    cost_tables.resources,
    cost_tables.audit,
    cost_tables.runs,
    fingerprint.fingerprint,
)


def tables(figures: SuiteFigures) -> tuple[Table, ...]:
    """All tables that apply to this suite run."""
    return tuple(table for build in BUILDERS if (table := build(figures)) is not None)
