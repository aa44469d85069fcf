"""What is known of a search for capacity? The records of capacity.json, search.json and ceilings.json: load and save.

Rules are those of `writepath.result`: a unit is the last part of a name; what could not be measured is null.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from writepath.result import SuiteStatus, SuiteVariant  # noqa: TC001 - from_json reads the hints
from writepath.result.files import class_to_level, level_to_class, read_json, write_json
from writepath.result.measures import (  # noqa: TC001 - from_json reads the hints
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
from writepath.result.records import from_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CAPACITY_SCHEMA_VERSION = 1
CAPACITY_FILE = "capacity.json"  # the suite run's index
SEARCH_FILE = "search.json"  # one variant in one block
RESOLUTION = 1.05  # of a search: first fail by last pass, at most
CEILINGS_FILE = "ceilings.json"  # the stores' own tools in one block

HoldKind = Literal["ramp", "search", "confirm"]  # ramp: short, finds the bracket, and is counted in no figure
HoldVerdict = Literal[
    "pass", "fail", "noise"
]  # noise: generator or host cannot be believed; made again, not counted


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """Messages that were answered 201 and are not in their final store yet; only of queue paths."""

    at_start: float
    at_end: float
    slope_per_s: float  # Theil and Sen over the hold's samples; messages a second
    work_seconds: float | None  # at_end at the rate the store was written meanwhile; null where it was not
    grows: bool


@dataclass(frozen=True, kw_only=True)
class Saturated:
    """A resource at its limit."""

    resource: str  # a key of writepath.saturation.RESOURCES
    component: str  # whose; "host" for the machine
    evidence: str  # in words, with figures


@dataclass(frozen=True, kw_only=True)
class LimitedBy:
    """Which resource was at its limit first; all that were, in order."""

    first: Saturated | None  # null: none was seen at its limit
    others: tuple[Saturated, ...] = ()
    nearest: Saturated | None = None  # where nothing was: what used most of its limit, over the whole load


@dataclass(frozen=True, kw_only=True)
class Noise:
    """What the host did beside the load."""

    foreign_cpu_share: float | None
    steal_share: float | None
    throttled_share: float | None  # of the time, this control group was not let run
    swapped_pages: int | None
    before: Canary | None = None
    after: Canary | None = None


@dataclass(frozen=True, kw_only=True)
class Hold:
    """One rate held for a while, from an empty store on a warm stack."""

    number: int  # from 1, in the search, in the order made; also its folder, hold-NN
    kind: HoldKind
    rate_per_s: float
    seconds: float
    started_at: str
    verdict: HoldVerdict
    burst: bool  # passes but for a backlog that grows
    reasons: tuple[str, ...]  # in words: why it failed, or what makes it noise
    generator_bound: (
        bool  # failed, and the generator or a full host could be why: capacity is at least what passed
    )
    requests: Requests
    accept_latency_ms: Latency  # from sending
    planned_latency_ms: Latency  # from the planned moment; the SLO is asked of its p99
    stored_per_s: float | None  # rows in the final store by the load's time
    drain_seconds: float | None  # from the load's end to the last row; null where it was not waited for
    audit: AuditVerdict | None  # of one read after the drain; null where it was not read
    backlog: Backlog | None
    resources: dict[str, Resource]
    generator: Generator
    noise: Noise
    limited_by: LimitedBy | None


@dataclass(frozen=True, kw_only=True)
class Bracket:
    """Between which rates capacity lies."""

    last_pass_per_s: float | None  # null: none passed
    first_fail_per_s: float | None  # null: none failed
    at_least: bool  # the generator or its host ended the search: capacity may be higher than last_pass_per_s
    holds: int  # counted ones, without ramp and noise


@dataclass(frozen=True, kw_only=True)
class OverloadPhase:
    """A stretch of the overload: 0.5, 2, 0.5 times capacity."""

    name: str
    rate_per_s: float
    seconds: float
    planned: int
    acknowledged: int
    goodput_per_s: float  # acknowledged within the SLO, by the stretch's length
    errors_by_hop: dict[str, int]  # proxy, application, store, generator
    p95_ms: float | None  # from the planned moment


@dataclass(frozen=True, kw_only=True)
class Overload:
    """How the path behaves beyond its limit, and comes back."""

    capacity_per_s: float  # that was doubled
    phases: tuple[OverloadPhase, ...]
    recovered_after_s: (
        float | None
    )  # from the overload's end to the first p95 again; null: not within the load
    backlog_drained_after_s: float | None  # null: not of a path with a queue, or not within the load
    generator_faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Search:
    """search.json: one variant in one block, from a cold and empty start."""

    schema_version: int
    run_id: str
    suite: str
    variant: str
    title: str
    family: str
    acknowledges: str
    block: int  # from 1
    position: int  # from 1: when in its block
    again: bool  # the A/A twin: the baseline a second time
    runtime: str
    seed: int
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code
    slo_ms: float
    hold_seconds: float
    started_at: str
    finished_at: str
    outcome: Literal["finished", "failed", "aborted"]
    error: str | None
    durability: Durability | None = None
    sustained: Bracket | None = None  # what arrives is stored as fast
    burst: Bracket | None = None  # 201s alone; the same where the 201 is with the store
    holds: tuple[Hold, ...] = ()
    overload: Overload | None = None
    host: Host | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def left_to_noise(self) -> bool:
        """Whether noise spoilt a hold that was not made again."""
        return bool(unresolved(self.holds))


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """What a store's own tool reaches on the same host."""

    name: str  # one of writepath.result.ceilings, which says whom it bounds
    store: str  # postgres, rabbitmq, elasticsearch
    tool: str  # with its version
    what: str  # in words: one write of which kind, how durable
    clients: int
    seconds: float
    writes_per_s: float
    latency_ms_mean: float | None
    raw_file: str  # the tool's own output, beside ceilings.json


@dataclass(frozen=True, kw_only=True)
class Ceilings:
    """ceilings.json: all of one block."""

    schema_version: int
    block: int
    started_at: str
    finished_at: str
    runtime: str
    ceilings: tuple[Ceiling, ...]
    missing: dict[str, str] = field(default_factory=dict)  # store to why its tool has no figure
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SearchLine:
    """One line of the index, of a suite of searches for capacity or of searches over posts."""

    variant: str
    block: int
    position: int
    again: bool
    folder: str  # relative to the index
    outcome: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class CapacitySuite:
    """capacity.json: written at the start and after each search."""

    schema_version: int
    suite: str
    title: str
    stamp: str
    status: SuiteStatus
    started_at: str
    finished_at: str | None
    seed: int
    repetitions: int  # blocks
    runtime: str
    slo_ms: float
    hold_seconds: float
    baseline: str
    variants: tuple[SuiteVariant, ...]
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code  # of the first start; each search has its own
    blocks: tuple[
        tuple[str, ...], ...
    ]  # order in each block; "<baseline>@again" is the A/A twin, "@ceilings" the tools
    searches: tuple[SearchLine, ...] = ()
    ceilings: tuple[str, ...] = ()  # folders relative to capacity.json


def answers(bracket: Bracket | None) -> bool:
    """Whether the limit is known to the resolution, or known to lie above what could be asked."""
    if bracket is None or bracket.last_pass_per_s is None:
        return False
    if bracket.first_fail_per_s is None:
        return bracket.at_least
    return bracket.first_fail_per_s <= bracket.last_pass_per_s * RESOLUTION


def load_suite(folder: Path) -> CapacitySuite:
    """Reads folder/capacity.json; UsageError where it is missing, broken or of another version."""
    return from_json(CapacitySuite, read_json(folder / CAPACITY_FILE, CAPACITY_SCHEMA_VERSION))


def unresolved(holds: Sequence[Hold]) -> tuple[Hold, ...]:
    """Holds that noise spoilt and that were not made again: nothing is known of their rate."""
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
    return from_json(Search, class_to_level(read_json(folder / SEARCH_FILE, CAPACITY_SCHEMA_VERSION)))


def load_ceilings(folder: Path) -> Ceilings:
    """Reads folder/ceilings.json; UsageError where it is missing, broken or of another version."""
    return from_json(Ceilings, read_json(folder / CEILINGS_FILE, CAPACITY_SCHEMA_VERSION))


def save_suite(suite: CapacitySuite, folder: Path) -> None:
    """Writes folder/capacity.json at once and completely."""
    write_json(dataclasses.asdict(suite), folder / CAPACITY_FILE)


def save_search(search: Search, folder: Path) -> None:
    """Writes folder/search.json at once and completely."""
    write_json(level_to_class(dataclasses.asdict(search)), folder / SEARCH_FILE)


def save_ceilings(ceilings: Ceilings, folder: Path) -> None:
    """Writes folder/ceilings.json at once and completely."""
    write_json(dataclasses.asdict(ceilings), folder / CEILINGS_FILE)
