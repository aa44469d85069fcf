"""Computes figures from raw values: pure functions on numbers; nothing here reads a file.

Moments and delays are whole microseconds; latencies of a distribution are milliseconds. A request that was planned
and got no 201 is *unserved*: it counts in every percentile, at plus infinity (`math.inf`). A percentile that the
sample cannot carry is `None`.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

UNSERVED = math.inf
FEWEST_BEYOND = 10  # a percentile rests on the values beyond it; with fewer of them it is a matter of luck
NEVER_US = np.iinfo(np.int64).max  # a delay at infinity
US_PER_MS = 1000
US_PER_S = 1_000_000
AT_ONCE = 1 << 20  # values of a longer array that are worked on together: their copies stay small


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Of one run's times, in milliseconds. `None`: no such value, or too few requests for it."""

    planned: int  # requests that should have been served
    served: int  # requests that were
    min_served: float | None
    mean_served: float | None
    max_served: float | None
    median: float | None  # over planned, like all percentiles; UNSERVED where its rank falls on one
    p95: float | None
    p99: float | None

    @property
    def unserved(self) -> int:
        """Planned and not served: dropped, failed, refused or without an answer."""
        return self.planned - self.served


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

    second: Ints
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


def percentile(served: npt.ArrayLike, planned: int, quantile: float) -> float | None:
    """The value at rank ceil(quantile * planned) of the served values, the unserved following at infinity.

    `None` when the sample cannot carry it. ValueError when more were served than planned.
    """
    values = np.asarray(served, dtype=np.float64)
    _check(values, planned)
    if not carries(planned, quantile):
        return None
    at = rank(planned, quantile)
    if at > values.size:
        return UNSERVED
    return float(np.partition(values, at - 1)[at - 1])


def distribution(served: npt.ArrayLike, planned: int) -> Distribution:
    """Summary of one run: min, mean and max over the served, percentiles over the planned."""
    return of_sorted(np.sort(np.asarray(served, dtype=np.float64)), planned)


def of_sorted(values: Floats, planned: int) -> Distribution:
    """The same of values that ascend: nothing is copied, which ten million of them would feel."""
    _check(values, planned)
    some = values.size > 0

    def at(quantile: float) -> float | None:
        if not carries(planned, quantile):
            return None
        place = rank(planned, quantile)
        return float(values[place - 1]) if place <= values.size else UNSERVED

    return Distribution(
        planned=planned,
        served=int(values.size),
        min_served=float(values[0]) if some else None,
        mean_served=float(values.mean()) if some else None,
        max_served=float(values[-1]) if some else None,
        median=at(0.5),
        p95=at(0.95),
        p99=at(0.99),
    )


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


def delays_us(sent_seq: Ints, sent_us: Ints, stored_seq: Ints, durable_at_us: Ints) -> Ints:
    """For each request sent, in the given order: from sending it until its row was durable.

    The first of several stored rows counts. A request whose row is missing or has no known moment (below 0) is at
    infinity: NEVER_US. A negative delay (clock steps) is shown as it is.
    """
    first = np.full(int(sent_seq.max(initial=-1)) + 1, NEVER_US)  # by sequence
    for begin in range(0, stored_seq.size, AT_ONCE):
        part, at = stored_seq[begin : begin + AT_ONCE], durable_at_us[begin : begin + AT_ONCE]
        ours = (part >= 0) & (part < first.size) & (at >= 0)
        np.minimum.at(first, part[ours], at[ours])
    delays: Ints = first[sent_seq]
    np.subtract(delays, sent_us, out=delays, where=delays != NEVER_US)
    return delays


def widths_us(
    sent_seq: Ints, sent_us: Ints, seen_seq: Ints, not_before_us: Ints, visible_at_us: Ints
) -> Ints:
    """How wide the interval is in which each sample seen became visible; `sent_seq` ascending.

    From the last question that missed it, or from sending where that is later, to the answer that had it.
    """
    seen = (visible_at_us >= 0) & np.isin(seen_seq, sent_seq)
    sent = sent_us[np.searchsorted(sent_seq, seen_seq[seen])]
    widths: Ints = visible_at_us[seen] - np.maximum(not_before_us[seen], sent)
    return widths


def finite_ms(delays: Ints) -> Floats:
    """Those below infinity."""
    found: Floats = delays[delays != NEVER_US] / US_PER_MS
    return found


def accumulated(counter: npt.ArrayLike) -> Floats:
    """Growth of a counter since its first reading; where it falls, it began again from 0 (another process)."""
    values = np.asarray(counter, dtype=np.float64)
    if not values.size:
        return np.empty(0)
    steps = np.diff(values)
    return np.concatenate(([0.0], np.cumsum(np.where(steps < 0, values[1:], steps))))


def bands(served_ms: Iterable[Floats], planned: Ints) -> Bands:
    """Of the served times of each second, and how many requests were planned in it: median, p95 (by rank) and max."""
    ranks, served = np.full((3, len(planned)), np.nan), np.zeros(len(planned), dtype=np.int64)
    for second, own in enumerate(served_ms):
        served[second] = own.size
        if own.size:
            values = np.sort(own)
            ranks[:, second] = [values[rank(own.size, quantile) - 1] for quantile in (0.5, 0.95, 1.0)]
    return Bands(
        second=np.arange(len(planned), dtype=np.int64),
        median=ranks[0],
        p95=ranks[1],
        max=ranks[2],
        served=served,
        unserved=planned - served,
    )


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


def _check(values: Floats, planned: int) -> None:
    if values.size > planned:
        raise ValueError(
            f"{values.size} answers for {planned} scheduled requests: more answers than requests"
        )
    if values.size and not np.isfinite(values).all():
        raise ValueError("values of answered requests must be finite; the others are counted by `planned`")
