"""Runs an experiment of any kind: blocks in seeded order, an index after each cell, reruns of noisy cells, resume."""

import contextlib
import dataclasses
import itertools
import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

from writepath import pidfile
from writepath.errors import INTERRUPTED, UsageError, worst
from writepath.experiments import control, read, site
from writepath.experiments.attempt import Attempt, run_group
from writepath.experiments.base import FEWEST_REPETITIONS, Cell, Plan, References
from writepath.experiments.plan import Group, groups, order_of
from writepath.load.plan import new_run_id
from writepath.measure import host, warming
from writepath.measure.host import CanaryCage
from writepath.measure.loading import Bench, dataset_facts, moment
from writepath.processors import Split
from writepath.progress import Progress
from writepath.records.base import inside, to_data
from writepath.records.cell import CellRecord, load_cell
from writepath.records.index import (
    INDEX_FILE,
    SCHEMA_VERSION,
    CellEntry,
    Index,
    Status,
    VariantRecord,
    load_index,
    save_index,
)
from writepath.records.measures import Host
from writepath.report.fingerprint import of_host
from writepath.runtime.base import Runtime

RESULTS, LATEST = "results", "latest"
STAMP = "%Y%m%dT%H%M%SZ"
LOOK_S = 0.5  # how soon Ctrl-C is heard while lanes run
SAME: read.Design = (
    ("REPS", attrgetter("repetitions")),
    ("SEED", attrgetter("seed")),
    *read.DESIGN,
    ("DATASET", lambda index: (index.dataset.name, index.dataset.lines, index.dataset.sha256)),
    ("VARIANTS, or their definition in variants.yaml", attrgetter("variants")),
    ("the code that measures", attrgetter("code.digest")),
)


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A suite run in results/, as a plan would continue it."""

    index: Index  # running, without the cells that do not count
    folder: Path
    whole: bool  # nothing of it is left to run

    def differing(self, wanted: Index, here: Host) -> Iterator[tuple[str, Any, Any]]:
        """What is not as it is wanted: in words, with both values. here: a suite run never mixes hosts."""
        yield from read.differing(SAME, self.index, wanted)
        for cell in self.index.cells:
            there = load_cell(inside(self.folder, cell.folder)).host
            if there is not None and of_host(there) != of_host(here):
                yield "the host", ", ".join(of_host(there).values()), ", ".join(of_host(here).values())


def _earlier(plan: Plan, wanted: Index) -> Iterator[Earlier]:
    """Those of its suite, the newest first."""
    for path in sorted((plan.root / RESULTS / wanted.suite).glob(f"*/{INDEX_FILE}"), reverse=True):
        found = load_index(path.parent)
        again: Collection[str] = ()
        if (more := plan.kind.grown(found.params, plan.params)) is not None:
            again, found = more, dataclasses.replace(found, params=wanted.params)
        kept = tuple(cell for cell in found.cells if _stays(cell) and cell.name not in again)
        whole = found.status == "finished" and len(kept) == len(found.cells)
        running = dataclasses.replace(found, cells=kept, status="running", finished_at=None)
        yield Earlier(index=running, folder=path.parent, whole=whole)


def standing(plan: Plan, split: Split) -> Earlier | None:
    """The newest suite run with the same options, code and host; None where there is none.

    For a plan of a runtime that is not `auto`. split: the processors it would use.
    """
    wanted, here = new_index(plan, plan.runtime, split), host.host_facts(plan.state, split)
    return next((one for one in _earlier(plan, wanted) if not any(one.differing(wanted, here))), None)


def _continued(plan: Plan, wanted: Index, here: Host) -> Earlier:
    """The newest one that RESUME=1 can continue; where there is none, UsageError says what differs in the newest."""
    refused: UsageError | None = None
    for found in _earlier(plan, wanted):
        if found.whole:
            continue
        different = next(found.differing(wanted, here), None)
        if different is None:
            return found
        words, before, now = different
        refused = refused or UsageError(
            f"RESUME=1: {words} differs from suite run {found.index.stamp}: was {_short(before)}, is now {_short(now)}."
            " Use the same value, or start a new suite run without RESUME."
        )
    raise refused or UsageError(
        f"RESUME=1: no suite run of '{wanted.suite}' in results/ has a missing, failed or unknown cell;"
        " start a new one without RESUME"
    )


def newest(root: Path, suite: str) -> Index | None:
    """The index of its newest suite run; None where there is none."""
    found = sorted((root / RESULTS / suite).glob(f"*/{INDEX_FILE}"))
    return load_index(found[-1].parent) if found else None


def is_whole(index: Index) -> bool:
    """Whether RESUME=1 has nothing to continue."""
    return index.status == "finished" and all(map(_stays, index.cells))


def _stays(cell: CellEntry) -> bool:
    """An invalid cell is a finding and stays; one that a noisy host made unknown says nothing, and is rerun."""
    return cell.outcome == "finished" and cell.verdict != "unknown"


def _short(value: object) -> str:
    if isinstance(value, tuple) and value and hasattr(value[0], "name"):
        return ",".join(entry.name for entry in value)
    return str(value)[:120]


def run(plan: Plan, runtime: Runtime, progress: Progress) -> tuple[int, Path]:
    """All cells. The exit code, the worst of theirs or 130 where the user stopped it, and the suite run's folder."""
    engine = _begun(plan, runtime)
    progress.total = sum(map(len, engine.index.order))
    progress.load_seconds = plan.kind.load_seconds(plan.params)
    progress.say(_where(plan, engine.folder))
    progress.say(f"figures so far: {(plan.root / RESULTS / LATEST / site.PAGE).as_uri()}")
    engine.show(progress)
    try:
        with _opened(plan, runtime, progress) as bench:
            if plan.repetitions >= FEWEST_REPETITIONS:
                progress.say(control.statement(plan.state, bench.host, engine.index))
            if warming.is_training_asked(plan.settings, plan.factors):
                for variant in filter(None, (plan.second, *plan.variants)):
                    warming.train(bench, variant, plan.settings)
            for block in groups(plan):
                engine.run_block(block, bench)
    except KeyboardInterrupt:
        engine.end("aborted", progress)
        done = len(engine.index.cells)
        progress.say(f"stopped; {done} of {progress.total} cells are saved. Continue with RESUME=1.")
        return INTERRUPTED, engine.folder
    except BaseException:
        engine.end("aborted", progress)
        raise
    engine.end("finished", progress)
    if plan.control is not None:
        control.remember(plan.state, read.saved(engine.folder), plan.kind.metrics)
    return worst(cell.exit_code for cell in engine.index.cells), engine.folder


@dataclass(kw_only=True)
class _Engine:
    """A suite run under way."""

    plan: Plan
    index: Index
    folder: Path
    _lock: threading.Lock = field(default_factory=threading.Lock)  # of the index

    def run_block(self, block: tuple[Group, ...], bench: Bench) -> None:
        """Every cell of the block that is left; behind the others again those that were noisy or unknown in a lane."""
        if self.plan.jobs > 1:
            self._run_in_lanes(block, bench)
            if self.plan.reruns:
                number = block[0][0].block
                stay = tuple(cell for cell in self.index.cells if cell.block != number or _stays(cell))
                self.index = dataclasses.replace(self.index, cells=stay)
        left = deque(self._left(block))
        last = max(cell.position for group in block for cell in group)
        while left:
            host.require_disk(self.plan.root)
            group = left.popleft()
            ended = self._run_group(group, bench)
            if unbegun := group[len(ended) :]:
                left.appendleft(unbegun)
            for cell in (attempt.cell for attempt in ended if attempt.record.verdict.noise):
                if cell.noisy < self.plan.reruns:
                    bench.progress.say(f"{cell.name}: noisy host; rerun at the end of this block")
                    last += 1
                    left.append((dataclasses.replace(cell, position=last, noisy=cell.noisy + 1),))

    def _run_in_lanes(self, block: tuple[Group, ...], bench: Bench) -> None:
        """Those that do not need the machine to themselves, which are left. However it ends, no lane runs on."""
        groups = [
            group for group in self._left(block) if not self.plan.alone.intersection(c.name for c in group)
        ]
        jobs = min(self.plan.jobs, len(groups)) or 1

        def run(group: Group) -> None:
            progress = dataclasses.replace(bench.progress, jobs=jobs)
            self._run_group(group, dataclasses.replace(bench, progress=progress), jobs)

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

    def show(self, progress: Progress) -> None:
        """Writes the page of the figures so far. One that cannot be written is said, and ends no suite run."""
        try:
            site.write_live(self.folder)
        except Exception as error:  # noqa: BLE001 - the cells are saved, and `make report` says what is wrong
            progress.say(f"{site.PAGE} was not written: {error}")

    def end(self, status: Status, progress: Progress) -> None:
        """Saves and shows how the suite run ended."""
        self.index = dataclasses.replace(self.index, status=status, finished_at=moment(time.time()))
        save_index(self.index, self.folder)
        self.show(progress)

    def _left(self, block: tuple[Group, ...]) -> Iterator[Group]:
        done = {(cell.name, cell.block) for cell in self.index.cells}
        for group in block:
            if own := tuple(cell for cell in group if (cell.name, cell.block) not in done):
                yield own

    def _run_group(self, group: Group, bench: Bench, parallel: int = 1) -> list[Attempt]:
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
        self._keep(ended)
        for attempt in ended:
            line = "" if attempt.result is None else attempt.kind.line(attempt.result)
            bench.progress.cell_ended(attempt.record, line, share=len(ended))
        with self._lock:  # lanes draw one after the other: matplotlib is not safe in threads
            self.show(bench.progress)
        return ended

    def _attempt(self, cell: Cell, bench: Bench, parallel: int) -> Attempt:
        """The cell's line leaves the index before it runs, so that one that is stopped is a missing one."""
        place = self.folder / cell.name / f"block-{cell.block:02d}"
        _set_aside(place)
        place.mkdir(parents=True)
        cells = tuple(one for one in self.index.cells if (one.name, one.block) != (cell.name, cell.block))
        self.index = dataclasses.replace(self.index, cells=cells)
        plan, other = self.plan, self.plan.references
        design: Plan | References = plan if cell.role != "reference" or other is None else other
        return Attempt(
            index=self.index,
            kind=design.kind,
            cell=cell,
            suite=design.suite,
            params=design.params,
            settings=plan.settings_of(cell.levels),
            seed=plan.seed,
            dataset=plan.dataset,
            folder=place,
            run_id=new_run_id(),
            bench=bench,
            parallel=parallel,
        )

    def _keep(self, attempts: list[Attempt]) -> None:
        """Adds their lines to the index and saves it."""
        with self._lock:
            entries = [self._entry(attempt, attempt.record, attempt.folder) for attempt in attempts]
            self.index = dataclasses.replace(self.index, cells=(*self.index.cells, *entries))
            save_index(self.index, self.folder)

    def _entry(self, attempt: Attempt, record: CellRecord, place: Path) -> CellEntry:
        return CellEntry(
            **{name: getattr(record, name) for name in read.SAME},
            folder=str(place.relative_to(self.folder)),
            verdict=record.verdict.status,
            reasons=record.verdict.reasons,
            seconds=round(sum(step.seconds for step in record.timings), 3),
            exit_code=attempt.exit_code,
            replaced=len([*place.parent.glob(f"{place.name}-replaced-*")]),
        )


def _begun(plan: Plan, runtime: Runtime) -> _Engine:
    """A new suite run, or the one that is to be continued. Saved, and the latest."""
    index = new_index(plan, runtime.name, runtime.split)
    if plan.resumed:
        found = _continued(plan, index, host.host_facts(plan.state, runtime.split))
        index, folder = found.index, found.folder
    else:
        folder = plan.root / RESULTS / plan.suite.name / index.stamp
        folder.mkdir(parents=True)
    save_index(index, folder)
    _link_latest(folder)
    return _Engine(plan=plan, index=index, folder=folder)


def new_index(plan: Plan, runtime: str, split: Split) -> Index:
    """Of a suite run that begins now; runtime: its name."""
    now, others = datetime.now(UTC), plan.references
    return Index(
        schema_version=SCHEMA_VERSION,
        kind=plan.kind.kind,
        suite=plan.suite.name,
        title=plan.suite.title,
        stamp=now.strftime(STAMP),
        status="running",
        started_at=moment(now.timestamp()),
        finished_at=None,
        seed=plan.seed,
        repetitions=plan.repetitions,
        runtime=runtime,
        processors=split.design,
        baseline=plan.baseline.name if plan.baseline is not None else None,
        variants=tuple(
            VariantRecord(**{field.name: getattr(variant, field.name) for field in fields(VariantRecord)})
            for variant in plan.variants
        ),
        factors=plan.factors,
        settings=dict(plan.settings),
        params=to_data(plan.params),
        dataset=dataset_facts(plan.dataset),
        code=plan.code,
        order=order_of(plan),
        references=None if others is None else others.record(),
    )


def _set_aside(place: Path) -> None:
    """Renames what a cell left that was stopped, failed or says nothing: never counted, but kept."""
    if place.exists():
        names = (place.with_name(f"{place.name}-replaced-{number}") for number in itertools.count(1))
        place.rename(next(name for name in names if not name.exists()))


def _link_latest(folder: Path) -> None:
    """Makes results/latest name this suite run."""
    results = folder.parent.parent
    new = results / f".{LATEST}.part"
    new.unlink(missing_ok=True)
    new.symlink_to(folder.relative_to(results), target_is_directory=True)
    new.replace(results / LATEST)


@contextlib.contextmanager
def _opened(plan: Plan, runtime: Runtime, progress: Progress) -> Iterator[Bench]:
    """What all cells share."""
    state, content = plan.state, plan.state / "content.json"
    plan.dataset.write(content)
    pids = state / "run" / f"load-{os.getpid()}"
    pids.mkdir(parents=True, exist_ok=True)
    pidfile.claim(pids)
    try:
        yield Bench(
            runtime=runtime,
            progress=progress,
            cage=CanaryCage(folder=state),
            host=host.host_facts(state, runtime.split),
            content=content,
            pids=pids,
            root=plan.root,
        )
    finally:
        shutil.rmtree(pids, ignore_errors=True)


def _where(plan: Plan, folder: Path) -> str:
    """First line of every suite run."""
    twin = f" and the A/A control of {plan.control.name}" if plan.control is not None else ""
    levels = "".join(f" x {factor.name}={','.join(factor.levels)}" for factor in plan.factors)
    return (
        f"suite {plan.suite.name}: {len(plan.variants)} variants{levels}{twin} x {plan.repetitions}, seed {plan.seed},"
        f" dataset {plan.dataset.name} ({len(plan.dataset.lines)} lines), in {folder.relative_to(plan.root)}"
    )
