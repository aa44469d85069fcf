"""Counts writes that were stored in another order than they were sent in. Pure functions on arrays of moments.

Only writes of which one was sent after the other's 201 have an order that a client could rely on; requests that were
under way together have none, whatever became of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from writepath.analysis.stats import AT_ONCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from writepath.analysis.stats import Ints

CLOCK_RESOLUTION_US = 1000  # of a ledger's start: less than that after a 201 may be before it


@dataclass(frozen=True, kw_only=True)
class Overtaking:
    """Of acknowledged writes with a known durable moment."""

    writes: int
    overtaken: int  # writes that some write sent after their 201 came before
    inversions: int  # pairs of such writes


def overtaking(sent_us: Ints, answered_us: Ints, durable_at_us: Ints) -> Overtaking:
    """Arrays are parallel, one entry a write, in any order; below 0: not stored, or nobody knows when."""
    known = (sent_us >= 0) & (answered_us >= 0) & (durable_at_us >= 0)
    sent = sent_us[known]
    return overtaken(sent, answered_us[known] - sent, durable_at_us[known], CLOCK_RESOLUTION_US)


def overtaken(
    sent: NDArray[Any], took: NDArray[Any], durable_at: NDArray[Any], resolution: float
) -> Overtaking:
    """Arrays are parallel, one entry a write, in any order; all in one unit.

    A pair (earlier, later) is inverted where the later one was sent after the earlier one's 201 and is durable
    before it. Equal moments (one transaction) are no inversion. O(n log n), and part by part: of ten million writes
    each array takes 80 MB.
    """
    if not len(sent):
        return Overtaking(writes=0, overtaken=0, inversions=0)
    order = np.argsort(sent, kind="stable").astype(np.int32)
    after = _after(sent, took, order, resolution)
    durable = durable_at[order]
    del order, durable_at
    # Most writes are in order. Only those that an earlier or a later one passed need to be counted.
    soonest = np.minimum.accumulate(durable[::-1])[::-1]  # from each index on
    parts = [slice(begin, begin + AT_ONCE) for begin in range(0, len(after), AT_ONCE)]
    last = len(durable) - 1
    passed = [
        part.start
        + np.flatnonzero((after[part] <= last) & (soonest[np.minimum(after[part], last)] < durable[part]))
        for part in parts
    ]
    late = np.concatenate(passed)
    del soonest
    latest = np.full(len(durable), durable.min())
    np.maximum.at(latest, after[late], durable[late])
    passing = np.flatnonzero(durable < np.maximum.accumulate(latest, out=latest))
    del latest
    ranks = np.unique(np.concatenate([durable[passing], durable[late]]), return_inverse=True)[1]
    first = np.searchsorted(passing, after[late])
    earlier = _lower_from(ranks[: len(passing)], first, ranks[len(passing) :])
    return Overtaking(writes=len(sent), overtaken=len(late), inversions=int(earlier.sum(dtype=np.int64)))


def _after(
    sent: NDArray[Any], took: NDArray[Any], order: NDArray[np.int32], resolution: float
) -> NDArray[np.int32]:
    """By write in the order they were sent, the index of the first one that was sent after its 201."""
    ascending = sent[order]
    after = np.empty(len(order), np.int32)
    for begin in range(0, len(order), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        answered = ascending[part] + took[order[part]] + resolution
        after[part] = np.searchsorted(ascending, answered.astype(ascending.dtype), side="left")
    return after


def _lower_from(ranks: Ints, first: Ints, own: Ints) -> Ints:
    """By entry of `own`, how many entries of `ranks` at index `first` or later are lower; both arrays are parallel.

    A wavelet tree, all entries at once: level by level the ranks are parted by one bit, which keeps each range of
    indices a range on either side; where the own bit is 1, those of the range with a 0 are all lower.
    """
    found = np.zeros(len(own), dtype=np.int64)
    left, right = first, np.full(len(own), len(ranks), dtype=np.int64)
    level = ranks
    for bit in reversed(range((len(ranks) + len(own)).bit_length())):
        ones = (level >> bit) & 1
        zeros_before = np.concatenate(([0], np.cumsum(1 - ones)))
        left_zeros, right_zeros, zeros = zeros_before[left], zeros_before[right], zeros_before[-1]
        high = ((own >> bit) & 1).astype(np.bool_)
        found += np.where(high, right_zeros - left_zeros, 0)
        left = np.where(high, zeros + left - left_zeros, left_zeros)
        right = np.where(high, zeros + right - right_zeros, right_zeros)
        level = np.concatenate((level[ones == 0], level[ones == 1]))
    return found
