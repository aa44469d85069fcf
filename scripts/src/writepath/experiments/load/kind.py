"""What the engine asks of kind `load`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath.analysis import raw
from writepath.analysis.evidence import FACTS_FILE, load_facts
from writepath.analysis.load_result import derive_load
from writepath.analysis.load_tables import bands, reduce_load
from writepath.experiments.load import measure as measuring
from writepath.experiments.load import sections
from writepath.experiments.load.params import LoadParams, params_of
from writepath.records import base
from writepath.records.load import LoadResult
from writepath.records.load_facts import LoadFacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from writepath.analysis.evidence import Evidence
    from writepath.analysis.stats import Bands
    from writepath.config.registry import Suite
    from writepath.experiments.base import CellRun, Session
    from writepath.records.measures import Audit, Host, Verdict
    from writepath.report.data import CellData, SuiteData
    from writepath.report.metrics import Metric
    from writepath.report.model import Report


class LoadExperiment:
    """One load a cell: writes at the scenario's rate, or by its virtual users, and the audit after them."""

    kind = "load"
    params = LoadParams
    result = LoadResult
    options = ()
    by_host = False
    load_settings = True

    @property
    def metrics(self) -> Sequence[Metric[LoadResult]]:
        """By which cells are compared."""
        return sections.METRICS

    def params_of(self, suite: Suite, options: Mapping[str, int]) -> LoadParams:  # noqa: ARG002 - it has none
        """The suite's scenario."""
        return params_of(suite.load)

    def dataset_lines(self, params: LoadParams) -> None:
        """As many as any other."""

    def load_seconds(self, params: LoadParams, settings: Mapping[str, str]) -> float:  # noqa: ARG002 - none changes it
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

    def verdict(self, result: LoadResult) -> Verdict:
        """Whether the result counts."""
        return result.verdict

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
