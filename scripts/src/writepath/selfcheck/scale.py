"""Measures speed, memory and correctness of audit and report, of up to ten million requests, in processes of their own.

`python -m writepath.selfcheck.scale audit|report <folder>` measures one and prints it as JSON.
"""

import csv
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from writepath import process
from writepath.analysis import audit, stats
from writepath.analysis.load_result import ROWS_MAX
from writepath.analysis.times import QUANTILES
from writepath.experiments import reporting
from writepath.records.measures import Audit
from writepath.selfcheck import planted
from writepath.selfcheck.planted import Planted

MEMORY_GOAL_MIB = 1024
LINEAR_GOAL = 1.5  # seconds per request at the largest size, ÷ those at the one before
TIMEOUT_S = 600.0
AUDIT_GOALS_S = {100_000: 10.0, 1_000_000: 10.0, 10_000_000: 100.0}  # by requests
REPORT_GOALS_S = {100_000: 30.0, 1_000_000: 30.0, 10_000_000: 30.0}
NEAR_MS = 0.0021  # start and latency are kept to the microsecond, each
TABLES = ("latency", "answers", "clocks")  # of the report
NEAR_SHARE = 0.001  # of a rank in a histogram


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one process took, and what it said."""

    wall_s: float  # with its start
    seconds: float  # without
    peak_mib: float
    exit_code: int
    lines: tuple[str, ...]


def met(say: Callable[[str], None], what: str, goals_s: Mapping[int, float]) -> bool:
    """Whether every goal is met, of a suite run of so many requests each; one line a figure."""
    classes, differences = CHECKS[what]
    good, per_request = [], []
    for requests, goal_s in goals_s.items():
        with tempfile.TemporaryDirectory(prefix="writepath-harness-") as name:
            load, folder = planted.plant(requests, classes), Path(name)
            expected = planted.write_suite(load, folder)
            found = measured(what, folder)
            wrong = list(differences(load, expected, folder, found))
        for words, one in (
            (f"{found.wall_s:.2f} s from raw files to the {what} (goal {goal_s:.0f} s)", found.wall_s <= goal_s),
            (f"{found.peak_mib:.0f} MiB peak memory (goal {MEMORY_GOAL_MIB} MiB)", found.peak_mib < MEMORY_GOAL_MIB),
            ("; ".join(wrong) or "exactly what was planted", not wrong),
        ):  # fmt: skip
            say(f"  {requests:>10,} requests: {words}{missed(one)}")
            good.append(one)
        per_request.append(found.seconds / requests)
    if len(per_request) > 1:
        ratio = per_request[-1] / per_request[-2]
        good.append(ratio <= LINEAR_GOAL)
        words = f"time per request, largest size ÷ the one before: {ratio:.2f} (goal {LINEAR_GOAL})"
        say(f"  {words}{missed(good[-1])}")
    return all(good)


def missed(met: bool) -> str:
    """After a line with a goal."""
    return "" if met else "  MISSED"


def measured(what: str, folder: Path) -> Found:
    """In a new process."""
    began = time.monotonic()
    said = process.call(sys.executable, "-m", __name__, what, folder, timeout_s=TIMEOUT_S)
    wall_s = time.monotonic() - began
    figures = json.loads(said.splitlines()[-1])
    return Found(wall_s=wall_s, **figures | {"lines": tuple(figures["lines"])})


def main(what: str, folder: Path) -> None:
    """As `make audit` and `make report` do, to the last line they print."""
    lines: list[str] = []
    began = time.monotonic()
    audits = what == "audit"
    code = reporting.audit(folder, folder, lines.append) if audits else reporting.report(folder, folder)
    seconds = time.monotonic() - began
    # of this process since it was started; getrusage would count what its parent held before, too
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak_kib = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))
    figures = {"seconds": seconds, "peak_mib": peak_kib / 1024, "exit_code": code, "lines": lines}
    print(json.dumps(figures))


def audit_differences(_load: Planted, expected: Audit, _folder: Path, found: Found) -> Iterator[str]:
    """Between what was planted and what was said, in words; none where the audit is right."""
    wanted = [f"{planted.NAME}, block 1", *(f"  {line}" for line in audit.audit_lines(expected))]
    yield from (f"said: {line.strip()}" for line in found.lines if line not in wanted)
    yield from (f"not said: {line.strip()}" for line in wanted if line not in found.lines)
    if found.exit_code != audit.EXIT_CODES["UNKNOWN"]:
        yield f"exit code {found.exit_code} of a run with unreadable lines"


def report_differences(load: Planted, _expected: Audit, folder: Path, found: Found) -> Iterator[str]:
    """Between the report's tables and what was planted, in words; none where the report is right."""
    texts = {name: (folder / f"report/{name}.csv").read_text(encoding="utf-8") for name in TABLES}
    rows = {name: next(csv.DictReader(text.splitlines()), {}) for name, text in texts.items()}
    took_ms = np.sort(load.took_us()[~load.marks("clean_fail")]) / 1000
    served, unserved = len(took_ms), load.requests - len(took_ms)
    share = NEAR_SHARE if load.requests > ROWS_MAX else 0.0
    wanted: dict[tuple[str, str], tuple[float, float]] = {  # value and tolerance, by table and column
        ("latency", "planned"): (load.requests, 0.0),
        ("latency", "unserved"): (unserved, 0.0),
        ("answers", "status_201"): (served, 0.0),
        ("answers", "status_503"): (unserved, 0.0),
        ("latency", "max_served_ms"): (took_ms[-1], NEAR_MS),
    }
    for name, quantile in QUANTILES.items():
        rank = stats.rank(load.requests, quantile)
        exact = took_ms[rank - 1] if rank <= served else math.inf
        durable_ms = planted.DURABLE_US / 1000
        for key in (f"{name}_ms", f"planned_{name}_ms"):
            wanted["latency", key] = exact, NEAR_MS + share * exact
        wanted["clocks", f"to_durable_{name}_ms"] = durable_ms, NEAR_MS + share * durable_ms
    for (table, key), (value, near) in wanted.items():
        shown = rows[table].get(key)
        if not shown or not abs(float(shown) - value) <= near:
            yield f"{table}.{key}: {shown}, planted {value}"
    if found.exit_code:
        yield f"the report ended with exit code {found.exit_code}"


Differences = Callable[[Planted, Audit, Path, Found], Iterator[str]]
CHECKS: dict[str, tuple[Sequence[str], Differences]] = {  # by part: classes of writes that are planted
    "audit": (planted.CLASSES, audit_differences),
    "report": (("clean_fail",), report_differences),  # so that every percentile is known
}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
