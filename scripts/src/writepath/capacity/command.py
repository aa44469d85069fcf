"""What does a suite that searches for capacity need of the user's words? Its goal, and how long a rate is held."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.options import RERUNS, SEARCH

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.options import Options
    from writepath.progress import Progress
    from writepath.registry import Suite
    from writepath.runtime.base import Runtime
    from writepath.suite.suite_run import SuitePlan

LONGEST_SLO_MS = 15_000  # k6 gives up then
SHORTEST_HOLD_SECONDS = 5  # 1,000 requests for a p99, at 200/s
LONGEST_HOLD_SECONDS = 3600


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The goal of a capacity run, and how long a load step lasts."""

    slo_ms: float
    hold_seconds: float


def asked(options: Options, suite: Suite) -> Asked | None:
    """None for a load suite; UsageError if the user gave options that it does not have."""
    goal = suite.capacity or suite.queries
    if goal is None:
        for name in SEARCH:
            if (value := options.text(name)) is not None:
                raise UsageError(
                    f"{name}={value}: applies only to capacity and search suites; '{suite.name}' is a load suite."
                    f" Omit it, or run: make {options.command} SUITE=capacity {name}={value}"
                )
        return None
    if (value := options.text(RERUNS)) is not None:
        raise UsageError(
            f"{RERUNS}={value}: applies only to load suites; '{suite.name}' retries noisy steps by itself. Omit it"
        )
    slo_ms = options.whole("SLO_MS", None, low=1, high=LONGEST_SLO_MS)
    seconds = options.whole("HOLD_SECONDS", None, low=SHORTEST_HOLD_SECONDS, high=LONGEST_HOLD_SECONDS)
    return Asked(
        slo_ms=goal.slo_ms if slo_ms is None else float(slo_ms),
        hold_seconds=suite.scenario.phases[0].seconds if seconds is None else float(seconds),
    )


def run(
    asked: Asked, plan: SuitePlan, runtime: Runtime, progress: Progress, *, alone: bool
) -> tuple[int, Path]:
    """The suite; alone: of one variant, which is compared with nothing."""
    from writepath.capacity import suite  # noqa: PLC0415 - what it stands on is much, and other suites need none

    fields = {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}
    wanted = suite.CapacityPlan(
        **fields, slo_ms=asked.slo_ms, hold_seconds=asked.hold_seconds, compared=not alone
    )
    return suite.run(wanted, runtime, progress)
