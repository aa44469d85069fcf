"""Does every number of an overload's record follow from the values that are published with it?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import overload as stretches
from writepath.analysis import samples as sampled
from writepath.analysis import stats
from writepath.analysis.overload import HOPS, STRETCHES
from writepath.analysis.saturation.rules import GENERATOR_CPU, GENERATOR_LATE_MS, K6
from writepath.report import overload_values, packed
from writepath.report.hold_verify import DIGITS, PEAK_SHARE, near

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.analysis.stats import Ints
    from writepath.load.plan import ArrivalPlan
    from writepath.records.capacity import Overload, OverloadPhase, Search
    from writepath.report.overload_values import OverloadData

MOMENT_S = 0.0011  # samples keep whole milliseconds
PER_S = 0.0006  # rates have three decimals


def of_overload(search: Search, data: OverloadData) -> Iterator[str]:
    """Of a search that has one."""
    overload = search.overload
    if overload is None:
        yield "its record is missing"
        return
    capacity = search.sustained.last_pass_per_s if search.sustained is not None else None
    if overload.capacity_per_s != capacity:
        yield f"capacity_per_s={overload.capacity_per_s} ≠ {capacity}, the highest passing rate"
    plan = overload_values.plan_of(overload)
    if len(overload.phases) != len(STRETCHES) or not _fits(data, plan):
        yield "its raw values are not of the phases in the record"
        return
    for index, phase in enumerate(overload.phases):
        for problem in _of_phase(index, overload, data, plan):
            yield f"{phase.name}: {problem}"
    yield from _of_recovery(overload, data, plan)
    yield from _of_generator(overload.generator_faults, data)


def _fits(data: OverloadData, plan: ArrivalPlan) -> bool:
    """Whether each second, each stretch and each tenth of a second has as many requests as were planned."""
    seconds, cells = overload_values.by_second(plan), stretches.by_cell(plan)
    counted = (data.good, data.slow, *data.failed.values())
    if any(len(counts) != len(seconds) for counts in counted) or len(data.planned) != len(plan.phases):
        return False
    in_cells = data.within is None or (len(data.within) == len(cells) and bool((data.within <= cells).all()))
    planned = np.bincount(plan.phase_indices(), minlength=len(plan.phases)).tolist()
    whole = bool((np.sum(counted, axis=0) == seconds).all())
    return whole and in_cells and [found.planned for found in data.planned] == planned


def _of_phase(index: int, overload: Overload, data: OverloadData, plan: ArrivalPlan) -> Iterator[str]:
    phase, (_, times, _) = overload.phases[index], STRETCHES[index]
    if phase.rate_per_s != times * overload.capacity_per_s:
        yield f"rate_per_s={phase.rate_per_s} ≠ {times:g} × {overload.capacity_per_s}"

    def of_it(counts: Ints) -> int:
        ends = np.cumsum(overload_values.lengths(plan))
        return int(np.split(counts, ends[:-1])[index].sum())

    derived = {
        "planned": data.planned[index].planned,
        "acknowledged": of_it(data.good) + of_it(data.slow),
        "errors_by_hop": {hop: of_it(data.failed[hop]) for hop in HOPS},
    }
    for name, value in derived.items():
        if getattr(phase, name) != value:
            yield f"{name}={getattr(phase, name)} ≠ {value} of the answers"
    yield from _of_times(phase, of_it(data.good), data.planned[index].percentile(stretches.P95))


def _of_times(phase: OverloadPhase, good: int, p95_ms: float | None) -> Iterator[str]:
    goodput_per_s = good / phase.seconds
    if abs(phase.goodput_per_s - goodput_per_s) > PER_S:
        yield f"goodput_per_s={phase.goodput_per_s} ≠ {goodput_per_s:.3f} of the answers"
    derived = None if p95_ms == stats.UNSERVED else p95_ms
    if not near(phase.p95_ms, derived, packed.COARSE):
        yield f"p95_ms={phase.p95_ms} ≠ {derived} of the histogram"


def _of_recovery(overload: Overload, data: OverloadData, plan: ArrivalPlan) -> Iterator[str]:
    recovered = None
    if data.within is not None:
        recovered = stretches.recovered_after_s(data.within, stretches.by_cell(plan))
    if overload.recovered_after_s != recovered:
        yield f"recovered_after_s={overload.recovered_after_s} ≠ {recovered} of the answers"
    seen = {key: samples for key, samples in data.series.items() if key[0] != K6}
    if not seen:
        if overload.backlog_drained_after_s is not None:
            yield f"backlog_drained_after_s={overload.backlog_drained_after_s}: no queue was sampled"
        return
    at_us, depth = sampled.queue_depth(seen)
    at_s = (at_us - data.from_us) / stats.US_PER_S
    inside = (at_s >= 0) & (at_s <= plan.seconds)
    drained = stretches.drained_after_s(at_s[inside], depth[inside], plan)
    recorded = overload.backlog_drained_after_s
    if (recorded is None) != (drained is None) or abs((recorded or 0.0) - (drained or 0.0)) > MOMENT_S:
        yield f"backlog_drained_after_s={recorded} ≠ {drained} of the samples"


def _of_generator(faults: Sequence[str], data: OverloadData) -> Iterator[str]:
    """Whether it was saturated or late; that it did not carry out its plan, only it could tell."""
    readings = data.series.get((K6, "cpu_seconds"))
    peak = 0.0
    if readings is not None:
        _, peak = sampled.cpu_shares((readings[0] / stats.US_PER_S).tolist(), readings[1].tolist())
    late_ms = data.late.at(stats.rank(data.late.served, 0.99))
    for word, value, limit, margin in (
        (stretches.SATURATED, peak, GENERATOR_CPU, PEAK_SHARE),
        (stretches.LATE, late_ms, GENERATOR_LATE_MS, DIGITS * packed.COARSEST),
    ):
        said = any(fault.startswith(word) for fault in faults)
        if said != (value > limit) and not math.isclose(value, limit, rel_tol=margin):
            yield f"generator_faults={'; '.join(faults) or 'none'}, but it {word}: {value:.3g}, limit {limit:g}"
