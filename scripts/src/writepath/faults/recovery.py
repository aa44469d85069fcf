"""Finds when a write path has recovered from a fault: the first 10 s that look like those before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis.stats import US_PER_S
from writepath.load.ledger import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from writepath.load.ledger import Ledger

WINDOW_S = 10.0
SUCCESS_MIN = 0.999  # of the requests sent in the window
RATE_MIN = 0.95  # acknowledged, of the scheduled
STEP_US = 100_000
GOAL_S = 30.0  # every correct variant recovers within this, by itself


@dataclass(frozen=True, kw_only=True, eq=False)
class Sent:
    """The requests of a load by the moment they were sent, ascending. Arrays are parallel."""

    at_us: NDArray[np.int64]  # epoch
    acknowledged: NDArray[np.bool_]

    @staticmethod
    def of(ledger: Ledger) -> Sent:
        """Those with a moment; one that was interrupted with k6 has none."""
        timed = ledger.timed()
        at_us = ledger.records["start_us"][timed]
        order = np.argsort(at_us, kind="stable")
        acknowledged = np.equal(ledger.outcomes()[timed], Outcome.ACKNOWLEDGED)
        return Sent(at_us=at_us[order], acknowledged=acknowledged[order])


def recovered_after_s(sent: Sent, healed_us: int, rate_per_s: float, until_us: int) -> float | None:
    """Seconds from the heal to the start of the first good 10 s window; None where none ends before until_us.

    Good: at least 99.9 % of what was sent in it is acknowledged, and at least 95 % of what was scheduled. Windows
    begin every 0.1 s from the heal on. A window is complete only when all its requests have their answer, so
    until_us is the last moment whose answers are known.
    """
    window_us = round(WINDOW_S * US_PER_S)
    begins = np.arange(healed_us, until_us - window_us + STEP_US // 2, STEP_US)
    if not len(begins):
        return None
    first = np.searchsorted(sent.at_us, begins, side="left")
    last = np.searchsorted(sent.at_us, begins + window_us, side="left")
    so_far = np.concatenate(([0], np.cumsum(sent.acknowledged)))
    acknowledged, count = so_far[last] - so_far[first], last - first
    good = (acknowledged >= SUCCESS_MIN * count) & (acknowledged >= RATE_MIN * rate_per_s * WINDOW_S)
    found = np.flatnonzero(good)
    return round(int(begins[found[0]] - healed_us) / US_PER_S, 3) if len(found) else None
