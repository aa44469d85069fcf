"""Is a store emptied at once, whatever waits in its queue, and never taken for empty when it is not?"""

from __future__ import annotations

import pytest

from writepath.errors import AuditError, StartError
from writepath.measure import truth
from writepath.measure.inspector import Inspector, Pending
from writepath.measure.proxy import Proxy
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
    return Truth(base_url="", store=path, ingress=path, proxy=Proxy("http://127.0.0.1"))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truth, "POLL_S", 0.0)


def test_what_waits_in_the_queue_is_thrown_away_and_not_waited_for() -> None:
    path = Path(ready=100_000)
    of(path).purge()
    assert (path.resets, path.rows, path.ready) == (1, 0, 0)


def test_requests_under_way_are_waited_for_before_anything_is_emptied() -> None:
    path = Path(in_flight=20)
    of(path).purge()
    assert (path.resets, path.in_flight) == (1, 0)


def test_a_row_that_arrives_after_the_reset_is_taken_out_too() -> None:
    path = Path(late=2)
    of(path).purge()
    assert (path.resets, path.rows) == (3, 0)


def test_an_inspector_that_is_slow_to_answer_is_asked_again() -> None:
    path = Path(silent=3)
    of(path).purge()
    assert (path.resets, path.rows) == (4, 0)


def test_what_stays_is_an_error_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(truth, "EMPTY_TIMEOUT_S", 0.05)
    with pytest.raises(StartError, match="the store is not empty before the load: 1 rows"):
        of(Path(late=10**9)).purge()
