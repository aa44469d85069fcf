"""Load steps: a constant rate on a warm path, as facts that only the running system knew and as figures."""

from collections.abc import Iterable, Sequence
from typing import Literal

from writepath.records.base import record
from writepath.records.load_facts import WithheldFacts
from writepath.records.measures import AuditVerdict, Canary, Generator, Latency, Reading, Requests, Resource

RESOLUTION = 1.05  # a limit is known where its interval reaches so far on either side: ±5 %
StepKind = Literal["ramp", "bisection", "confirmation"]  # ramp: short, and counted in no figure
StepVerdict = Literal["pass", "fail", "noise"]  # noise: the host was noisy; retried, not counted


@record
class Backlog:
    """Posts that were acknowledged but are not in the final store yet; only for queue paths."""

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
    nearest: Saturated | None = None  # if none was: the one with the highest use, over the whole load


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
class SentFacts:
    """How the load generator and the host carried out a load."""

    run_id: str  # of its writes
    started_at: str
    dropped: int | None  # k6's own count; null: it could give none
    exit_code: int
    generator_faults: tuple[str, ...]  # in words, if k6 did not send the whole schedule or its ledger is cut
    samples_late: int
    withheld: WithheldFacts | None
    processes: int = 1  # of k6, which sent the planned requests in turns


@record
class StepDrain:
    """How the wait for the store ended."""

    busy_seconds: float  # until the last change that polling saw
    capped: bool  # given up: what is left on its way is in no store, so there is no audit


@record
class SampledFigures:
    """What the samples of a load step say of queue, host and bottleneck."""

    backlog: Backlog | None
    foreign_cpu_share: float | None
    host_full: bool  # so busy that a slow load generator is the path's doing
    limited_by: LimitedBy | None


@record
class StepFacts:
    """What only the running system knew of a load step."""

    number: int  # from 1, in order; its raw files are in step-NN
    kind: StepKind
    rate_per_s: float
    seconds: float
    for_burst: bool  # the sustained rate was known
    sent: SentFacts
    drain: StepDrain | None = None  # null: a ramp step, or searches
    reads: tuple[Reading, ...] = ()  # one, or none where the store was not read
    unread: tuple[str, ...] = ()  # what could not be read, in words
    suppressed_duplicates: int | None = None
    lost_components: tuple[str, ...] = ()  # each with its reason in words
    before: Canary | None = None
    after: Canary | None = None
    sampled: SampledFigures | None = None  # in evidence, of a ramp step, whose samples are not published


@record
class LoadStep:
    """The figures of a load step: a constant rate, writes from an empty store, on a warm stack."""

    number: int  # from 1, in order
    kind: StepKind
    rate_per_s: float
    seconds: float
    for_burst: bool
    started_at: str
    verdict: StepVerdict
    burst: bool  # passes except for a growing backlog
    reasons: tuple[str, ...]  # in words: why it failed, or why the host counts as noisy
    generator_bound: bool  # failed, and the generator could be why: capacity is at least what passed
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

    @property
    def counted(self) -> bool:
        """Neither of the ramp nor noisy."""
        return self.kind != "ramp" and self.verdict != "noise"

    def passes(self, *, burst: bool) -> bool:
        """burst: for the burst rate, which every step passes that passes."""
        return self.burst if burst else self.verdict == "pass"


@record
class Bracket:
    """The rates next to a limit, and what all steps together say of it."""

    highest_passing_per_s: float | None  # null: none passed
    lowest_failing_per_s: float | None  # null: none failed
    lower_bound: bool  # the load generator or the highest rate ended the run
    steps: int  # counted, without ramp and noisy steps
    interval_per_s: tuple[float, float]  # 90 %

    @property
    def conclusive(self) -> bool:
        """Whether the rate is known to the resolution, or is a lower bound."""
        if self.highest_passing_per_s is None:
            return False
        if self.lowest_failing_per_s is None:
            return self.lower_bound
        low, high = self.interval_per_s
        return high <= low * RESOLUTION**2


def unresolved(steps: Sequence[LoadStep]) -> Iterable[LoadStep]:
    """Noisy steps that were not retried: nothing is known about their rate."""
    retried = set()
    for step in reversed(steps):
        if step.verdict != "noise":
            retried.add(step.rate_per_s)
        elif step.rate_per_s not in retried:
            yield step
