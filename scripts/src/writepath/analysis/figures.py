"""Computes the figures of a fault cell, by the definitions of stats.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import stats
from writepath.analysis.order import overtaking
from writepath.load.ledger import NO_TIME, Outcome
from writepath.records import Order, Requests

if TYPE_CHECKING:
    from writepath.analysis.audit import Stored
    from writepath.load.ledger import Ledger


def order(ledger: Ledger, stored: Stored, redelivered: int | None) -> Order:
    """In which order acknowledged writes reached the final store; of one stored twice the first row counts."""
    records = ledger.records[ledger.outcomes() == Outcome.ACKNOWLEDGED]
    sent = records["start_us"]
    delays = stats.delays_us(records["seq"], sent, stored.seq, stored.durable_at_us)
    durable = np.where(delays == stats.NEVER_US, NO_TIME, sent + delays)
    found = overtaking(sent, sent + records["blocked_us"] + records["duration_us"], durable)
    return Order(
        inversions=found.inversions,
        overtaken_share=round(found.overtaken / found.writes, 6) if found.writes else 0.0,
        redelivered=redelivered,
    )


def requests(planned: int, ledger: Ledger, dropped: int) -> Requests:
    """Counts of a load, by what became of each request."""
    by_outcome = np.bincount(ledger.outcomes(), minlength=len(Outcome))
    return Requests(
        planned=planned,
        started=len(ledger.records),
        dropped=dropped,
        acknowledged=int(by_outcome[Outcome.ACKNOWLEDGED]),
        rejected=int(by_outcome[Outcome.REJECTED]),
        indeterminate=int(by_outcome[Outcome.INDETERMINATE]),
        by_status=dict(ledger.by_status()),
        by_error=dict(ledger.by_error()),
    )
