"""Computes the figures of a load step and of a fault cell, by the definitions of stats.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import stats
from writepath.analysis.order import overtaking
from writepath.analysis.stats import US_PER_MS
from writepath.errors import LoadError
from writepath.load.ledger import NO_TIME, Outcome
from writepath.load.plan import NS_PER_MS, NS_PER_US, align
from writepath.records import Latency, Order, Requests

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from writepath.analysis.audit import Stored
    from writepath.analysis.raw import Seen
    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of one load."""

    requests: Requests
    accept_latency_ms: Latency
    planned_latency_ms: Latency
    lateness_ms_p99: float | None
    lateness_ms_max: float | None
    started_us: int  # epoch: the load's start by its own clock
    answered_us: int  # epoch: the last answer, whatever it was


@dataclass(frozen=True, kw_only=True)
class VisibleFigures:
    """Nothing where nobody was asked, or nobody answered."""

    time_to_visible_ms: Latency | None = None
    visible_samples: int | None = None
    visible_error_ms_median: float | None = None
    visible_error_ms_max: float | None = None


def figures(plan: ArrivalPlan, ledger: Ledger, dropped: int) -> Figures:
    """ledger: concluded, so that every started iteration has a line."""
    records, outcomes = ledger.records, ledger.outcomes()
    timed = ledger.timed()
    if not timed.any():
        raise LoadError("no request of the load ended; see k6.log in the folder of the run")
    records, acknowledged = records[timed], (outcomes == Outcome.ACKNOWLEDGED)[timed]
    aligned = align(plan, records["seq"], records["start_us"])
    took_us = records["blocked_us"] + records["duration_us"]
    answered_us = records["start_us"] + took_us
    behind_ns = aligned.behind_ns() + took_us * NS_PER_US
    late_ms = aligned.lateness_ns / NS_PER_MS
    return Figures(
        requests=requests(plan.planned, ledger, dropped),
        accept_latency_ms=latency(took_us[acknowledged] / US_PER_MS, plan.planned),
        planned_latency_ms=latency(behind_ns[acknowledged] / NS_PER_MS, plan.planned),
        lateness_ms_p99=float(np.percentile(late_ms, 99, method="inverted_cdf")),
        lateness_ms_max=float(late_ms.max()),
        started_us=aligned.origin_us,
        answered_us=int(answered_us.max()),
    )


def latency(served_ms: NDArray[np.float64], planned: int) -> Latency:
    """A distribution as records have it: no infinities in JSON, so a rank on an unserved request is null."""
    values = stats.distribution(served_ms, planned)
    ranks = (values.median, values.p95, values.p99)
    median, p95, p99 = (None if rank is None or rank == stats.UNSERVED else round(rank, 3) for rank in ranks)
    rest = (values.min_served, values.mean_served, values.max_served)
    low, mean, high = (None if value is None else round(value, 3) for value in rest)
    return Latency(min=low, mean=mean, median=median, p95=p95, p99=p99, max=high)


def time_to_visible(ledger: Ledger, seen: Seen | None) -> VisibleFigures:
    """From sending until a search found the row, of the samples; unserved, never sent and never found at infinity."""
    if seen is None:
        return VisibleFigures()
    records = ledger.records[ledger.outcomes() == Outcome.ACKNOWLEDGED]
    sampled = records[np.isin(records["seq"], seen.seq)]
    sent = (sampled["seq"], sampled["start_us"])
    delays = stats.delays_us(*sent, seen.seq, seen.visible_at_us)
    widths_ms = stats.widths_us(*sent, seen.seq, seen.not_before_us, seen.visible_at_us) / US_PER_MS
    return VisibleFigures(
        time_to_visible_ms=latency(stats.finite_ms(delays), len(seen.seq)),
        visible_samples=len(seen.seq),
        visible_error_ms_median=round(float(np.median(widths_ms)), 3) if len(widths_ms) else None,
        visible_error_ms_max=round(float(widths_ms.max()), 3) if len(widths_ms) else None,
    )


def order(ledger: Ledger, stored: Stored, redelivered: int | None) -> Order:
    """In which order acknowledged writes reached the final store; of one stored twice the first row counts."""
    records = ledger.records[ledger.outcomes() == Outcome.ACKNOWLEDGED]
    sent = records["start_us"]
    delays = stats.delays_us(records["seq"], sent, stored.seq, stored.durable_at_us)
    durable = np.where(delays == stats.NEVER_US, NO_TIME, sent + delays)
    found = overtaking(sent, sent + records["blocked_us"] + records["duration_us"], durable)
    return Order(
        inversions=found.inversions,
        overtaken_share=round(found.overtaken / found.writes, 6) if found.writes else 0.0,
        redelivered=redelivered,
    )


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
