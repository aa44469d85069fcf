"""Is every cell made once, kept over a stop, and counted in the exit code? Cells are planted; the matrix is real."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from faults.planted import CELL, CODE
from writepath.config import registry
from writepath.faults import cell_run, matrix
from writepath.faults.catalogue import FAULTS
from writepath.faults.matrix import INTERRUPTED, MatrixPlan, Wanted
from writepath.load import dataset
from writepath.records.faults import load_faults, save_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.faults.cell_run import CellSpec, Lane
    from writepath.records.faults import Cell, CellOutcome, CellStatus
    from writepath.runtime.base import Runtime

ROOT = Path(__file__).resolve().parents[3]
KEYS = ("overload", "kill-database", "pause-database", "cut-database")


class Native:
    """All that the matrix itself asks of a runtime."""

    name = "native"


class Cells:
    """Stands in for cell_run.run: notes what it is asked for, and how much of it at a time."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.status: dict[str, CellStatus] = {}
        self.stop_at: str | None = None
        self.most = 0
        self._running: list[str] = []
        self._lock = threading.Lock()
        self.both = threading.Barrier(2, timeout=10)  # broken where two are never made at a time

    def run(self, spec: CellSpec, lane: Lane) -> Cell:
        key = spec.fault.key
        assert not lane.stopped.is_set()
        if key == self.stop_at:
            raise KeyboardInterrupt
        with self._lock:
            self._running.append(key)
            self.most = max(self.most, len(self._running))
            self.made.append(key)
        if key in ("kill-database", "pause-database") and self.stop_at is None and not self.both.broken:
            self.both.wait()
        spec.folder.mkdir(parents=True)
        status = self.status.get(key, "held")
        outcome: CellOutcome = "failed" if status == "unknown" and key == "cut-database" else "finished"
        cell = replace(CELL, fault=key, status=status, outcome=outcome, trials_wanted=spec.trials)
        save_cell(cell, spec.folder)
        with self._lock:
            assert key != "overload" or self._running == ["overload"]
            self._running.remove(key)
        return cell


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> Cells:
    made = Cells()
    monkeypatch.setattr(cell_run, "run", made.run)
    return made


@pytest.fixture
def plan(tmp_path: Path) -> MatrixPlan:
    jpa = registry.load(ROOT).variant("jpa")
    (tmp_path / "state").mkdir()
    return MatrixPlan(
        root=tmp_path,
        state=tmp_path / "state",
        wanted=tuple(Wanted(variant=jpa, fault=FAULTS[key], trials=6) for key in KEYS),
        jobs=2,
        seed=1,
        rate_per_s=50.0,
        overrides={},
        dataset=dataset.choose(None, 10, 1),
        code=CODE,
        broker_password="secret",
        resumed=False,
    )


def run(plan: MatrixPlan, say: Callable[[str], None] = lambda _: None) -> tuple[int, Path]:
    return matrix.run(plan, cast("Runtime", Native()), say)


def test_cells_run_side_by_side_and_an_overload_alone_at_last(plan: MatrixPlan, cells: Cells) -> None:
    code, folder = run(plan)
    assert (code, cells.most) == (0, 2)
    assert cells.made[-1] == "overload"
    index = load_faults(folder)
    assert index.status == "finished"
    assert {entry.fault for entry in index.cells} == set(KEYS)


@pytest.mark.parametrize(
    ("status", "key", "code"),
    [("broke", "kill-database", 1), ("unknown", "kill-database", 3), ("unknown", "cut-database", 10)],
)
def test_the_worst_cell_decides_the_exit_code(
    status: CellStatus, key: str, code: int, plan: MatrixPlan, cells: Cells
) -> None:
    cells.status = {"pause-database": "not discriminating", key: status}
    assert run(plan)[0] == code


def test_stopped_and_resumed_each_finished_cell_is_made_once(plan: MatrixPlan, cells: Cells) -> None:
    cells.stop_at = "cut-database"
    said: list[str] = []
    code, folder = run(replace(plan, jobs=1), said.append)
    assert code == INTERRUPTED
    assert "2 of 4 cells are saved. Continue with RESUME=1" in said[-1]
    assert load_faults(folder).status == "aborted"
    cells.stop_at, cells.made = "nothing", []
    assert run(replace(plan, jobs=1, resumed=True)) == (0, folder)
    assert cells.made == ["cut-database", "overload"]
    assert load_faults(folder).status == "finished"


def test_what_says_nothing_or_too_little_is_rerun(plan: MatrixPlan, cells: Cells) -> None:
    cells.status = {"pause-database": "unknown"}
    cells.stop_at = "nothing"
    run(plan)
    cells.status, cells.made = {}, []
    asked = [replace(one, trials=20 if one.fault.key == "kill-database" else 6) for one in plan.wanted]
    run(replace(plan, wanted=tuple(asked), resumed=True))
    assert sorted(cells.made) == ["kill-database", "pause-database"]


def test_another_seed_is_another_matrix(plan: MatrixPlan, cells: Cells) -> None:
    cells.stop_at = "nothing"
    _, first = run(plan)
    first.rename(first.with_name("20260102T030405Z"))  # the next one would have the same second
    code, second = run(replace(plan, seed=2, resumed=True))
    assert code == 0
    assert load_faults(second).seed == 2
    assert len(cells.made) == 2 * len(KEYS)
