"""How do runs become rows? One row a variant, one value a repetition; shared by all tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from writepath.report.model import ABSENT, Column, Row, Value, cell, number, text
from writepath.stats import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from writepath.report.figures import Figures, SuiteFigures
    from writepath.result import SuiteVariant
    from writepath.stats import Distribution

VARIANT = Column(key="variant", title="variant")
DAGGER = "†"
AGAIN = " (A/A control)"  # after the title of the baseline's second run in a block
RANKS = ("median", "p95", "p99")
LEGEND = (
    "∞: the request at this rank was not acknowledged (dropped, failed, refused or timed out)."
    " –: no value, or too few requests for this percentile (p95 needs 200, p99 needs 1,000)."
)


@dataclass(frozen=True, kw_only=True)
class Field:
    """A column and where its value comes from."""

    column: Column
    get: Callable[[Figures], Value]


def by_variant(figures: SuiteFigures, fields: Sequence[Field]) -> tuple[Row, ...]:
    """One row a variant, in the suite's order."""
    rows = []
    for variant in figures.suite.variants:
        runs = figures.shown(variant.name)
        if runs:
            cells = tuple(cell(field.get(run) for run in runs) for field in fields)
            rows.append(Row(cells=(text(label(figures, variant)), *cells), mark=mark(runs)))
    return tuple(rows)


def columns(fields: Iterable[Field]) -> tuple[Column, ...]:
    """The variant's column and those of the fields."""
    return (VARIANT, *(field.column for field in fields))


def label(figures: SuiteFigures, variant: SuiteVariant) -> str:
    """The variant's title; a dagger where its 201 comes before the row is in its store."""
    later = any(run.durable_later for run in figures.shown(variant.name))
    return f"{variant.title} {DAGGER}" if later else variant.title


def mark(runs: Sequence[Figures]) -> str:
    """`invalid` or `unknown` where no run of the row counts."""
    if any(run.counts for run in runs):
        return ""
    statuses = [run.run.verdict.status for run in runs]
    return "unknown" if statuses and all(status == "unknown" for status in statuses) else "invalid"


def durable_notes(figures: SuiteFigures) -> tuple[str, ...]:
    """Time to durable of each variant whose 201 comes first."""
    notes = []
    for variant in figures.suite.variants:
        runs = [run for run in figures.shown(variant.name) if run.durable_later]
        if runs:
            times = ", ".join(
                f"{name} {_figure([getattr(run.durable, name) for run in runs])}" for name in RANKS
            )
            notes.append(
                f"{DAGGER} {variant.title}: the 201 comes before the row is in its final store"
                f" ({variant.acknowledges}). Time to durable in ms: {times}."
            )
    return tuple(notes)


def spread_note(figures: SuiteFigures) -> str:
    """How cells with several repetitions are read."""
    if figures.suite.repetitions > 1:
        return "Cells: median of the repetitions (lowest–highest)."
    return "One repetition: small differences between rows may be noise."


def replaced_note(figures: SuiteFigures) -> str:
    """How many runs were repeated; nothing where none was."""
    again = sum(run.replaced for run in figures.suite.runs)
    if not again:
        return ""
    runs = "1 run was" if again == 1 else f"{again} runs were"
    return f"{runs} rerun because the host was noisy or the run was stopped before its end; the replaced runs are kept."


def ms(key: str, title: str, get: Callable[[Figures], float | None]) -> Field:
    """A column of milliseconds."""
    return Field(column=Column(key=f"{key}_ms", title=title, unit="ms"), get=get)


def count(key: str, title: str, get: Callable[[Figures], int | None]) -> Field:
    """A column of exact counts."""
    return Field(column=Column(key=key, title=title, exact=True), get=get)


def ranks(
    of: Callable[[Figures], Distribution | None], prefix: str = "", title: str = "{}"
) -> tuple[Field, ...]:
    """Median, p95 and p99. title: with {} in the place of these names."""
    return tuple(ms(f"{prefix}{name}", title.format(name), partial(_rank, of, name)) for name in RANKS)


def _rank(of: Callable[[Figures], Distribution | None], name: str, run: Figures) -> float | None:
    distribution = of(run)
    return None if distribution is None else getattr(distribution, name)


def _figure(values: list[float | None]) -> str:
    figure = spread(values)
    return ABSENT if figure is None else number(figure.median)
