"""Audits a load: its ledger against the reads of its store, all in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from writepath.analysis.audit import Attempts, Comparison, Held, compare
from writepath.load.plan import encode_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.analysis.audit import Counts, Stored
    from writepath.load.ledger import Ledger


def audited(ledger: Ledger, stored: Sequence[Stored], counts: Counts, run_id: str) -> Comparison:
    """stored: one entry a read. Without any, nothing is known, which is never a pass."""
    if not stored:
        return compare(Attempts(), Held(0), None, replace(counts, planned=0, dropped=0), str)
    attempts = Attempts.of(ledger)
    first, *again = (Held.of(one, attempts) for one in stored)
    return compare(attempts, first, next(iter(again), None), counts, lambda seq: encode_id(run_id, seq))
