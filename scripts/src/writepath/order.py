"""Were writes stored in the order they were sent? Pure functions on arrays of moments, in milliseconds.

Only writes of which one was sent after the other's 201 have an order that a client could rely on; requests that were
under way together have none, whatever became of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from writepath.stats import Floats, Ints

CLOCK_RESOLUTION_MS = 1.0  # of a ledger's start: less than that after a 201 may be before it


@dataclass(frozen=True, kw_only=True)
class Overtaking:
    """Of acknowledged writes with a known durable moment."""

    writes: int
    overtaken: int  # writes that some write sent after their 201 came before
    inversions: int  # pairs of such writes


def overtaking(sent_ms: Floats, answered_ms: Floats, durable_at_ms: Floats) -> Overtaking:
    """Arrays are parallel, one entry a write, in any order; NaN or infinity: not stored, or nobody knows when.

    A pair (earlier, later) is inverted where the later one was sent after the earlier one's 201 and is durable
    before it. Equal moments (one transaction) are no inversion. O(n log n).
    """
    known = np.isfinite(sent_ms) & np.isfinite(answered_ms) & np.isfinite(durable_at_ms)
    order = np.argsort(sent_ms[known], kind="stable")
    sent, answered, durable = (a[known][order] for a in (sent_ms, answered_ms, durable_at_ms))
    after = np.searchsorted(sent, answered + CLOCK_RESOLUTION_MS, side="left")
    ranks = np.unique(durable, return_inverse=True)[1].astype(np.int64)
    earlier = _lower_from(ranks, after.astype(np.int64))
    return Overtaking(
        writes=len(sent), overtaken=int((earlier > 0).sum()), inversions=int(earlier.sum(dtype=np.int64))
    )


def _lower_from(ranks: Ints, first: Ints) -> Ints:
    """By entry i, how many entries at index first[i] or later have a lower rank than its own.

    A wavelet tree, all entries at once: level by level the ranks are parted by one bit, which keeps each range of
    indices a range on either side; where the own bit is 1, those of the range with a 0 are all lower.
    """
    found = np.zeros(len(ranks), dtype=np.int64)
    left, right = first, np.full(len(ranks), len(ranks), dtype=np.int64)
    level = ranks
    for bit in reversed(range(len(ranks).bit_length())):
        ones = (level >> bit) & 1
        zeros_before = np.concatenate(([0], np.cumsum(1 - ones)))
        left_zeros, right_zeros, zeros = zeros_before[left], zeros_before[right], zeros_before[-1]
        high = ((ranks >> bit) & 1).astype(np.bool_)
        found += np.where(high, right_zeros - left_zeros, 0)
        left = np.where(high, zeros + left - left_zeros, left_zeros)
        right = np.where(high, zeros + right - right_zeros, right_zeros)
        level = np.concatenate((level[ones == 0], level[ones == 1]))
    return found
