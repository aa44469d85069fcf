"""Capacity runs of searches: with keywords in the place of posts."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath.capacity.search import Searcher
from writepath.load.ledger import SEARCH

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.capacity.rig import Rig
    from writepath.capacity.search_run import SearchSpec

BEGINS = 0.25  # of what one client reached, one search after the other: a path that is idle most of the time
QUESTIONS_FILE = "questions.json"


def searcher(spec: SearchSpec, one_client_ms: float) -> Searcher:
    """Its ramp begins where the path is surely idle, and warms it on the way."""
    (rates,) = spec.scenario.phases
    return Searcher(
        lowest_per_s=rates.from_per_s,
        highest_per_s=rates.to_per_s,
        hold_seconds=spec.hold_seconds,
        queue=False,
        start_per_s=BEGINS * 1000 / one_client_ms,
    )


def searching(rig: Rig, questions: Path, *, added_meanwhile: bool) -> Rig:
    """The rig as it is loaded with searches. added_meanwhile: totals may be above what they were before the load."""
    return dataclasses.replace(
        rig,
        bench=dataclasses.replace(rig.bench, content=questions),
        operation=SEARCH,
        variables={"BENCH_TOTAL": "at-least" if added_meanwhile else "exactly"},
    )
