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
from writepath.config.settings import CONDITION, OF_LOAD, Factor, of_stack
from writepath.errors import StartError, WritepathError
from writepath.load import k6
from writepath.load.dataset import Dataset
from writepath.load.plan import new_run_id
from writepath.measure import loading, warming
from writepath.measure.loading import Bench
from writepath.measure.read_back import SHORT_QUIET_S, Auditing, drain
from writepath.measure.truth import Truth
from writepath.options import RERUNS, STATE, Asked, Runtime
from writepath.processors import SPLIT
from writepath.records import index
from writepath.records.base import to_data, write_json
from writepath.records.index import Role
from writepath.records.load_facts import LoadFacts, PhaseFacts
from writepath.records.measures import Canary, Code, Durability, Host
from writepath.records.warm_up import WarmUpFacts
from writepath.report.data import Metric, SuiteData
from writepath.report.model import Report
from writepath.runtime import aot, delay
from writepath.runtime.base import Stack

R = TypeVar("R")
FEWEST_REPETITIONS = 2  # of one block the A/A control says nothing
LOGS = "logs"
SETTINGS_FILE = "settings.json"
TRACES = "WRITEPATH_TRACES"  # of an application: none, or who receives them


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

        What a 201 guarantees and all versions are known then; settings.json is in the folder. A variant that serves
        reads has proved at its start that it has its data.
        """
        with self.step("verify"):
            if self.cell.variant.serves == "writes":
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
            traces = {own[TRACES] for own in settings.values() if TRACES in own}
            self.versions = {
                **self.bench.runtime.versions(self.cell.variant),
                **truth.versions(),
                **caches,
                **({"OpenTelemetry traces": ", ".join(sorted(traces))} if traces else {}),
            }

    def warm_up(self, stack: Stack, truth: Truth, *, warm: bool = False) -> WarmUpFacts | None:
        """As the scenario says. warm: by an earlier cell."""
        if self.suite.load.warm_up is None:
            return None
        with self.step("warm-up"):
            return warming.warm_up(self.suite.load, self.bench, stack, truth, self.folder, warm=warm)

    def canary(self) -> Canary:
        """How fast the host is now."""
        with self.step("canary"):
            return self.bench.cage.measure()

    def require_declared(self) -> None:
        """StartError where a 201 guarantees less than the variant declares."""
        level, declared = None if self.durability is None else self.durability.level, self.cell.variant.level
        if level is None or level > declared:
            raise StartError(
                f"a 201 guarantees less than declared: level {level}, not {declared};"
                " the figures would be those of a different path"
            )


def loaded(
    run: CellRun, truth: Truth, load: k6.Load, result: k6.LoadResult, times: tuple[float, float], **own: Any
) -> LoadFacts:
    """The facts of a load that has ended. times: begin and end, epoch s; own: what only its kind knows."""
    plan, (began_at, ended_at) = load.plan, times
    return LoadFacts(
        run_id=load.run_id,
        runtime=run.bench.runtime.name,
        declared_level=run.cell.variant.level,
        model="closed" if plan.planned is None else "open",
        phases=tuple(PhaseFacts(**vars(phase)) for phase in plan.phases),
        virtual_users=plan.virtual_users,
        seconds=plan.seconds,
        operations=(load.operation,),
        queue_path=truth.store is not truth.ingress,
        load_started_at=loading.moment(began_at),
        load_finished_at=loading.moment(ended_at),
        dropped=result.dropped,
        exit_code=result.exit_code,
        processes=result.processes,
        durability=run.durability,
        **own,
    )


def read_back(
    run: CellRun,
    stack: Stack,
    truth: Truth,
    facts: LoadFacts,
    keep: Callable[[LoadFacts], None],
    redelivered: Callable[[], int | None],
    *,
    crash: bool = True,
) -> None:
    """Drains the path; then both reads, with the death and restart of every store between them.

    keep: saves the facts, as far as they are known. redelivered: of a queue path. crash: False where another load
    follows on the same stack, whose stores are killed after the last one; the first read is then the only one.
    """
    auditing = Auditing(run_id=run.run_id, dataset=run.dataset, say=run.bench.progress.say)

    def know(**more: Any) -> None:
        nonlocal facts
        facts = replace(facts, **more)
        keep(facts)

    def know_reads(**more: Any) -> None:
        raw.save_stored(tuple(auditing.stored), run.folder / raw.STORED_FILE)
        know(
            reads=tuple(auditing.readings),
            unread=tuple(auditing.unread),
            suppressed_duplicates=auditing.suppressed_duplicates,
            audit_seconds=round(auditing.seconds, 3),
            **more,
        )

    with run.step("drain"):
        quiet_s = None if crash else SHORT_QUIET_S
        drained = drain(truth, report=run.bench.progress.drain, quiet_s=quiet_s)
    know(drain=drained, lost_components=tuple(stack.lost_components()))
    with run.step("audit"):
        auditing.read(truth)
        # Only where another service than the ingress writes to the store is anything delivered.
        know_reads(redelivered=redelivered() if facts.queue_path else None)
    if not crash:
        return
    with run.step("crash"):
        auditing.crash(stack, truth)
    with run.step("audit"):
        auditing.read_again(truth)
        know_reads()


@dataclass
class Session:
    """What cells that differ only in factors of scope `load` share: one stack, started when it is first asked for.

    A context manager: at its end the stack's logs are saved and it is stopped, a step of the last cell.
    """

    bench: Bench
    warm: bool = False  # an earlier cell has used the stack
    left: int = 0  # cells that will use it after this one
    _run: CellRun | None = None  # that uses it now
    _started: tuple[Stack, Truth] | None = None
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._run is not None:
            try:
                self._save_logs(self._run)
            finally:
                with self._run.step("stop"):
                    self._held.close()

    def started(self, run: CellRun, **choices: Any) -> tuple[Stack, Truth]:
        """The stack, and what its inspectors say. Its start is a step of the first cell that asks.

        choices: of Runtime.start().
        """
        if self._run is not None:
            self._save_logs(self._run)  # as far as they go; the next cell's folder has them again, and more
            self.warm = True
        self._run = run
        if self._started is None:
            variant, bench = run.cell.variant, self.bench
            settings, say = of_stack(run.settings), bench.progress.say
            with run.step("start"):
                start = delay.started(
                    bench.runtime, bench.root, variant, overrides=settings, say=say, **choices
                )
                stack = self._held.enter_context(start)
            self._started = stack, self._held.enter_context(Truth.of(stack, variant))
        return self._started

    def _save_logs(self, run: CellRun) -> None:
        """On the way out of a failure too, which they explain and must not hide."""
        if self._started is not None:
            with run.step("save"), contextlib.suppress(OSError, WritepathError):
                self._started[0].save_logs(run.folder / LOGS)


@dataclass(frozen=True, kw_only=True)
class References:
    """Cells of another kind that run in each block, next to the suite's own."""

    suite: Suite
    kind: "Experiment[Any]"
    params: Any

    def record(self) -> index.References:
        """As the index has them."""
        return index.References(kind=self.kind.kind, suite=self.suite.name, params=to_data(self.params))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the user asked for, checked: a suite run that is to be begun or continued."""

    root: Path
    suite: Suite
    kind: "Experiment[Any]"
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
    # By variant, the levels that it has of a factor.
    only: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    jobs: int = 1  # cells at a time
    alone: frozenset[str] = frozenset()  # names of cells that need the machine to themselves
    references: References | None = None
    second: Variant | None = None  # of which every cell starts a stack too
    runtime: Runtime = "auto"  # as it was asked for
    processors: str = SPLIT  # as it was asked for, or as the suite says

    @property
    def state(self) -> Path:
        """The ignored folder of everything a checkout keeps at run time."""
        return self.root / STATE

    @property
    def started(self) -> tuple[Variant, ...]:
        """Every variant of which a stack is started, each once."""
        others = self.references.suite.variants if self.references is not None else ()
        every = (*self.variants, *others, *([] if self.second is None else [self.second]))
        return tuple({variant.name: variant for variant in every}.values())

    def settings_of(self, levels: Mapping[str, str]) -> dict[str, str]:
        """Of a cell: those of all cells, of its condition, and its levels."""
        own = {name: level for name, level in levels.items() if name != CONDITION}
        named = (self.suite.conditions or {}).get(levels.get(CONDITION, ""), {})
        return {**self.settings, **named, **own}

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
    params: ClassVar[type[Any]]  # the record of what a suite says of it, saved in the index
    result: type[R]  # the record of its part of cell.json; it has a `verdict`
    metrics: Sequence[Metric[R]] = ()  # by which cells are compared, in a suite run and between them
    # Of the command line, that only some kinds have: SLO_MS, and the field of the params that it replaces.
    options: ClassVar[Collection[tuple[str, str]]] = ()
    unused: ClassVar[Collection[str]] = OF_LOAD  # settings that change nothing of its cells, and are refused
    by_host: ClassVar[bool] = False  # whether its report has figures per host: blocks may be of several

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> Any:
        """The suite's part for this kind, validated: unknown keys are errors that name file and key.

        options: by field, those that the user gave.
        """
        return replace(suite.checked_params(self.params), **options)

    def designed(self, plan: Plan, known: Registry, asked: Asked) -> Plan:  # noqa: ARG002
        """The plan with the cells that the kind makes of it, where these are not all levels of all variants."""
        return plan

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
