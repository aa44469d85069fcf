"""What the engine asks of kind `capacity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis.capacity_evidence import reduce_capacity
from writepath.analysis.capacity_result import derive_capacity
from writepath.experiments.capacity import measure as measuring
from writepath.experiments.capacity import sections, words
from writepath.experiments.capacity.params import OPTIONS, CapacityParams, params_of
from writepath.records.capacity_run import CapacityResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from writepath.analysis.evidence import Evidence
    from writepath.config.registry import Suite
    from writepath.experiments.base import CellRun, Session
    from writepath.records.measures import Host, Verdict
    from writepath.report.data import SuiteData
    from writepath.report.metrics import Metric
    from writepath.report.model import Report

TYPICAL_STEPS = 8
BETWEEN_STEPS_S = 12.0  # emptying, drain, read, canaries


class CapacityExperiment:
    """Load steps until the maximum sustainable rate is known to 5 %, then what lies beyond it."""

    kind = "capacity"
    params = CapacityParams
    result = CapacityResult
    options = tuple(OPTIONS)
    by_host = True
    load_settings = False

    @property
    def metrics(self) -> Sequence[Metric[CapacityResult]]:
        """By which cells are compared."""
        return sections.METRICS

    def params_of(self, suite: Suite, options: Mapping[str, int]) -> CapacityParams:
        """The suite's part and its scenario."""
        return params_of(suite, options)

    def dataset_lines(self, params: CapacityParams) -> int | None:
        """Of searches a text of its own for each post; of writes as many as any other."""
        return params.documents

    def load_seconds(self, params: CapacityParams, settings: Mapping[str, str]) -> float:  # noqa: ARG002 - none changes it
        """Of one cell, with its warm-up: a guess, as its steps are not known before."""
        return params.warm_up_seconds + TYPICAL_STEPS * (params.step_seconds + BETWEEN_STEPS_S)

    def measure(self, run: CellRun, session: Session) -> None:
        """Leaves raw files in the cell's folder."""
        measuring.measure(run, session)

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files."""
        return reduce_capacity(folder, host)

    def derive(self, evidence: Evidence) -> CapacityResult:
        """The result that follows from evidence."""
        return derive_capacity(evidence)

    def verdict(self, result: CapacityResult) -> Verdict:
        """Whether the result counts."""
        return result.verdict

    def audit(self, result: CapacityResult) -> None:
        """Each step has its own verdict, in its figures."""

    def line(self, result: CapacityResult) -> str:
        """`sustained 1,234/s, fails at 1,290/s; 9 load steps`."""
        return words.result(result)

    def report(self, data: SuiteData[CapacityResult]) -> Report:
        """Sections of tables and plots."""
        return sections.report(data)
