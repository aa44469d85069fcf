"""Watches whether a load has recovered: by the definition that the result has, of the ledger as it grows."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from writepath.analysis.faults import recovered_after_s
from writepath.analysis.stats import US_PER_S
from writepath.load import ledger
from writepath.load.ledger import Outcome

TICK_S = 0.5
ANSWER_S = 0.5  # what a window's last requests are given to be answered, and to reach the ledger


class Watch:
    """Of one load. A request without an answer yet is not in the ledger, and so counts as missing."""

    def __init__(self, path: Path, rate_per_s: float, clock: Callable[[], float] = time.time) -> None:
        """path: k6's ledger, which may not exist yet; clock: epoch, in seconds."""
        self._path, self._rate, self._clock = path, rate_per_s, clock

    def well_since(self, moment_us: int) -> bool:
        """Whether a good 10 s have passed that began at the moment or later."""
        if not self._path.exists():
            return False
        until_us = round((self._clock() - ANSWER_S) * US_PER_S)
        taken = ledger.read(self._path)
        acknowledged = np.equal(taken.outcomes(), Outcome.ACKNOWLEDGED)
        at_us = taken.records["start_us"]
        return recovered_after_s(at_us, acknowledged, moment_us, self._rate, until_us) is not None
