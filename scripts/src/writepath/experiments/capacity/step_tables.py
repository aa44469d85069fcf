"""Tables of the load steps on which the capacities rest, and of how many of them counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.records.steps import unresolved
from writepath.report.capacity.words import resource_in_words
from writepath.report.model import ABSENT, INFINITE, Cell, Column, Row, Table, text
from writepath.report.rows import AGAIN, VARIANT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.records.capacity_run import CapacityResult
    from writepath.records.steps import LoadStep
    from writepath.report.capacity.figures import Suite
    from writepath.report.data import CellData

    Cells = Sequence[CellData[CapacityResult]]

STEP_COLUMNS = (
    VARIANT,
    Column(key="step_block", title="block", exact=True),
    Column(key="step_number", title="step", exact=True),
    Column(key="step_kind", title="kind"),
    Column(key="step_rate_per_s", title="rate", unit="1/s", exact=True),
    Column(key="step_seconds", title="duration", unit="s", exact=True),
    Column(key="step_result", title="result"),
    Column(key="step_p99_ms", title="p99", unit="ms"),
    Column(key="step_unserved", title="not acknowledged", exact=True),
    Column(key="step_stored_per_s", title="stored", unit="1/s"),
    Column(key="step_backlog_per_s", title="backlog growth", unit="1/s"),
    Column(key="step_drain_s", title="drain", unit="s"),
    Column(key="step_audit", title="audit"),
    Column(key="step_limited_by", title="bottleneck"),
    Column(key="step_why", title="reason"),
)
VALIDITY_COLUMNS = (
    VARIANT,
    Column(key="validity_runs", title="capacity runs"),
    Column(key="validity_counted", title="steps counted", exact=True),
    Column(key="validity_ramp", title="ramp", exact=True),
    Column(key="validity_noise", title="noisy, retried", exact=True),
    Column(key="validity_unresolved", title="noisy, not retried", exact=True),
    Column(key="validity_why", title="cause of noise"),
    Column(key="validity_audit", title="audit of steps"),
    Column(key="validity_lost", title="failed runs"),
)
NOISY_HOST = "noisy host"


def steps(data: Suite) -> Table:
    """Every load step of every capacity run, one row each."""
    rows = [
        Row(cells=_step_cells(cell, step), mark=NOISY_HOST if step.verdict == "noise" else "")
        for cell in data.cells
        if cell.result is not None
        for step in cell.result.steps
    ]
    return Table(
        key="steps",
        title="Load steps",
        caption="In order of time. Ramp: short steps that find the range for the bisection. Noisy host: the load"
        " generator or the host disturbed the step; it was retried and is counted in no figure. p99 from the scheduled"
        " send time; ∞: it falls on a request that was not acknowledged.",
        columns=STEP_COLUMNS,
        rows=tuple(rows),
        names=3,
    )


def _step_cells(cell: CellData[CapacityResult], step: LoadStep) -> tuple[Cell, ...]:
    first = step.limited_by.first if step.limited_by else None
    return (
        text(_name(cell)),
        _one(cell.record.block),
        _one(step.number),
        text(step.kind),
        _one(step.rate_per_s),
        _one(step.seconds),
        text(_result_in_words(step)),
        _p99(step),
        _one(step.requests.planned - step.requests.acknowledged),
        _one(step.stored_per_s),
        _one(step.backlog.slope_per_s if step.backlog else None),
        _one(step.drain_seconds),
        text(step.audit or ABSENT),
        text(resource_in_words(first) if first else ABSENT),
        text("; ".join(step.reasons) or ABSENT),
    )


def _p99(step: LoadStep) -> Cell:
    """∞ where its rank falls on a request that was not acknowledged; empty where too few were scheduled."""
    value = step.planned_latency_ms.p99
    return text(INFINITE) if value is None and stats.carries(step.requests.planned, 0.99) else _one(value)


def _result_in_words(step: LoadStep) -> str:
    """`pass`, `fail (load generator suspected)`; a step that fails by its backlog alone passes as a burst."""
    if step.verdict == "noise":
        return NOISY_HOST
    if step.verdict == "fail" and step.burst:
        return "fail, passes as a burst"
    return f"{step.verdict} (load generator suspected)" if step.generator_bound else step.verdict


def validity(data: Suite) -> Table:
    """How many steps were noisy, and whether every acknowledged write was found."""
    groups: dict[str, list[CellData[CapacityResult]]] = {}
    for cell in data.cells:
        groups.setdefault(_name(cell), []).append(cell)
    return Table(
        key="validity",
        title="Validity",
        caption="Noisy steps, which the load generator or the host disturbed, are kept and retried; this table counts"
        " them.",
        columns=VALIDITY_COLUMNS,
        rows=tuple(Row(cells=_validity_cells(name, cells)) for name, cells in groups.items()),
    )


def _validity_cells(name: str, cells: Cells) -> tuple[Cell, ...]:
    runs = [cell.result.steps for cell in cells if cell.result is not None]
    made = [step for steps in runs for step in steps]
    noisy = [step for step in made if step.verdict == "noise"]
    left = sum(len(list(unresolved(steps))) for steps in runs)
    reasons = Counter(reason for step in noisy for reason in step.reasons)
    searched = any(cell.result is not None and cell.result.searches is not None for cell in cells)
    audits = Counter(step.audit or "not read" for step in made if step.kind != "ramp" and not searched)
    lost = [
        f"block {cell.record.block}: {cell.record.error or cell.record.outcome}"
        for cell in cells
        if cell.record.outcome != "finished"
    ]
    return (
        text(name),
        text(f"{len(cells) - len(lost)} of {len(cells)} finished"),
        _one(sum(step.counted for step in made)),
        _one(sum(step.kind == "ramp" for step in made if step.verdict != "noise")),
        _one(len(noisy) - left),
        _one(left),
        text("; ".join(f"{reason} ({times})" for reason, times in reasons.most_common()) or ABSENT),
        text(", ".join(f"{count} {verdict}" for verdict, count in sorted(audits.items())) or ABSENT),
        text("; ".join(lost) or "none"),
    )


def _name(cell: CellData[CapacityResult]) -> str:
    """Its title, how it searches, and whether it is the A/A control."""
    words = [cell.record.title, *(f"{name}={level}" for name, level in cell.record.levels.items())]
    searches = None if cell.result is None else cell.result.searches
    mode = "" if searches is None else f" ({searches.data_set.mode})"
    return ", ".join(words) + mode + (AGAIN if cell.record.role == "A/A control" else "")


def _one(value: float | None) -> Cell:
    return Cell(figure=stats.spread([value]))
