"""How are the latencies of many runs kept together without an average? Counts in buckets of 0.1 %, which add up.

The layout is that of Gil Tene's HdrHistogram (hdrhistogram.org) for whole microseconds and three significant digits:
buckets of 1 us up to 2,048 us, then each power of two in 1,024 buckets of the same width, up to two minutes. A bucket
is at most 0.1 % as wide as what lies in it. Sums of histograms are exact, so a percentile of several runs is one of
all their requests. What was not served, or took longer than two minutes, lies beyond every bucket, at infinity.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import stats
from writepath.errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt

    from writepath.analysis.stats import Floats, Ints

US_PER_MS = 1000
HIGHEST_US = 120_000_000
HALF_BITS = 10
HALF = 1 << HALF_BITS  # buckets of one power of two; 1/1,024 is below 0.1 %
FINEST_BITS = HALF_BITS + 1  # numbers of so many bits have a bucket each
HEADER = "lower_us,count"
BEYOND = "inf"
DIGITS = 18  # of a number; more do not fit into 64 bits


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """Latencies of the planned requests of one or more runs."""

    counts: Ints  # by bucket
    beyond: int  # planned, and not served within two minutes

    @property
    def served(self) -> int:
        """Within two minutes."""
        return int(self.counts.sum())

    @property
    def planned(self) -> int:
        """All."""
        return self.served + self.beyond

    def __add__(self, other: Histogram) -> Histogram:
        """Of the requests of both."""
        return Histogram(counts=self.counts + other.counts, beyond=self.beyond + other.beyond)

    def percentile(self, quantile: float) -> float | None:
        """Milliseconds at rank ceil(quantile * planned), as `stats.percentile`: the highest value of its bucket.

        Infinity where the rank falls on one not served; None where the sample cannot carry it.
        """
        if not stats.carries(self.planned, quantile):
            return None
        return self.at(stats.rank(self.planned, quantile))

    def at(self, rank: int) -> float:
        """Milliseconds of the one at a rank, from the fastest on, from 1: the highest value of its bucket."""
        bucket = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(_highest_us(bucket)) / US_PER_MS if bucket < BUCKETS else stats.UNSERVED

    @property
    def mean(self) -> float | None:
        """Milliseconds, of those served within two minutes, each as its bucket's highest value; None without any."""
        filled = np.flatnonzero(self.counts)
        if not filled.size:
            return None
        return float(np.average(_highest_us(filled), weights=self.counts[filled])) / US_PER_MS

    def to_text(self) -> str:
        """One line a bucket that is not empty: its lowest microsecond and its count; the last line is infinity's."""
        filled = np.flatnonzero(self.counts)
        lowest = _lowest_us(filled)
        pairs = zip(lowest.tolist(), self.counts[filled].tolist(), strict=True)
        lines = [HEADER, *(f"{lower},{count}" for lower, count in pairs), f"{BEYOND},{self.beyond}", ""]
        return "\n".join(lines)


def of(served_ms: npt.ArrayLike, planned: int) -> Histogram:
    """Of one run; ValueError where more were served than planned, or a time is below 0 or none."""
    ms: Floats = np.asarray(served_ms, dtype=np.float64)
    if ms.size > planned:
        raise ValueError(f"{ms.size} answers for {planned} scheduled requests: more answers than requests")
    if ms.size and not float(ms.min()) >= 0:  # NaN is not, either
        raise ValueError("a latency must be a number of milliseconds, at least 0")
    us = np.rint(np.minimum(ms * US_PER_MS, HIGHEST_US + 1.0)).astype(np.int64)
    counts = np.bincount(_bucket(us[us <= HIGHEST_US]), minlength=BUCKETS)
    return Histogram(counts=counts, beyond=planned - int(counts.sum()))


def from_text(text: str) -> Histogram:
    """What to_text() gave; UsageError where it is anything else."""
    header, *lines = text.splitlines()[: BUCKETS + 3] or [""]
    counts = np.zeros(BUCKETS, dtype=np.int64)
    known = dict(line.partition(",")[::2] for line in lines)
    beyond = known.pop(BEYOND, "")
    numbers = [*known, *known.values(), beyond]
    if header != HEADER or len(known) + 1 != len(lines) or not all(map(_is_number, numbers)):
        raise UsageError(
            f"a histogram must begin with the line {HEADER}, contain numbers, and end with {BEYOND}"
        )
    lowest = np.array([int(lower) for lower in known], dtype=np.int64)
    if (lowest > HIGHEST_US).any() or (_lowest_us(_bucket(lowest)) != lowest).any():
        raise UsageError("a line of the histogram does not begin with the lowest value of a bucket")
    counts[_bucket(lowest)] = [int(count) for count in known.values()]
    return Histogram(counts=counts, beyond=int(beyond))


def merged(histograms: tuple[Histogram, ...]) -> Histogram:
    """Of the requests of all."""
    return functools.reduce(Histogram.__add__, histograms, of((), 0))


def ends_us(us: Ints) -> Ints:
    """By value, the highest one of its bucket; a value below 0 is its own bucket."""
    ends: Ints = np.where(us < 0, us, _highest_us(_bucket(np.maximum(us, 0))))
    return ends


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= DIGITS


def _bucket(us: Ints) -> Ints:
    """By value, the number of its bucket: the top 11 bits, and how many were cut off."""
    bits = np.frexp(us.astype(np.float64))[1]  # exact: a double holds 53 bits
    shift = np.maximum(bits - FINEST_BITS, 0).astype(np.int64)
    buckets: Ints = (shift << HALF_BITS) + (us >> shift)
    return buckets


def _lowest_us(bucket: npt.ArrayLike) -> Ints:
    """By bucket, the lowest value that lies in it."""
    number = np.asarray(bucket, dtype=np.int64)
    shift = np.maximum((number >> HALF_BITS) - 1, 0)
    lowest: Ints = (number - (shift << HALF_BITS)) << shift
    return lowest


def _highest_us(bucket: npt.ArrayLike) -> Ints:
    """By bucket, the highest value that lies in it."""
    return _lowest_us(np.asarray(bucket, dtype=np.int64) + 1) - 1


BUCKETS = int(_bucket(np.array([HIGHEST_US]))[0]) + 1
