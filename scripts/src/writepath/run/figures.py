"""What do a run's ledger and store say in figures? The numbers of run.json, by the definitions of stats.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath import stats
from writepath.errors import LoadError
from writepath.load.ledger import Outcome
from writepath.load.plan import align
from writepath.order import overtaking
from writepath.result import Latency, Order, PhaseResult, Requests, Throughput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan
    from writepath.run.audit import Stored
    from writepath.run.visible import Seen


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of one load."""

    requests: Requests
    accept_latency_ms: Latency
    planned_latency_ms: Latency
    throughput: Throughput
    phases: tuple[PhaseResult, ...]
    lateness_ms_p99: float | None
    lateness_ms_max: float | None
    started_ms: float  # epoch: the load's start by its own clock
    answered_ms: float  # epoch: the last answer, whatever it was


@dataclass(frozen=True, kw_only=True)
class VisibleFigures:
    """The fields of run.json; nothing where nobody was asked, or nobody answered."""

    time_to_visible_ms: Latency | None = None
    visible_samples: int | None = None
    visible_error_ms_median: float | None = None
    visible_error_ms_max: float | None = None


def figures(plan: ArrivalPlan, ledger: Ledger, dropped: int) -> Figures:
    """ledger: concluded, so that every started iteration has a line."""
    records, outcomes = ledger.records, ledger.outcomes()
    timed = ~np.isnan(records["start_ms"])
    if not timed.any():
        raise LoadError("no request of the load ended; see k6.log in the folder of the run")
    records, acknowledged = records[timed], (outcomes == Outcome.ACKNOWLEDGED)[timed]
    aligned = align(plan, records["seq"], records["start_ms"])
    took_ms = records["blocked_ms"] + records["duration_ms"]
    answered_ms = records["start_ms"] + took_ms
    window = _Window(
        origin_ms=aligned.origin_ms,
        offsets_ms=plan.starts_ms[aligned.slots],
        phase=plan.phase_indices()[aligned.slots],
        took_ms=took_ms,
        answered_ms=answered_ms,
        acknowledged=acknowledged,
    )
    behind_ms = answered_ms - aligned.origin_ms - window.offsets_ms
    late = aligned.lateness_ms
    return Figures(
        requests=requests(plan.planned, ledger, dropped),
        accept_latency_ms=latency(took_ms[acknowledged], plan.planned),
        planned_latency_ms=latency(behind_ms[acknowledged], plan.planned),
        throughput=_throughput(window, acknowledged, 0.0, plan.seconds),
        phases=tuple(_phases(plan, window)),
        lateness_ms_p99=float(np.percentile(late, 99, method="inverted_cdf")) if len(late) else None,
        lateness_ms_max=float(late.max()) if len(late) else None,
        started_ms=aligned.origin_ms,
        answered_ms=float(answered_ms.max()) if len(late) else aligned.origin_ms + plan.seconds * 1000,
    )


def latency(served_ms: NDArray[np.float64], planned: int) -> Latency:
    """run.json's form of a distribution: no infinities in JSON, so a rank on an unserved request is null."""
    values = stats.distribution(served_ms, planned)
    ranks = (values.median, values.p95, values.p99)
    median, p95, p99 = (None if rank is None or rank == stats.UNSERVED else round(rank, 3) for rank in ranks)
    rest = (values.min_served, values.mean_served, values.max_served)
    low, mean, high = (None if value is None else round(value, 3) for value in rest)
    return Latency(min=low, mean=mean, median=median, p95=p95, p99=p99, max=high)


def time_to_durable(ledger: Ledger, stored: Stored, planned: int) -> Latency:
    """From sending until the row was in the final store, of acknowledged requests; the rest at infinity."""
    records = ledger.records[ledger.outcomes() == Outcome.ACKNOWLEDGED]
    delays = stats.delays_to_durable_ms(records["seq"], records["start_ms"], stored.seq, stored.durable_at_ms)
    return latency(stats.finite(delays), planned)


def time_to_visible(ledger: Ledger, seen: Seen | None) -> VisibleFigures:
    """From sending until a search found the row, of the samples; unserved, never sent and never found at infinity."""
    if seen is None:
        return VisibleFigures()
    records = ledger.records[ledger.outcomes() == Outcome.ACKNOWLEDGED]
    sampled = records[np.isin(records["seq"], seen.seq)]
    delays = stats.delays_to_durable_ms(sampled["seq"], sampled["start_ms"], seen.seq, seen.visible_at_ms)
    widths = stats.widths_ms(
        sampled["seq"], sampled["start_ms"], seen.seq, seen.not_before_ms, seen.visible_at_ms
    )
    return VisibleFigures(
        time_to_visible_ms=latency(stats.finite(delays), len(seen.seq)),
        visible_samples=len(seen.seq),
        visible_error_ms_median=round(float(np.median(widths)), 3) if len(widths) else None,
        visible_error_ms_max=round(float(widths.max()), 3) if len(widths) else None,
    )


def order(ledger: Ledger, stored: Stored, redelivered: int | None) -> Order:
    """In which order acknowledged writes reached the final store; of one stored twice the first row counts."""
    records = ledger.records[ledger.outcomes() == Outcome.ACKNOWLEDGED]
    sent = records["start_ms"]
    delays = stats.delays_to_durable_ms(records["seq"], sent, stored.seq, stored.durable_at_ms)
    found = overtaking(sent, sent + records["blocked_ms"] + records["duration_ms"], sent + delays)
    return Order(
        inversions=found.inversions,
        overtaken_share=round(found.overtaken / found.writes, 6) if found.writes else 0.0,
        redelivered=redelivered,
    )


def durable_per_s(stored: Stored, started_ms: float) -> float | None:
    """Rows in the final store by the time from the load's start to the last row's durable moment."""
    known = stored.durable_at_ms[~np.isnan(stored.durable_at_ms)]
    rate = stats.mean_rate_per_s(len(known), float(known.max()) - started_ms) if len(known) else None
    return None if rate is None else round(rate, 3)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Window:
    """Arrays are parallel: one entry a request with times."""

    origin_ms: float
    offsets_ms: NDArray[np.float64]  # planned moment since origin
    phase: NDArray[np.intp]
    took_ms: NDArray[np.float64]
    answered_ms: NDArray[np.float64]
    acknowledged: NDArray[np.bool_]


def requests(planned: int, ledger: Ledger, dropped: int) -> Requests:
    """Counts of a load, by what became of each request."""
    by_outcome = np.bincount(ledger.outcomes(), minlength=len(Outcome))
    return Requests(
        planned=planned,
        started=len(ledger.records),
        dropped=dropped,
        acknowledged=int(by_outcome[Outcome.ACKNOWLEDGED]),
        rejected=int(by_outcome[Outcome.REJECTED]),
        indeterminate=int(by_outcome[Outcome.INDETERMINATE]),
        by_status=dict(ledger.by_status()),
        by_error=dict(ledger.by_error()),
    )


def _phases(plan: ArrivalPlan, window: _Window) -> list[PhaseResult]:
    planned = np.bincount(plan.phase_indices(), minlength=len(plan.phases))
    results, begin_s = [], 0.0
    for index, phase in enumerate(plan.phases):
        inside = window.phase == index
        acknowledged = inside & window.acknowledged
        results.append(
            PhaseResult(
                name=phase.name,
                seconds=phase.seconds,
                planned=int(planned[index]),
                started=int(inside.sum()),
                acknowledged=int(acknowledged.sum()),
                accept_latency_ms=latency(window.took_ms[acknowledged], int(planned[index])),
                throughput=_throughput(window, acknowledged, begin_s, begin_s + phase.seconds),
            )
        )
        begin_s += phase.seconds
    return results


def _throughput(window: _Window, which: NDArray[np.bool_], begin_s: float, end_s: float) -> Throughput:
    """Of these requests: the window ends with the plan or with the last answer, whichever is later."""
    answers_ms = window.answered_ms[which]
    begin_ms, end_ms = window.origin_ms + begin_s * 1000, window.origin_ms + end_s * 1000
    last_ms = max(end_ms, float(answers_ms.max())) if len(answers_ms) else end_ms
    mean = stats.mean_rate_per_s(len(answers_ms), last_ms - begin_ms) or 0.0
    peak = stats.peak_rate_per_s(answers_ms, begin_ms) or 0.0
    return Throughput(mean_per_s=round(mean, 3), peak_per_s=round(peak, 3))
