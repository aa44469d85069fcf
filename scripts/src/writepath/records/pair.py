"""A pair: two paths next to each other on one host, one of them frozen while the other is loaded."""

from typing import Annotated, Literal

from pydantic import Field

from writepath.config.registry import SloMs
from writepath.records.base import record
from writepath.records.capacity_run import CapacityFacts
from writepath.records.measures import AuditVerdict, Verdict
from writepath.records.steps import StepVerdict

Side = Literal["a", "b"]  # a: the variant that the cell's own, b, is compared with
Aim = Literal["equal", "limit"]  # a pair of steps at one rate, or each towards the limit of its path
Rate = Annotated[float, Field(gt=0, le=100_000)]
Shares = Annotated[tuple[Annotated[float, Field(gt=0, lt=1)], ...], Field(min_length=1)]


@record
class PairParams:
    """The part `pair:` of a suite."""

    against: str  # variant A; each variant of the suite is a B, A itself too (A/A)
    limit_steps: Annotated[int, Field(ge=1, le=100)]  # of a path, towards the rate at which half of them pass
    shares: Shares  # of the lower limit: the equal rates, ascending
    rounds: Annotated[int, Field(ge=1, le=1_000)]  # of A B B A at each of these rates
    lowest_per_s: Rate
    highest_per_s: Rate
    step_seconds: Annotated[float, Field(ge=1, le=60)]
    slo_ms: SloMs


@record
class PairFacts:
    """facts.json of a pair, saved after each pair of steps."""

    against: str
    title: str  # of variant A
    guarantees: dict[str, str]  # by side: durability class of a 201
    equal: tuple[tuple[int, int], ...] = ()  # numbers of two steps that followed each other: of A, of B
    limit: tuple[tuple[int, int], ...] = ()
    frozen_cpu_seconds: tuple[float, ...] = ()  # by step: what the frozen path used during the load
    a: CapacityFacts | None = None  # with its steps; in evidence, raw facts are in a/ and b/
    b: CapacityFacts | None = None


@record
class PairStep:
    """A short load step of one path while the other was frozen."""

    number: int  # from 1, in order; its raw files are in a/step-NN or b/step-NN
    side: Side
    pair: int  # from 1, of its aim
    aim: Aim
    rate_per_s: float
    verdict: StepVerdict
    reasons: tuple[str, ...]
    acknowledged: int
    cpu_us_per_write: float | None  # of all components without the load generator ÷ acknowledged writes
    p99_ms: float | None  # from the scheduled send time; null: of too few requests, or not acknowledged
    audit: AuditVerdict | None  # of the last step of each path
    generator_bound: bool  # failed, and the load generator could be why
    generator_cpu_share: float  # highest mean of 10 s, of its processors
    canary_cpu_ms: float | None  # a fixed CPU task right before the step
    frozen_cpu_seconds: float  # of the other path meanwhile


@record
class PairLimit:
    """The rate at which half of a path's steps pass, fitted to all of them, with an interval of 90 %."""

    low_per_s: float
    per_s: float
    high_per_s: float


@record
class PairResult:
    """All figures of a pair; the ratios follow from its steps."""

    against: str
    title: str  # of variant A
    guarantees: dict[str, str]
    slo_ms: float
    step_seconds: float
    steps: tuple[PairStep, ...]  # in the order they ran
    limits: dict[str, PairLimit]  # by side; empty where no step was taken towards them
    verdict: Verdict
