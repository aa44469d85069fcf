"""The records of a fault run: cell.json and faults.json.

A cell is one variant under one kind of fault: several trials of it in one load, then one audit.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from writepath.records import base
from writepath.records.base import record
from writepath.records.measures import Audit, Code, Durability, Order, Requests

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FAULTS_SCHEMA_VERSION = 1
CELL_FILE = "cell.json"
FAULTS_FILE = "faults.json"

MatrixStatus = Literal["running", "aborted", "finished"]
CellOutcome = Literal["finished", "failed", "aborted"]
CellStatus = Literal["held", "destroyed", "broke", "unknown", "loses", "not discriminating"]
EXIT_CODES: dict[CellStatus, int] = {
    "held": 0,
    "destroyed": 0,  # by whoever deleted the queue, and no more than was in it
    "loses": 0,
    "unknown": 3,
    "not discriminating": 3,
    "broke": 1,
}


@record
class Trial:
    """One fault, from its injection to the next one's. A write belongs to the trial in which it was sent."""

    number: int  # from 1
    steady_seconds: float  # of undisturbed load before it, drawn from the seed
    lasts_seconds: float  # from injection to heal, drawn from the seed
    injected_at_ms: float  # epoch
    healed_at_ms: float  # epoch
    effective: bool  # proved to have happened
    proof: str  # in words: what moved, or what did not
    recovered_after_seconds: float | None  # from heal to the first good 10 s; null: not within the bound
    exposed: int  # writes acknowledged within 5 s around the fault
    lost: int  # acknowledged, and not in the store
    vanished: int  # in the store before all stores were killed, and not afterwards
    stranded: int  # acknowledged, and still in the queue or dead-lettered
    corrupted: int  # stored with different content
    duplicated: int  # stored more than once
    recovered: int  # without an answer, but stored
    errors: dict[str, int]  # by kind, from injection to recovery
    taken_along: int = 0  # of the lost: in the queue, or on their way to it, when it was deleted


@record
class Cell:
    """cell.json: one variant under one fault."""

    schema_version: int
    run_id: str
    variant: str
    title: str
    family: str
    naive_twin_of: str | None
    acknowledges: str
    fault: str  # key, kill-database
    fault_words: str
    runtime: str
    seed: int
    rate_per_s: float
    trials_wanted: int
    side_by_side: int  # cells that ran at a time: times to recover are upper bounds where it is more than one
    overrides: dict[str, str]
    code: Code
    started_at: str
    finished_at: str
    outcome: CellOutcome
    error: str | None
    status: CellStatus
    reasons: tuple[str, ...]
    trials: tuple[Trial, ...] = ()
    requests: Requests | None = None  # planned: what k6 started or dropped until the load was ended
    audit: Audit | None = None
    order: Order | None = None  # of the queue paths, over load and all faults
    durability: Durability | None = None
    capacity_per_s: float | None = None  # measured for `overload`
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def effective(self) -> tuple[Trial, ...]:
        """The trials that count."""
        return tuple(trial for trial in self.trials if trial.effective)

    @property
    def losing(self) -> int:
        """Effective trials that broke a guarantee: an acknowledged write was lost, or stored differently."""
        return sum(1 for trial in self.effective if broke(trial))


def broke(trial: Trial) -> int:
    """Writes of a trial for which the 201 was not kept, by the path; what was deleted on purpose is not."""
    lost = trial.lost - trial.taken_along
    return lost + trial.vanished + trial.stranded + trial.corrupted + trial.duplicated


@record
class CellEntry:
    """One line of the index."""

    variant: str
    fault: str
    folder: str  # relative to faults.json
    outcome: CellOutcome
    status: CellStatus
    seconds: float


@record
class FaultsResult:
    """faults.json: written at the start and after each cell."""

    schema_version: int
    stamp: str
    status: MatrixStatus
    started_at: str
    finished_at: str | None
    seed: int
    runtime: str
    rate_per_s: float
    overrides: dict[str, str]
    code: Code
    wanted: tuple[str, ...]  # variant/fault of every cell that was asked for
    cells: tuple[CellEntry, ...] = ()


def exit_code(cells: Iterable[CellEntry]) -> int:
    """The worst: 10 infrastructure, over 1 broken guarantees, over 3 unknown, over 0."""
    codes = {10 if entry.outcome == "failed" else EXIT_CODES[entry.status] for entry in cells}
    return next((code for code in (10, 1, 3) if code in codes), 0)


def load_cell(folder: Path) -> Cell:
    """Reads folder/cell.json. UsageError where it is missing, broken or of another schema version."""
    return base.load(Cell, folder / CELL_FILE, FAULTS_SCHEMA_VERSION)


def save_cell(cell: Cell, folder: Path) -> None:
    """Writes folder/cell.json at once and completely."""
    base.save(cell, folder / CELL_FILE)


def load_faults(folder: Path) -> FaultsResult:
    """Reads folder/faults.json. UsageError where it is missing, broken or of another schema version."""
    return base.load(FaultsResult, folder / FAULTS_FILE, FAULTS_SCHEMA_VERSION)


def save_faults(faults: FaultsResult, folder: Path) -> None:
    """Writes folder/faults.json at once and completely."""
    base.save(faults, folder / FAULTS_FILE)
