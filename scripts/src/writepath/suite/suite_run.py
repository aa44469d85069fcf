"""How does a suite go? Blocks of runs in seeded random order, an index written after each, resumable."""

from __future__ import annotations

import dataclasses
import itertools
import os
import random
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from writepath import pidfile, result
from writepath.result import SuitePhase, SuiteResult, SuiteRun, SuiteVariant
from writepath.run import host
from writepath.run.draft import RunSpec, dataset_facts, moment
from writepath.run.host import CanaryCage
from writepath.run.runner import Bench, execute
from writepath.suite import resume

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from writepath.load.dataset import Dataset
    from writepath.progress import Progress
    from writepath.registry import Suite, Variant
    from writepath.result import Code
    from writepath.run.runner import Finished
    from writepath.runtime.base import Runtime

STAMP = "%Y%m%dT%H%M%SZ"
LATEST = "latest"
INTERRUPTED = 130


@dataclass(frozen=True, kw_only=True)
class SuitePlan:
    """What the user asked for, checked."""

    root: Path
    state: Path  # the ignored folder of everything a checkout keeps at run time
    suite: Suite
    variants: tuple[Variant, ...]
    repetitions: int
    seed: int
    overrides: Mapping[str, str]
    dataset: Dataset
    code: Code
    resumed: bool

    @property
    def results(self) -> Path:
        """Where all suite runs are."""
        return self.root / "results"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run to be made."""

    variant: Variant
    repetition: int
    position: int


def run(plan: SuitePlan, runtime: Runtime, progress: Progress) -> tuple[int, Path]:
    """All runs. The exit code, the worst of theirs or 130 where the user stopped it, and the suite's folder."""
    progress.total = len(plan.variants) * plan.repetitions
    progress.load_seconds = _load_seconds(plan.suite)
    index, folder = _begin(plan, runtime)
    say_where(progress, plan, folder)
    content = plan.state / "content.json"
    plan.dataset.write(content)
    bench = Bench(
        runtime=runtime,
        progress=progress,
        cage=CanaryCage(folder=plan.state),
        host=host.facts(plan.state),
        content=content,
        pids=_claimed(plan.state / "run" / f"load-{os.getpid()}"),
        root=plan.root,
    )
    try:
        for cell in _cells(plan, index):
            host.require_disk(plan.root)
            number = len(index.runs) + 1
            progress.run_began(number, cell.variant.name, plan.suite.scenario.name, cell.repetition)
            finished = _one(plan, cell, folder, bench, index)
            index = _indexed(index, finished, folder)
    except KeyboardInterrupt:
        _end(index, folder, "aborted")
        progress.say(
            f"stopped; {len(index.runs)} of {progress.total} runs are kept. RESUME=1 goes on from here."
        )
        return INTERRUPTED, folder
    except BaseException:
        _end(index, folder, "aborted")
        raise
    finally:
        shutil.rmtree(bench.pids, ignore_errors=True)
    _end(index, folder, "finished")
    return worst(run.exit_code for run in index.runs), folder


def say_where(progress: Progress, plan: SuitePlan, folder: Path) -> None:
    """First line of every suite run."""
    progress.say(
        f"suite {plan.suite.name}: {len(plan.variants)} variants x {plan.repetitions}, seed {plan.seed}, dataset"
        f" {plan.dataset.name} ({len(plan.dataset.lines)} lines), in {folder.relative_to(plan.root)}"
    )


def worst(codes: Iterator[int]) -> int:
    """Of exit codes: infrastructure (10+) over invalid (1) over unknown (3) over valid (0)."""
    order = {0: 0, 3: 1, 1: 2}
    return max(codes, key=lambda code: order.get(code, code), default=0)


def blocks(variants: Sequence[Variant], repetitions: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """By repetition, the order of the variants; a function of the seed alone."""
    order = random.Random(f"writepath:{seed}")  # noqa: S311 - an order, not a secret
    names = [variant.name for variant in variants]
    return tuple(tuple(order.sample(names, len(names))) for _ in range(repetitions))


def _one(plan: SuitePlan, cell: Cell, folder: Path, bench: Bench, index: SuiteResult) -> Finished:
    scenario = plan.suite.scenario
    place = folder / cell.variant.name / scenario.name / f"rep-{cell.repetition:02d}"
    if place.exists():  # a run before a resume that was stopped, failed or unknown: never counted, but kept
        place.rename(_unused(place))
    spec = RunSpec(
        suite=plan.suite.name,
        variant=cell.variant,
        scenario=scenario,
        repetition=cell.repetition,
        position=cell.position,
        seed=plan.seed,
        overrides=plan.overrides,
        dataset=plan.dataset,
        code=index.code,
        folder=place,
    )
    finished = execute(spec, bench)
    bench.progress.run_ended(finished.run)
    return finished


def _unused(place: Path) -> Path:
    names = (place.with_name(f"{place.name}-replaced-{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())


def _cells(plan: SuitePlan, index: SuiteResult) -> Iterator[Cell]:
    """Runs still to be made, in order."""
    known = {variant.name: variant for variant in plan.variants}
    done = {(run.variant, run.repetition) for run in index.runs}
    for repetition, block in enumerate(index.blocks, 1):
        for position, name in enumerate(block, 1):
            if (name, repetition) not in done:
                yield Cell(variant=known[name], repetition=repetition, position=position)


def _begin(plan: SuitePlan, runtime: Runtime) -> tuple[SuiteResult, Path]:
    now = datetime.now(UTC)
    index = _new_index(plan, runtime, now)
    if plan.resumed:
        index, folder = resume.newest(index, plan.results)
    else:
        folder = plan.results / plan.suite.name / index.stamp
        folder.mkdir(parents=True)
    result.save_suite(index, folder)
    _link_latest(plan.results, folder)
    return index, folder


def _new_index(plan: SuitePlan, runtime: Runtime, now: datetime) -> SuiteResult:
    scenario, warm_up = plan.suite.scenario, plan.suite.scenario.warm_up
    return SuiteResult(
        schema_version=result.SCHEMA_VERSION,
        suite=plan.suite.name,
        title=plan.suite.title,
        stamp=now.strftime(STAMP),
        status="running",
        started_at=moment(now.timestamp()),
        finished_at=None,
        seed=plan.seed,
        repetitions=plan.repetitions,
        runtime=runtime.name,
        scenario=scenario.name,
        phases=tuple(
            SuitePhase(name=p.name, seconds=p.seconds, from_per_s=p.from_per_s, to_per_s=p.to_per_s)
            for p in scenario.phases
        ),
        warm_up_requests=warm_up.requests if warm_up else 0,
        warm_up_per_s=warm_up.rate_per_s if warm_up else 0.0,
        variants=tuple(
            SuiteVariant(
                name=v.name,
                title=v.title,
                family=v.family,
                acknowledges=v.acknowledges,
                profiles=v.profiles,
                settings=dict(v.settings),
                naive_twin_of=v.naive_twin_of,
            )
            for v in plan.variants
        ),
        overrides=dict(plan.overrides),
        dataset=dataset_facts(plan.dataset),
        code=plan.code,
        blocks=blocks(plan.variants, plan.repetitions, plan.seed),
    )


def _indexed(index: SuiteResult, finished: Finished, folder: Path) -> SuiteResult:
    """With the run's line, written at once."""
    run = finished.run
    line = SuiteRun(
        variant=run.variant,
        scenario=run.scenario,
        repetition=run.repetition,
        position=run.position,
        folder=str(finished.folder.relative_to(folder)),
        outcome=run.outcome,
        verdict=run.verdict.status,
        reasons=run.verdict.reasons,
        seconds=round(sum(step.seconds for step in run.timings), 3),
        exit_code=finished.exit_code,
    )
    index = dataclasses.replace(index, runs=(*index.runs, line))
    result.save_suite(index, folder)
    return index


def _end(index: SuiteResult, folder: Path, status: result.SuiteStatus) -> None:
    finished_at = moment(datetime.now(UTC).timestamp())
    result.save_suite(dataclasses.replace(index, status=status, finished_at=finished_at), folder)


def _claimed(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pidfile.claim(folder)
    return folder


def _link_latest(results: Path, folder: Path) -> None:
    link, new = results / LATEST, results / f".{LATEST}.part"
    new.unlink(missing_ok=True)
    new.symlink_to(folder.relative_to(results), target_is_directory=True)
    new.replace(link)


def _load_seconds(suite: Suite) -> float:
    warm_up = suite.scenario.warm_up
    load = sum(phase.seconds for phase in suite.scenario.phases)
    return load + (warm_up.requests / warm_up.rate_per_s if warm_up else 0.0)
