"""How does the matrix go? Every cell of every variant, several variants side by side, an index written after each."""

from __future__ import annotations

import dataclasses
import os
import shutil
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from writepath import pidfile
from writepath.faults import cell_run
from writepath.faults.cell_run import CellSpec, Lane
from writepath.measure.facts import moment
from writepath.records.faults import (
    FAULTS_FILE,
    FAULTS_SCHEMA_VERSION,
    CellEntry,
    FaultsResult,
    MatrixStatus,
    exit_code,
    load_cell,
    load_faults,
    save_faults,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from writepath.config.registry import Variant
    from writepath.faults.catalogue import Fault
    from writepath.load.dataset import Dataset
    from writepath.records import Code
    from writepath.records.faults import Cell
    from writepath.runtime.base import Runtime

STAMP = "%Y%m%dT%H%M%SZ"
SUITE = "faults"
INTERRUPTED = 130
ALONE = "overload"
LOOK_S = 0.5
SHOWN = {"held": "no loss", "broke": "guarantees broken", "loses": "guarantees broken, as expected"}
CELL_SECONDS = 45.0  # start, drain, both reads
TRIAL_SECONDS = 15.0  # guesses; scaled by what the cells so far took


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One cell that was asked for."""

    variant: Variant
    fault: Fault
    trials: int

    @property
    def key(self) -> str:
        """Also its folder, below the matrix's."""
        return f"{self.variant.name}/{self.fault.key}"


@dataclass(frozen=True, kw_only=True)
class MatrixPlan:
    """What the user asked for, checked."""

    root: Path
    state: Path
    wanted: tuple[Wanted, ...]
    jobs: int  # cells in parallel
    seed: int
    rate_per_s: float
    overrides: Mapping[str, str]
    dataset: Dataset
    code: Code
    broker_password: str
    resumed: bool


@dataclass(kw_only=True)
class _Matrix:
    """A matrix under way; the lock guards the index."""

    plan: MatrixPlan
    runtime: Runtime
    say: Callable[[str], None]
    folder: Path
    index: FaultsResult
    content: Path
    pids: Path
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    took_s: float = 0.0  # the cells made so far, and what they were guessed to take
    guessed_s: float = 0.0

    def cell(self, wanted: Wanted, side_by_side: int) -> Cell:
        """One, and its line in the index."""
        plan = self.plan
        folder = self.folder / wanted.key
        if folder.exists():  # stopped or failed before a resume: never counted
            shutil.rmtree(folder)
        spec = CellSpec(
            variant=wanted.variant,
            fault=wanted.fault,
            trials=wanted.trials,
            seed=plan.seed,
            rate_per_s=plan.rate_per_s,
            overrides=plan.overrides,
            dataset=plan.dataset,
            code=plan.code,
            folder=folder,
        )
        lane = Lane(
            runtime=self.runtime,
            say=self.say,
            content=self.content,
            pids=self.pids,
            root=plan.root,
            broker_password=plan.broker_password,
            side_by_side=side_by_side,
            stopped=self.stopped,
        )
        began = time.monotonic()
        cell = cell_run.run(spec, lane)
        self._enter(cell, wanted, time.monotonic() - began)
        return cell

    def _enter(self, cell: Cell, wanted: Wanted, seconds: float) -> None:
        entry = CellEntry(
            variant=cell.variant,
            fault=cell.fault,
            folder=wanted.key,
            outcome=cell.outcome,
            status=cell.status,
            seconds=round(seconds, 3),
        )
        with self.lock:
            self.index = dataclasses.replace(self.index, cells=(*self.index.cells, entry))
            save_faults(self.index, self.folder)
            self.took_s += seconds
            self.guessed_s += _guess_s(wanted)
            left = self._left_minutes()
        why = f": {'; '.join(cell.reasons)}" if cell.reasons else ""
        status = SHOWN.get(cell.status, cell.status)
        number = f"{len(self.index.cells)}/{len(self.plan.wanted)}"
        self.say(
            f"{number} {wanted.key}: {status.upper()} after {len(cell.effective)} faults{why} ({left} left)"
        )

    def _left_minutes(self) -> str:
        done = {entry.folder for entry in self.index.cells}
        left = [wanted for wanted in self.plan.wanted if wanted.key not in done]
        guess = sum(map(_guess_s, left)) / self.plan.jobs
        return f"{guess * self.took_s / self.guessed_s / 60:.0f} min"


def _guess_s(wanted: Wanted) -> float:
    return CELL_SECONDS + wanted.trials * TRIAL_SECONDS


def run(plan: MatrixPlan, runtime: Runtime, say: Callable[[str], None]) -> tuple[int, Path]:
    """All cells. The exit code, the worst of theirs or 130 where the user stopped it, and the matrix's folder."""
    index, folder = _begin(plan, runtime)
    content = plan.state / "content.json"
    plan.dataset.write(content)
    pids = plan.state / "run" / f"load-{os.getpid()}"
    pids.mkdir(parents=True, exist_ok=True)
    pidfile.claim(pids)
    matrix = _Matrix(
        plan=plan, runtime=runtime, say=say, folder=folder, index=index, content=content, pids=pids
    )
    trials = sum(wanted.trials for wanted in plan.wanted)
    say(
        f"faults: {len(plan.wanted)} cells, {trials} faults, {plan.jobs} in parallel, seed {plan.seed},"
        f" {plan.rate_per_s:g}/s, in {folder.relative_to(plan.root)}"
    )
    try:
        status = _all(matrix)
    finally:
        shutil.rmtree(pids, ignore_errors=True)
    _end(matrix, "aborted" if status == INTERRUPTED else "finished")
    return status, folder


def _all(matrix: _Matrix) -> int:
    """An overload needs the machine to itself: those come last, one by one."""
    done = {entry.folder for entry in matrix.index.cells}
    waiting = [wanted for wanted in matrix.plan.wanted if wanted.key not in done]
    loud = [wanted for wanted in waiting if wanted.fault.action == ALONE]
    try:
        _side_by_side(matrix, [wanted for wanted in waiting if wanted not in loud], matrix.plan.jobs)
        _side_by_side(matrix, loud, 1)
    except KeyboardInterrupt:
        matrix.say(
            f"stopped; {len(matrix.index.cells)} of {len(matrix.plan.wanted)} cells are saved. Continue with RESUME=1."
        )
        return INTERRUPTED
    return exit_code(matrix.index.cells)


def _side_by_side(matrix: _Matrix, waiting: Sequence[Wanted], jobs: int) -> None:
    """However it ends, no lane runs on after it."""
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="lane")
    together = min(jobs, len(waiting))
    running: set[Future[Cell]] = {pool.submit(matrix.cell, wanted, together) for wanted in waiting}
    try:
        while running:
            ended, running = wait(running, timeout=LOOK_S, return_when=FIRST_COMPLETED)
            for future in ended:
                future.result()  # an exception of ours, or what nobody foresaw: a failed cell raises none
    except BaseException:
        matrix.stopped.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(plan: MatrixPlan, runtime: Runtime) -> tuple[FaultsResult, Path]:
    now = datetime.now(UTC)
    index = FaultsResult(
        schema_version=FAULTS_SCHEMA_VERSION,
        stamp=now.strftime(STAMP),
        status="running",
        started_at=moment(now.timestamp()),
        finished_at=None,
        seed=plan.seed,
        runtime=runtime.name,
        rate_per_s=plan.rate_per_s,
        overrides=dict(plan.overrides),
        code=plan.code,
        wanted=tuple(wanted.key for wanted in plan.wanted),
    )
    if plan.resumed:
        found = _newest(plan, index)
        if found is not None:
            return found
    folder = plan.root / "results" / SUITE / index.stamp
    folder.mkdir(parents=True)
    save_faults(index, folder)
    return index, folder


def _newest(plan: MatrixPlan, wanted: FaultsResult) -> tuple[FaultsResult, Path] | None:
    """The newest matrix of the same seed, runtime, rate and settings; cells that say something are kept."""
    same = ("seed", "runtime", "rate_per_s", "overrides")
    for path in sorted((plan.root / "results" / SUITE).glob(f"*/{FAULTS_FILE}"), reverse=True):
        found = load_faults(path.parent)
        if all(getattr(found, name) == getattr(wanted, name) for name in same):
            kept = tuple(entry for entry in found.cells if _kept(entry, path.parent, plan))
            keys = tuple(dict.fromkeys((*found.wanted, *wanted.wanted)))
            return dataclasses.replace(found, status="running", wanted=keys, cells=kept), path.parent
    return None


def _kept(entry: CellEntry, folder: Path, plan: MatrixPlan) -> bool:
    """What is unknown, or was struck less often than is asked for now, is rerun."""
    if entry.outcome != "finished" or entry.status == "unknown":
        return False
    asked = {wanted.key: wanted.trials for wanted in plan.wanted}
    return load_cell(folder / entry.folder).trials_wanted >= asked.get(entry.folder, 0)


def _end(matrix: _Matrix, status: MatrixStatus) -> None:
    finished_at = moment(time.time())
    matrix.index = dataclasses.replace(matrix.index, status=status, finished_at=finished_at)
    save_faults(matrix.index, matrix.folder)
