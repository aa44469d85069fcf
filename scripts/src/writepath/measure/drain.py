"""Waits until the store is complete: nothing is on its way and no row was added for a while."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.measure.inspector import Pending

QUIET_S = 5.0
CAP_S = 120.0
POLL_S = 0.25
UNSEEN = -1


class Store(Protocol):
    """What the drain asks."""

    def pending(self) -> Pending:
        """Messages on their way."""

    def count(self) -> int:
        """Rows in the final store, refreshed."""


@dataclass(frozen=True, kw_only=True)
class Drained:
    """How the wait ended."""

    pending: Pending
    rows: int
    waited_seconds: float  # all of it, the quiet stretch too
    busy_seconds: float  # until the last change seen; exact to one poll
    capped: bool


def drain(
    store: Store,
    *,
    report: Callable[[int, int], None],
    cap_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Drained:
    """Waits at most cap_s, or else CAP_S. report gets rows stored and messages waiting at each poll."""
    cap_s = CAP_S if cap_s is None else cap_s
    start = changed = clock()
    rows = UNSEEN
    while True:
        pending, now_rows = store.pending(), store.count()
        now = clock()
        if pending.waiting or rows not in (UNSEEN, now_rows):
            changed = now
        rows = now_rows
        report(rows, pending.waiting)
        quiet, capped = now - changed >= QUIET_S, now - start >= cap_s
        if quiet or capped:
            return Drained(
                pending=pending,
                rows=rows,
                waited_seconds=now - start,
                busy_seconds=changed - start,
                capped=not quiet,
            )
        sleep(POLL_S)
