"""A kind of experiment in one module: counts how long a cell may think. It starts no stack."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from writepath.analysis.evidence import Evidence
from writepath.records.base import record
from writepath.records.measures import Audit, Verdict
from writepath.report.metrics import Metric
from writepath.report.model import Column, Report, Row, Table, cell, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from writepath.config.registry import Suite
    from writepath.experiments.base import CellRun, Session
    from writepath.records.measures import Host
    from writepath.report.data import SuiteData

NOISY = Verdict(status="unknown", reasons=("noisy host: planted",), noise=True)


@record
class ToyParams:
    thought_ms: float


@record
class ToyResult:
    thought_ms: float
    verdict: Verdict


@dataclass
class Toy:
    """`noisy` says by measured cell, from 1, whether the host was noisy; `before` runs first in each measure."""

    noisy: Sequence[int] = ()
    before: Callable[[CellRun], None] = lambda _: None
    measured: list[tuple[str, int]] = field(default_factory=list)  # name and block, in the order they ran
    kind: str = "toy"
    params: type = ToyParams
    result: type[ToyResult] = ToyResult
    metrics: tuple[Metric[ToyResult], ...] = (
        Metric(key="thought_ms", title="thought", better="lower", get=lambda result: result.thought_ms),
    )

    def params_of(self, suite: Suite) -> ToyParams:
        return suite.checked_params(ToyParams)

    def load_seconds(self, _params: ToyParams, _settings: Mapping[str, str]) -> float:
        return 0.0

    def measure(self, run: CellRun, session: Session) -> None:
        self.before(run)
        if run.cell.levels.get("VIRTUAL_USERS"):
            session.stack(run)
        self.measured.append((run.cell.name, run.cell.block))
        thought = run.params.thought_ms * float(run.settings.get("POOL_SIZE", 1)) + run.cell.block / 8
        noisy = len(self.measured) in self.noisy
        (run.folder / "raw.json").write_text(json.dumps({"ms": [thought, thought], "noisy": noisy}))

    def reduce(self, folder: Path, _host: Host) -> Evidence:
        raw = json.loads((folder / "raw.json").read_text())
        return Evidence(tables={}, facts={"sum_ms": sum(raw["ms"]), "noisy": raw["noisy"]})

    def derive(self, evidence: Evidence) -> ToyResult:
        verdict = NOISY if evidence.facts["noisy"] else Verdict(status="valid")
        return ToyResult(thought_ms=evidence.facts["sum_ms"] / 2, verdict=verdict)

    def verdict(self, result: ToyResult) -> Verdict:
        return result.verdict

    def audit(self, _result: ToyResult) -> Audit | None:
        return None

    def line(self, result: ToyResult) -> str:
        return f"thought {result.thought_ms:g} ms"

    def report(self, data: SuiteData[ToyResult]) -> Report:
        rows = tuple(
            Row(cells=(text(row.title), cell(one.result.thought_ms for one in data.shown(row) if one.result)))
            for row in data.rows
        )
        columns = (
            Column(key="variant", title="variant"),
            Column(key="thought_ms", title="thought", unit="ms"),
        )
        table = Table(key="thoughts", title="Thoughts", caption="How long.", columns=columns, rows=rows)
        return Report(
            title=data.index.title,
            answer=("It thought.",),
            facts="Here.",
            picture=None,
            table=table,
            details=(),
        )


def suites_yaml(*variants: str, **more: Any) -> str:
    """suites.yaml with one suite of the kind."""
    phase = {"name": "sustained", "seconds": 1, "from_per_s": 1, "to_per_s": 1}
    scenario = {"script": "k6/scenarios/ramp.js", "phases": [phase]}
    entry = {
        "title": "Toy",
        "kind": "toy",
        "scenario": "none",
        "repetitions": 1,
        "variants": list(variants),
        "toy": {"thought_ms": 2.0},
    }
    return json.dumps({"scenarios": {"none": scenario}, "suites": {"toys": {**entry, **more}}})
