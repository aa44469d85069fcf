"""Kind `pair`, as the engine asks for it."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from writepath.analysis.audit import Said, worst_of
from writepath.analysis.pairs import FIGURES, derive_pair, ratio, reduce_pair
from writepath.config.registry import Registry, Suite
from writepath.config.settings import OF_LOAD
from writepath.experiments.base import Experiment, Plan
from writepath.experiments.pair import sections
from writepath.experiments.pair.measure import SETTLE_S, measure
from writepath.measure.loading import RATE_SCALE
from writepath.options import Asked
from writepath.records.pair import PairParams, PairResult
from writepath.report.model import number

OPTIONS = {
    "A": "against",
    "SLO_MS": "slo_ms",
    "ROUNDS": "rounds",
}  # of the command line: the field it replaces
AROUND_S = 5.0  # canary, freeze, settling, emptying: of each step


class PairExperiment(Experiment[PairResult]):
    """Two stacks at a time, in short steps that take turns while the other stack is frozen."""

    kind = "pair"
    params = PairParams
    result = PairResult
    options = tuple(OPTIONS)
    unused = OF_LOAD - {RATE_SCALE}

    measure = staticmethod(measure)
    reduce = staticmethod(reduce_pair)
    derive = staticmethod(derive_pair)
    report = staticmethod(sections.report)

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> PairParams:
        """The part `pair:` of the suite, with what the user asked for."""
        asked: dict[str, Any] = {OPTIONS[name]: value for name, value in options.items()}
        part, times = suite.checked_params(PairParams), suite.rate_scale
        scaled = {name: getattr(part, name) * times for name in ("lowest_per_s", "highest_per_s")}
        return dataclasses.replace(part, **scaled, **asked)

    def designed(self, plan: Plan, known: Registry, asked: Asked) -> Plan:  # noqa: ARG002
        """With variant A, of which each cell starts a stack too."""
        return dataclasses.replace(plan, second=known.variant(plan.params.against))

    def load_seconds(self, params: PairParams) -> float:
        """Of one cell."""
        steps = 2 * (2 * params.rounds * len(params.shares) + params.limit_steps)
        return steps * (params.step_seconds + SETTLE_S + AROUND_S)

    def audit(self, result: PairResult) -> Said | None:
        """Of the last step of each path."""
        audited = [(step, step.audit) for step in result.steps if step.audit is not None]
        lines = tuple(f"step {step.number}, {step.side.upper()}: {verdict}" for step, verdict in audited)
        return (worst_of([verdict for _, verdict in audited]), lines) if audited else None

    def line(self, result: PairResult) -> str:
        """`÷ jpa: CPU per write 1.05, p99 1.2, rate at the limit 0.96`."""
        found = [(figure.title, ratio([result], figure).ratio) for figure in FIGURES]
        return f"÷ {result.against}: " + ", ".join(
            f"{title} {'-' if value is None else number(value)}" for title, value in found
        )
