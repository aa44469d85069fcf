"""A search suite's part of the command line: how many posts, and how many rounds of one client."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.capacity import command as capacity
from writepath.config.registry import Questions
from writepath.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.config.registry import Suite
    from writepath.experiments.plan import Plan
    from writepath.options import Bench
    from writepath.progress import Progress
    from writepath.runtime.base import Runtime


@dataclass(frozen=True, kw_only=True)
class Asked(capacity.Asked):
    """The goal of the search for capacity, and what comes before it."""

    documents: int
    rounds: int
    keywords: tuple[str, ...]


def asked(command: str, options: Bench, suite: Suite) -> Asked | None:
    """None for a suite without searches; UsageError if the user gave options that it does not have."""
    goal = capacity.asked(command, options, suite)
    if suite.kind != "search" or goal is None:
        for name, value in (("DOCS", options.docs), ("ROUNDS", options.rounds)):
            if value is not None:
                raise UsageError(
                    f"{name}={value}: applies only to search suites; '{suite.name}' is not one."
                    f" Omit it, or run: make {command} SUITE=search {name}={value}"
                )
        return None
    questions = suite.checked_params(Questions)
    return Asked(
        slo_ms=goal.slo_ms,
        hold_seconds=goal.hold_seconds,
        documents=options.docs or questions.documents,
        rounds=options.rounds or questions.rounds,
        keywords=questions.keywords,
    )


def run(asked: Asked, plan: Plan, runtime: Runtime, progress: Progress, *, alone: bool) -> tuple[int, Path]:
    """The suite; alone: of one variant, which is compared with nothing."""
    from writepath.queries import suite  # noqa: PLC0415 - what it stands on is much, and other suites need none

    fields = {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}
    wanted = suite.QueriesPlan(**fields, **vars(asked), compared=not alone)
    return suite.run(wanted, runtime, progress)
