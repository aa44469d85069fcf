"""Measures speed and memory of a report, and whether its figures are those planted. Up to ten million requests."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from writepath.analysis import stats
from writepath.analysis.load_tables import ROWS_MAX
from writepath.selfcheck import goals, planted_load, planted_suite
from writepath.selfcheck.goals import Size, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from writepath.selfcheck.goals import Found
    from writepath.selfcheck.planted_load import Planted

SIZES = (
    Size(requests=100_000, goal_s=30.0),
    Size(requests=1_000_000, goal_s=30.0),
    Size(requests=10_000_000, goal_s=30.0),
)
RANKS = {"median": 0.5, "p95": 0.95, "p99": 0.99}
NEAR_MS = 0.0021  # start and latency are kept to the microsecond, each
NEAR_SHARE = 0.001  # of a rank in a histogram
TABLES_FILE = "report/tables.json"


def run(say: Callable[[str], None], sizes: tuple[Size, ...] = SIZES) -> bool:
    """Whether every goal is met; one line a figure."""
    return goals.met(say, Subject(what="report", exact="every figure as planted", plant=plant), sizes)


def plant(requests: int, folder: Path) -> Callable[[Found], Iterator[str]]:
    """A suite run of one load."""
    planted, place = planted_load.plant(requests), folder / planted_suite.PLACE
    place.mkdir(parents=True)
    rows = planted_load.write(planted, place)
    planted_suite.write(folder, planted.plan, (rows, rows))

    def differing(found: Found) -> Iterator[str]:
        yield from differences(planted, json.loads((folder / TABLES_FILE).read_text(encoding="utf-8")))
        if found.exit_code:
            yield f"the report ended with exit code {found.exit_code}"

    return differing


def differences(planted: Planted, tables: list[dict[str, Any]]) -> Iterator[str]:
    """Between the tables and what was planted, in words; none where the report is right."""
    rows = {table["key"]: table["rows"][0] for table in tables if table["rows"]}
    latency, clocks, answers = rows["latency"], rows["clocks"], rows["answers"]
    served = planted.requests - planted.unserved
    for key, value in (("planned", planted.requests), ("unserved", planted.unserved)):
        yield from _unless(f"latency.{key}", latency[key], value, 0.0)
    for key, value in (("status_201", served), ("status_503", planted.unserved)):
        yield from _unless(f"answers.{key}", answers[key], value, 0.0)
    yield from _unless("latency.max", latency["max_served_ms"], planted.latency_us(served) / 1000, NEAR_MS)
    share = NEAR_SHARE if planted.requests > ROWS_MAX else 0.0
    for name, quantile in RANKS.items():
        rank = stats.rank(planted.requests, quantile)
        exact = planted.latency_us(rank) / 1000 if rank <= served else math.inf
        for key in (f"{name}_ms", f"planned_{name}_ms"):
            yield from _unless(f"latency.{key}", latency[key], exact, NEAR_MS + share * exact)
        durable_ms = planted_load.DURABLE_US / 1000
        key = f"to_durable_{name}_ms"
        yield from _unless(f"clocks.{key}", clocks[key], durable_ms, NEAR_MS + share * durable_ms)


def _unless(name: str, cell: Any, value: float, near: float) -> Iterator[str]:
    found = cell["median"] if isinstance(cell, dict) else cell
    if found is None or not abs(float(found) - value) <= near:
        yield f"{name}: {found}, planted {value}"
