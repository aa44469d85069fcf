"""Ledgers and read-backs with planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from writepath.faults.schedule import Moment
from writepath.faults.trials import Struck
from writepath.load.ledger import RECORD, Ledger

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORIGIN_MS = 1_700_000_000_000.0
RATE_PER_S = 50.0
STEP_MS = 1000 / RATE_PER_S


def ledger(seconds: float, failed: dict[range, int] | None = None) -> Ledger:
    """Requests at a steady rate, each answered 201 after 5 ms but the failed ones: sequences by status."""
    records = np.zeros(int(seconds * RATE_PER_S), RECORD)
    records["seq"] = np.arange(len(records))
    records["start_ms"] = ORIGIN_MS + records["seq"] * STEP_MS
    records["duration_ms"] = 5.0
    records["status"] = 201
    for sequences, status in (failed or {}).items():
        records["status"][list(sequences)] = status
    return Ledger(records=records)


def lost(*sequences: int) -> dict[str, NDArray[np.int64]]:
    """Classes of which only this one has members."""
    nothing = np.empty(0, np.int64)
    names = ("vanished", "stranded", "corrupted", "duplicated", "recovered")
    return {"lost": np.array(sequences, np.int64), **dict.fromkeys(names, nothing)}


def struck(
    number: int, at_s: float, lasts_s: float = 1.0, proof: str = "another process than before"
) -> Struck:
    moment = Moment(number=number, steady_seconds=1.0, lasts_seconds=lasts_s, choice=0.5)
    injected_ms = ORIGIN_MS + at_s * 1000
    return Struck(moment=moment, injected_ms=injected_ms, healed_ms=injected_ms + lasts_s * 1000, proof=proof)


def at(second: float) -> int:
    """The sequence sent at that second."""
    return int(second * RATE_PER_S)
