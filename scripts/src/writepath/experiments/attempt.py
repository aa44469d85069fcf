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
class Attempt(CellRun):
    """One cell under way, and how it ended."""

    index: Index
    kind: Experiment[Any]
    started_at: str = ""
    outcome: Outcome = "aborted"  # until proved otherwise: a killed command leaves the truth
    error: str | None = None
    exit_code: int = INTERRUPTED
    before: Canary | None = None
    after: Canary | None = None
    result: Any = None  # of a finished cell
    record: CellRecord = field(init=False)  # once it is saved

    def fail(self, error: Exception) -> None:
        """The cell could not be run, or its stack not be stopped in order."""
        if isinstance(error, WritepathError):
            words, self.exit_code = str(error), error.exit_code
        else:
            trace = "".join(traceback.format_exception(error))
            (self.folder / "error.log").write_text(trace, encoding="utf-8")
            words = f"unexpected {type(error).__name__}: {error}; the stack trace is in error.log"
            self.exit_code = UNEXPECTED
        self.outcome, self.error = "failed", words

    def save(self) -> None:
        """Derives the result of a finished cell and writes cell.json."""
        host = dataclasses.replace(self.bench.host, before=self.before, after=self.after)
        if self.outcome == "finished":
            try:
                self.result = self.kind.derive(self.kind.reduce(self.folder, host))
                self.exit_code = self.result.verdict.exit_code
            except Exception as error:  # noqa: BLE001 - one cell must not end the experiment; the trace is kept
                self.fail(error)
        index, cell = self.index, self.cell
        self.record = CellRecord(
            schema_version=SCHEMA_VERSION,
            kind=self.kind.kind,
            run_id=self.run_id,
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
            seed=self.seed,
            settings=dict(self.settings),
            dataset=dataset_facts(self.dataset),
            code=index.code,
            started_at=self.started_at,
            finished_at=moment(time.time()),
            outcome=self.outcome,
            error=self.error,
            verdict=self._verdict(),
            durability=self.durability,
            host=host,
            versions=dict(self.versions),
            timings=tuple(Step(step=name, seconds=round(took, 3)) for name, took in self.steps.items()),
            result=None if self.result is None else to_data(self.result),
        )
        save_cell(self.record, self.folder)

    def _verdict(self) -> Verdict:
        if self.result is not None:
            verdict: Verdict = self.result.verdict
            return verdict
        if self.outcome == "failed":
            return Verdict(status="invalid", reasons=(f"failed: {self.error}",))
        return STOPPED


def run_group(attempts: Sequence[Attempt], bench: Bench) -> list[Attempt]:
    """Measures the cells one after the other on one stack; those that were begun, each saved.

    A cell that fails ends its group: its stack is not to be trusted. KeyboardInterrupt comes out once all is saved.
    """
    begun: list[Attempt] = []
    alone = attempts[0].parallel == 1  # next to other cells a canary would measure their load
    before = after = None
    try:
        with Session(bench) as session:
            for attempt in attempts:
                begun.append(attempt)
                session.left = len(attempts) - len(begun)
                if alone and before is None:
                    before = attempt.canary()  # the stack is not started yet
                attempt.started_at, attempt.before = moment(time.time()), before
                attempt.save()
                attempt.kind.measure(attempt, session)
                attempt.outcome = "finished"
        if alone:
            after = begun[-1].canary()
        for attempt in begun:
            attempt.after = after
    except Exception as error:  # noqa: BLE001 - one group must not end the experiment
        begun[-1].fail(error)
    finally:
        for attempt in begun:
            attempt.save()
    return begun
