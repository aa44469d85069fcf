"""Runs a group of cells on one stack, which they share, and saves each cell's record, whatever happens."""

import contextlib
import dataclasses
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from writepath.errors import WritepathError
from writepath.experiments.base import CellRun, Experiment
from writepath.experiments.shared import INTERRUPTED
from writepath.measure import loading
from writepath.measure.bench import Bench, dataset_facts, moment
from writepath.measure.truth import Truth
from writepath.records.base import to_data
from writepath.records.cell import CellRecord, save_cell
from writepath.records.index import SCHEMA_VERSION, Index, Outcome
from writepath.records.measures import Canary, Step, Verdict
from writepath.runtime.base import Stack

LOGS = "logs"


@dataclass(kw_only=True)
class _Started:
    """A stack, what it was started with, and the cell that uses it."""

    stack: Stack
    truth: Truth
    variant: str
    settings: Mapping[str, str]
    first: CellRun
    run: CellRun


@dataclass
class StackSession:
    """A context manager: starts the stack when it is first asked for; saves its logs and stops it at the end."""

    bench: Bench
    _started: _Started | None = None
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        """Starts nothing yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Saves the logs of the last cell, then stops the stack: a step of that cell."""
        with self._held:
            self._save_logs()

    def stack(self, run: CellRun, **choices: Any) -> Stack:
        """The started stack; its start is a step of the cell that asked first. choices: of Runtime.start()."""
        return self._of(run, **choices).stack

    def truth(self, run: CellRun) -> Truth:
        """What the inspectors of that stack say."""
        return self._of(run).truth

    @property
    def warm(self) -> bool:
        """Whether an earlier cell of this session has used the stack."""
        return self._started is not None and self._started.run is not self._started.first

    def _of(self, run: CellRun, **choices: Any) -> _Started:
        if self._started is None:
            self._started = self._start(run, choices)
        started = self._started
        if run is not started.run:
            _require_same(run, started)
            self._save_logs()  # as far as they go; the next cell's folder has them again, and more
            started.run = run
        return started

    def _start(self, run: CellRun, choices: Mapping[str, Any]) -> _Started:
        variant, settings = run.cell.variant, loading.stack_settings(run.settings)

        def step(name: str) -> contextlib.AbstractContextManager[None]:
            return (run if self._started is None else self._started.run).step(name)

        stack = self._held.enter_context(loading.started(self.bench, variant, settings, step, **choices))
        truth = self._held.enter_context(Truth.of(stack, variant))
        return _Started(stack=stack, truth=truth, variant=variant.name, settings=settings, first=run, run=run)

    def _save_logs(self) -> None:
        """On the way out of a failure too, which they explain and must not hide."""
        if self._started is not None:
            run = self._started.run
            with run.step("save"), contextlib.suppress(OSError, WritepathError):
                self._started.stack.save_logs(run.folder / LOGS)


def _require_same(run: CellRun, started: _Started) -> None:
    asked = (run.cell.variant.name, loading.stack_settings(run.settings))
    if asked != (started.variant, started.settings):
        raise ValueError(
            f"{run.cell.name}: needs another stack than {started.first.cell.name} was started on"
        )


UNEXPECTED = 10
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
            return self.kind.verdict(result)
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
    with StackSession(bench) as session:
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
