"""How does a suite go? Blocks of runs in seeded random order, an index written after each, resumable."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath import result
from writepath.result import SuitePhase, SuiteResult, SuiteRun, cell_name
from writepath.run import host
from writepath.run.draft import RunSpec
from writepath.run.runner import execute
from writepath.suite import common, power, resume
from writepath.suite.common import INTERRUPTED, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from writepath.load.dataset import Dataset
    from writepath.progress import Progress
    from writepath.registry import Suite, Variant
    from writepath.result import Code
    from writepath.run.runner import Bench, Finished
    from writepath.runtime.base import Runtime

RERUNS = 2  # of a run that noise made unknown: a host that is noisy three times stays so
FEWEST_REPETITIONS = 2  # of one block nobody could tell how far the A/A pair lies apart


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
    reruns: int = RERUNS  # at most, of a run that noise made unknown

    @property
    def results(self) -> Path:
        """Where all suite runs are."""
        return self.root / "results"

    @property
    def baseline(self) -> Variant | None:
        """What the others are compared with, where it is among what runs."""
        return self.suite.baseline if self.suite.baseline in self.variants else None

    @property
    def twin(self) -> Variant | None:
        """The baseline, where it runs twice in each block."""
        return self.baseline if self.repetitions >= FEWEST_REPETITIONS else None


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run to be made."""

    variant: Variant
    repetition: int
    position: int
    again: bool = False  # the A/A twin of the baseline
    spoilt: int = 0  # how often noise has spoilt it

    @property
    def name(self) -> str:
        """Also of its folder."""
        return cell_name(self.variant.name, again=self.again)


def run(plan: SuitePlan, runtime: Runtime, progress: Progress) -> tuple[int, Path]:
    """All runs. The exit code, the worst of theirs or 130 where the user stopped it, and the suite's folder."""
    progress.total = (len(plan.variants) + (plan.twin is not None)) * plan.repetitions
    progress.load_seconds = _load_seconds(plan.suite)
    index, folder = common.begun(plan, _new_index(plan, runtime), resume.newest, result.save_suite)
    say_where(progress, plan, folder)
    try:
        with common.bench(plan.root, plan.state, plan.dataset, runtime, progress) as bench:
            if plan.repetitions >= FEWEST_REPETITIONS:
                progress.say(power.statement(plan.state, bench.host, index))
            for block in _blocks(plan, index):
                left = list(block)
                while left:
                    cell = left.pop(0)
                    host.require_disk(plan.root)
                    index = _without(index, cell)
                    number = len(index.runs) + 1
                    progress.run_began(number, cell.name, plan.suite.scenario.name, cell.repetition)
                    finished = _one(plan, cell, folder, bench, index)
                    index = _indexed(index, finished, folder)
                    if finished.run.verdict.noise and cell.spoilt < plan.reruns:
                        progress.say(f"{cell.name}: noisy host; rerun at the end of this block")
                        left.append(_once_more(cell, [*block, *left, cell]))
    except KeyboardInterrupt:
        result.save_suite(common.ended(index, "aborted"), folder)
        progress.say(
            f"stopped; {len(index.runs)} of {progress.total} runs are saved. Continue with RESUME=1."
        )
        return INTERRUPTED, folder
    except BaseException:
        result.save_suite(common.ended(index, "aborted"), folder)
        raise
    result.save_suite(common.ended(index, "finished"), folder)
    power.remember(plan.state, index, folder)
    return worst(run.exit_code for run in index.runs), folder


def say_where(progress: Progress, plan: SuitePlan, folder: Path) -> None:
    """First line of every suite run."""
    twin = f" and the A/A control of {plan.twin.name}" if plan.twin is not None else ""
    progress.say(
        f"suite {plan.suite.name}: {len(plan.variants)} variants{twin} x {plan.repetitions}, seed {plan.seed}, dataset"
        f" {plan.dataset.name} ({len(plan.dataset.lines)} lines), in {folder.relative_to(plan.root)}"
    )


def blocks(
    variants: Sequence[Variant], repetitions: int, seed: int, twin: Variant | None = None
) -> tuple[tuple[str, ...], ...]:
    """By repetition, the order of the variants, of which `twin` is there twice; a function of the seed alone."""
    names = [variant.name for variant in variants]
    names += [cell_name(twin.name, again=True)] if twin is not None else []
    return common.orders(names, repetitions, seed)


def _one(plan: SuitePlan, cell: Cell, folder: Path, bench: Bench, index: SuiteResult) -> Finished:
    scenario = plan.suite.scenario
    place = folder / cell.name / scenario.name / f"rep-{cell.repetition:02d}"
    common.set_aside(place)
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
        again=cell.again,
    )
    finished = execute(spec, bench)
    bench.progress.run_ended(finished.run)
    return finished


def _blocks(plan: SuitePlan, index: SuiteResult) -> Iterator[tuple[Cell, ...]]:
    """Runs still to be made, in order."""
    cells = {variant.name: (variant, False) for variant in plan.variants}
    cells |= {cell_name(name, again=True): (variant, True) for name, (variant, _) in cells.items()}
    done = {(cell_name(run.variant, again=run.again), run.repetition) for run in index.runs}
    for repetition, block in enumerate(index.blocks, 1):
        yield tuple(
            Cell(variant=cells[name][0], repetition=repetition, position=position, again=cells[name][1])
            for position, name in enumerate(block, 1)
            if (name, repetition) not in done
        )


def _once_more(cell: Cell, block: Sequence[Cell]) -> Cell:
    """The same run behind all others of its block."""
    last = max(other.position for other in block)
    return dataclasses.replace(cell, position=last + 1, spoilt=cell.spoilt + 1)


def _without(index: SuiteResult, cell: Cell) -> SuiteResult:
    """Without the line of a run that is made again, so that one that is stopped meanwhile is a missing one."""
    same = (cell.variant.name, cell.again, cell.repetition)
    runs = tuple(run for run in index.runs if (run.variant, run.again, run.repetition) != same)
    return dataclasses.replace(index, runs=runs)


def _new_index(plan: SuitePlan, runtime: Runtime) -> SuiteResult:
    scenario, warm_up = plan.suite.scenario, plan.suite.scenario.warm_up
    return SuiteResult(
        schema_version=result.SCHEMA_VERSION,
        scenario=scenario.name,
        phases=tuple(
            SuitePhase(name=p.name, seconds=p.seconds, from_per_s=p.from_per_s, to_per_s=p.to_per_s)
            for p in scenario.phases
        ),
        warm_up_requests=warm_up.requests if warm_up else 0,
        warm_up_per_s=warm_up.rate_per_s if warm_up else 0.0,
        blocks=blocks(plan.variants, plan.repetitions, plan.seed, plan.twin),
        baseline=plan.baseline.name if plan.baseline is not None else None,
        **common.facts(plan, runtime),
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
        replaced=len([*finished.folder.parent.glob(f"{finished.folder.name}-replaced-*")]),
        again=run.again,
    )
    index = dataclasses.replace(index, runs=(*index.runs, line))
    result.save_suite(index, folder)
    return index


def _load_seconds(suite: Suite) -> float:
    warm_up = suite.scenario.warm_up
    load = sum(phase.seconds for phase in suite.scenario.phases)
    return load + (warm_up.requests / warm_up.rate_per_s if warm_up else 0.0)
