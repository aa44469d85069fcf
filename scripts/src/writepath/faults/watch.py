"""Does the load go well right now? Follows the ledger as it grows, so that the next fault waits for a good 10 s."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.faults.recovery import RATE_MIN, SUCCESS_MIN, WINDOW_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.load.ledger import Progress

TICK_S = 0.2
ANSWER_S = 0.5  # what a window's last requests are given to be answered, and to reach the ledger


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The ledger at one moment."""

    at_s: float
    finished: int
    acknowledged: int


class Watch:
    """Of one load."""

    def __init__(
        self, poll: Callable[[], Progress], rate_per_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """poll: what the ledger holds so far."""
        self._poll, self._rate, self._clock = poll, rate_per_s, clock
        self._seen: deque[Seen] = deque()

    def tick(self) -> Seen:
        """Looks once."""
        progress = self._poll()
        now = Seen(at_s=self._clock(), finished=progress.finished, acknowledged=progress.acknowledged)
        self._seen.append(now)
        while self._seen[0].at_s < now.at_s - WINDOW_S - 4 * TICK_S:
            self._seen.popleft()
        return now

    def well_since(self, moment_s: float) -> bool:
        """Whether the last 10 s were good, and all of them came after the moment."""
        if not self._seen:
            return False
        now = self._seen[-1]
        before = [one for one in self._seen if moment_s <= one.at_s <= now.at_s - WINDOW_S]
        if not before:
            return False
        finished = now.finished - before[-1].finished
        acknowledged = now.acknowledged - before[-1].acknowledged
        return acknowledged >= SUCCESS_MIN * finished and acknowledged >= RATE_MIN * self._rate * WINDOW_S
