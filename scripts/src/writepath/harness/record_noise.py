"""How is the noise for the simulated suites recorded anew? From the baseline's runs of a suite run, in order of time.

`PYTHONPATH=src python -m writepath.harness.record_noise <suite run>` in scripts/ rewrites recorded_noise.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from writepath import result
from writepath.errors import UsageError
from writepath.harness.simulated import RECORDED

if TYPE_CHECKING:
    from collections.abc import Sequence

METRICS = ("median", "p95", "p99")
FEWEST_RUNS = 12  # six blocks, two runs each


def noise(folders: Sequence[Path]) -> dict[str, Any]:
    """The content of the file: one series for each suite run."""
    suites = [(folder, result.load_suite(folder)) for folder in folders]
    series = [_values(folder, index) for folder, index in suites]
    for folder, values in zip(folders, series, strict=True):
        if len(values) < FEWEST_RUNS:
            raise UsageError(
                f"{folder}: {len(values)} usable baseline runs, {FEWEST_RUNS} are needed;"
                " make bench-all SUITE=compare VARIANTS=jpa REPS=10 makes 20"
            )
    names = ", ".join(f"{index.suite} {index.stamp}" for _, index in suites)
    return {
        "source": f"baseline runs of {names}, two per block: {', '.join(METRICS)} of accept latency, ms",
        "within_a_run": False,
        "metrics": list(METRICS),
        "series": [
            {"variant": index.baseline, "values": values}
            for (_, index), values in zip(suites, series, strict=True)
        ],
    }


def _values(folder: Path, index: result.SuiteResult) -> list[list[float]]:
    lines = [line for line in index.runs if line.variant == index.baseline and line.verdict == "valid"]
    runs = [result.load_run(folder / line.folder) for line in lines]
    rows = [
        [getattr(run.accept_latency_ms, name) for name in METRICS]
        for run in sorted(runs, key=lambda run: run.started_at)
        if run.accept_latency_ms is not None
    ]
    return [row for row in rows if None not in row]


def main(folders: Sequence[Path], target: Path = RECORDED) -> None:
    """Rewrites the committed file."""
    target.write_text(json.dumps(noise(folders), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
