"""A capacity suite's part of the command line: the limit of the p99, and how long a load step lasts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.config.registry import Goal, Questions
from writepath.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.config.registry import Suite
    from writepath.experiments.plan import Plan
    from writepath.options import Bench
    from writepath.progress import Progress
    from writepath.runtime.base import Runtime

_PARAMS = {"capacity": Goal, "search": Questions}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The goal of a capacity run, and how long a load step lasts."""

    slo_ms: float
    hold_seconds: float


def asked(command: str, options: Bench, suite: Suite) -> Asked | None:
    """None for a load suite; UsageError if the user gave options that it does not have."""
    if suite.kind not in _PARAMS:
        for name, value in (("SLO_MS", options.slo_ms), ("HOLD_SECONDS", options.hold_seconds)):
            if value is not None:
                raise UsageError(
                    f"{name}={value}: applies only to capacity and search suites; '{suite.name}' is a load suite."
                    f" Omit it, or run: make {command} SUITE=capacity {name}={value}"
                )
        return None
    if options.reruns is not None:
        raise UsageError(
            f"RERUNS={options.reruns}: applies only to load suites;"
            f" '{suite.name}' retries noisy steps by itself. Omit it"
        )
    goal: Goal | Questions = suite.checked_params(_PARAMS[suite.kind])
    if len(suite.scenario.phases) != 1:
        raise UsageError(
            f"suites.yaml: suites.{suite.name}.scenario: a capacity run takes lowest rate, highest rate and step"
            f" duration from one phase; '{suite.scenario.name}' has {len(suite.scenario.phases)} phases"
        )
    return Asked(
        slo_ms=float(options.slo_ms or goal.slo_ms),
        hold_seconds=float(options.hold_seconds or suite.scenario.phases[0].seconds),
    )


def run(asked: Asked, plan: Plan, runtime: Runtime, progress: Progress, *, alone: bool) -> tuple[int, Path]:
    """The suite; alone: of one variant, which is compared with nothing."""
    from writepath.capacity import suite  # noqa: PLC0415 - what it stands on is much, and other suites need none

    fields = {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}
    wanted = suite.CapacityPlan(
        **fields, slo_ms=asked.slo_ms, hold_seconds=asked.hold_seconds, compared=not alone
    )
    return suite.run(wanted, runtime, progress)
