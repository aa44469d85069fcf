"""Kind `capacity`: load steps on one warm stack until the limit is known, then what lies beyond it."""

import dataclasses
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from writepath.analysis import limit
from writepath.analysis.audit import Said, worst_said
from writepath.analysis.capacity import derive_capacity, reduce_capacity
from writepath.config.checked import entry
from writepath.config.registry import SUITES_FILE, SloMs, Suite
from writepath.config.settings import OF_LOAD
from writepath.errors import UsageError
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.experiments.capacity import sections
from writepath.experiments.capacity.searches import Searches
from writepath.experiments.capacity.stepper import BETWEEN_S, Stepper
from writepath.experiments.warm_path import WarmPath, step_in_words, wait_for_quiet
from writepath.measure import host
from writepath.measure.loading import RATE_SCALE
from writepath.records.base import record
from writepath.records.capacity_run import CapacityResult
from writepath.records.warm_up import WarmUpParams, warm_up_params
from writepath.report.capacity import Capacity, rate_in_words

Operation = Literal["write", "search"]
AFTER_S = 110.0  # what comes after the steps: overload and recovery, or searches during writes


@entry
class Part:
    """The part `capacity:` of a suite."""

    operation: Operation
    slo_ms: SloMs  # limit of the p99 from the scheduled send time
    documents: Annotated[int | None, Field(ge=1_000, le=1_000_000)] = None  # to be searched; null: of writes
    begins_per_s: Annotated[float | None, Field(gt=0)] = None  # first step; null: the operation's, or lowest
    at_most_seconds: Annotated[float, Field(ge=60, le=86_400)] = 480.0  # of a run, from its stack's start


@record
class CapacityParams(Part, WarmUpParams):
    """What is sent, the goal, and between which rates the limit is looked for."""

    scenario: str
    script: str
    step_seconds: float  # of one load step, at least
    lowest_per_s: float
    highest_per_s: float


def measure(run: CellRun, session: Session) -> None:
    """Leaves the raw files of each step, and the facts after each of them."""
    params, began_s = run.params, time.monotonic() - sum(run.steps.values())
    path = (Searches if params.operation == "search" else WarmPath)(run, session)
    path.know(at_most_seconds=params.at_most_seconds)

    def left_s() -> float:
        return float(params.at_most_seconds) - AFTER_S - (time.monotonic() - began_s)

    start_per_s = path.prepare() or params.begins_per_s
    stepper = Stepper(
        lowest_per_s=params.lowest_per_s,
        highest_per_s=params.highest_per_s,
        step_seconds=params.step_seconds,
        queue=path.facts.waits,
        left_s=left_s,
        start_per_s=start_per_s,
        warm_per_s=limit.carried_per_s(path.facts.warm_up),
    )
    while (step := stepper.step) is not None:
        number, counted = len(path.facts.steps) + 1, step.kind != "ramp"  # a ramp step is as short as can be
        before = run.canary() if counted else None
        facts = path.load_step(number, step, f"step {number}")
        if counted:
            facts = dataclasses.replace(path.after_step(facts), before=before, after=run.canary())
        made = path.judged(dataclasses.replace(facts, lost_components=tuple(path.stack.lost_components())))
        stepper.told(made)
        run.bench.progress.say(f"  {step_in_words(made)}")
        path.require_whole(f"in step {number}, at {step.rate_per_s:,g}/s")
        if made.verdict == "noise" and stepper.step is not None:
            spare_s = left_s() - stepper.step.seconds - BETWEEN_S
            wait_for_quiet(run.bench, max(0.0, min(spare_s, host.LONGEST_S)))
    path.know(ended=stepper.ended)
    capacity_per_s = stepper.bracket().highest_passing_per_s
    if capacity_per_s is not None:
        path.beyond(capacity_per_s)
        path.require_whole(f"in what followed the capacity of {capacity_per_s:,.0f}/s")


class CapacityExperiment(Experiment[CapacityResult]):
    """Load steps until the maximum sustainable rate is known to ±5 %, then what lies beyond it."""

    kind = "capacity"
    params = CapacityParams
    result = CapacityResult
    options = (("SLO_MS", "slo_ms"), ("HOLD_SECONDS", "step_seconds"), ("DOCS", "documents"))
    unused = OF_LOAD - {RATE_SCALE}
    by_host = True
    metrics = sections.METRICS

    measure = staticmethod(measure)
    reduce = staticmethod(reduce_capacity)
    derive = staticmethod(derive_capacity)
    report = staticmethod(sections.report)

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> CapacityParams:
        """The suite's part and its scenario, with what the user asked for; UsageError where they are not one phase."""
        part, scenario = suite.checked_params(Part), suite.load
        if len(scenario.phases) != 1:
            raise UsageError(
                f"{SUITES_FILE}: suites.{suite.name}.scenario: a capacity run takes lowest rate, highest rate and step"
                f" duration from one phase; '{scenario.name}' has {len(scenario.phases)} phases"
            )
        (rates,) = scenario.phases
        made = CapacityParams(
            **vars(part),
            scenario=scenario.name,
            script=scenario.script,
            step_seconds=rates.seconds,
            lowest_per_s=rates.from_per_s,
            highest_per_s=rates.to_per_s,
            **warm_up_params(scenario.warm_up),
        )
        if made.begins_per_s is not None:
            made = dataclasses.replace(made, begins_per_s=made.begins_per_s * suite.rate_scale)
        made = dataclasses.replace(made, **options)
        if (made.operation == "search") != (made.documents is not None):
            raise UsageError(
                f"{SUITES_FILE}: suites.{suite.name}.capacity: documents={made.documents} (DOCS) with operation"
                f" {made.operation}; searches need a number of posts, writes have none"
            )
        return made

    def load_seconds(self, params: CapacityParams) -> float:
        """Of one cell: a guess, as its steps are not known before."""
        return params.at_most_seconds

    def audit(self, result: CapacityResult) -> Said | None:
        """Of the writes of each step that was read back; None of searches."""
        return worst_said((f"step {one.number}, {one.rate_per_s:g}/s", one.audit) for one in result.steps)

    def line(self, result: CapacityResult) -> str:
        """`sustained ≥ 1,234/s, lower bound; 9 load steps`."""
        rates = {"sustained": result.sustained}
        if result.burst != result.sustained:
            rates["burst"] = result.burst
        words = [f"{name} {rate_in_words(Capacity(by_block={1: one}))}" for name, one in rates.items()]
        return f"{'; '.join(words)}; {max(one.steps for one in rates.values())} load steps"
