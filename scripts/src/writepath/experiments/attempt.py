"""Runs a group of cells on one stack, which they share, and saves each cell's record, whatever happens."""

import dataclasses
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from writepath.errors import INTERRUPTED, UNEXPECTED, WritepathError
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.measure.loading import Bench, dataset_facts, moment
from writepath.records.base import to_data
from writepath.records.cell import CellRecord, save_cell
from writepath.records.index import SCHEMA_VERSION, Index, Outcome
from writepath.records.measures import Canary, Step, Verdict

STOPPED = Verdict(status="unknown", reasons=("stopped before its end; not counted",))


@dataclass(kw_only=True)
class Attempt:
    """One cell under way, and how it ended."""

    run: CellRun
    index: Index
    kind: Experiment[Any]
    started_at: str = field(default_factory=lambda: moment(time.time()))
    outcome: Outcome = "aborted"  # until proved otherwise: a killed command leaves the truth
    error: str | None = None
    exit_code: int = INTERRUPTED
    before: Canary | None = None
    after: Canary | None = None

    def fail(self, error: Exception) -> None:
        """The cell could not be run, or its stack not be stopped in order."""
        if isinstance(error, WritepathError):
            words, self.exit_code = str(error), error.exit_code
        else:
            trace = "".join(traceback.format_exception(error))
            (self.run.folder / "error.log").write_text(trace, encoding="utf-8")
            words = f"unexpected {type(error).__name__}: {error}; the stack trace is in error.log"
            self.exit_code = UNEXPECTED
        self.outcome, self.error = "failed", words

    def save(self) -> CellRecord:
        """Derives the result of a finished cell and writes cell.json."""
        result = None
        if self.outcome == "finished":
            host = dataclasses.replace(self.run.bench.host, before=self.before, after=self.after)
            try:
                result = self.kind.derive(self.kind.reduce(self.run.folder, host))
            except Exception as error:  # noqa: BLE001 - one cell must not end the experiment; the trace is kept
                self.fail(error)
        record = self._record(result)
        if record.outcome == "finished":
            self.exit_code = record.verdict.exit_code
        save_cell(record, self.run.folder)
        return record

    def _record(self, result: Any) -> CellRecord:
        run, index, cell = self.run, self.index, self.run.cell
        return CellRecord(
            schema_version=SCHEMA_VERSION,
            kind=self.kind.kind,
            run_id=run.run_id,
            suite=index.suite,
            name=cell.name,
            variant=cell.variant.name,
            title=cell.variant.title,
            family=cell.variant.family,
            acknowledges=cell.variant.acknowledges,
            levels=dict(cell.levels),
            role=cell.role,
            block=cell.block,
            position=cell.position,
            runtime=index.runtime,
            seed=run.seed,
            settings=dict(run.settings),
            dataset=dataset_facts(run.dataset),
            code=index.code,
            started_at=self.started_at,
            finished_at=moment(time.time()),
            outcome=self.outcome,
            error=self.error,
            verdict=self._verdict(result),
            durability=run.durability,
            host=dataclasses.replace(run.bench.host, before=self.before, after=self.after),
            versions=dict(run.versions),
            timings=tuple(Step(step=name, seconds=round(took, 3)) for name, took in run.steps.items()),
            result=None if result is None else to_data(result),
        )

    def _verdict(self, result: Any) -> Verdict:
        if result is not None:
            verdict: Verdict = result.verdict
            return verdict
        if self.outcome == "failed":
            return Verdict(status="invalid", reasons=(f"failed: {self.error}",))
        return STOPPED


def run_group(attempts: Sequence[Attempt], bench: Bench) -> list[tuple[Attempt, CellRecord]]:
    """Measures the cells one after the other on one stack; those that were begun, with their records.

    A cell that fails ends its group: its stack is not to be trusted. KeyboardInterrupt comes out once all is saved.
    """
    begun: list[Attempt] = []
    try:
        _measure(attempts, begun, bench)
    except KeyboardInterrupt:
        for attempt in begun:
            attempt.save()
        raise
    except Exception as error:  # noqa: BLE001 - one group must not end the experiment
        begun[-1].fail(error)
    return [(attempt, attempt.save()) for attempt in begun]


def _measure(attempts: Sequence[Attempt], begun: list[Attempt], bench: Bench) -> None:
    first = attempts[0]
    begun.append(first)
    before = after = None
    alone = first.run.parallel == 1  # next to other cells it would measure their load
    if alone:
        with first.run.step("canary"):
            before = bench.cage.measure()
    with Session(bench) as session:
        for attempt in attempts:
            if attempt is not first:
                begun.append(attempt)
            attempt.started_at, attempt.before = moment(time.time()), before
            attempt.save()
            attempt.kind.measure(attempt.run, session)
            attempt.outcome = "finished"
    if alone:
        with begun[-1].run.step("canary"):
            after = bench.cage.measure()
    for attempt in begun:
        attempt.after = after
