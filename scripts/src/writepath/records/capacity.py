"""The records of a capacity suite: capacity.json, search.json and ceilings.json."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from writepath.records import base
from writepath.records.base import record
from writepath.records.index import Outcome, Status, VariantRecord
from writepath.records.measures import (
    AuditVerdict,
    Canary,
    Code,
    DatasetFacts,
    Durability,
    Generator,
    Host,
    Latency,
    Requests,
    Resource,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CAPACITY_SCHEMA_VERSION = 1
CAPACITY_FILE = "capacity.json"  # the suite run's index
SEARCH_FILE = "search.json"  # one variant in one block
RESOLUTION = 1.05  # of a search: first fail by last pass, at most
CEILINGS_FILE = "ceilings.json"  # the stores' own tools in one block

HoldKind = Literal["ramp", "search", "confirm"]  # ramp: short, finds the bracket, and is counted in no figure
HoldVerdict = Literal["pass", "fail", "noise"]  # noise: the host was noisy; retried, not counted


@record
class Backlog:
    """Messages that were acknowledged but are not in the final store yet; only for queue paths."""

    at_start: float
    at_end: float
    slope_per_s: float  # Theil-Sen slope of the step's samples; messages/s
    work_seconds: float | None  # at_end ÷ stored_per_s; null if nothing was stored during the step
    grows: bool


@record
class Saturated:
    """A saturated resource."""

    resource: str  # a key of writepath.analysis.saturation.RESOURCES
    component: str  # that has it; "host" for the machine
    evidence: str  # in words, with figures


@record
class LimitedBy:
    """Which resource was saturated first; all that were, in order."""

    first: Saturated | None  # null: none was saturated
    others: tuple[Saturated, ...] = ()
    nearest: Saturated | None = (
        None  # if none was saturated: the one with the highest use, over the whole load
    )


@record
class Noise:
    """What the host did during the load."""

    foreign_cpu_share: float | None
    steal_share: float | None
    throttled_share: float | None  # of the time, this control group was not let run
    swapped_pages: int | None
    before: Canary | None = None
    after: Canary | None = None


@record
class Hold:
    """One load step: a constant rate, from an empty store on a warm stack."""

    number: int  # from 1, in order; also its folder, hold-NN
    kind: HoldKind
    rate_per_s: float
    seconds: float
    started_at: str
    verdict: HoldVerdict
    burst: bool  # passes except for a growing backlog
    reasons: tuple[str, ...]  # in words: why it failed, or why the host counts as noisy
    generator_bound: (
        bool  # failed, and the generator or a full host could be why: capacity is at least what passed
    )
    requests: Requests
    accept_latency_ms: Latency  # from sending
    planned_latency_ms: Latency  # from the scheduled send time; its p99 is compared with the SLO
    stored_per_s: float | None  # rows in the final store ÷ duration of the load
    drain_seconds: float | None  # from the end of the load to the last row; null if the wait ended before
    audit: AuditVerdict | None  # of one read after the drain; null if the store was not read
    backlog: Backlog | None
    resources: dict[str, Resource]
    generator: Generator
    noise: Noise
    limited_by: LimitedBy | None


@record
class Bracket:
    """The highest passing and the lowest failing rate."""

    last_pass_per_s: float | None  # null: none passed
    first_fail_per_s: float | None  # null: none failed
    at_least: bool  # a lower bound: the load generator or the highest rate ended the run
    holds: int  # steps counted, without ramp and noisy steps


@record
class OverloadPhase:
    """A phase of the overload: 0.5, 2 or 0.5 times the capacity."""

    name: str
    rate_per_s: float
    seconds: float
    planned: int
    acknowledged: int
    goodput_per_s: float  # acknowledged within the SLO ÷ duration of the phase
    errors_by_hop: dict[str, int]  # proxy, application, store, generator
    p95_ms: float | None  # from the scheduled send time


@record
class Overload:
    """How the path behaves at twice its capacity, and how it recovers."""

    capacity_per_s: float  # the rate that was doubled
    phases: tuple[OverloadPhase, ...]
    recovered_after_s: (
        float | None
    )  # from the overload's end to the first p95 again; null: not within the load
    backlog_drained_after_s: float | None  # null: no queue, or not drained during the load
    generator_faults: tuple[str, ...] = ()


@record
class Search:
    """search.json: the capacity run of one variant in one block, from a cold and empty start."""

    schema_version: int
    run_id: str
    suite: str
    variant: str
    title: str
    family: str
    acknowledges: str
    block: int  # from 1
    position: int  # from 1: place in its block
    again: bool  # the A/A control: a second run of the baseline
    runtime: str
    seed: int
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code
    slo_ms: float
    hold_seconds: float
    started_at: str
    finished_at: str
    outcome: Outcome
    error: str | None
    durability: Durability | None = None
    sustained: Bracket | None = None  # rate at which the store keeps up
    burst: Bracket | None = None  # rate of 201s alone; equal to sustained without a queue
    holds: tuple[Hold, ...] = ()
    overload: Overload | None = None
    host: Host | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def left_to_noise(self) -> bool:
        """Whether a noisy step was not retried."""
        return bool(unresolved(self.holds))


@record
class Ceiling:
    """The rate that a store's own tool reaches on the same host."""

    name: str  # a key of writepath.records.ceilings
    store: str  # postgres, rabbitmq, elasticsearch
    tool: str  # with its version
    what: str  # in words: what one write is, and how durable
    clients: int
    seconds: float
    writes_per_s: float
    latency_ms_mean: float | None
    raw_file: str  # the output of the tool, next to ceilings.json


@record
class Ceilings:
    """ceilings.json: all of one block."""

    schema_version: int
    block: int
    started_at: str
    finished_at: str
    runtime: str
    ceilings: tuple[Ceiling, ...]
    missing: dict[str, str] = field(default_factory=dict)  # by store: why its tool has no result
    versions: dict[str, str] = field(default_factory=dict)


@record
class SearchLine:
    """One line of the index of a capacity suite or a search suite."""

    variant: str
    block: int
    position: int
    again: bool
    folder: str  # relative to the index
    outcome: str
    seconds: float


@record
class CapacitySuite:
    """capacity.json: written at the start and after each capacity run."""

    schema_version: int
    suite: str
    title: str
    stamp: str
    status: Status
    started_at: str
    finished_at: str | None
    seed: int
    repetitions: int  # blocks
    runtime: str
    slo_ms: float
    hold_seconds: float
    baseline: str
    variants: tuple[VariantRecord, ...]
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code  # of the first start; each capacity run has its own
    blocks: tuple[
        tuple[str, ...], ...
    ]  # order in each block; "<baseline>@again" is the A/A control, "@ceilings" the tools
    searches: tuple[SearchLine, ...] = ()
    ceilings: tuple[str, ...] = ()  # folders relative to capacity.json


def answers(bracket: Bracket | None) -> bool:
    """Whether the capacity is known to the resolution, or is a lower bound."""
    if bracket is None or bracket.last_pass_per_s is None:
        return False
    if bracket.first_fail_per_s is None:
        return bracket.at_least
    return bracket.first_fail_per_s <= bracket.last_pass_per_s * RESOLUTION


def load_suite(folder: Path) -> CapacitySuite:
    """Reads folder/capacity.json; UsageError where it is missing, broken or of another version."""
    return base.load(CapacitySuite, folder / CAPACITY_FILE, CAPACITY_SCHEMA_VERSION)


def unresolved(holds: Sequence[Hold]) -> tuple[Hold, ...]:
    """Noisy steps that were not retried: nothing is known about their rate."""
    return tuple(
        hold
        for index, hold in enumerate(holds)
        if hold.verdict == "noise"
        and not any(
            later.verdict != "noise" and later.rate_per_s == hold.rate_per_s for later in holds[index + 1 :]
        )
    )


def load_search(folder: Path) -> Search:
    """Reads folder/search.json; UsageError where it is missing, broken or of another version."""
    return base.load(Search, folder / SEARCH_FILE, CAPACITY_SCHEMA_VERSION)


def load_ceilings(folder: Path) -> Ceilings:
    """Reads folder/ceilings.json; UsageError where it is missing, broken or of another version."""
    return base.load(Ceilings, folder / CEILINGS_FILE, CAPACITY_SCHEMA_VERSION)


def save_suite(suite: CapacitySuite, folder: Path) -> None:
    """Writes folder/capacity.json at once and completely."""
    base.save(suite, folder / CAPACITY_FILE)


def save_search(search: Search, folder: Path) -> None:
    """Writes folder/search.json at once and completely."""
    base.save(search, folder / SEARCH_FILE)


def save_ceilings(ceilings: Ceilings, folder: Path) -> None:
    """Writes folder/ceilings.json at once and completely."""
    base.save(ceilings, folder / CEILINGS_FILE)
