"""How fast and how small is a report, and are its figures those that were planted? Up to ten million requests."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from writepath import process, stats
from writepath.harness import planted_suite
from writepath.harness.audit_part import LINEAR_GOAL, MEMORY_GOAL_MIB, TIMEOUT_S, Size
from writepath.harness.summarized import TABLES_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from writepath.harness.planted_suite import Planted

SIZES = (
    Size(ids=100_000, goal_s=30.0),
    Size(ids=1_000_000, goal_s=30.0),
    Size(ids=10_000_000, goal_s=30.0),
)
RANKS = {"median": 0.5, "p95": 0.95, "p99": 0.99}
NEAR_MS = 0.0021  # start and latency are kept to the microsecond, each


def run(say: Callable[[str], None], sizes: tuple[Size, ...] = SIZES) -> bool:
    """Whether every goal is met; one line a figure."""
    met, per_request = True, 0.0
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="writepath-harness-") as folder:
            planted = planted_suite.plant(size.ids)
            planted_suite.write(planted, Path(folder))
            wall_s, found = _measured(Path(folder))
            tables = json.loads((Path(folder) / TABLES_FILE).read_text(encoding="utf-8"))
            wrong = list(differences(planted, tables))
        if found["exit_code"]:
            wrong.append(f"the report ended with exit code {found['exit_code']}")
        goals = (
            (
                f"{wall_s:.2f} s from raw files to the report (goal {size.goal_s:.0f} s)",
                wall_s <= size.goal_s,
            ),
            (
                f"{found['peak_mib']:.0f} MiB peak memory (goal {MEMORY_GOAL_MIB} MiB)",
                found["peak_mib"] < MEMORY_GOAL_MIB,
            ),
            ("every figure as planted" if not wrong else "; ".join(wrong), not wrong),
        )
        for words, good in goals:
            say(f"  {size.ids:>10,} requests: {words}{_sign(good)}")
            met &= good
        before, per_request = per_request, found["seconds"] / size.ids
    if len(sizes) > 1:
        ratio = per_request / before
        linear = ratio <= LINEAR_GOAL
        say(
            f"  time per request, largest size ÷ the one before: {ratio:.2f} (goal {LINEAR_GOAL}){_sign(linear)}"
        )
        met &= linear
    return met


def differences(planted: Planted, tables: list[dict[str, Any]]) -> Iterator[str]:
    """Between the tables and what was planted, in words; none where the report is right."""
    rows = {table["key"]: table["rows"][0] for table in tables if table["rows"]}
    served = planted.requests - planted.unserved
    for key, value in (("planned", planted.requests), ("unserved", planted.unserved)):
        yield from _unless(f"latency.{key}", rows["latency"][key], value, 0.0)
    for key, value in (("status_201", served), ("status_503", planted.unserved)):
        yield from _unless(f"answers.{key}", rows["answers"][key], value, 0.0)
    yield from _unless(
        "latency.max", rows["latency"]["max_served_ms"], planted.latency_us(served) / 1000, NEAR_MS
    )
    for name, quantile in RANKS.items():
        rank = stats.rank(planted.requests, quantile)
        exact = planted.latency_us(rank) / 1000 if rank <= served else math.inf
        for key in (f"{name}_ms", f"planned_{name}_ms"):
            yield from _unless(f"latency.{key}", rows["latency"][key], exact, NEAR_MS)
        yield from _unless(
            f"clocks.{name}", rows["clocks"][f"to_durable_{name}_ms"], planted_suite.DURABLE_MS, NEAR_MS
        )


def _unless(name: str, cell: Any, value: float, near: float) -> Iterator[str]:
    found = cell["median"] if isinstance(cell, dict) else cell
    if found is None or not abs(float(found) - value) <= near:
        yield f"{name}: {found}, planted {value}"


def _measured(folder: Path) -> tuple[float, dict[str, Any]]:
    began = time.monotonic()
    said = process.call(sys.executable, "-m", "writepath.harness.summarized", folder, timeout_s=TIMEOUT_S)
    return time.monotonic() - began, json.loads(said.splitlines()[-1])


def _sign(met: bool) -> str:
    return "" if met else "  MISSED"
