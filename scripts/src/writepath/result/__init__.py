"""What is known of a run and of a suite run? The records of run.json and suite.json: load and save only.

Rules: a unit is the last part of a name; moments are ISO-8601 UTC with milliseconds; what could not be measured
is null, never absent and never zero; a percentile is null where its rank falls on a request that was not
served, or where the sample cannot carry it (stats.py).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from writepath.errors import UsageError
from writepath.result.earlier import FIRST_VERSION, from_first_version
from writepath.result.files import class_to_level, level_to_class, read_json, write_json
from writepath.result.measures import (
    Audit,
    AuditVerdict,
    Canary,
    Code,
    DatasetFacts,
    Drain,
    Durability,
    Generator,
    Host,
    Latency,
    Offenders,
    Order,
    PhaseResult,
    Reading,
    Requests,
    Resource,
    Step,
    Throughput,
    Verdict,
    VerdictStatus,
)
from writepath.result.records import from_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "RUN_FILE",
    "SCHEMA_VERSION",
    "SUITE_FILE",
    "Audit",
    "AuditVerdict",
    "Canary",
    "Code",
    "DatasetFacts",
    "Drain",
    "Durability",
    "Generator",
    "Host",
    "Latency",
    "Offenders",
    "Order",
    "Outcome",
    "PhaseResult",
    "Reading",
    "Requests",
    "Resource",
    "Run",
    "Step",
    "SuitePhase",
    "SuiteResult",
    "SuiteRun",
    "SuiteStatus",
    "SuiteVariant",
    "Throughput",
    "Verdict",
    "VerdictStatus",
    "cell_name",
    "load_run",
    "load_suite",
    "save_run",
    "save_suite",
]

SCHEMA_VERSION = 2
RUN_FILE = "run.json"
SUITE_FILE = "suite.json"
AGAIN = "@again"  # after the baseline's name: its second run in a block; no variant's name has an @

Outcome = Literal["finished", "failed", "aborted"]  # failed: infrastructure; aborted: stopped by the user
SuiteStatus = Literal["running", "aborted", "finished"]


@dataclass(frozen=True, kw_only=True)
class Run:
    """run.json: one run. Fields from requests to generator are null if the run ended before them."""

    schema_version: int
    run_id: str  # 15 hex digits, in every id of the run
    suite: str
    variant: str
    title: str
    family: str
    acknowledges: str  # what a 201 guarantees, in words
    scenario: str
    repetition: int  # from 1; also the block
    position: int  # from 1: place in its block
    runtime: str
    seed: int
    overrides: dict[str, str]  # compose variables given by the user
    dataset: DatasetFacts
    code: Code
    started_at: str
    finished_at: str
    outcome: Outcome
    error: str | None  # reason of a failed run
    verdict: Verdict
    again: bool = False  # the A/A control: the second run of the baseline in its block
    durability: Durability | None = None
    requests: Requests | None = None
    accept_latency_ms: Latency | None = None  # from sending the request to the 201
    planned_latency_ms: Latency | None = (
        None  # until the 201, from the *planned* moment: counts the generator's delay
    )
    time_to_durable_ms: Latency | None = (
        None  # until the row was in the final store, from when the request was sent
    )
    time_to_visible_ms: Latency | None = (
        None  # until a search found the row, from when the request was sent; ranks over visible_samples
    )
    visible_samples: int | None = None  # writes searched for; chosen before the load by schedule and seed
    visible_error_ms_median: float | None = None  # a write may have been visible earlier by at most this much
    visible_error_ms_max: float | None = None
    order: Order | None = None
    throughput: Throughput | None = None
    durable_per_s: float | None = None  # rows in the final store / (load start to last row durable)
    phases: tuple[PhaseResult, ...] = ()
    audit: Audit | None = None
    drain: Drain | None = None
    resources: dict[str, Resource] = field(default_factory=dict)  # by component, "k6" among them
    generator: Generator | None = None
    load_started_at: str | None = None
    load_finished_at: str | None = None
    host: Host | None = None
    versions: dict[str, str] = field(default_factory=dict)
    timings: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SuiteVariant:
    """A variant as it was defined when the suite ran."""

    name: str
    title: str
    family: str
    acknowledges: str
    profiles: tuple[str, ...]
    settings: dict[str, str]
    naive_twin_of: str | None = None  # the variant that this one weakens; never ranked with others
    tutorial_of: str | None = (
        None  # the variant whose architecture it runs with Spring Boot defaults; a baseline
    )
    control_of: str | None = None  # the variant that it slows down on purpose, to check the comparison


@dataclass(frozen=True, kw_only=True)
class SuitePhase:
    """A phase in which the arrival rate is constant or changes linearly."""

    name: str
    seconds: float
    from_per_s: float
    to_per_s: float


@dataclass(frozen=True, kw_only=True)
class SuiteRun:
    """One line of the suite's index."""

    variant: str
    scenario: str
    repetition: int
    position: int
    folder: str  # relative to suite.json
    outcome: Outcome
    verdict: VerdictStatus
    reasons: tuple[str, ...]
    seconds: float
    exit_code: int
    replaced: int = 0  # runs of this cell that it replaced: noisy host, or stopped before their end
    again: bool = False  # the baseline's second run in its block


@dataclass(frozen=True, kw_only=True)
class SuiteResult:
    """suite.json: written at the start and after each run."""

    schema_version: int
    suite: str
    title: str
    stamp: str  # UTC, 20261121T031500Z; also the folder's name
    status: SuiteStatus
    started_at: str
    finished_at: str | None
    seed: int
    repetitions: int
    runtime: str
    scenario: str
    phases: tuple[SuitePhase, ...]
    warm_up_requests: int
    warm_up_per_s: float
    variants: tuple[SuiteVariant, ...]
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code
    blocks: tuple[tuple[str, ...], ...]  # order in each repetition; <baseline>@again is the A/A control
    baseline: str | None = None  # the variant that the others are compared with
    runs: tuple[SuiteRun, ...] = ()  # in the order they ran


def cell_name(variant: str, *, again: bool) -> str:
    """Of a run in its block, and of its folder: there, the baseline is twice."""
    return f"{variant}{AGAIN}" if again else variant


def load_run(folder: Path) -> Run:
    """Reads folder/run.json. UsageError where it is missing, broken or of another schema version."""
    return from_json(Run, _read(folder / RUN_FILE))


def save_run(run: Run, folder: Path) -> None:
    """Writes folder/run.json at once and completely (a reader never sees half of it)."""
    _write(run, folder / RUN_FILE)


def load_suite(folder: Path) -> SuiteResult:
    """Reads folder/suite.json. UsageError where it is missing, broken or of another schema version."""
    return from_json(SuiteResult, _read(folder / SUITE_FILE))


def save_suite(suite: SuiteResult, folder: Path) -> None:
    """Writes folder/suite.json at once and completely."""
    _write(suite, folder / SUITE_FILE)


def _read(path: Path) -> dict[str, Any]:
    data = read_json(path, FIRST_VERSION, SCHEMA_VERSION)
    if data["schema_version"] == FIRST_VERSION and isinstance(data.get("audit"), dict):
        try:
            data["audit"] = from_first_version(data["audit"], data.get("drain"), data.get("requests"))
        except (AttributeError, TypeError, ValueError) as error:
            raise UsageError(f"{path}: its audit has an unknown format ({error})") from error
    return class_to_level(data)


def _write(record: Run | SuiteResult, path: Path) -> None:
    write_json(level_to_class(dataclasses.asdict(record)), path)
