"""cell.json: one cell of an experiment. What all kinds have in common, and the kind's own result."""

import dataclasses
from pathlib import Path
from typing import Any, TypeVar

from writepath.records import base
from writepath.records.base import record
from writepath.records.index import SCHEMA_VERSION, Outcome, Role
from writepath.records.measures import Code, DatasetFacts, Durability, Host, Step, Verdict

CELL_FILE = "cell.json"
R = TypeVar("R")


@record
class CellRecord:
    """cell.json. Fields from durability on are null or empty where the cell ended before them."""

    schema_version: int
    kind: str
    run_id: str  # 15 hex digits, in every id that the cell wrote
    suite: str
    name: str  # as in the index
    variant: str
    title: str
    family: str
    acknowledges: str  # what a 201 guarantees, in words
    levels: dict[str, str]  # by factor
    role: Role
    block: int  # from 1
    position: int  # from 1: place in its block
    runtime: str
    seed: int
    settings: dict[str, str]  # of this cell: the index's and its levels
    dataset: DatasetFacts
    code: Code
    started_at: str
    finished_at: str
    outcome: Outcome
    error: str | None  # reason of a failed cell
    verdict: Verdict
    durability: Durability | None = None
    host: Host | None = None
    versions: dict[str, str] = dataclasses.field(default_factory=dict)
    timings: tuple[Step, ...] = ()
    result: dict[str, Any] | None = None  # the kind's; result_of() validates it

    @property
    def counts(self) -> bool:
        """Whether its figures may be published."""
        return self.outcome == "finished" and self.verdict.status == "valid"


def load_cell(folder: Path) -> CellRecord:
    """Reads folder/cell.json; UsageError where it is missing, broken or of another version."""
    return base.load(CellRecord, folder / CELL_FILE, SCHEMA_VERSION)


def save_cell(cell: CellRecord, folder: Path) -> None:
    """Writes folder/cell.json at once and completely."""
    base.save(cell, folder / CELL_FILE)


def result_of(cell: CellRecord, kind: type[R]) -> R | None:
    """The kind's result; None where the cell has none."""
    return None if cell.result is None else base.from_data(kind, cell.result, f"{cell.name}: result")
