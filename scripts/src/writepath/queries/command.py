"""What does a suite of searches need of the user's words? How many posts, and how often one client asks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.capacity import command as capacity
from writepath.errors import UsageError
from writepath.options import QUERIES

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.options import Options
    from writepath.progress import Progress
    from writepath.registry import Suite
    from writepath.runtime.base import Runtime
    from writepath.suite.suite_run import SuitePlan

FEWEST_DOCUMENTS, MOST_DOCUMENTS = 1_000, 1_000_000
MOST_ROUNDS = 1_000


@dataclass(frozen=True, kw_only=True)
class Asked(capacity.Asked):
    """The goal of the search for capacity, and what comes before it."""

    documents: int
    rounds: int
    keywords: tuple[str, ...]


def asked(options: Options, suite: Suite) -> Asked | None:
    """None where the suite asks for no searches; UsageError where the words then say otherwise."""
    goal, questions = capacity.asked(options, suite), suite.queries
    if questions is None or goal is None:
        for name in QUERIES:
            if (value := options.text(name)) is not None:
                raise UsageError(
                    f"{name}={value}: applies only to search suites; '{suite.name}' is not one."
                    f" Omit it, or run: make {options.command} SUITE=search {name}={value}"
                )
        return None
    documents = options.whole("DOCS", questions.documents, low=FEWEST_DOCUMENTS, high=MOST_DOCUMENTS)
    rounds = options.whole("ROUNDS", questions.rounds, low=1, high=MOST_ROUNDS)
    return Asked(
        slo_ms=goal.slo_ms,
        hold_seconds=goal.hold_seconds,
        documents=documents or questions.documents,
        rounds=rounds or questions.rounds,
        keywords=questions.keywords,
    )


def run(
    asked: Asked, plan: SuitePlan, runtime: Runtime, progress: Progress, *, alone: bool
) -> tuple[int, Path]:
    """The suite; alone: of one variant, which is compared with nothing."""
    from writepath.queries import suite  # noqa: PLC0415 - what it stands on is much, and other suites need none

    fields = {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}
    wanted = suite.QueriesPlan(**fields, **vars(asked), compared=not alone)
    return suite.run(wanted, runtime, progress)
