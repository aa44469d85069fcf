"""What the engine asks of kind `faults`."""

import dataclasses
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from writepath.analysis import raw
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts
from writepath.analysis.faults import derive_faults, reduce_faults
from writepath.config.registry import Registry, Suite
from writepath.experiments.base import CellRun, Experiment, Plan, Session
from writepath.experiments.faults import design
from writepath.experiments.faults import measure as measuring
from writepath.experiments.faults.design import FaultSuite
from writepath.options import Asked
from writepath.records import base
from writepath.records.faults import FaultFacts, FaultParams, FaultResult
from writepath.records.measures import Audit, Host
from writepath.report import faults
from writepath.report.data import Metric, SuiteData
from writepath.report.model import Report

CELL_SECONDS, TRIAL_SECONDS = 45.0, 15.0  # guesses, until a cell has ended


class FaultExperiment(Experiment[FaultResult]):
    """One load a cell, in which one fault strikes several times, and the audit after it."""

    kind = "faults"
    params = FaultParams
    result = FaultResult
    options = design.OPTIONS
    metrics = (
        Metric(
            key="recovery_s",
            title="recovery, median",
            better="lower",
            get=lambda result: statistics.median(result.recovered_in) if result.recovered_in else None,
        ),
    )

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> FaultSuite:  # noqa: ARG002 - designed() has them
        """The suite's part, before the user has narrowed it: `designed` makes the cells of it."""
        return suite.checked_params(FaultSuite)

    def designed(self, plan: Plan, known: Registry, asked: Asked) -> Plan:
        """Variants x faults that apply to them."""
        return design.designed(plan, known, asked)

    def load_seconds(self, params: FaultParams) -> float:
        """Of one cell."""
        return CELL_SECONDS + TRIAL_SECONDS * statistics.mean(params.trials.values())

    def grown(self, before: Mapping[str, Any], now: FaultParams) -> frozenset[str] | None:
        """Cells in which fewer faults were asked for than now."""
        known = base.from_data(FaultParams, dict(before), "index.json: params")
        if known.rate_per_s != now.rate_per_s:
            return None
        return frozenset(
            name for name, trials in now.trials.items() if trials > known.trials.get(name, trials)
        )

    def measure(self, run: CellRun, session: Session) -> None:
        """Leaves raw files in the cell's folder."""
        measuring.measure(run, session)

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files."""
        facts = base.from_data(FaultFacts, load_facts(folder), str(folder / FACTS_FILE))
        if facts.load is not None:
            facts = dataclasses.replace(facts, load=dataclasses.replace(facts.load, host=host))
        return reduce_faults(raw.tables(folder), facts)

    def derive(self, evidence: Evidence) -> FaultResult:
        """The result that follows from evidence."""
        return derive_faults(evidence)

    def audit(self, result: FaultResult) -> Audit | None:
        """Of all writes of the load."""
        return result.audit

    def line(self, result: FaultResult) -> str:
        """`no loss in 20 faults (loss probability ≤ 13.9 %); recovered in 7.0 s (max 12.3 s)`."""
        return f"{faults.verdict_in_words(result)}{faults.recovery_in_words(result)}"

    def report(self, data: SuiteData[FaultResult]) -> Report:
        """Sections of tables."""
        return faults.report(data)
