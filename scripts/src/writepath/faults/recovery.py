"""When is a write path well again after a fault? The first 10 s that look like those before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.load.ledger import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from writepath.load.ledger import Ledger

WINDOW_S = 10.0
SUCCESS_MIN = 0.999  # of the requests sent in the window
RATE_MIN = 0.95  # acknowledged, of the scheduled
STEP_MS = 100.0
GOAL_S = 30.0  # every correct variant recovers within this, by itself


@dataclass(frozen=True, kw_only=True, eq=False)
class Sent:
    """The requests of a load by the moment they were sent, ascending. Arrays are parallel."""

    at_ms: NDArray[np.float64]  # epoch
    acknowledged: NDArray[np.bool_]

    @staticmethod
    def of(ledger: Ledger) -> Sent:
        """Those with a moment; one that was interrupted with k6 has none."""
        records = ledger.records
        timed = ~np.isnan(records["start_ms"])
        at_ms = records["start_ms"][timed]
        order = np.argsort(at_ms, kind="stable")
        acknowledged = np.equal(ledger.outcomes()[timed], Outcome.ACKNOWLEDGED)
        return Sent(at_ms=at_ms[order], acknowledged=acknowledged[order])


def recovered_after_s(sent: Sent, healed_ms: float, rate_per_s: float, until_ms: float) -> float | None:
    """Seconds from the heal to the start of the first good 10 s window; None where none ends before until_ms.

    Good: at least 99.9 % of what was sent in it is acknowledged, and at least 95 % of what was scheduled. Windows
    begin every 0.1 s from the heal on. A window is complete only when all its requests have their answer, so
    until_ms is the last moment whose answers are known.
    """
    begins = np.arange(healed_ms, until_ms - WINDOW_S * 1000 + STEP_MS / 2, STEP_MS)
    if not len(begins):
        return None
    first = np.searchsorted(sent.at_ms, begins, side="left")
    last = np.searchsorted(sent.at_ms, begins + WINDOW_S * 1000, side="left")
    so_far = np.concatenate(([0], np.cumsum(sent.acknowledged)))
    acknowledged, count = so_far[last] - so_far[first], last - first
    good = (acknowledged >= SUCCESS_MIN * count) & (acknowledged >= RATE_MIN * rate_per_s * WINDOW_S)
    found = np.flatnonzero(good)
    return round(float(begins[found[0]] - healed_ms) / 1000, 3) if len(found) else None
