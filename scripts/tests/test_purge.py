"""Is a store emptied at once, waited for until its last row, and never taken for empty when it is not?"""

from dataclasses import dataclass, field
from typing import Any

import pytest

from writepath.errors import AuditError, StartError
from writepath.measure import truth
from writepath.measure.inspector import Inspector, Pending, plain_client
from writepath.measure.read_back import CAP_S, POLL_S, QUIET_S, drain
from writepath.measure.truth import Truth


class Path(Inspector):
    """A store and its queue, without a process; what is asked goes down as time goes on."""

    def __init__(self, *, ready: int = 0, in_flight: int = 0, late: int = 0, silent: int = 0) -> None:
        """in_flight: looks until nothing is under way. So many resets, late: leave a row; silent: fail."""
        self.service = "path"
        self.urls = ()
        self.rows, self.ready, self.in_flight, self.late, self.silent = 1, ready, in_flight, late, silent
        self.resets = 0

    def pending(self) -> Pending:
        self.in_flight = max(0, self.in_flight - 1)
        return Pending(in_flight=self.in_flight, ready=self.ready, unacknowledged=0, dead=0)

    def count(self) -> int:
        return self.rows

    def reset(self) -> None:
        assert not self.in_flight
        self.resets += 1
        if self.resets <= self.silent:
            raise AuditError("the inspector did not answer")
        self.rows, self.ready = int(self.resets <= self.late), 0


def of(path: Path) -> Truth:
    return Truth(base_url="", store=path, ingress=path, proxy=plain_client(1))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truth, "POLL_S", 0.0)


@pytest.mark.parametrize(
    ("path", "resets"),
    [
        (Path(ready=100_000), 1),  # what waits in the queue is thrown away and not waited for
        (Path(in_flight=20), 1),  # requests under way are waited for before anything is emptied
        (Path(late=2), 3),  # a row that arrives after the reset is taken out too
        (Path(silent=3), 4),  # an inspector that is slow to answer is asked again
    ],
    ids=["queue", "under way", "late", "silent"],
)
def test_a_store_is_emptied_whatever_is_on_its_way(path: Path, resets: int) -> None:
    of(path).empty()
    assert (path.resets, path.rows, path.ready, path.in_flight) == (resets, 0, 0, 0)


def test_what_stays_is_an_error_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truth, "EMPTY_TIMEOUT_S", 0.05)
    with pytest.raises(StartError, match="the store is not empty before the load: 1 rows"):
        of(Path(late=10**9)).empty()


@dataclass
class FakeStore:
    """Rows and waiting posts as functions of a time that only sleeping moves on."""

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

    def drained(self) -> tuple[float, float, bool]:
        truth: Any = self
        found = drain(
            truth,
            report=lambda rows, waiting: self.reports.append((rows, waiting)),
            clock=lambda: self.now_s,
            sleep=self.sleep,
        )
        return found.busy_seconds, found.waited_seconds, found.capped


def test_quiet_counts_from_the_last_row_and_the_last_message_on_its_way() -> None:
    assert FakeStore(rows_until_s=3, waiting_until_s=0).drained() == (3.0, 3 + QUIET_S, False)
    assert FakeStore(rows_until_s=0, waiting_until_s=0).drained() == (0.0, QUIET_S, False)
    busy = 10 - POLL_S
    assert FakeStore(rows_until_s=0, waiting_until_s=10).drained() == (busy, busy + QUIET_S, False)


def test_a_store_that_never_rests_is_given_up() -> None:
    store = FakeStore(rows_until_s=0, waiting_until_s=10_000)
    assert store.drained() == (CAP_S, CAP_S, True)
    assert store.reports[-1] == (0, 1)
