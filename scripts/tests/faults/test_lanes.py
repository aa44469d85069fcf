"""Cells side by side, and RESUME=1 with more faults than before: the engine is real, its kind starts no stack."""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from experiments.test_engine import planned, run
from experiments.toy import Toy, disturb
from writepath.errors import INTERRUPTED, LoadError
from writepath.experiments import registry
from writepath.experiments.base import CellRun, Session
from writepath.experiments.faults.actions import StoppedError
from writepath.experiments.faults.kind import FaultExperiment
from writepath.records.base import to_data
from writepath.records.faults import FaultParams

NAMES = ("a", "b", "c", "alone")


@dataclass
class Lanes(Toy):
    """Two at a time wait for each other; a cell that is told to stops the command, or hears that it was stopped."""

    pair: threading.Barrier = field(default_factory=lambda: threading.Barrier(2, timeout=10))
    stops: str = ""
    spoiled: str = ""  # in a lane
    spoil: Callable[[CellRun], None] = disturb
    again: Collection[str] = ()
    running: list[str] = field(default_factory=list)
    parallel: dict[str, int] = field(default_factory=dict)

    def measure(self, run: CellRun, session: Session) -> None:
        name = run.cell.name
        self.running.append(name)
        assert name != "alone" or self.running == ["alone"]
        self.parallel[name] = run.parallel
        if run.parallel > 1 and name in ("a", "b"):
            self.pair.wait()
        if self.stops and name == self.stops:
            raise KeyboardInterrupt
        if self.stops and run.parallel > 1 and run.bench.stopped.wait(10):
            raise StoppedError
        super().measure(run, session)
        self.running.remove(name)
        if run.parallel > 1 and name == self.spoiled:
            self.spoil(run)

    def grown(self, _before: Mapping[str, Any], _now: Any) -> Collection[str]:
        return self.again


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> Lanes:
    kind = Lanes()
    monkeypatch.setitem(registry.KINDS, "toy", kind)
    return kind


def test_cells_run_side_by_side_and_one_that_needs_the_machine_runs_alone_at_last(
    tmp_path: Path, lanes: Lanes
) -> None:
    code, index = run(planned(tmp_path, *NAMES, jobs=2, alone=frozenset({"alone"})), lanes)
    assert (code, index.status) == (0, "finished")
    assert lanes.parallel == {"a": 2, "b": 2, "c": 2, "alone": 1}
    assert sorted(cell.name for cell in index.cells) == sorted(NAMES)
    assert index.cells[-1].name == "alone"


def fail(_run: CellRun) -> None:
    raise LoadError("the application is not back")


@pytest.mark.parametrize(
    ("spoil", "reruns", "code", "again", "parallel"),
    [(disturb, 2, 0, 1, 1), (fail, 2, 0, 1, 1), (disturb, 0, 3, 0, 2), (fail, 0, LoadError.exit_code, 0, 2)],
)
def test_a_cell_that_is_unknown_or_fails_beside_others_runs_again_alone(
    tmp_path: Path,
    lanes: Lanes,
    spoil: Callable[[CellRun], None],
    reruns: int,
    code: int,
    again: int,
    parallel: int,
) -> None:
    lanes.spoiled, lanes.spoil = "a", spoil
    ended, index = run(planned(tmp_path, "a", "b", jobs=2, reruns=reruns), lanes)
    assert (ended, index.status) == (code, "finished")
    assert {cell.name: cell.replaced for cell in index.cells} == {"a": again, "b": 0}
    assert lanes.parallel == {"a": parallel, "b": 2}


def test_stopped_side_by_side_no_lane_runs_on_and_resume_makes_the_others(
    tmp_path: Path, lanes: Lanes
) -> None:
    lanes.stops = "a"
    asked = planned(tmp_path, "a", "b", jobs=2)
    code, index = run(asked, lanes)
    assert (code, index.status, index.cells) == (INTERRUPTED, "aborted", ())
    lanes.stops = ""
    code, index = run(planned(tmp_path, "a", "b", resumed=True), lanes)
    assert (code, len(index.cells)) == (0, 2)


def test_resume_runs_a_cell_again_of_which_more_is_asked_now(tmp_path: Path, lanes: Lanes) -> None:
    run(planned(tmp_path, "a", "b"), lanes)
    lanes.again = ("b",)
    code, index = run(planned(tmp_path, "a", "b", resumed=True), lanes)
    assert code == 0
    assert sorted(name for name, _ in lanes.measured) == ["a", "b", "b"]
    assert {cell.name: cell.replaced for cell in index.cells} == {"a": 0, "b": 1}


def test_more_faults_than_before_are_more_and_another_rate_is_another_suite_run() -> None:
    before = to_data(FaultParams(rate_per_s=50.0, trials={"a": 6, "b": 6, "c": 6}))
    now = FaultParams(rate_per_s=50.0, trials={"a": 6, "b": 20, "c": 1})
    assert FaultExperiment().grown(before, now) == frozenset({"b"})
    assert FaultExperiment().grown({**before, "rate_per_s": 60.0}, now) is None
