"""Records the noise of the simulated suites anew, from the baseline's cells of suite runs in the order of time.

`PYTHONPATH=src python -m writepath.selfcheck.record_noise <suite run>` in scripts/ rewrites recorded_noise.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from writepath.errors import UsageError
from writepath.experiments import read
from writepath.experiments.load.kind import LoadExperiment
from writepath.selfcheck.simulated import RECORDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.records.load import LoadResult
    from writepath.report.data import SuiteData

METRICS = ("median", "p95", "p99")
FEWEST_RUNS = 12  # six blocks, two runs each


def noise(folders: Sequence[Path]) -> dict[str, Any]:
    """The content of the file: one series for each suite run."""
    suites = [read.saved(folder, LoadExperiment()) for folder in folders]
    series = [_values(data) for data in suites]
    for folder, values in zip(folders, series, strict=True):
        if len(values) < FEWEST_RUNS:
            raise UsageError(
                f"{folder}: {len(values)} usable baseline runs, {FEWEST_RUNS} are needed;"
                " make bench-all SUITE=compare VARIANTS=jpa REPS=10 makes 20"
            )
    names = ", ".join(f"{data.index.suite} {data.index.stamp}" for data in suites)
    return {
        "source": f"baseline runs of {names}, two per block: {', '.join(METRICS)} of accept latency, ms",
        "within_a_run": False,
        "metrics": list(METRICS),
        "series": [
            {"variant": data.index.baseline, "values": values}
            for data, values in zip(suites, series, strict=True)
        ],
    }


def _values(data: SuiteData[LoadResult]) -> list[list[float]]:
    own = [cell for cell in data.cells if cell.record.variant == data.index.baseline and cell.counts]
    rows = [
        [getattr(cell.result.accept_latency_ms, name) for name in METRICS]
        for cell in sorted(own, key=lambda cell: cell.record.started_at)
        if cell.result is not None
    ]
    return [row for row in rows if None not in row]


def main(folders: Sequence[Path], target: Path = RECORDED) -> None:
    """Rewrites the committed file."""
    target.write_text(json.dumps(noise(folders), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
