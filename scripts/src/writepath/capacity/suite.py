"""How does a capacity suite go? Searches in blocks of seeded random order, an index written after each, resumable."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.capacity import resume, said, search_run
from writepath.capacity.search_run import SearchSpec
from writepath.errors import WritepathError
from writepath.experiments import shared
from writepath.experiments.plan import Plan
from writepath.records.capacity import (
    CAPACITY_SCHEMA_VERSION,
    CapacitySuite,
    Ceilings,
    Search,
    answers,
    load_search,
    save_suite,
)
from writepath.records.index import CONTROL
from writepath.suite import common
from writepath.suite.blocks import Blocks, Cell

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.config.registry import Variant
    from writepath.measure.bench import Bench
    from writepath.progress import Progress
    from writepath.runtime.base import Runtime

CEILINGS = "@ceilings"
TYPICAL_HOLDS = 8
BETWEEN_HOLDS_S = 12.0  # emptying, drain, read, canaries

Execute = Callable[[SearchSpec, "Bench"], Search]
Tools = Callable[[int, "Path", "Bench", Mapping[str, str]], Ceilings]


@dataclass(frozen=True, kw_only=True)
class CapacityPlan(Plan):
    """What the user asked for, checked; repetitions are blocks."""

    slo_ms: float
    hold_seconds: float
    compared: (
        bool  # with the baseline's twin and the stores' own tools in each block; not of one variant alone
    )

    @property
    def baseline(self) -> Variant:
        """What the others are compared with."""
        return self.suite.baseline or self.suite.variants[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Of everything in a block."""
        variants = tuple(variant.name for variant in self.variants)
        if not self.compared:
            return variants
        twin = (f"{self.baseline.name}{CONTROL}",) if self.baseline in self.variants else ()
        return (*variants, *twin, CEILINGS)


@dataclass(frozen=True, kw_only=True)
class Makers:
    """What a suite does not do itself."""

    search: Execute
    ceilings: Tools


@dataclass(kw_only=True)
class _Suite(Blocks[CapacitySuite]):
    """A suite run under way."""

    plan: CapacityPlan
    makers: Makers
    exit_codes: list[int] = dataclasses.field(default_factory=list)  # of tools that failed

    def make(self, cell: Cell, bench: Bench) -> None:
        """One search, or the stores' tools."""
        shared.set_aside(cell.folder)
        if cell.name == CEILINGS:
            self._ceilings(cell, bench)
        else:
            self._search(cell, bench)

    def _search(self, cell: Cell, bench: Bench) -> None:
        began = time.monotonic()
        found = self.makers.search(spec_of(cell, self.plan), bench)
        line = self.line(cell, found, time.monotonic() - began)
        self.index = dataclasses.replace(self.index, searches=(*self.index.searches, line))
        self.progress.ended(_word(found), said.search(found))

    def _ceilings(self, cell: Cell, bench: Bench) -> None:
        """A tool that fails ends no suite: searches say something without it."""
        try:
            made = self.makers.ceilings(cell.block, cell.folder, bench, self.plan.settings)
        except WritepathError as error:
            self.exit_codes.append(error.exit_code)
            self.progress.ended("failed", str(error), typical=False)
            return
        names = ", ".join(f"{ceiling.name} {ceiling.writes_per_s:,.0f}/s" for ceiling in made.ceilings)
        folders = (*self.index.ceilings, str(cell.folder.relative_to(self.folder)))
        self.index = dataclasses.replace(self.index, ceilings=folders)
        self.progress.ended("found", names, typical=False)

    def made(self) -> set[str]:
        """Searches that finished, and what tools said."""
        return {line.folder for line in self.index.searches} | set(self.index.ceilings)

    def exit_code(self) -> int:
        """0: each search has an answer; 3: one has none; 1: one failed; else what made a tool fail."""
        found = [load_search(self.folder / line.folder) for line in self.index.searches]
        return shared.worst(iter([*self.exit_codes, *map(_exit_code, found)]))


def spec_of(cell: Cell, plan: CapacityPlan) -> SearchSpec:
    """What is searched in a cell."""
    known = {variant.name: variant for variant in plan.variants}
    return SearchSpec(
        suite=plan.suite.name,
        variant=known[cell.name.removesuffix(CONTROL)],
        scenario=plan.suite.scenario,
        block=cell.block,
        position=cell.position,
        again=cell.name.endswith(CONTROL),
        seed=plan.seed,
        slo_ms=plan.slo_ms,
        hold_seconds=plan.hold_seconds,
        overrides=plan.settings,
        dataset=plan.dataset,
        code=plan.code,
        folder=cell.folder,
        begins_per_s=plan.suite.params.get("begins_per_s"),
    )


def run(
    plan: CapacityPlan, runtime: Runtime, progress: Progress, makers: Makers | None = None
) -> tuple[int, Path]:
    """All searches. The exit code, or 130 where the user stopped it, and the suite run's folder."""
    index, folder = common.begun(plan, _new_index(plan, runtime), resume.newest, save_suite)
    real = Makers(search=search_run.execute, ceilings=_ceilings)
    suite = _Suite(
        plan=plan, progress=progress, folder=folder, index=index, save=save_suite, makers=makers or real
    )
    progress.load_seconds = TYPICAL_HOLDS * (plan.hold_seconds + BETWEEN_HOLDS_S)
    _say_what(suite)
    code = suite.exit_code() if suite.carry_out(runtime) else shared.INTERRUPTED
    return code, folder


def _ceilings(block: int, folder: Path, bench: Bench, overrides: Mapping[str, str]) -> Ceilings:
    from writepath.capacity import ceilings  # noqa: PLC0415 - one variant alone needs no tools

    return ceilings.run(block, folder, bench, overrides)


def _say_what(suite: _Suite) -> None:
    plan = suite.plan
    rates = plan.suite.scenario.phases[0]
    suite.progress.say(
        f"suite {plan.suite.name}: {len(plan.variants)} variants x {plan.repetitions} blocks, seed {plan.seed},"
        f" p99 <= {plan.slo_ms:g} ms, load steps of {plan.hold_seconds:g} s,"
        f" {rates.from_per_s:g} to {rates.to_per_s:g}/s,"
        f" in {suite.folder.relative_to(plan.root)}"
    )


def _word(found: Search) -> str:
    if found.outcome != "finished":
        return found.outcome
    return "found" if answers(found.sustained) else "inconclusive"


def _exit_code(found: Search) -> int:
    return {"found": 0, "inconclusive": 3}.get(_word(found), 1)


def _new_index(plan: CapacityPlan, runtime: Runtime) -> CapacitySuite:
    return CapacitySuite(
        schema_version=CAPACITY_SCHEMA_VERSION,
        slo_ms=plan.slo_ms,
        hold_seconds=plan.hold_seconds,
        baseline=plan.baseline.name,
        blocks=common.orders(plan.names, plan.repetitions, plan.seed),
        **common.facts(plan, runtime),
    )
