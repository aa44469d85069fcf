"""Overloads a path at twice its capacity and measures its recovery. One load: half, twice, half.

Beside `faults.overload`, which brakes a path to strike it as one fault among others: here it runs at the capacity
that its own search found.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import overload as stretches
from writepath.analysis import samples as sampled
from writepath.analysis import stats
from writepath.analysis.overload import BEFORE, HOPS
from writepath.capacity import observed
from writepath.capacity.rig import load
from writepath.config.registry import Phase
from writepath.load.plan import arrival_plan
from writepath.measure import loading
from writepath.records.capacity import Overload, OverloadPhase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.analysis.overload import Asked
    from writepath.analysis.stats import Floats
    from writepath.capacity.rig import Loaded, Rig
    from writepath.load.plan import ArrivalPlan

FOLDER = "overload"
ANSWERS_S = 1.0  # in flight: what is beyond the cap is refused at once, and what is below it answers within


def plan_of(capacity_per_s: float) -> ArrivalPlan:
    """Half, twice, half."""
    phases = [
        Phase(name=name, seconds=seconds, from_per_s=times * capacity_per_s, to_per_s=times * capacity_per_s)
        for name, times, seconds in stretches.STRETCHES
    ]
    return dataclasses.replace(arrival_plan(phases), answer_s=ANSWERS_S)


def overload(capacity_per_s: float, rig: Rig) -> Overload:
    """From an empty store, as a hold."""
    rig.bench.progress.phase("empty")
    rig.truth.purge()
    rig.bench.progress.phase(f"overload, twice {capacity_per_s:,.0f}/s")
    loaded = load(rig, plan_of(capacity_per_s), rig.spec.folder / FOLDER)
    return evaluate(capacity_per_s, loaded, slo_ms=rig.spec.slo_ms, queue=rig.queue)


def evaluate(capacity_per_s: float, loaded: Loaded, *, slo_ms: float, queue: bool) -> Overload:
    """A function of ledger and samples alone."""
    asked = stretches.asked_of(loaded.plan, loaded.taken)
    phases = tuple(_phase(index, phase, asked, slo_ms) for index, phase in enumerate(loaded.plan.phases))
    return Overload(
        capacity_per_s=capacity_per_s,
        phases=phases,
        recovered_after_s=_recovered_after_s(loaded.plan, asked, phases[BEFORE].p95_ms),
        backlog_drained_after_s=_drained_after_s(loaded) if queue else None,
        generator_faults=tuple(_generator_faults(loaded)),
    )


def _phase(index: int, phase: Phase, asked: Asked, slo_ms: float) -> OverloadPhase:
    inside = asked.stretch == index
    answer_ms, hop = asked.answer_ms[inside], asked.hop[inside]
    return OverloadPhase(
        name=phase.name,
        rate_per_s=phase.from_per_s,
        seconds=phase.seconds,
        planned=int(inside.sum()),
        acknowledged=int(np.isfinite(answer_ms).sum()),
        goodput_per_s=round(float((answer_ms <= slo_ms).sum()) / phase.seconds, 3),
        errors_by_hop={name: int((hop == number).sum()) for number, name in enumerate(HOPS)},
        p95_ms=_p95_ms(answer_ms),
    )


def _p95_ms(answer_ms: Floats) -> float | None:
    """None where the sample is too small, or the rank falls on what was not acknowledged."""
    served_ms = answer_ms[np.isfinite(answer_ms)]
    value = stats.percentile(served_ms, len(answer_ms), stretches.P95)
    return None if value is None or value == stats.UNSERVED else round(value, 3)


def _recovered_after_s(plan: ArrivalPlan, asked: Asked, first_p95_ms: float | None) -> float | None:
    """None where there is nothing to come back to, too."""
    if first_p95_ms is None:
        return None
    within = asked.within(stretches.recovered_limit_ms(first_p95_ms))
    return stretches.recovered_after_s(stretches.by_cell(plan, within), stretches.by_cell(plan))


def _drained_after_s(loaded: Loaded) -> float | None:
    seen = observed.series(loaded.driven.samples, loaded.from_us, loaded.to_us)
    at_us, depth = sampled.queue_depth(seen)
    return stretches.drained_after_s((at_us - loaded.from_us) / stats.US_PER_S, depth, loaded.plan)


def _generator_faults(loaded: Loaded) -> Iterator[str]:
    yield from loading.generator_faults(loaded.driven.result, loaded.taken)
    generator = observed.generator(loaded.driven, loaded.figures)
    yield from stretches.generator_faults(generator.cpu_share_peak, generator.lateness_ms_p99)
