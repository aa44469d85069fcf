"""Writes the raw tables of a load whose every percentile is known, of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import raw
from writepath.analysis.audit import Stored
from writepath.load import ledger as ledgers
from writepath.load.ledger import RECORD, Ledger
from writepath.load.plan import NS_PER_US, constant_plan

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from writepath.load.plan import ArrivalPlan

RATE_PER_S = 8000.0
STARTED_US = 1_763_683_200_000_000
FASTEST_US, SPREAD_US = 1000, 100_000
WAITED_US = 125  # of the latency: for a connection
DURABLE_US = 5000
UNSERVED_EACH = 1000  # one in so many is refused
STRIDE = 7  # has no divisor with a power of ten in common: each rank is there once
VISIBLE_EACH = 400  # twenty a second
COMPONENTS = ("jpa-writer", "postgres", "nginx", "k6")


@dataclass(frozen=True, kw_only=True, eq=False)
class Planted:
    """A load of so many requests."""

    requests: int
    plan: ArrivalPlan

    @property
    def unserved(self) -> int:
        """How many, and those would have been the slowest."""
        return self.requests // UNSERVED_EACH

    def latency_us(self, rank: int) -> int:
        """Of the request of that rank, from 1."""
        return FASTEST_US + (rank - 1) * SPREAD_US // self.requests

    def latencies_us(self) -> NDArray[np.int64]:
        """By sequence."""
        return FASTEST_US + self._ranks() * SPREAD_US // self.requests

    def served(self) -> NDArray[np.bool_]:
        """By sequence."""
        return self._ranks() < self.requests - self.unserved

    def _ranks(self) -> NDArray[np.int64]:
        """From 0."""
        return np.arange(self.requests, dtype=np.int64) * STRIDE % self.requests


def plant(requests: int) -> Planted:
    """On time, at one rate."""
    return Planted(requests=requests, plan=constant_plan("flat", requests, RATE_PER_S))


def write(planted: Planted, folder: Path) -> int:
    """As the runner leaves them; gives how many rows either read of the store had."""
    ledgers.write(_ledger(planted), folder / ledgers.FILE)
    stored = _rows(planted)
    raw.save_stored((stored, stored), folder / raw.STORED_FILE)
    raw.save_samples(_samples(planted), folder / raw.SAMPLES_FILE)
    seq = np.arange(0, planted.requests, VISIBLE_EACH)
    at_us = _starts_us(planted)[seq] + 2 * DURABLE_US
    seen = raw.Seen(seq=seq, not_before_us=at_us - DURABLE_US, visible_at_us=at_us)
    raw.save_visible(seen, folder / raw.VISIBLE_FILE)
    return stored.rows


def _starts_us(planted: Planted) -> NDArray[np.int64]:
    """To the nearest microsecond, as k6's recorder keeps them."""
    return STARTED_US + (planted.plan.starts_ns + NS_PER_US // 2) // NS_PER_US


def _ledger(planted: Planted) -> Ledger:
    records = np.empty(planted.requests, RECORD)
    records["seq"], records["operation"] = np.arange(planted.requests), 0
    records["start_us"] = _starts_us(planted)
    records["blocked_us"], records["duration_us"] = WAITED_US, planted.latencies_us() - WAITED_US
    served = planted.served()
    records["status"] = np.where(served, 201, 503)
    records["error_code"] = np.where(served, 0, 1503)
    return Ledger(records=records)


def _rows(planted: Planted) -> Stored:
    seq = np.flatnonzero(planted.served())
    return Stored(
        seq=seq,
        content_ok=np.ones(len(seq), np.bool_),
        durable_at_us=_starts_us(planted)[seq] + DURABLE_US,
    )


def _samples(planted: Planted) -> list[raw.Sample]:
    return [
        raw.Sample(
            at_us=STARTED_US + 1_000_000 * second,
            component=component,
            metric=metric,
            value=value * (second + 1),
        )
        for second in range(int(planted.plan.seconds) + 1)
        for component in COMPONENTS
        for metric, value in (("cpu_seconds", 0.25), ("rss_bytes", 4096.0))
    ]
