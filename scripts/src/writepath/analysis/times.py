"""Latencies as values and counts: buckets that add up over the parts of a load, and ranks of percentiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from writepath.analysis import stats
from writepath.analysis.stats import US_PER_MS, Ints
from writepath.load.parquet import column_of, whole
from writepath.records.measures import Latency

HALF_BITS = 10  # 1/1,024 is below 0.1 %
FINEST_BITS = HALF_BITS + 1  # numbers of so many bits have a bucket each


def ends_us(us: Ints, width: int = 1) -> Ints:
    """By value, the highest one of its bucket; a value below 0 is its own bucket. width: so many buckets as one."""
    values = np.maximum(us, 0)
    bits = np.frexp(values.astype(np.float64))[1]  # exact: a double holds 53 bits
    shift = np.maximum(bits - FINEST_BITS, 0).astype(np.int64)
    bucket = (shift << HALF_BITS) + (values >> shift)  # its top 11 bits, and how many were cut off
    following = bucket // width * width + width
    up = np.maximum((following >> HALF_BITS) - 1, 0)
    ends: Ints = np.where(us < 0, us, ((following - (up << HALF_BITS)) << up) - 1)
    return ends


MEAN_DIGITS = 6
QUANTILES = {"median": 0.5, "p95": 0.95, "p99": 0.99}  # of every latency
NO_LATENCY = Latency(min=None, mean=None, median=None, p95=None, p99=None, max=None)


@dataclass(frozen=True, kw_only=True, eq=False)
class Times:
    """Latencies of a clock, in microseconds, ascending."""

    value_us: Ints
    count: Ints
    low_us: int
    high_us: int
    sum_us: int

    @classmethod
    def of(cls, us: Ints) -> Self:
        """Of single values in any order."""
        values, count = np.unique(us, return_counts=True)
        low_us, high_us = (int(values[0]), int(values[-1])) if len(us) else (0, 0)
        return cls(value_us=values, count=count, low_us=low_us, high_us=high_us, sum_us=int(us.sum()))

    @property
    def number(self) -> int:
        """All of them."""
        return int(self.count.sum())

    def at(self, rank: int) -> float | None:
        """Milliseconds of the one at a rank, from 1; None where there are fewer."""
        if rank > self.number:
            return None
        place = int(np.searchsorted(np.cumsum(self.count), rank))
        return min(int(self.value_us[place]), self.high_us) / US_PER_MS  # a bucket ends above its highest

    def latency(self, planned: int) -> Latency:
        """Ranks over `planned` requests, those without a time at infinity."""
        if not self.number:
            return NO_LATENCY
        ranks = {
            name: self.at(stats.rank(planned, quantile)) if stats.carries(planned, quantile) else None
            for name, quantile in QUANTILES.items()
        }
        return Latency(
            min=self.low_us / US_PER_MS,
            mean=round(self.sum_us / self.number / US_PER_MS, MEAN_DIGITS),
            max=self.high_us / US_PER_MS,
            **ranks,
        )

    def coarse(self, planned: int, width: int, limits_us: Sequence[int] = ()) -> tuple[Ints, Ints]:
        """Values and counts: so many buckets of 0.1 % as one, ended by its highest value.

        Exact stay the ranks of a latency over `planned` requests, and how many are within each limit.
        """
        ranks = [stats.rank(planned, share) for share in QUANTILES.values() if stats.carries(planned, share)]
        places = np.searchsorted(np.cumsum(self.count), [rank for rank in ranks if rank <= self.number])
        exact = [*self.value_us[places].tolist(), *limits_us]
        ends = np.unique(np.concatenate([ends_us(self.value_us, width), np.array(exact, np.int64)]))
        kept, number = np.unique(ends[np.searchsorted(ends, self.value_us)], return_inverse=True)
        return kept, np.bincount(number, weights=self.count, minlength=len(kept)).astype(np.int64)


def times(tables: Mapping[str, pa.Table], clock: str, phase: int | None = None) -> Times:
    """Of a clock, from the tables `latencies` and `latency_sums`; phase: None for all of them."""
    buckets, sums = (_of(tables[name], clock, phase) for name in ("latencies", "latency_sums"))
    values, place = np.unique(whole(buckets, "value_us"), return_inverse=True)
    counts = np.bincount(place, weights=whole(buckets, "count"), minlength=len(values))
    return Times(
        value_us=values,
        count=counts.astype(np.int64),
        low_us=int(whole(sums, "low_us").min(initial=np.iinfo(np.int64).max)),
        high_us=int(whole(sums, "high_us").max(initial=np.iinfo(np.int64).min)),
        sum_us=int(whole(sums, "sum_us").sum()),
    )


def _of(table: pa.Table, clock: str, phase: int | None) -> pa.Table:
    own = table.filter(pc.equal(column_of(table, "clock"), clock))
    return own if phase is None else own.filter(pc.equal(column_of(own, "phase"), phase))
