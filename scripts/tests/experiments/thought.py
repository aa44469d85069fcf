"""A kind of experiment in one module: counts how long a cell may think. It starts no stack."""

import json
from pathlib import Path

from writepath.analysis.evidence import Evidence
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.records.base import record
from writepath.records.measures import Host, Verdict
from writepath.report.data import CellData, Metric, SuiteData
from writepath.report.model import Report
from writepath.report.rows import Field, by_row, field

NOISY = Verdict(status="unknown", reasons=("noisy host: planted",), noise=True)


@record
class ThoughtParams:
    thought_ms: float


@record
class ThoughtResult:
    thought_ms: float
    verdict: Verdict


class Thought(Experiment[ThoughtResult]):
    kind = "toy"
    params = ThoughtParams
    result = ThoughtResult
    metrics = (
        Metric(key="thought_ms", title="thought", better="lower", get=lambda result: result.thought_ms),
    )
    options = (("ROUNDS", "thought_ms"),)
    unused = ()

    def load_seconds(self, _params: ThoughtParams) -> float:
        return 0.0

    def measure(self, run: CellRun, _session: Session) -> None:
        thought = run.params.thought_ms * float(run.settings.get("POOL_SIZE", 1)) + run.cell.block / 8
        (run.folder / "raw.json").write_text(json.dumps({"ms": [thought, thought]}))

    def reduce(self, folder: Path, _host: Host) -> Evidence:
        raw = json.loads((folder / "raw.json").read_text())
        return Evidence(tables={}, facts={"sum_ms": sum(raw["ms"]), "noisy": raw.get("noisy", False)})

    def derive(self, evidence: Evidence) -> ThoughtResult:
        verdict = NOISY if evidence.facts["noisy"] else Verdict(status="valid")
        return ThoughtResult(thought_ms=evidence.facts["sum_ms"] / 2, verdict=verdict)

    def line(self, result: ThoughtResult) -> str:
        return f"thought {result.thought_ms:g} ms"

    def report(self, data: SuiteData[ThoughtResult]) -> Report:
        thought: Field[CellData[ThoughtResult]] = field(
            "thought_ms", "thought", lambda one: one.result.thought_ms if one.result else None, "ms"
        )
        known = {"key": "thoughts", "title": "Thoughts", "caption": "How long."}
        table = by_row(data, [thought], lambda row: row.title, **known)
        return Report(
            title=data.index.title,
            answer=("It thought.",),
            facts="Here.",
            picture=None,
            table=table,
            details=(),
        )
