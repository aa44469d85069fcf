"""Figures of an overload, from its evidence: goodput and errors of each phase, recovery, and the load generator."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import overload as stretches
from writepath.analysis import samples as sampled
from writepath.analysis import usage
from writepath.analysis.load_aggregates import SCHEDULED, US_PER_MS
from writepath.analysis.load_rows import column_of, whole
from writepath.analysis.overload import HOPS, STRETCHES
from writepath.analysis.stats import US_PER_S
from writepath.analysis.step_result import generator_of, inside, scalars_of, waits
from writepath.analysis.times import times
from writepath.config.registry import Phase
from writepath.load.plan import arrival_plan
from writepath.records.capacity_run import Overload, OverloadPhase

if TYPE_CHECKING:
    import pyarrow as pa

    from writepath.analysis.step_evidence import Tables
    from writepath.load.plan import ArrivalPlan
    from writepath.records.capacity_run import CapacityFacts, OverloadFacts

ANSWERS_S = 1.0  # in flight: what is beyond the cap is refused at once, and what is below it answers within


def plan_of(capacity_per_s: float) -> ArrivalPlan:
    """Half, twice, half."""
    phases = [
        Phase(name=name, seconds=seconds, from_per_s=times * capacity_per_s, to_per_s=times * capacity_per_s)
        for name, times, seconds in STRETCHES
    ]
    return dataclasses.replace(arrival_plan(phases), answer_s=ANSWERS_S)


def derive_overload(
    tables: Tables, hops: pa.Table, within: pa.Table | None, run: CapacityFacts, facts: OverloadFacts
) -> Overload:
    """The figures. tables: what it has in common with a step; within: in time, by tenth of a second."""
    plan = plan_of(facts.capacity_per_s)
    planned = np.bincount(plan.phase_indices(), minlength=len(plan.phases)).tolist()
    recovered = None
    if within is not None:
        recovered = stretches.recovered_after_s(whole(within, "within"), stretches.by_cell(plan))
    generator = generator_of(tables, facts.sent)
    faults = stretches.generator_faults(generator.cpu_share_peak, generator.lateness_ms_p99)
    return Overload(
        capacity_per_s=facts.capacity_per_s,
        phases=tuple(
            _phase(phase, index, planned[index], tables, hops, run.slo_ms)
            for index, phase in enumerate(plan.phases)
        ),
        recovered_after_s=recovered,
        backlog_drained_after_s=_drained_after_s(tables, plan) if waits(run) else None,
        generator_faults=(*facts.sent.generator_faults, *faults),
    )


def _phase(
    phase: Phase, index: int, planned: int, tables: Tables, hops: pa.Table, slo_ms: float
) -> OverloadPhase:
    found = times(tables, SCHEDULED, index)
    own = whole(hops, "phase") == index
    names = np.array(column_of(hops, "hop").to_pylist(), dtype=object)
    errors = {name: int(whole(hops, "count")[own & (names == name)].sum()) for name in HOPS}
    good = int(found.count[found.value_us <= round(slo_ms * US_PER_MS)].sum())
    return OverloadPhase(
        name=phase.name,
        rate_per_s=phase.from_per_s,
        seconds=phase.seconds,
        planned=planned,
        acknowledged=found.number,
        goodput_per_s=round(good / phase.seconds, 3),
        errors_by_hop=errors,
        p95_ms=found.latency(planned).p95,
    )


def recovered_limit_ms(tables: Tables, plan: ArrivalPlan) -> float | None:
    """What a window's p95 may be at most; None where there is no p95 before the overload."""
    planned = int((plan.phase_indices() == stretches.BEFORE).sum())
    p95_ms = times(tables, SCHEDULED, stretches.BEFORE).latency(planned).p95
    return None if p95_ms is None else stretches.recovered_limit_ms(p95_ms)


def _drained_after_s(tables: Tables, plan: ArrivalPlan) -> float | None:
    origin_us = scalars_of(tables)["origin_us"]
    at_us, depth = sampled.queue_depth(inside(usage.series(tables["samples"]), origin_us, plan.seconds))
    return stretches.drained_after_s((at_us - origin_us) / US_PER_S, depth, plan)
