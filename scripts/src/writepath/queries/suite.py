"""How does a suite of searches go? Readings in blocks of seeded random order, an index after each, resumable."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.capacity import said
from writepath.capacity.suite import BETWEEN_HOLDS_S, CEILINGS, TYPICAL_HOLDS, CapacityPlan, spec_of
from writepath.experiments import shared
from writepath.queries import beside, read_run, resume
from writepath.queries.corpus import Corpus
from writepath.queries.read_run import ReadSpec
from writepath.records.capacity import answers
from writepath.records.queries import (
    QUERIES_SCHEMA_VERSION,
    QueriesSuite,
    Read,
    load_read,
    save_suite,
)
from writepath.suite import common
from writepath.suite.blocks import Blocks, Cell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.measure.bench import Bench
    from writepath.progress import Progress
    from writepath.runtime.base import Runtime

LOADED_PER_S = 5_000.0  # posts, with building the search index and reading back: a first guess
BESIDE_LOADS = 2  # holds' lengths: searches alone, and beside writes


@dataclass(frozen=True, kw_only=True)
class Makers:
    """What a suite does not do itself."""

    whole: Callable[[ReadSpec, Bench], Read]
    beside: Callable[[Read, ReadSpec, Bench], Read]


REAL = Makers(whole=read_run.execute, beside=read_run.beside_again)


@dataclass(frozen=True, kw_only=True)
class QueriesPlan(CapacityPlan):
    """What the user asked for, checked; repetitions are blocks."""

    documents: int
    rounds: int
    keywords: tuple[str, ...]  # of the rounds

    @property
    def names(self) -> tuple[str, ...]:
        """Of everything in a block: no tool of a store searches as we do."""
        return tuple(name for name in super().names if name != CEILINGS)


@dataclass(kw_only=True)
class _Suite(Blocks[QueriesSuite]):
    """A suite run under way."""

    plan: QueriesPlan
    corpus: Corpus
    makers: Makers

    def make(self, cell: Cell, bench: Bench) -> None:
        """One reading, or of one that is there the searches beside writes."""
        began = time.monotonic()
        spec = ReadSpec(**vars(spec_of(cell, self.plan)), corpus=self.corpus, rounds=self.plan.rounds)
        found = resume.all_but_beside(cell.folder)
        if found is None:
            shared.set_aside(cell.folder)
            read = self.makers.whole(spec, bench)
        else:
            beside.set_aside(cell.folder)
            read = self.makers.beside(found, spec, bench)
        line = self.line(cell, read, time.monotonic() - began)
        self.index = dataclasses.replace(self.index, reads=(*self.index.reads, line))
        self.progress.ended(_word(read), _said(read))

    def made(self) -> set[str]:
        """Readings that finished."""
        return {line.folder for line in self.index.reads}

    def exit_code(self) -> int:
        """0: each reading found a capacity; 3: one found none; 1: one failed, or had wrong answers or lost writes."""
        reads = [load_read(self.folder / line.folder) for line in self.index.reads]
        return shared.worst({"found": 0, "inconclusive": 3}.get(_word(read), 1) for read in reads)


def run(plan: QueriesPlan, runtime: Runtime, progress: Progress, makers: Makers = REAL) -> tuple[int, Path]:
    """All readings. The exit code, or 130 where the user stopped it, and the suite run's folder."""
    progress.say(f"computing the expected results of searches over {plan.documents:,} posts")
    corpus = Corpus.of(plan.dataset, plan.documents, plan.keywords, plan.seed)
    index, folder = common.begun(plan, _new_index(plan, runtime), resume.newest, save_suite)
    _say_what(plan, progress, folder)
    suite = _Suite(
        plan=plan,
        progress=progress,
        folder=folder,
        index=index,
        save=save_suite,
        corpus=corpus,
        makers=makers,
    )
    loads_s = (TYPICAL_HOLDS + BESIDE_LOADS) * (plan.hold_seconds + BETWEEN_HOLDS_S)
    progress.load_seconds = plan.documents / LOADED_PER_S + loads_s
    code = suite.exit_code() if suite.carry_out(runtime) else shared.INTERRUPTED
    return code, folder


def _say_what(plan: QueriesPlan, progress: Progress, folder: Path) -> None:
    rates = plan.suite.scenario.phases[0]
    progress.say(
        f"suite {plan.suite.name}: {len(plan.variants)} variants x {plan.repetitions} blocks, seed {plan.seed},"
        f" {plan.documents:,} posts of {plan.dataset.name} ({len(plan.dataset.lines):,} lines),"
        f" {plan.rounds} rounds of {', '.join(plan.keywords)}; p99 <= {plan.slo_ms:g} ms,"
        f" load steps of {plan.hold_seconds:g} s or 1,000 searches, {rates.from_per_s:g} to {rates.to_per_s:g}/s,"
        f" in {folder.relative_to(plan.root)}"
    )


def _word(read: Read) -> str:
    if read.outcome != "finished":
        return read.outcome
    beside = read.beside
    if beside is not None and (beside.wrong_answers or beside.writes_found < beside.writes_acknowledged):
        return "wrong"
    spoilt = beside is not None and beside.noise
    return "found" if answers(read.capacity) and not spoilt else "inconclusive"


def _said(read: Read) -> str:
    """One line of the terminal."""
    if read.outcome != "finished":
        return read.error or f"stopped after {len(read.rounds)} rounds and {len(read.holds)} load steps"
    words = f"{said.bracket(read.capacity)}; {len(read.holds)} load steps"
    if (beside := read.beside) is not None:
        words += f"; {beside.writes_found:,} of {beside.writes_acknowledged:,} writes found"
        words += f", {beside.wrong_answers:,} wrong totals" if beside.wrong_answers else ""
        words += ", noisy host" if beside.noise else ""
    return words


def _new_index(plan: QueriesPlan, runtime: Runtime) -> QueriesSuite:
    return QueriesSuite(
        schema_version=QUERIES_SCHEMA_VERSION,
        documents=plan.documents,
        rounds=plan.rounds,
        keywords=plan.keywords,
        slo_ms=plan.slo_ms,
        hold_seconds=plan.hold_seconds,
        baseline=plan.baseline.name,
        blocks=common.orders(plan.names, plan.repetitions, plan.seed),
        **common.facts(plan, runtime),
    )
