"""Buckets for latencies that add up over the parts of a load: 0.1 % wide, of whole microseconds.

The layout is that of Gil Tene's HdrHistogram (hdrhistogram.org) for three significant digits: buckets of 1 us up to
2,048 us, then each power of two in 1,024 buckets of the same width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from writepath.analysis.stats import Ints

HALF_BITS = 10  # 1/1,024 is below 0.1 %
FINEST_BITS = HALF_BITS + 1  # numbers of so many bits have a bucket each


def ends_us(us: Ints, width: int = 1) -> Ints:
    """By value, the highest one of its bucket; a value below 0 is its own bucket. width: so many buckets as one."""
    values = np.maximum(us, 0)
    bits = np.frexp(values.astype(np.float64))[1]  # exact: a double holds 53 bits
    shift = np.maximum(bits - FINEST_BITS, 0).astype(np.int64)
    bucket = (shift << HALF_BITS) + (
        values >> shift
    )  # its number: the top 11 bits, and how many were cut off
    following = bucket // width * width + width
    up = np.maximum((following >> HALF_BITS) - 1, 0)
    ends: Ints = np.where(us < 0, us, ((following - (up << HALF_BITS)) << up) - 1)
    return ends
