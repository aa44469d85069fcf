"""Computes figures from raw values: pure functions on numbers; nothing here reads a file.

Moments and delays are whole microseconds; latencies of a distribution are milliseconds. A request that was planned
and got no 201 is *unserved*: it counts in every percentile, at plus infinity (`math.inf`). A percentile that the
sample cannot carry is `None`.
"""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

FEWEST_BEYOND = 10  # a percentile rests on the values beyond it; with fewer of them it is a matter of luck
US_PER_MS = 1000
US_PER_S = 1_000_000
AT_ONCE = 1 << 20  # values of a longer array that are worked on together: their copies stay small


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Values of several repetitions: their median and their range. Percentiles are never averaged."""

    median: float
    low: float
    high: float
    repetitions: int


@dataclass(frozen=True, kw_only=True)
class Bands:
    """By second from the load's start: times in milliseconds; NaN where none was served."""

    median: Floats
    p95: Floats
    max: Floats
    served: Ints
    unserved: Ints


def carries(planned: int, quantile: float) -> bool:
    """Whether `planned` requests are enough: at least 10 must lie beyond the quantile (p99: 1,000)."""
    return planned * (1 - _exact(quantile)) >= FEWEST_BEYOND


def rank(planned: int, quantile: float) -> int:
    """Which of the planned requests, from the fastest on, stands at the quantile; from 1."""
    return max(1, math.ceil(_exact(quantile) * planned))


def spread(values: Iterable[float | None]) -> Spread | None:
    """Median and range of the repetitions that have a value; `None` when none has."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(
        median=float(statistics.median(known)), low=min(known), high=max(known), repetitions=len(known)
    )


def mean_rate_per_s(count: int, duration_us: float) -> float | None:
    """Events a second over a duration; `None` for an empty duration."""
    return count * float(US_PER_S) / duration_us if duration_us > 0 else None


def accumulated(counter: npt.ArrayLike) -> Floats:
    """Growth of a counter since its first reading; where it falls, it began again from 0 (another process)."""
    values = np.asarray(counter, dtype=np.float64)
    if not values.size:
        return np.empty(0)
    steps = np.diff(values)
    return np.concatenate(([0.0], np.cumsum(np.where(steps < 0, values[1:], steps))))


def upper_bound(losing: int, effective: int) -> float | None:
    """95 % upper bound of the share of such faults that lose data (Clopper and Pearson, one-sided).

    For none of m it is 1 - 0.05^(1/m). None without an effective trial.
    """
    from scipy.stats import beta  # noqa: PLC0415 - half a second to load, for one figure of a report

    if effective == 0:
        return None
    return 1.0 if losing == effective else float(beta.ppf(0.95, losing + 1, effective - losing))


def _exact(quantile: float) -> Fraction:
    """0.95 means 95/100, not the nearest binary fraction: ceil would see the difference."""
    return Fraction(str(quantile))
