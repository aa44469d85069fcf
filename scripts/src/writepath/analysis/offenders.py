"""Names the writes at fault: sequences as intervals, and the first ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from writepath.records import Offenders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

INTERVALS_MAX = 100
FIRST_IDS = 20


def of(seq: NDArray[np.int64], others: Sequence[str], post_id: Callable[[int], str]) -> Offenders:
    """Members of a class in short; others: ids that are no sequence."""
    ids = [post_id(int(s)) for s in seq[:FIRST_IDS]] + list(others)
    return Offenders(count=len(seq) + len(others), intervals=intervals(seq), first_ids=tuple(ids[:FIRST_IDS]))


def intervals(seq: NDArray[np.int64]) -> str:
    """Ascending sequences as `17..42 90`."""
    return in_words(*bounds(seq))


def in_words(firsts: NDArray[np.int64], lasts: NDArray[np.int64]) -> str:
    """The same of the first and the last sequence of each interval."""
    pairs = zip(firsts[:INTERVALS_MAX].tolist(), lasts.tolist(), strict=False)
    words = [f"{first}..{last}" if last > first else f"{first}" for first, last in pairs]
    return " ".join(words) + (" ..." if len(firsts) > INTERVALS_MAX else "")


def bounds(seq: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of ascending sequences, the first and the last one of each interval."""
    if not len(seq):
        return seq, seq
    breaks = np.flatnonzero(np.diff(seq) > 1)
    return seq[np.concatenate(([0], breaks + 1))], seq[np.concatenate((breaks, [len(seq) - 1]))]
