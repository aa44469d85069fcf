"""What a kind of experiment must give; the engine supplies everything else, for every kind alike.

A kind: a module or folder in `experiments/` and an entry in `experiments/registry.py`. Kinds never import each other.
"""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from writepath.analysis import raw
from writepath.analysis.audit import Said
from writepath.analysis.evidence import Evidence
from writepath.config.registry import Registry, Suite, Variant
from writepath.config.settings import OF_LOAD, Factor
from writepath.errors import StartError, WritepathError
from writepath.load import k6
from writepath.load.dataset import Dataset
from writepath.load.plan import new_run_id
from writepath.measure import loading, warming
from writepath.measure.loading import Bench
from writepath.measure.read_back import Auditing, drain
from writepath.measure.truth import Truth
from writepath.options import Asked
from writepath.records.base import write_json
from writepath.records.index import Role
from writepath.records.load_facts import LoadFacts, PhaseFacts
from writepath.records.measures import Code, Durability, Host
from writepath.records.warm_up import WarmUpFacts
from writepath.report.data import Metric, SuiteData
from writepath.report.model import Report
from writepath.runtime import aot, delay
from writepath.runtime.base import Stack

R = TypeVar("R")
RERUNS = 2  # of a cell that a noisy host made unknown: a host that is noisy three times stays so
FEWEST_REPETITIONS = 2  # of one block the A/A control says nothing
LOGS = "logs"
SETTINGS_FILE = "settings.json"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What is run, resumed, rerun and published: a variant at certain levels, in a block, in a role."""

    name: str  # records.index.cell_name()
    variant: Variant
    levels: Mapping[str, str]  # by factor, in the factors' order
    block: int  # from 1
    position: int  # from 1: place in its block
    role: Role = "measured"
    noisy: int = 0  # how often a noisy host has made it unknown


@dataclass(kw_only=True)
class CellRun:
    """A cell under way: what its kind is told, and what it tells the engine beside the raw files in `folder`."""

    cell: Cell
    suite: Suite
    params: Any  # the kind's Params
    settings: Mapping[str, str]  # of the stack and the load: the suite's, the user's and the cell's levels
    seed: int
    dataset: Dataset
    folder: Path  # raw files go here; it exists
    run_id: str
    bench: Bench
    parallel: int = 1  # cells that run at a time
    durability: Durability | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    steps: dict[str, float] = field(default_factory=dict)  # wall time in seconds, by step

    @contextlib.contextmanager
    def step(self, name: str, shown: str = "") -> Iterator[None]:
        """Shows the step and adds its wall time. shown: what it is called on the terminal, if not by its name."""
        self.bench.progress.phase(shown or name)
        began = time.monotonic()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + time.monotonic() - began

    def verify(self, stack: Stack, truth: Truth) -> None:
        """The first step: has the path write from empty, and reads that back. The write stays.

        What a 201 guarantees and all versions are known then; settings.json is in the folder.
        """
        with self.step("verify"):
            truth.empty()  # of the write that proved the stack ready, or of an earlier load
            truth.verify_one_write(new_run_id(), self.dataset.lines[0])
            self.durability = truth.durability()
            settings = dict(stack.effective_settings())
            write_json(settings, self.folder / SETTINGS_FILE)
            caches = {
                f"ahead-of-time cache, {name}": own[aot.SETTING]
                for name, own in settings.items()
                if aot.SETTING in own
            }
            self.versions = {**self.bench.runtime.versions(self.cell.variant), **truth.versions(), **caches}

    def warm_up(self, stack: Stack, *, warm: bool = False) -> WarmUpFacts | None:
        """As the scenario says. warm: by an earlier cell."""
        if self.suite.load.warm_up is None:
            return None
        with self.step("warm-up"):
            return warming.warm_up(self.suite.load, self.bench, stack, self.folder, warm=warm)

    def require_declared(self) -> None:
        """StartError where a 201 guarantees less than the variant declares."""
        level, declared = None if self.durability is None else self.durability.level, self.cell.variant.level
        if level is None or level > declared:
            raise StartError(
                f"a 201 guarantees less than declared: level {level}, not {declared};"
                " the figures would be those of a different path"
            )


@dataclass(kw_only=True)
class ReadBack:
    """What comes after a cell's load of writes, and the facts so far."""

    run: CellRun
    stack: Stack
    truth: Truth
    keep: Callable[[LoadFacts], None]  # saves the facts
    facts: LoadFacts | None = None  # once the load has ended

    def loaded(
        self, load: k6.Load, result: k6.LoadResult, began_at: float, ended_at: float, **own: Any
    ) -> None:
        """The load has ended. began_at, ended_at: epoch s; own: facts that the load alone does not say."""
        plan, run = load.plan, self.run
        self.facts = LoadFacts(
            run_id=load.run_id,
            runtime=run.bench.runtime.name,
            declared_level=run.cell.variant.level,
            model="closed" if plan.planned is None else "open",
            phases=tuple(PhaseFacts(**vars(phase)) for phase in plan.phases),
            virtual_users=plan.virtual_users,
            seconds=plan.seconds,
            operations=(load.operation,),
            queue_path=self.truth.store is not self.truth.ingress,
            load_started_at=loading.moment(began_at),
            load_finished_at=loading.moment(ended_at),
            dropped=result.dropped,
            exit_code=result.exit_code,
            processes=result.processes,
            durability=run.durability,
            **own,
        )
        self.keep(self.facts)

    def _know(self, **more: Any) -> None:
        """Saves the facts with what has come to be known."""
        if self.facts is None:
            raise AssertionError("a load comes before its drain and its audit")
        self.facts = replace(self.facts, **more)
        self.keep(self.facts)

    def drain(self) -> None:
        """Until no row comes any more."""
        with self.run.step("drain"):
            drained = drain(self.truth, report=self.run.bench.progress.drain)
        self._know(drain=drained, lost_components=tuple(self.stack.lost_components()))

    def audit(self, redelivered: Callable[[], int | None]) -> None:
        """Both reads, with the death and restart of every store between them. redelivered: of a queue path."""
        run, truth = self.run, self.truth
        auditing = Auditing(run_id=run.run_id, dataset=run.dataset, say=run.bench.progress.say)
        with run.step("audit"):
            auditing.read(truth)
            # Only where another service than the ingress writes to the store is anything delivered.
            self._read(auditing, redelivered=None if truth.store is truth.ingress else redelivered())
        with run.step("crash"):
            auditing.crash(self.stack, truth)
        with run.step("audit"):
            auditing.read_again(truth)
            self._read(auditing)

    def _read(self, auditing: Auditing, **more: Any) -> None:
        raw.save_stored(tuple(auditing.stored), self.run.folder / raw.STORED_FILE)
        self._know(
            reads=tuple(auditing.readings),
            unread=tuple(auditing.unread),
            suppressed_duplicates=auditing.suppressed_duplicates,
            audit_seconds=round(auditing.seconds, 3),
            **more,
        )


@dataclass(kw_only=True)
class _Started:
    """A stack, the cell that it was started for, and the one that uses it."""

    stack: Stack
    truth: Truth
    first: CellRun
    run: CellRun


@dataclass
class Session:
    """What cells that differ only in factors of scope `load` share: one stack, started when it is first asked for.

    A context manager: at its end the stack's logs are saved and it is stopped, a step of the last cell.
    """

    bench: Bench
    _started: _Started | None = None
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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
            if _stack_of(run) != _stack_of(started.first):
                first = started.first.cell.name
                raise ValueError(f"{run.cell.name}: needs another stack than {first} was started on")
            self._save_logs()  # as far as they go; the next cell's folder has them again, and more
            started.run = run
        return started

    def _start(self, run: CellRun, choices: Mapping[str, Any]) -> _Started:
        variant, running = run.cell.variant, contextlib.ExitStack()
        settings, say = loading.stack_settings(run.settings), self.bench.progress.say
        with run.step("start"):
            start = delay.started(
                self.bench.runtime, self.bench.root, variant, overrides=settings, say=say, **choices
            )
            stack = running.enter_context(start)
        self._held.callback(self._stop, running, run)
        truth = self._held.enter_context(Truth.of(stack, variant))
        return _Started(stack=stack, truth=truth, first=run, run=run)

    def _stop(self, running: contextlib.ExitStack, first: CellRun) -> None:
        with (first if self._started is None else self._started.run).step("stop"):
            running.close()

    def _save_logs(self) -> None:
        """On the way out of a failure too, which they explain and must not hide."""
        if self._started is not None:
            run = self._started.run
            with run.step("save"), contextlib.suppress(OSError, WritepathError):
                self._started.stack.save_logs(run.folder / LOGS)


def _stack_of(run: CellRun) -> tuple[str, dict[str, str]]:
    return run.cell.variant.name, loading.stack_settings(run.settings)


@dataclass(frozen=True, kw_only=True)
class References:
    """Cells of another kind that run in each block, next to the suite's own."""

    suite: Suite
    kind: "Experiment[Any]"
    params: Any


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the user asked for, checked: a suite run that is to be begun or continued."""

    root: Path
    state: Path  # the ignored folder of everything a checkout keeps at run time
    suite: Suite
    params: Any  # the kind's, from suites.yaml
    variants: tuple[Variant, ...]
    repetitions: int  # blocks
    seed: int
    settings: Mapping[str, str]  # of all cells
    dataset: Dataset
    code: Code
    resumed: bool
    factors: tuple[Factor, ...] = ()
    reruns: int = RERUNS  # at most, of a noisy cell
    only: Mapping[str, Mapping[str, Sequence[str]]] = field(
        default_factory=dict
    )  # by variant, levels of a factor
    jobs: int = 1  # cells at a time
    alone: frozenset[str] = frozenset()  # names of cells that need the machine to themselves
    references: References | None = None
    second: Variant | None = None  # of which every cell starts a stack too

    @property
    def started(self) -> tuple[Variant, ...]:
        """Every variant of which a stack is started, each once."""
        others = self.references.suite.variants if self.references is not None else ()
        every = (*self.variants, *others, *([] if self.second is None else [self.second]))
        return tuple({variant.name: variant for variant in every}.values())

    @property
    def baseline(self) -> Variant | None:
        """What the others are compared with, where it is among what runs."""
        return self.suite.baseline if self.suite.baseline in self.variants else None

    @property
    def control(self) -> Variant | None:
        """The baseline, where it runs twice in each block."""
        return self.baseline if self.repetitions >= FEWEST_REPETITIONS else None


class Experiment(ABC, Generic[R]):
    """A kind; registered by its name."""

    kind: ClassVar[str]  # its name, as in suites.yaml
    params: ClassVar[type]  # the record of what a suite says of it, saved in the index
    result: type[R]  # the record of its part of cell.json; it has a `verdict`
    metrics: Sequence[Metric[R]] = ()  # by which cells are compared, in a suite run and between them
    options: ClassVar[Collection[str]] = ()  # of the command line, that only some kinds have: SLO_MS
    unused: ClassVar[Collection[str]] = OF_LOAD  # settings that change nothing of its cells, and are refused
    by_host: ClassVar[bool] = False  # whether its report has figures per host: blocks may be of several

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> Any:  # noqa: ARG002 - for kinds with options
        """The suite's part for this kind, validated: unknown keys are errors that name file and key.

        options: those that the user gave, of the kind's.
        """
        return suite.checked_params(self.params)

    def designed(self, plan: Plan, known: Registry, asked: Asked) -> Plan:  # noqa: ARG002
        """The plan with the cells that the kind makes of it, where these are not all levels of all variants."""
        return plan

    def dataset_lines(self, params: Any) -> int | None:
        """How many different texts it needs; None: as many as any other."""

    @abstractmethod
    def load_seconds(self, params: Any) -> float:
        """Of one cell, with its warm-up: the progress line estimates from it."""

    def grown(self, before: Mapping[str, Any], now: Any) -> Collection[str] | None:
        """Cells of which more is asked now than before, which RESUME=1 runs again; None: the params must be equal."""

    @abstractmethod
    def measure(self, run: CellRun, session: Session) -> None:
        """Leaves raw files in the cell's folder. What is there when an error ends it is kept, never counted."""

    @abstractmethod
    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files: small enough to be published. host: with what the canaries measured."""

    @abstractmethod
    def derive(self, evidence: Evidence) -> R:
        """The result: a pure function, the same for a run, a report and `make verify`."""

    def audit(self, result: R) -> Said | None:
        """Verdict and lines of the writes; None where there is none."""

    @abstractmethod
    def line(self, result: R) -> str:
        """What the terminal says of a finished cell: `7030/7030 acknowledged  median 2.6 ms`."""

    @abstractmethod
    def report(self, data: SuiteData[R]) -> Report:
        """Sections of tables and plots, with the summary in words first."""
