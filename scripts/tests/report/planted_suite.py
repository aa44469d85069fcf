"""Small suites of kind `load` with known figures, as the engine gives them to a report."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from planted_index import STARTED, entry_of, index_of, record_of
from writepath.analysis.audit import not_read
from writepath.analysis.evidence import Evidence
from writepath.experiments.load import sections
from writepath.experiments.load.tables import ANSWERS
from writepath.records.base import to_data
from writepath.records.index import VariantRecord
from writepath.records.load import Climb, LoadPhase, LoadResult
from writepath.records.load_facts import LoadFacts, OperationFacts, PhaseFacts
from writepath.records.measures import (
    Audit,
    Canary,
    Drain,
    Durability,
    Generator,
    Host,
    Latency,
    Reading,
    Requests,
    Resource,
    Verdict,
)
from writepath.records.steps import LimitedBy, Saturated
from writepath.report.data import CellData, SuiteData
from writepath.report.model import Report, Table

PLANNED = 1200
PHASES = (
    PhaseFacts(name="ramp-up", seconds=10.0, from_per_s=20.0, to_per_s=20.0),
    PhaseFacts(name="sustained", seconds=10.0, from_per_s=100.0, to_per_s=100.0),
)
PHASE_PLANNED = (200, 1000)
RESOURCES = {
    "jpa-writer": Resource(cpu_seconds=6.0, rss_peak_bytes=512 << 20, write_bytes=None),
    "postgres": Resource(cpu_seconds=3.0, rss_peak_bytes=256 << 20, write_bytes=None),
    "k6": Resource(cpu_seconds=1.5, rss_peak_bytes=128 << 20, write_bytes=None),
}
NO_LATENCY = Latency(min=None, mean=None, median=None, p95=None, p99=None, max=None)
CLIMB = Climb(  # after those phases
    slo_ms=100.0, before="sustained", before_per_s=100.0, highest_per_s=4000.0, leaves_slo_per_s=1840.0,
    goodput_per_s=900.0, errors_by_hop={"proxy": 0, "application": 1200, "store": 30, "generator": 0},
    durable_latency_ms=NO_LATENCY, drained_seconds=2.5,
    limited_by=LimitedBy(first=Saturated(resource="pool", component="app", evidence="24 requests waited")),
)  # fmt: skip
CANARY = Canary(
    fsync_ms_p50=0.5, fsync_ms_p99=2.0, cpu_ms=40.0, steal_share=0.0, load_average_1m=0.1, disk_free_bytes=1
)


def latency(scale: float = 1.0) -> Latency:
    """Of 1,200 requests whose rank r took r / 10 ms."""
    return Latency(
        min=0.1 * scale, mean=60.05 * scale, median=60.0 * scale, p95=114.0 * scale, p99=118.8 * scale,
        max=120.0 * scale,
    )  # fmt: skip


def constant(value: float) -> Latency:
    """All the same."""
    return Latency(min=value, mean=value, median=value, p95=value, p99=value, max=value)


@dataclass(kw_only=True)
class Planted:
    """One cell. changes: fields of its result."""

    variant: str = "jpa"
    title: str | None = None
    block: int = 1
    levels: dict[str, str] = field(default_factory=dict)
    control: bool = False  # the A/A control
    scale: float = 1.0  # of its latencies
    lost: int = 0
    unserved: int = 0
    changes: dict[str, Any] = field(default_factory=dict)
    verdict: Verdict = field(default_factory=lambda: Verdict(status="valid"))
    failed: str | None = None
    problems: tuple[str, ...] = ()
    naive_twin_of: str | None = None
    control_of: str | None = None
    cpu_model: str = "Testor 3000"
    canary: Canary = CANARY  # before it
    processors: str | None = None
    closed: bool = False


def result(spec: Planted) -> LoadResult:
    """The result of a cell; of one with unserved requests no rank is served."""
    acknowledged = PLANNED - spec.unserved
    times = latency(spec.scale)
    if spec.unserved:
        times = replace(times, median=None, p95=None, p99=None)
    if acknowledged == 0:
        times = NO_LATENCY
    made = LoadResult(
        requests=Requests(
            planned=PLANNED, started=PLANNED, dropped=0, acknowledged=acknowledged, rejected=0,
            indeterminate=spec.unserved, by_status={}, by_error={},
        ),
        answers=_answers(acknowledged, spec.unserved),
        completed=PLANNED,
        accept_latency_ms=times,
        planned_latency_ms=NO_LATENCY if spec.closed else times,
        time_to_durable_ms=times,
        durable_of_acknowledged_ms=times,
        durable_later=False,
        time_to_visible_ms=None,
        visible_samples=None,
        visible_error_ms_median=None,
        visible_error_ms_max=None,
        order=None,
        planned_per_s=None if spec.closed else 60.0,
        planned_peak_per_s=None if spec.closed else 100.0,
        achieved_per_s=60.0 * acknowledged / PLANNED,
        achieved_peak_per_s=100.0,
        answered_per_s=60.0,
        durable_per_s=60.0,
        phases=() if spec.closed else _phases(times),
        audit=audit(acknowledged, spec.lost),
        drain=Drain(
            seconds=0.25, settle_seconds=5.0, capped=False, queue_ready_left=0, queue_unacknowledged_left=0,
            dead_letters=0,
        ),
        resources=RESOURCES,
        disk_written_bytes=24 << 20,
        queue_peak=None,
        generator=Generator(
            cpu_share_mean=0.2, cpu_share_peak=0.3, lateness_ms_p99=1.5, lateness_ms_max=9.0, exit_code=0,
            samples=20, samples_late=0,
        ),
        foreign_cpu_share=0.0,
        verdict=spec.verdict,
        load_started_at=STARTED,
        load_finished_at=STARTED,
    )  # fmt: skip
    return replace(made, **spec.changes)


def _answers(acknowledged: int, unserved: int) -> dict[str, int]:
    return dict.fromkeys(ANSWERS, 0) | {"status_201": acknowledged, "status_503": unserved}


def _phases(times: Latency) -> tuple[LoadPhase, ...]:
    return tuple(
        LoadPhase(
            name=phase.name, seconds=phase.seconds, planned=planned, started=planned, acknowledged=planned,
            accept_latency_ms=times, planned_latency_ms=times, achieved_per_s=planned / phase.seconds,
        )
        for phase, planned in zip(PHASES, PHASE_PLANNED, strict=True)
    )  # fmt: skip


def audit(acknowledged: int, lost: int = 0, reads: int = 2) -> Audit:
    """As it finds that so many are absent."""
    rows = acknowledged - lost
    return replace(
        not_read(), verdict="FAIL" if lost else "PASS", unread=(),
        reads=(Reading(store_rows=rows, left_in_queue=0),) * reads, stored_rows=rows, stored_ids=rows,
        acknowledged=acknowledged, ok=rows, late=0, lost=lost,
    )  # fmt: skip


def suite(*specs: Planted, **changes: Any) -> SuiteData[LoadResult]:
    """A suite run of these cells; changes: fields of its index."""
    variants = {spec.variant: _variant(spec) for spec in reversed(specs)}
    named = [variants[name] for name in dict.fromkeys(spec.variant for spec in specs)]
    cells = tuple(_cell(spec, variants[spec.variant], position) for position, spec in enumerate(specs, 1))
    params = changes.pop("params", {"warm_up_requests": 100, "warm_up_per_s": 50.0})
    fields = {"cells": tuple(cell.entry for cell in cells), **changes}
    return SuiteData(index=index_of([cell.record for cell in cells], named, params, **fields), cells=cells)


def _variant(spec: Planted) -> VariantRecord:
    return VariantRecord(
        name=spec.variant, title=spec.title or spec.variant.upper(), family=spec.variant, acknowledges="flushed",
        profiles=(), settings={}, naive_twin_of=spec.naive_twin_of, control_of=spec.control_of,
    )  # fmt: skip


def _cell(spec: Planted, variant: VariantRecord, position: int) -> CellData[LoadResult]:
    record = record_of(
        variant,
        levels=spec.levels,
        role="A/A control" if spec.control else "measured",
        block=spec.block,
        position=position,
        error=spec.failed,
        verdict=spec.verdict,
        durability=None if spec.failed else Durability(level="A", settings={"fsync": "on"}),
        host=Host(
            cpu_model=spec.cpu_model, cores=2, memory_bytes=8 << 30, kernel="6.1", filesystem="ext4",
            before=spec.canary, processors=spec.processors,
        ),
    )  # fmt: skip
    return CellData(
        entry=entry_of(record),
        record=record,
        result=None if spec.failed else result(spec),
        evidence=Evidence(tables={"seconds": _seconds(spec)}, facts=to_data(_facts(spec))),
        problems=spec.problems,
    )


def _facts(spec: Planted) -> LoadFacts:
    return LoadFacts(
        run_id="0123456789abcde", runtime="native", declared_level="A",
        model="closed" if spec.closed else "open", phases=() if spec.closed else PHASES,
        virtual_users=int(spec.levels.get("VIRTUAL_USERS", "16")), seconds=20.0,
        operations=(OperationFacts(name="write", served=(201,)),),
        queue_path=False, load_started_at=STARTED, load_finished_at=STARTED, dropped=0, exit_code=0,
        generator_faults=(), samples_late=0, withheld=None,
    )  # fmt: skip


def _seconds(spec: Planted) -> pa.Table:
    """By second of the load, whatever its result is."""
    served, at_ms = np.full(20, 60), 1000 * np.arange(20)
    planned = served.copy()
    planned[-1] += spec.unserved
    latencies = {"median_us": 2000 + at_ms // 10, "p95_us": 5000 + at_ms // 5, "max_us": 10_000 + at_ms}
    return pa.table({"planned": planned, "served": served, **latencies})


report_of = sections.report


def report(*specs: Planted, **changes: Any) -> Report:
    """Of a suite run of these cells."""
    return report_of(suite(*specs, **changes))


def tables(*specs: Planted, **changes: Any) -> dict[str, Table]:
    """By key."""
    return {table.key: table for table in report(*specs, **changes).tables}
