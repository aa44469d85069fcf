"""index.json: what a run of an experiment consists of. Written at the start and after each cell."""

from pathlib import Path
from typing import Any, Literal

from writepath.config.settings import Factor
from writepath.processors import SHARED
from writepath.records import base
from writepath.records.base import record
from writepath.records.measures import Code, DatasetFacts, VerdictStatus

SCHEMA_VERSION = 3
INDEX_FILE = "index.json"
CONTROL = "@again"  # after a cell's name: its A/A control; no variant's name and no level has an @

Status = Literal["running", "aborted", "finished"]
Outcome = Literal["finished", "failed", "aborted"]  # failed: infrastructure; aborted: stopped by the user
Role = Literal["measured", "A/A control", "reference"]  # reference: of another kind, in the same block


@record
class VariantRecord:
    """A variant as it was defined when the experiment ran."""

    name: str
    title: str
    family: str
    acknowledges: str  # what a 201 guarantees, in words
    profiles: tuple[str, ...]
    settings: dict[str, str]
    naive_twin_of: str | None = None  # the variant that this one weakens; never ranked with others
    tutorial_of: str | None = (
        None  # the variant whose architecture it runs with Spring Boot defaults; a baseline
    )
    control_of: str | None = None  # the variant that it slows down on purpose, to check the comparison


@record
class CellEntry:
    """One cell of the index."""

    name: str  # cell_name(): variant, levels, role
    variant: str
    levels: dict[str, str]  # by factor
    role: Role
    block: int  # from 1
    position: int  # from 1: place in its block
    folder: str  # relative to index.json
    outcome: Outcome
    verdict: VerdictStatus
    reasons: tuple[str, ...]
    seconds: float
    exit_code: int
    replaced: int = 0  # runs of this cell that it replaced: noisy host, or stopped before their end


@record
class References:
    """Cells of another kind that run in each block, next to the suite's own."""

    kind: str
    suite: str
    params: dict[str, Any]


@record
class Index:
    """index.json: what a run of an experiment consists of; written at the start and after each cell."""

    schema_version: int
    kind: str
    suite: str
    title: str
    stamp: str  # UTC, 20261121T031500Z; also the folder's name
    status: Status
    started_at: str
    finished_at: str | None
    seed: int
    repetitions: int  # blocks
    runtime: str
    baseline: str | None  # the variant that the others are compared with
    variants: tuple[VariantRecord, ...]
    factors: tuple[Factor, ...]
    settings: dict[str, str]  # of all cells, set by the user or the suite
    params: dict[str, Any]  # the kind's part of suites.yaml; its registry entry validates it
    dataset: DatasetFacts
    code: Code
    order: tuple[tuple[str, ...], ...]  # by block, the cells' names in the order they run
    cells: tuple[CellEntry, ...] = ()  # in the order they ran
    references: References | None = None
    processors: str = SHARED  # what load generator and system have of them: `split (1 + 3)`


def cell_name(variant: str, levels: dict[str, str], role: Role = "measured", kind: str = "") -> str:
    """`jpa`, `jpa,POOL_SIZE=5`, `jpa@again`, `jpa@ceilings`: also the name of its folder. kind: of a reference."""
    words = [variant, *(f"{name}={level}" for name, level in levels.items())]
    suffix = {"A/A control": CONTROL, "reference": f"@{kind}"}.get(role, "")
    return ",".join(words).replace("/", "_") + suffix


def load_index(folder: Path) -> Index:
    """Reads folder/index.json; UsageError where it is missing, broken or of another version."""
    return base.load(Index, folder / INDEX_FILE, SCHEMA_VERSION)


def save_index(index: Index, folder: Path) -> None:
    """Writes folder/index.json at once and completely."""
    base.save(index, folder / INDEX_FILE)
