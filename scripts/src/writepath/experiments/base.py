"""What a kind of experiment must give; the engine supplies everything else, for every kind alike.

A kind: a module or folder in `experiments/` and an entry in `experiments/registry.py`. Kinds never import each other.
"""

import contextlib
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from writepath.analysis.evidence import Evidence
from writepath.config.registry import Suite, Variant
from writepath.load.dataset import Dataset
from writepath.measure.bench import Bench
from writepath.measure.truth import Truth
from writepath.records.index import Role
from writepath.records.measures import Audit, Durability, Host, Verdict
from writepath.report.data import Metric, SuiteData
from writepath.report.model import Report
from writepath.runtime.base import Stack

R = TypeVar("R")


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


class Session(Protocol):
    """What cells that differ only in factors of scope `load` share: one stack, started when it is first asked for."""

    def stack(self, run: CellRun, **choices: Any) -> Stack:
        """The started stack; its start is a step of the cell that asked first. choices: of Runtime.start()."""

    def truth(self, run: CellRun) -> Truth:
        """What the inspectors of that stack say."""

    @property
    def warm(self) -> bool:
        """Whether an earlier cell of this session has used the stack."""


@runtime_checkable
class Growing(Protocol):
    """A kind that may be asked for more of a cell than when its suite run began."""

    def grown(self, before: Mapping[str, Any], now: Any) -> Collection[str] | None:
        """Names of the cells that RESUME=1 runs again; None where the params differ in something else."""


class Experiment(Protocol[R]):
    """A kind; registered by its name."""

    @property
    def kind(self) -> str:
        """Its name, as in suites.yaml."""

    @property
    def params(self) -> type:
        """The record of what a suite says of it, saved in the index."""

    @property
    def options(self) -> Collection[str]:
        """Options of the command line that only some kinds have: SLO_MS."""

    @property
    def load_settings(self) -> bool:
        """Whether RATE and VIRTUAL_USERS apply: the kind sends the load of the scenario."""

    def params_of(self, suite: Suite, options: Mapping[str, int]) -> Any:
        """The suite's part for this kind, validated: unknown keys are errors that name file and key.

        options: those that the user gave, of the kind's.
        """

    @property
    def result(self) -> type[R]:
        """The record of its part of cell.json."""

    @property
    def metrics(self) -> Sequence[Metric[R]]:
        """By which cells are compared: with the baseline, with the A/A control and between suite runs."""

    @property
    def by_host(self) -> bool:
        """Whether its report has figures per host, so that a suite may have blocks of several."""

    def dataset_lines(self, params: Any) -> int | None:
        """How many different texts it needs; None: as many as any other."""

    def load_seconds(self, params: Any, settings: Mapping[str, str]) -> float:
        """Of one cell, with its warm-up: the progress line estimates from it."""

    def measure(self, run: CellRun, session: Session) -> None:
        """Leaves raw files in the cell's folder. What is there when an error ends it is kept, never counted."""

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files: small enough to be published. host: with what the canaries measured."""

    def derive(self, evidence: Evidence) -> R:
        """The result: a pure function, the same for a run, a report and `make verify`."""

    def verdict(self, result: R) -> Verdict:
        """Whether the result counts."""

    def audit(self, result: R) -> Audit | None:
        """Of the writes; None where the kind has none."""

    def line(self, result: R) -> str:
        """What the terminal says of a finished cell: `7030/7030 acknowledged  median 2.6 ms`."""

    def report(self, data: SuiteData[R]) -> Report:
        """Sections of tables and plots, with the summary in words first."""
