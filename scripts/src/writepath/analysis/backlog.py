"""Says whether a queue fills up during a load step: a robust line through the samples of its depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import theilslopes

from writepath.records.steps import Backlog

if TYPE_CHECKING:
    from writepath.analysis.stats import Floats

SLOPE_SHARE = 0.01  # of the rate
FLOOR_MESSAGES = 100.0
FLOOR_SECONDS = 0.5  # of the rate: what is in flight at any moment is no backlog
LEAST_SAMPLES = 3  # a line needs two, and one of three may be an outlier


def backlog(at_s: Floats, depth: Floats, rate_per_s: float, stored_per_s: float | None) -> Backlog:
    """at_s: since the step's start, ascending; depth: messages that were answered 201 and are not stored.

    ValueError where the samples are too few: what was not measured is not zero.
    """
    if len(at_s) < LEAST_SAMPLES or len(at_s) != len(depth):
        raise ValueError(
            f"{len(at_s)} times and {len(depth)} depths; both must be equal and at least {LEAST_SAMPLES}"
        )
    slope_per_s = float(theilslopes(depth, at_s).slope)
    end = float(np.median(depth[-LEAST_SAMPLES:]))  # one sample in the middle of a batch tells little
    floor = max(FLOOR_MESSAGES, FLOOR_SECONDS * rate_per_s)
    return Backlog(
        at_start=float(depth[0]),
        at_end=end,
        slope_per_s=slope_per_s,
        work_seconds=end / stored_per_s if stored_per_s else None,
        grows=slope_per_s > SLOPE_SHARE * rate_per_s and end > floor,
    )
