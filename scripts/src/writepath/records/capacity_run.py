"""A capacity run: one variant in one block, its maximum sustainable rate and how it behaves beyond."""

from writepath.records.base import record
from writepath.records.load_facts import OperationFacts
from writepath.records.measures import Host, Verdict
from writepath.records.search_load import SearchLoad, SearchLoadFacts
from writepath.records.steps import Bracket, LoadStep, SentFacts, StepFacts
from writepath.records.warm_up import WarmUpFacts


@record
class OverloadFacts:
    """What only the running system knew of the load at twice the capacity."""

    capacity_per_s: float  # the rate that was doubled
    sent: SentFacts


@record
class CapacityFacts:
    """facts.json of a capacity run, saved after each load step."""

    runtime: str
    operation: OperationFacts
    queue_path: bool  # another service than the ingress writes to the final store
    slo_ms: float
    step_seconds: float  # of one load step, at least
    lowest_per_s: float
    highest_per_s: float
    steps: tuple[StepFacts, ...] = ()
    overload: OverloadFacts | None = None
    searches: SearchLoadFacts | None = None  # of a run of searches
    ended: str = ""  # why the run ended before its limit was known, in words
    at_most_seconds: float | None = None  # of the run; null: a path of a pair
    host: Host | None = None  # in evidence; raw facts leave it to cell.json
    warm_up: WarmUpFacts | None = None  # null: not asked to become steady

    @property
    def writes(self) -> bool:
        """Whether requests are writes; else they are searches, of which nothing has to be stored."""
        return self.operation.name == "write"

    @property
    def waits(self) -> bool:
        """Whether acknowledged writes wait in a queue."""
        return self.queue_path and self.writes


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
    recovered_after_s: float | None  # from the overload's end to the first p95 again; null: not in the load
    backlog_drained_after_s: float | None  # null: no queue, or not drained during the load
    generator_faults: tuple[str, ...]


@record
class CapacityResult:
    """All figures of a capacity run."""

    operation: str  # write or search
    queue_path: bool
    slo_ms: float
    step_seconds: float
    sustained: Bracket  # rate at which the store keeps up
    burst: Bracket  # rate of 201s alone; equal to sustained without a queue
    steps: tuple[LoadStep, ...]
    overload: Overload | None
    verdict: Verdict
    searches: SearchLoad | None = None  # of a run of searches
    warm_up: WarmUpFacts | None = None
    ended: str = ""  # why before its limit was known
