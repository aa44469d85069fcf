"""Kind `load`, as the engine asks for it."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from writepath.analysis import raw
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts
from writepath.analysis.load_result import bands, derive_load, reduce_load
from writepath.analysis.stats import Bands
from writepath.config.registry import Scenario, Suite
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.experiments.load import measure as measuring
from writepath.experiments.load import sections
from writepath.measure.loading import closed_plan
from writepath.records import base
from writepath.records.base import record
from writepath.records.load import LoadResult
from writepath.records.load_facts import LoadFacts, LoadModel, PhaseFacts
from writepath.records.measures import Audit, Host
from writepath.report.data import CellData, SuiteData
from writepath.report.model import Report


@record
class LoadParams:
    """A scenario of suites.yaml."""

    scenario: str
    script: str
    model: LoadModel
    phases: tuple[PhaseFacts, ...]  # empty in a closed load
    virtual_users: int | None  # of a closed load
    seconds: float  # scheduled duration
    warm_up_requests: int
    warm_up_per_s: float

    @property
    def warm_up_seconds(self) -> float:
        """0 without a warm-up."""
        return self.warm_up_requests / self.warm_up_per_s if self.warm_up_requests else 0.0


def params_of(scenario: Scenario) -> LoadParams:
    """The record of a scenario."""
    warm_up, closed = scenario.warm_up, closed_plan(scenario)
    return LoadParams(
        scenario=scenario.name,
        script=scenario.script,
        model="open" if closed is None else "closed",
        phases=tuple(PhaseFacts(**vars(phase)) for phase in scenario.phases),
        virtual_users=None if closed is None else closed.virtual_users,
        seconds=sum(phase.seconds for phase in scenario.phases) if closed is None else closed.seconds,
        warm_up_requests=warm_up.requests if warm_up else 0,
        warm_up_per_s=warm_up.rate_per_s if warm_up else 0.0,
    )


class LoadExperiment(Experiment[LoadResult]):
    """One load a cell: writes at the scenario's rate, or by its virtual users, and the audit after them."""

    kind = "load"
    params = LoadParams
    result = LoadResult
    metrics = sections.METRICS
    load_settings = True

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> LoadParams:  # noqa: ARG002 - it has none
        """The suite's scenario."""
        return params_of(suite.load)

    def load_seconds(self, params: LoadParams) -> float:
        """Of one cell, with its warm-up."""
        return params.warm_up_seconds + params.seconds

    def measure(self, run: CellRun, session: Session) -> None:
        """Leaves raw files in the cell's folder."""
        measuring.measure(run, session)

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files."""
        facts = base.from_data(LoadFacts, load_facts(folder), str(folder / FACTS_FILE))
        return reduce_load(raw.tables(folder), dataclasses.replace(facts, host=host))

    def derive(self, evidence: Evidence) -> LoadResult:
        """The result that follows from evidence."""
        return derive_load(evidence)

    def audit(self, result: LoadResult) -> Audit:
        """Of all writes."""
        return result.audit

    def line(self, result: LoadResult) -> str:
        """`7030/7030 acknowledged  median 2.6 ms  p95 4.1 ms`."""
        requests, latency = result.requests, result.accept_latency_ms
        return (
            f"{requests.acknowledged}/{requests.planned} acknowledged"
            f"  median {_ms(latency.median)}  p95 {_ms(latency.p95)}"
        )

    def report(self, data: SuiteData[LoadResult]) -> Report:
        """Sections of tables and plots."""
        return sections.report(data, _bands)


def _bands(cell: CellData[LoadResult]) -> Bands | None:
    return None if cell.evidence is None else bands(cell.evidence)


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ms"
