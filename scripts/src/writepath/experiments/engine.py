"""Runs an experiment of any kind: blocks in seeded order, an index after each cell, reruns of noisy cells, resume."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from writepath.experiments import control, read, resume, shared
from writepath.experiments.attempt import Attempt, run_group
from writepath.experiments.base import CellRun, Growing
from writepath.experiments.plan import FEWEST_REPETITIONS, behind, groups, order_of
from writepath.load.plan import new_run_id
from writepath.measure import host
from writepath.measure.facts import dataset_facts, moment
from writepath.progress import Lane
from writepath.records.base import to_data
from writepath.records.cell import load_cell, result_of
from writepath.records.index import SCHEMA_VERSION, CellEntry, Factor, Index, References, save_index

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from writepath.experiments.base import Cell, Experiment
    from writepath.experiments.plan import Group, Plan
    from writepath.measure.bench import Bench
    from writepath.progress import Progress
    from writepath.records.cell import CellRecord
    from writepath.records.index import Status
    from writepath.runtime.base import Runtime

LOOK_S = 0.5  # how soon Ctrl-C is heard while lanes run


def run(plan: Plan, kind: Experiment[Any], runtime: Runtime, progress: Progress) -> tuple[int, Path]:
    """All cells. The exit code, the worst of theirs or 130 where the user stopped it, and the suite run's folder."""
    engine = _begun(plan, kind, runtime, progress)
    progress.total = sum(map(len, engine.index.order))
    progress.load_seconds = kind.load_seconds(plan.params, plan.settings)
    progress.say(_where(plan, engine.folder))
    try:
        with shared.bench(plan.root, plan.state, plan.dataset, runtime, progress) as bench:
            if plan.repetitions >= FEWEST_REPETITIONS:
                progress.say(control.statement(plan.state, bench.host, engine.index))
            for block in groups(plan):
                engine.run_block(block, bench)
    except KeyboardInterrupt:
        engine.end("aborted")
        done = len(engine.index.cells)
        progress.say(f"stopped; {done} of {progress.total} cells are saved. Continue with RESUME=1.")
        return shared.INTERRUPTED, engine.folder
    except BaseException:
        engine.end("aborted")
        raise
    engine.end("finished")
    if plan.control is not None:
        control.remember(plan.state, read.saved(engine.folder), kind.metrics)
    return shared.worst(cell.exit_code for cell in engine.index.cells), engine.folder


@dataclass(kw_only=True)
class _Engine:
    """A suite run under way."""

    plan: Plan
    kind: Experiment[Any]
    progress: Progress
    index: Index
    folder: Path
    _lock: threading.Lock = field(default_factory=threading.Lock)  # of the index

    def run_block(self, block: tuple[Group, ...], bench: Bench) -> None:
        """Every cell of the block that is left; noisy ones again behind the others."""
        if self.plan.jobs > 1:
            self._run_in_lanes(block, bench)
        left = deque(self._left(block))
        last = max(cell.position for group in block for cell in group)
        while left:
            host.require_disk(self.plan.root)
            group = left.popleft()
            ended = self._run_group(group, bench)
            if unbegun := group[len(ended) :]:
                left.appendleft(unbegun)
            for cell, record in ended:
                if record.verdict.noise and cell.noisy < self.plan.reruns:
                    self.progress.say(f"{cell.name}: noisy host; rerun at the end of this block")
                    left.append((behind(cell, last),))
                    last += 1

    def _run_in_lanes(self, block: tuple[Group, ...], bench: Bench) -> None:
        """Those that do not need the machine to themselves, which are left. However it ends, no lane runs on."""
        groups = [
            group for group in self._left(block) if not self.plan.alone.intersection(c.name for c in group)
        ]
        jobs = min(self.plan.jobs, len(groups)) or 1

        def run(group: Group) -> None:
            self._run_group(group, dataclasses.replace(bench, progress=Lane.of(self.progress, jobs)), jobs)

        with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="lane") as pool:
            running = {pool.submit(run, group) for group in groups}
            try:
                while running:
                    ended, running = wait(running, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                    for lane in ended:
                        lane.result()
            except BaseException:
                bench.stopped.set()
                pool.shutdown(cancel_futures=True)
                raise

    def end(self, status: Status) -> None:
        """Saves how the suite run ended."""
        self.index = dataclasses.replace(self.index, status=status, finished_at=moment(time.time()))
        save_index(self.index, self.folder)

    def _left(self, block: tuple[Group, ...]) -> Iterator[Group]:
        done = {(cell.name, cell.block) for cell in self.index.cells}
        for group in block:
            if own := tuple(cell for cell in group if (cell.name, cell.block) not in done):
                yield own

    def _run_group(self, group: Group, bench: Bench, parallel: int = 1) -> list[tuple[Cell, CellRecord]]:
        with self._lock:
            attempts = [self._attempt(cell, bench, parallel) for cell in group]
            number = len({(cell.name, cell.block) for cell in self.index.cells}) + 1
        names = " and ".join(cell.name for cell in group)
        bench.progress.began(number, f"{names}  {self.plan.suite.name}  block {group[0].block}")
        try:
            ended = run_group(attempts, bench)
        except KeyboardInterrupt:
            self._keep([attempt for attempt in attempts if attempt.outcome == "finished"])
            raise
        self._keep([attempt for attempt, _ in ended])
        for attempt, record in ended:
            bench.progress.cell_ended(record, self._line(attempt, record), share=len(ended))
        return [(attempt.run.cell, record) for attempt, record in ended]

    def _line(self, attempt: Attempt, record: CellRecord) -> str:
        result = result_of(record, attempt.kind.result)
        return "" if result is None else attempt.kind.line(result)

    def _attempt(self, cell: Cell, bench: Bench, parallel: int) -> Attempt:
        """The cell's line leaves the index before it runs, so that one that is stopped is a missing one."""
        place = self.folder / cell.name / f"block-{cell.block:02d}"
        shared.set_aside(place)
        place.mkdir(parents=True)
        cells = tuple(one for one in self.index.cells if (one.name, one.block) != (cell.name, cell.block))
        self.index = dataclasses.replace(self.index, cells=cells)
        plan, of_another = self.plan, self.plan.references if cell.role == "reference" else None
        started = CellRun(
            cell=cell,
            suite=plan.suite if of_another is None else of_another.suite,
            params=plan.params if of_another is None else of_another.params,
            settings={**plan.settings, **cell.levels},
            seed=plan.seed,
            dataset=plan.dataset,
            folder=place,
            run_id=new_run_id(),
            bench=bench,
            parallel=parallel,
        )
        return Attempt(
            run=started, index=self.index, kind=self.kind if of_another is None else of_another.kind
        )

    def _keep(self, attempts: list[Attempt]) -> None:
        """Adds their lines to the index and saves it."""
        with self._lock:
            entries = [self._entry(attempt) for attempt in attempts]
            self.index = dataclasses.replace(self.index, cells=(*self.index.cells, *entries))
            save_index(self.index, self.folder)

    def _entry(self, attempt: Attempt) -> CellEntry:
        record = load_cell(attempt.run.folder)
        cell, place = attempt.run.cell, attempt.run.folder
        return CellEntry(
            name=cell.name,
            variant=record.variant,
            levels=record.levels,
            role=record.role,
            block=cell.block,
            position=cell.position,
            folder=str(place.relative_to(self.folder)),
            outcome=record.outcome,
            verdict=record.verdict.status,
            reasons=record.verdict.reasons,
            seconds=round(sum(step.seconds for step in record.timings), 3),
            exit_code=attempt.exit_code,
            replaced=shared.replaced(place),
        )


def _begun(plan: Plan, kind: Experiment[Any], runtime: Runtime, progress: Progress) -> _Engine:
    """A new suite run, or the one that is to be continued. Saved, and the latest."""
    index = _new_index(plan, kind, runtime)
    if plan.resumed:
        grown = partial(_grown, kind, plan) if isinstance(kind, Growing) else None
        index, folder = resume.newest(index, plan.results, grown)
    else:
        folder = plan.results / plan.suite.name / index.stamp
        folder.mkdir(parents=True)
    save_index(index, folder)
    shared.link_latest(plan.results, folder)
    return _Engine(plan=plan, kind=kind, progress=progress, index=index, folder=folder)


def _grown(kind: Growing, plan: Plan, before: dict[str, Any]) -> Collection[str] | None:
    return kind.grown(before, plan.params)


def _new_index(plan: Plan, kind: Experiment[Any], runtime: Runtime) -> Index:
    now, others = datetime.now(UTC), plan.references
    return Index(
        schema_version=SCHEMA_VERSION,
        kind=kind.kind,
        suite=plan.suite.name,
        title=plan.suite.title,
        stamp=now.strftime(shared.STAMP),
        status="running",
        started_at=moment(now.timestamp()),
        finished_at=None,
        seed=plan.seed,
        repetitions=plan.repetitions,
        runtime=runtime.name,
        baseline=plan.baseline.name if plan.baseline is not None else None,
        variants=shared.variant_records(plan.variants),
        factors=tuple(Factor(**vars(factor)) for factor in plan.factors),
        settings=dict(plan.settings),
        params=to_data(plan.params),
        dataset=dataset_facts(plan.dataset),
        code=plan.code,
        order=order_of(plan),
        references=None
        if others is None
        else References(kind=others.kind.kind, suite=others.suite.name, params=to_data(others.params)),
    )


def _where(plan: Plan, folder: Path) -> str:
    """First line of every suite run."""
    twin = f" and the A/A control of {plan.control.name}" if plan.control is not None else ""
    levels = "".join(f" x {factor.name}={','.join(factor.levels)}" for factor in plan.factors)
    return (
        f"suite {plan.suite.name}: {len(plan.variants)} variants{levels}{twin} x {plan.repetitions}, seed {plan.seed},"
        f" dataset {plan.dataset.name} ({len(plan.dataset.lines)} lines), in {folder.relative_to(plan.root)}"
    )
