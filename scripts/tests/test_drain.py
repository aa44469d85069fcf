"""Does the drain wait for the last row and for five quiet seconds, and no longer?"""

from __future__ import annotations

from dataclasses import dataclass, field

from writepath.measure.drain import CAP_S, POLL_S, QUIET_S, drain
from writepath.measure.inspector import Pending


@dataclass
class FakeStore:
    """Rows and waiting messages as functions of a time that only sleeping moves on."""

    rows_until_s: float
    waiting_until_s: float
    now_s: float = 0.0
    reports: list[tuple[int, int]] = field(default_factory=list)

    def pending(self) -> Pending:
        ready = 1 if self.now_s < self.waiting_until_s else 0
        return Pending(in_flight=0, ready=ready, unacknowledged=0, dead=0)

    def count(self) -> int:
        return int(min(self.now_s, self.rows_until_s) * 100)

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def drained(self) -> tuple[float, float, bool, int]:
        found = drain(
            self,
            report=lambda rows, waiting: self.reports.append((rows, waiting)),
            clock=lambda: self.now_s,
            sleep=self.sleep,
        )
        return found.busy_seconds, found.waited_seconds, found.capped, found.rows


def test_quiet_counts_from_the_last_row() -> None:
    assert FakeStore(rows_until_s=3, waiting_until_s=0).drained() == (3.0, 3 + QUIET_S, False, 300)
    assert FakeStore(rows_until_s=0, waiting_until_s=0).drained() == (0.0, QUIET_S, False, 0)


def test_a_message_on_its_way_is_no_quiet_though_no_row_is_added() -> None:
    busy, waited, capped, _ = FakeStore(rows_until_s=0, waiting_until_s=10).drained()
    assert (busy, waited, capped) == (10 - POLL_S, 10 - POLL_S + QUIET_S, False)


def test_a_store_that_never_rests_is_given_up() -> None:
    store = FakeStore(rows_until_s=0, waiting_until_s=10_000)
    busy, waited, capped, _ = store.drained()
    assert (busy, waited, capped) == (CAP_S, CAP_S, True)
    assert store.reports[-1] == (0, 1)
