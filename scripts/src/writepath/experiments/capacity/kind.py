"""Kind `capacity`, as the engine asks for it."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from writepath.analysis.audit import Said, worst_of
from writepath.analysis.capacity import derive_capacity, reduce_capacity
from writepath.analysis.evidence import Evidence
from writepath.config.checked import entry
from writepath.config.registry import SUITES_FILE, SloMs, Suite
from writepath.config.settings import OF_LOAD
from writepath.errors import UsageError
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.experiments.capacity import sections
from writepath.experiments.capacity.measure import measure
from writepath.experiments.capacity.searches import Searches
from writepath.experiments.warm_path import WarmPath
from writepath.measure.loading import RATE_SCALE
from writepath.records.base import record
from writepath.records.capacity_run import CapacityResult
from writepath.records.measures import Host
from writepath.records.warm_up import WarmUpParams, warm_up_params
from writepath.report.capacity import Capacity, rate_in_words
from writepath.report.data import SuiteData
from writepath.report.model import Report

Operation = Literal["write", "search"]
OPERATIONS: Mapping[Operation, type[WarmPath]] = {"write": WarmPath, "search": Searches}
# Of the command line: the field that it replaces.
OPTIONS = {"SLO_MS": "slo_ms", "HOLD_SECONDS": "step_seconds", "DOCS": "documents"}


@entry
class Part:
    """The part `capacity:` of a suite."""

    operation: Operation
    slo_ms: SloMs
    documents: Annotated[
        int | None, Field(ge=1_000, le=1_000_000, description="Posts that are searched; only of searches.")
    ] = None
    begins_per_s: Annotated[
        float | None, Field(gt=0, description="Rate of the first step; default: the lowest rate.")
    ] = None
    at_most_seconds: Annotated[
        float, Field(ge=60, le=86_400, description="Of one capacity run, from the start of its stack.")
    ] = 480.0


@record
class CapacityParams(WarmUpParams):
    """What is sent, the goal, and between which rates the limit is looked for."""

    operation: Operation
    scenario: str
    script: str
    slo_ms: float  # limit of the p99 from the scheduled send time
    step_seconds: float  # of one load step, at least
    lowest_per_s: float
    highest_per_s: float
    documents: int | None  # posts that are searched; null: of writes
    begins_per_s: float | None  # first step; null: where the operation says, or at the lowest rate
    at_most_seconds: float  # of one capacity run


def params_of(suite: Suite, options: Mapping[str, Any]) -> CapacityParams:
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
    asked: dict[str, Any] = {OPTIONS[name]: value for name, value in options.items()}
    made = dataclasses.replace(made, **asked)
    if (made.operation == "search") != (made.documents is not None):
        raise UsageError(
            f"{SUITES_FILE}: suites.{suite.name}.capacity: documents={made.documents} (DOCS) with operation"
            f" {made.operation}; searches need a number of posts, writes have none"
        )
    return made


class CapacityExperiment(Experiment[CapacityResult]):
    """Load steps until the maximum sustainable rate is known to ±5 %, then what lies beyond it."""

    kind = "capacity"
    params = CapacityParams
    result = CapacityResult
    options = tuple(OPTIONS)
    unused = OF_LOAD - {RATE_SCALE}
    by_host = True
    metrics = sections.METRICS

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> CapacityParams:
        """The suite's part and its scenario, with what the user asked for."""
        return params_of(suite, options)

    def dataset_lines(self, params: CapacityParams) -> int | None:
        """Of searches a text of its own for each post; of writes as many as any other."""
        return params.documents

    def load_seconds(self, params: CapacityParams) -> float:
        """Of one cell: a guess, as its steps are not known before."""
        return params.at_most_seconds

    def measure(self, run: CellRun, session: Session) -> None:
        """Leaves raw files in the cell's folder."""
        measure(OPERATIONS[run.params.operation](run, session))

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files."""
        return reduce_capacity(folder, host)

    def derive(self, evidence: Evidence) -> CapacityResult:
        """The result that follows from evidence."""
        return derive_capacity(evidence)

    def audit(self, result: CapacityResult) -> Said | None:
        """Of the writes of each step that was read back; None of searches."""
        audited = [(step, step.audit) for step in result.steps if step.audit is not None]
        if not audited:
            return None
        lines = tuple(f"step {step.number}, {step.rate_per_s:g}/s: {verdict}" for step, verdict in audited)
        return worst_of([verdict for _, verdict in audited]), lines

    def line(self, result: CapacityResult) -> str:
        """`sustained ≥ 1,234/s, lower bound; 9 load steps`."""
        rates = {"sustained": result.sustained}
        if result.burst != result.sustained:
            rates["burst"] = result.burst
        words = [f"{name} {rate_in_words(Capacity(by_block={1: one}))}" for name, one in rates.items()]
        steps = max(one.steps for one in rates.values())
        return f"{'; '.join(words)}; {steps} load steps"

    def report(self, data: SuiteData[CapacityResult]) -> Report:
        """Sections of tables and plots."""
        return sections.report(data)
