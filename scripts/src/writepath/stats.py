"""How are figures computed from raw values? Pure functions on numbers; nothing here reads a file.

Latencies are milliseconds. A request that was planned and got no 201 is *unserved*: it counts in every
percentile, at plus infinity (`math.inf`). A percentile that the sample cannot carry is `None`.
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

UNSERVED = math.inf
FEWEST_BEYOND = 10  # a percentile rests on the values beyond it; with fewer of them it is a matter of luck
WINDOW_MS = 1000.0


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


def percentile(served: npt.ArrayLike, planned: int, quantile: float) -> float | None:
    """The value at rank ceil(quantile * planned) of the served values, the unserved following at infinity.

    `None` when the sample cannot carry it. ValueError when more were served than planned.
    """
    values = np.asarray(served, dtype=np.float64)
    _check(values, planned)
    if not carries(planned, quantile):
        return None
    rank = math.ceil(_exact(quantile) * planned)
    if rank > values.size:
        return UNSERVED
    return float(np.partition(values, rank - 1)[rank - 1])


def distribution(served: npt.ArrayLike, planned: int) -> Distribution:
    """Summary of one run: min, mean and max over the served, percentiles over the planned."""
    values = np.sort(np.asarray(served, dtype=np.float64))
    some = values.size > 0
    return Distribution(
        planned=planned,
        served=int(values.size),
        min_served=float(values[0]) if some else None,
        mean_served=float(values.mean()) if some else None,
        max_served=float(values[-1]) if some else None,
        median=percentile(values, planned, 0.5),
        p95=percentile(values, planned, 0.95),
        p99=percentile(values, planned, 0.99),
    )


def spread(values: Iterable[float | None]) -> Spread | None:
    """Median and range of the repetitions that have a value; `None` when none has."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Spread(
        median=float(statistics.median(known)), low=min(known), high=max(known), repetitions=len(known)
    )


def mean_rate_per_s(count: int, duration_ms: float) -> float | None:
    """Events a second over a duration; `None` for an empty duration."""
    return count * 1000.0 / duration_ms if duration_ms > 0 else None


def peak_rate_per_s(moments_ms: npt.ArrayLike, origin_ms: float) -> float | None:
    """The most events in one of the 1 s windows that start at `origin_ms`; `None` without events."""
    moments = np.asarray(moments_ms, dtype=np.float64)
    if moments.size == 0:
        return None
    return float(np.unique(_seconds(moments - origin_ms), return_counts=True)[1].max())


def delays_to_durable_ms(
    sent_seq: npt.ArrayLike, sent_ms: npt.ArrayLike, stored_seq: npt.ArrayLike, durable_at_ms: npt.ArrayLike
) -> Floats:
    """For each request sent, in the given order: milliseconds from sending it until its row was durable.

    The first of several stored rows counts. A request whose row is missing or has no moment (NaN) is at
    infinity.
    A negative delay (clock steps, microsecond rounding) is shown as it is.
    """
    requests = np.asarray(sent_seq, dtype=np.int64)
    started = np.asarray(sent_ms, dtype=np.float64)
    rows = np.asarray(stored_seq, dtype=np.int64)
    moments = np.asarray(durable_at_ms, dtype=np.float64)
    known = ~np.isnan(moments)
    rows, moments = rows[known], moments[known]
    order = np.lexsort((moments, rows))  # by row, then the earliest first
    rows, moments = rows[order], moments[order]
    delays = np.full(requests.size, UNSERVED)
    if rows.size:
        at = np.minimum(np.searchsorted(rows, requests), rows.size - 1)
        found = rows[at] == requests
        delays[found] = moments[at[found]] - started[found]
    return delays


def widths_ms(
    sent_seq: Ints, sent_ms: Floats, seen_seq: Ints, not_before_ms: Floats, visible_at_ms: Floats
) -> Floats:
    """How wide the interval is in which each sample seen became visible; `sent_seq` ascending.

    From the last question that missed it, or from sending where that is later, to the answer that had it.
    """
    seen = np.isfinite(visible_at_ms) & np.isin(seen_seq, sent_seq)
    sent = sent_ms[np.searchsorted(sent_seq, seen_seq[seen])]
    return finite(visible_at_ms[seen] - np.fmax(not_before_ms[seen], sent))


def finite(values: Floats) -> Floats:
    """The values below infinity."""
    return values[np.isfinite(values)]


def accumulated(counter: npt.ArrayLike) -> Floats:
    """Growth of a counter since its first reading; where it falls, it began again from 0 (another process)."""
    values = np.asarray(counter, dtype=np.float64)
    if not values.size:
        return np.empty(0)
    steps = np.diff(values)
    return np.concatenate(([0.0], np.cumsum(np.where(steps < 0, values[1:], steps))))


def bands_by_second(offsets_ms: Floats, served_ms: Floats, seconds: int) -> Bands:
    """Each second's median, p95 (by rank) and max of the served, and how many were not served.

    `served_ms` is infinite for requests that were not served; both arrays are in the same order.
    """
    index = np.clip(_seconds(offsets_ms), 0, seconds - 1)
    ok = np.isfinite(served_ms)
    order = np.lexsort((served_ms, index))
    ordered, seconds_ok = served_ms[order][ok[order]], index[order][ok[order]]
    served = np.bincount(seconds_ok, minlength=seconds)
    starts = np.concatenate(([0], np.cumsum(served)[:-1]))
    return Bands(
        second=np.arange(seconds, dtype=np.int64),
        median=_ranked(ordered, starts, served, 0.5),
        p95=_ranked(ordered, starts, served, 0.95),
        max=_ranked(ordered, starts, served, 1.0),
        served=served.astype(np.int64),
        unserved=np.bincount(index[~ok], minlength=seconds).astype(np.int64),
    )


def upper_bound(losing: int, effective: int) -> float | None:
    """95 % upper bound of the share of such faults that lose data (Clopper and Pearson, one-sided).

    For none of m it is 1 - 0.05^(1/m). None without an effective trial.
    """
    from scipy.stats import beta  # noqa: PLC0415 - half a second to load, for one figure of a report

    if effective == 0:
        return None
    return 1.0 if losing == effective else float(beta.ppf(0.95, losing + 1, effective - losing))


def _ranked(ordered: Floats, starts: Ints, counts: Ints, quantile: float) -> Floats:
    result = np.full(counts.size, np.nan)
    some = counts > 0
    rank = np.ceil(quantile * counts[some]).astype(np.int64)
    result[some] = ordered[starts[some] + rank - 1]
    return result


def _seconds(offsets_ms: Floats) -> Ints:
    return np.floor(offsets_ms / WINDOW_MS).astype(np.int64)


def _exact(quantile: float) -> Fraction:
    """0.95 means 95/100, not the nearest binary fraction: ceil would see the difference."""
    return Fraction(str(quantile))


def _check(values: Floats, planned: int) -> None:
    if values.size > planned:
        raise ValueError(f"{values.size} served of {planned} planned: more answers than requests")
    if values.size and not np.isfinite(values).all():
        raise ValueError("served values must be finite; the unserved are counted by `planned`")
