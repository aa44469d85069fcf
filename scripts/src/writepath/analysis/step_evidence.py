"""Evidence of load steps: reduce_step() of raw files, and the tables that hold all steps of a run together.

A run's tables are those of load_aggregates.py and the samples, with a column `step`. Latencies have buckets of 3 %,
but the values at the ranks that are reported are exact, so that figures of the evidence are those of the raw files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from writepath.analysis import load_rows, raw, times
from writepath.analysis.load_aggregates import ACCEPT, LATENESS, SCHEDULED, US_PER_MS, aggregated
from writepath.analysis.load_rows import NO_TIME, column_of, whole
from writepath.analysis.saturation.metrics import read_by_rules
from writepath.analysis.stats import US_PER_S, rank
from writepath.analysis.usage import RESIDENT
from writepath.records.load_facts import LoadFacts, PhaseFacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from writepath.load.plan import ArrivalPlan
    from writepath.records.capacity_run import CapacityFacts
    from writepath.records.steps import SentFacts, StepFacts

    Tables = Mapping[str, pa.Table]

STEP = "step"
CLOCKS = (ACCEPT, SCHEDULED, LATENESS)
COARSE = 32  # buckets of 0.1 % as one
ANSWERS = ("status", "error_code", "client", "count")
SCALARS = ("origin_us", "answered_last_us", "durable_last_us", "rows_first")
SAMPLES = pa.schema(
    [("at_us", pa.int64()), ("component", pa.string()), ("metric", pa.string()), ("value", pa.float64())]
)
RAMP_METRICS = ("cpu_seconds", "write_bytes", RESIDENT)  # all that is published of a ramp step's samples


def folder_of(run: Path, number: int) -> Path:
    """Where the raw files of a load step are."""
    return run / f"step-{number:02}"


def reduce_step(folder: Path, run: CapacityFacts, step: StepFacts) -> dict[str, pa.Table]:
    """The tables of a step's raw files, with all samples that rules read."""
    return {**reduce_requests(folder, as_load(run, step)), "samples": reduce_samples(folder)}


def as_load(run: CapacityFacts, step: StepFacts) -> LoadFacts:
    """A load step as a load of one phase."""
    rate = step.rate_per_s
    phase = PhaseFacts(name=step.kind, seconds=step.seconds, from_per_s=rate, to_per_s=rate)
    known = load_of(run, step.sent, (phase,))
    return replace(
        known, reads=step.reads, unread=step.unread, suppressed_duplicates=step.suppressed_duplicates
    )


def load_of(run: CapacityFacts, sent: SentFacts, phases: tuple[PhaseFacts, ...]) -> LoadFacts:
    """What the functions of loads are told; no crash comes between two loads, so the store is read once."""
    return LoadFacts(
        run_id=sent.run_id,
        runtime=run.runtime,
        declared_level="",
        model="open",
        phases=phases,
        virtual_users=0,
        seconds=sum(phase.seconds for phase in phases),
        operations=(run.operation,),
        queue_path=False,  # the order of writes is no figure here
        load_started_at=sent.started_at,
        load_finished_at=sent.started_at,
        dropped=sent.dropped,
        exit_code=sent.exit_code,
        generator_faults=sent.generator_faults,
        samples_late=sent.samples_late,
        withheld=sent.withheld,
        reads_required=1,
    )


def phases_of(plan: ArrivalPlan) -> tuple[PhaseFacts, ...]:
    """Of an arrival plan."""
    return tuple(PhaseFacts(**vars(phase)) for phase in plan.phases)


def reduce_requests(folder: Path, load: LoadFacts, exact_ms: Sequence[float] = ()) -> dict[str, pa.Table]:
    """Answers, latencies, classes of the audit and scalars of a load.

    exact_ms: limits to which latencies are counted.
    """
    found = raw.tables(folder)
    rows = load_rows.of_raw(found["requests"], found.get("stored"), load.operations, reads=1)
    unexpected, durable_us = rows.unexpected, rows.first.durable_at_us
    tables = aggregated(rows, load, exact=True)
    planned = whole(tables["phases"], "planned")
    known = dict(
        zip(column_of(tables["scalars"], "name").to_pylist(), whole(tables["scalars"], "value"), strict=True)
    )
    scalars = {name: int(known[name]) for name in SCALARS if name in known} | {"planned": int(planned.sum())}
    dated = durable_us[durable_us != NO_TIME] - scalars["origin_us"]
    if len(dated):
        scalars["durable_within"] = int(((dated >= 0) & (dated <= load.seconds * US_PER_S)).sum())
    sums = tables["latency_sums"]
    return {
        "answers": tables["answers"].select(ANSWERS),
        "tally": tables["tally"],
        "latencies": _latencies(tables, planned.tolist(), [round(ms * US_PER_MS) for ms in exact_ms]),
        "latency_sums": sums.filter(
            pa.array([clock in CLOCKS for clock in column_of(sums, "clock").to_pylist()])
        ),
        "unexpected": unexpected,
        "scalars": pa.table({"name": list(scalars), "value": pa.array(scalars.values(), pa.int64())}),
    }


def _latencies(tables: Tables, planned: Sequence[int], limits_us: Sequence[int]) -> pa.Table:
    """By clock and phase; lateness has no phases, and is of all that was sent."""
    parts = []
    for clock in CLOCKS:
        for phase, of in enumerate(planned):
            found = times.times(tables, clock, phase)
            of_requests, exact_us = (of, limits_us) if clock != LATENESS else (found.number, _p99_us(found))
            value, count = found.coarse(of_requests, COARSE, exact_us)
            words = pa.array([clock] * len(value), pa.string())
            columns = {"clock": words, "phase": np.full(len(value), phase), "value_us": value, "count": count}
            parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _p99_us(found: times.Times) -> list[int]:
    """Of lateness it is reported however few requests were sent."""
    p99_ms = found.at(rank(found.number, 0.99)) if found.number else None
    return [] if p99_ms is None else [round(p99_ms * US_PER_MS)]


def reduce_samples(folder: Path) -> pa.Table:
    """What rules read of a load's samples, by component, metric and time; of resident memory the highest value."""
    path = folder / raw.SAMPLES_FILE
    parts = []
    for (component, metric), (at_us, value) in sorted(
        raw.read_samples(path).items() if path.is_file() else ()
    ):
        known = ~np.isnan(value)
        if metric == RESIDENT and known.any():
            known &= np.arange(len(value)) == np.nanargmax(value)
        if metric == RESIDENT or read_by_rules(metric):
            parts.append(samples_of(component, metric, at_us[known], value[known]))
    return pa.concat_tables([SAMPLES.empty_table(), *parts])


def samples_of(component: str, metric: str, at_us: NDArray[Any], value: NDArray[Any]) -> pa.Table:
    """Rows of `samples` of one series."""
    words = [pa.array([word] * len(value), pa.string()) for word in (component, metric)]
    return pa.table([pa.array(at_us), *words, pa.array(value, pa.float64())], schema=SAMPLES)
