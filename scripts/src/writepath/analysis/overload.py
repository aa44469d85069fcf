"""The phases of an overload, half of a capacity, twice, half again: whose errors, and when the path has recovered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import stats
from writepath.analysis.saturation.rules import GENERATOR_CPU, GENERATOR_LATE_MS
from writepath.load.ledger import INTERRUPTED, REFUSED_BY_STORE, UNREAD, Outcome
from writepath.load.plan import NS_PER_MS, NS_PER_S, NS_PER_US, align

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from writepath.analysis.stats import Floats, Ints, Marks
    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan

STRETCHES = (("before", 0.5, 20.0), ("overload", 2.0, 20.0), ("after", 0.5, 60.0))  # name, times, seconds
BEFORE, OVERLOAD, AFTER = range(3)
CELLS_PER_S, WINDOW_CELLS = 10, 50  # a window of 5 s begins each 0.1 s
AS_BEFORE, AS_BEFORE_MS = 1.25, 1.0  # p95 of a window: times the first stretch's, and so much more
P95 = 0.95
HOPS = ("proxy", "application", "store", "generator")
PROXY_STATUSES = (502, 504)
NO_ANSWER = 0
NOT_FAILED = -1
SATURATED, LATE = "was saturated", "was late"  # begin what is said of the generator


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The requests of the load by their scheduled send time. Arrays are parallel: one entry a planned request."""

    stretch: NDArray[np.intp]
    answer_ms: Floats  # from the scheduled send time to the 201; infinite for everything else
    hop: NDArray[np.int8]  # index into HOPS of what was not acknowledged, else NOT_FAILED

    def within(self, limit_ms: float) -> Marks:
        """Which were answered 201 in time; to the microsecond, as a limit is given."""
        return np.round(self.answer_ms, 3) <= limit_ms


def asked_of(plan: ArrivalPlan, taken: Ledger) -> Asked:
    """Each planned request and what became of it; one without a line was dropped, by the generator."""
    timed = taken.timed()
    records = taken.records[timed]
    aligned = align(plan, records["seq"], records["start_us"])
    acknowledged = np.equal(taken.outcomes()[timed], Outcome.ACKNOWLEDGED)
    behind_ns = aligned.behind_ns() + (records["blocked_us"] + records["duration_us"]) * NS_PER_US
    answer_ms = np.full(plan.planned, np.inf)
    answer_ms[aligned.slots[acknowledged]] = behind_ns[acknowledged] / NS_PER_MS
    hop = np.full(plan.planned, HOPS.index("generator"), np.int8)
    hop[aligned.slots] = np.where(acknowledged, NOT_FAILED, hops(records))
    return Asked(stretch=plan.phase_indices(), answer_ms=answer_ms, hop=hop)


def hops(records: NDArray[np.void]) -> NDArray[np.int8]:
    """Of requests that were not acknowledged: where each of them failed, as an index into HOPS.

    Without an answer it was the proxy's connection, as the client has no other; a 503 says itself whose it is.
    """
    status, code = records["status"], records["error_code"]
    found = np.full(len(records), HOPS.index("application"), np.int8)
    found[code == REFUSED_BY_STORE] = HOPS.index("store")
    found[np.isin(status, PROXY_STATUSES) | (status == NO_ANSWER)] = HOPS.index("proxy")
    found[np.isin(code, (INTERRUPTED, UNREAD))] = HOPS.index("generator")
    return found


def ended_s(plan: ArrivalPlan) -> float:
    """When the overload ends, since the load's start."""
    return sum(phase.seconds for phase in plan.phases[:AFTER])


def by_cell(plan: ArrivalPlan, which: Marks | None = None) -> Ints:
    """Requests planned in each tenth of a second of the last stretch; which: by planned request, only these."""
    cells = round(plan.phases[AFTER].seconds * CELLS_PER_S)
    number = (plan.starts_ns - round(ended_s(plan) * NS_PER_S)) // (NS_PER_S // CELLS_PER_S)
    inside = (number >= 0) & (number < cells)
    if which is not None:
        inside &= which
    return np.bincount(number[inside], minlength=cells).astype(np.int64)


def recovered_limit_ms(first_p95_ms: float) -> float:
    """What a window's p95 may be at most: 1.25 times the first stretch's and 1 ms."""
    return round(AS_BEFORE * first_p95_ms + AS_BEFORE_MS, 3)


def recovered_after_s(within: Ints, planned: Ints) -> float | None:
    """From the end of the overload to the start of the first 5 s, by scheduled send time, as good as at first.

    By cell, the requests that were planned, and those of them that were answered within the limit: a window's p95 is
    within it where so many are. None where no window is, or where none carries a p95.
    """
    good, asked = (np.concatenate(([0], np.cumsum(counts))) for counts in (within, planned))
    for first in range(len(planned) - WINDOW_CELLS + 1):
        all_of_it = int(asked[first + WINDOW_CELLS] - asked[first])
        in_time = int(good[first + WINDOW_CELLS] - good[first])
        if stats.carries(all_of_it, P95) and in_time >= stats.rank(all_of_it, P95):
            return first / CELLS_PER_S
    return None


def drained_after_s(at_s: Floats, depth: Floats, plan: ArrivalPlan) -> float | None:
    """From the overload's end to the first reading of the queue that is no deeper than any of the first stretch.

    at_s: since the load's start. None where there is no such reading.
    """
    end = ended_s(plan)
    before = depth[at_s < plan.phases[BEFORE].seconds]
    back = np.flatnonzero((at_s >= end) & (depth <= before.max(initial=0.0)))
    return round(float(at_s[back[0]]) - end, 3) if len(back) else None


def generator_faults(cpu_share_peak: float, lateness_ms_p99: float | None) -> Iterator[str]:
    """In words, where the other figures are the generator's too; what it dropped is among the errors."""
    if cpu_share_peak > GENERATOR_CPU:
        yield f"{SATURATED}: {cpu_share_peak:.0%} of one core over 10 s (limit {GENERATOR_CPU:.0%})"
    if lateness_ms_p99 is not None and lateness_ms_p99 > GENERATOR_LATE_MS:
        yield (f"{LATE}: it sent {lateness_ms_p99:.0f} ms late at p99 (limit {GENERATOR_LATE_MS:.0f} ms)")
