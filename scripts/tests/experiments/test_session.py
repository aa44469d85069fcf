"""Cells that share a stack: it is started once, and stopped in order on every way out."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.planted_cell import at_once, audit_of, bench, cell_run, requests_of
from lifecycle.fakes import SCENARIO, FakeRuntime
from writepath.config.registry import WarmUp
from writepath.errors import StartError
from writepath.experiments.base import Session
from writepath.experiments.load.kind import measure
from writepath.load.plan import ClosedPlan
from writepath.measure import warming


def test_cells_of_one_session_share_a_stack_and_the_store_is_emptied_between_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once(monkeypatch)
    runtime = FakeRuntime()
    made = bench(tmp_path, runtime)
    runs = [cell_run(made, name=f"jpa RATE={rate}", settings={"RATE": rate}) for rate in ("100", "200")]
    with Session(made) as session:
        assert runtime.events == []  # what nobody asks for is not started
        for run in runs:
            measure(run, session)
    assert (runtime.starts, runtime.events.count("stop")) == (1, 1)
    assert ["start" in run.steps for run in runs] == [True, False]
    assert ["stop" in run.steps for run in runs] == [False, True]
    for run, planned in zip(runs, (50, 100), strict=True):
        assert len(requests_of(run.folder)) == planned
        assert (audit_of(run).verdict, audit_of(run).ok) == ("PASS", planned)
        assert (run.folder / "logs" / "app.log").is_file()


def test_a_warm_stack_is_warmed_for_a_moment_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once(monkeypatch)
    monkeypatch.setattr(warming, "SHORT_S", 0.02)
    asked: list[float] = []

    def noted(*, virtual_users: int, seconds: float) -> ClosedPlan:
        asked.append(seconds)
        return ClosedPlan(virtual_users=virtual_users, seconds=seconds)

    monkeypatch.setattr(warming, "ClosedPlan", noted)
    made = bench(tmp_path, FakeRuntime())
    scenario = replace(SCENARIO, warm_up=WarmUp(virtual_users=2, for_seconds=0.1))
    with Session(made) as session:
        for name in ("first", "second"):
            measure(cell_run(made, name=name, scenario=scenario), session)
    assert asked == [0.1, 0.02]


def test_a_stack_that_cannot_be_stopped_in_order_fails_the_session(tmp_path: Path) -> None:
    runtime = FakeRuntime(stop_error=StartError("a container would not go"))
    run = cell_run(bench(tmp_path, runtime))
    with pytest.raises(StartError, match="would not go"), Session(run.bench) as session:
        session.started(run)
    assert "stop" in run.steps
