"""What is published of an overload with its record: counts by second, histograms and samples, in lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import overload as stretches
from writepath.analysis.overload import BEFORE, HOPS
from writepath.analysis.saturation.rules import K6
from writepath.config.registry import Phase
from writepath.load.plan import NS_PER_S, arrival_plan
from writepath.report import packed
from writepath.report.hold_values import (
    histogram_of,
    lateness_of,
    read_ledger,
    read_series,
    times_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from writepath.analysis.histogram import Histogram
    from writepath.analysis.samples import Series
    from writepath.analysis.stats import Ints, Marks
    from writepath.load.plan import ArrivalPlan
    from writepath.records.capacity import Overload
    from writepath.report.packed import Lines

FOLDER = "overload"  # below its search's
QUEUE = ("queue_ready", "queue_unacknowledged")
STRETCH, FAILED = "planned", "failed"  # begin the names of lines of each stretch, of each hop


@dataclass(frozen=True, kw_only=True, eq=False)
class OverloadData:
    """Of one overload. By second: of the scheduled send time, each stretch with seconds of its own."""

    from_us: int  # epoch: the load's start by its own clock
    good: Ints  # answered 201 within the SLO, by second
    slow: Ints  # answered 201 later, by second
    failed: dict[str, Ints]  # by hop, by second
    planned: tuple[Histogram, ...]  # by stretch, of all its planned requests
    within: (
        Ints | None
    )  # by tenth of the last stretch's seconds: as quick as counts as recovered; None: unknown what is
    late: Histogram  # of the generator: from the scheduled send time to sending
    series: Series  # the queue, and the generator's processor


def plan_of(overload: Overload) -> ArrivalPlan:
    """Of the stretches that the record names."""
    return arrival_plan(
        [
            Phase(name=one.name, seconds=one.seconds, from_per_s=one.rate_per_s, to_per_s=one.rate_per_s)
            for one in overload.phases
        ]
    )


def by_second(plan: ArrivalPlan, which: Marks | None = None) -> Ints:
    """Planned requests; which: only these."""
    seconds = _seconds(plan)
    chosen = seconds if which is None else seconds[which]
    return np.bincount(chosen, minlength=int(lengths(plan).sum())).astype(np.int64)


def lengths(plan: ArrivalPlan) -> Ints:
    """By stretch, how many seconds it has, a last part of one included."""
    return np.ceil([phase.seconds for phase in plan.phases]).astype(np.int64)


def _seconds(plan: ArrivalPlan) -> Ints:
    """By planned request; what is due when a stretch ends belongs to it, as its phase does."""
    stretch, seconds = plan.phase_indices(), lengths(plan)
    begins_ns = np.cumsum([0, *(round(phase.seconds * NS_PER_S) for phase in plan.phases[:-1])])
    own = -((begins_ns[stretch] - plan.starts_ns) // NS_PER_S) - 1  # rounded up
    first = np.cumsum(seconds) - seconds
    return first[stretch] + np.clip(own, 0, seconds[stretch] - 1)


def from_raw(search: Path, overload: Overload, slo_ms: float) -> OverloadData:
    """Of the raw files below a search's folder; UsageError where one is missing or torn."""
    folder = search / FOLDER
    ledger, plan = read_ledger(folder), plan_of(overload)
    times, asked = times_of(ledger, plan), stretches.asked_of(plan, ledger)
    answered, good = np.isfinite(asked.answer_ms), asked.answer_ms <= slo_ms
    first_p95_ms = overload.phases[BEFORE].p95_ms
    within = None
    if first_p95_ms is not None:
        in_time = asked.within(stretches.recovered_limit_ms(first_p95_ms))
        within = stretches.by_cell(plan, in_time)
    planned = []
    for number in range(len(plan.phases)):
        inside = asked.stretch == number
        planned.append(histogram_of(asked.answer_ms[inside & answered], int(inside.sum())))
    return OverloadData(
        from_us=times.from_us,
        good=by_second(plan, good),
        slow=by_second(plan, answered & ~good),
        failed={name: by_second(plan, asked.hop == number) for number, name in enumerate(HOPS)},
        planned=tuple(planned),
        within=within,
        late=lateness_of(times),
        series={
            key: samples
            for key, samples in read_series(folder).items()
            if key == (K6, "cpu_seconds") or key[1] in QUEUE
        },
    )


def to_lines(data: OverloadData) -> Iterator[str]:
    """Of one overload."""
    yield f"from {data.from_us}"
    yield f"good {packed.whole(data.good)}"
    yield f"slow {packed.whole(data.slow)}"
    for hop, counts in data.failed.items():
        yield f"{FAILED}/{hop} {packed.whole(counts)}"
    for number, found in enumerate(data.planned):
        yield f"{STRETCH}/{number} {packed.of_histogram(found)}"
    if data.within is not None:
        yield f"within {packed.whole(data.within)}"
    yield f"late {packed.of_histogram(data.late)}"
    yield from packed.of_series(data.series)


def from_lines(lines: Lines) -> OverloadData:
    """What to_lines() gave; LookupError or ValueError where it is anything else."""
    stretch = sum(name.startswith(f"{STRETCH}/") for name in lines)
    return OverloadData(
        from_us=int(lines["from"]),
        good=packed.to_whole(lines["good"]),
        slow=packed.to_whole(lines["slow"]),
        failed={hop: packed.to_whole(lines[f"{FAILED}/{hop}"]) for hop in HOPS},
        planned=tuple(packed.to_histogram(lines[f"{STRETCH}/{number}"]) for number in range(stretch)),
        within=packed.to_whole(lines["within"]) if "within" in lines else None,
        late=packed.to_histogram(lines["late"]),
        series=packed.to_series(lines),
    )
