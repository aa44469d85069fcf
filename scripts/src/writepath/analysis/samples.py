"""Figures of queue and processors from the samples of a load: pure functions of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import stats
from writepath.analysis.saturation.rules import HOST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from writepath.analysis.stats import Floats, Ints

    Series = Mapping[tuple[str, str], tuple[Ints, Floats]]  # (component, metric): epoch us, values
    Values = Mapping[tuple[str, str], Sequence[float] | Floats]  # (component, metric), in the order of time

PEAK_WINDOW_S = 10.0


def queue_depth(seen: Series) -> tuple[Ints, Floats]:
    """Epoch us, and messages ready and unacknowledged: the most that any service sees of the one queue."""
    depth: dict[int, float] = {}
    for (component, metric), (at_us, ready) in seen.items():
        if metric != "queue_ready":
            continue
        held = dict(_points(seen, component, "queue_unacknowledged"))
        for at, value in zip(at_us.tolist(), ready.tolist(), strict=True):
            depth[at] = max(depth.get(at, 0.0), value + held.get(at, 0.0))
    at = sorted(depth)
    return np.array(at, np.int64), np.array([depth[moment] for moment in at], np.float64)


def _points(seen: Series, component: str, metric: str) -> list[tuple[int, float]]:
    at_us, values = seen.get((component, metric), (np.empty(0, np.int64), np.empty(0)))
    return list(zip(at_us.tolist(), values.tolist(), strict=True))


def host_busy_share(seen: Series) -> float | None:
    """Of all processor time between the first and the last sample; None where there are no two."""
    grown = []
    for metric in ("busy_seconds", "total_seconds"):
        _, values = seen.get((HOST, metric), (np.empty(0), np.empty(0)))
        grown.append(float(values[-1] - values[0]) if len(values) else 0.0)
    busy, total = grown
    return busy / total if total > 0 else None


def cpu_shares(at_s: Sequence[float], cpu_seconds: Sequence[float]) -> tuple[float, float]:
    """Of one core: the mean over all readings, and the highest mean of 10 s (or of all, where it is shorter)."""
    points = list(zip(at_s, stats.accumulated(cpu_seconds).tolist(), strict=True))
    if len(points) < 2 or points[-1][0] <= points[0][0]:  # noqa: PLR2004 - a share needs two points
        return 0.0, 0.0
    mean = (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])
    peak, first = mean, 0
    for at, used in points:
        while points[first + 1][0] <= at - PEAK_WINDOW_S:
            first += 1
        if at - points[first][0] >= PEAK_WINDOW_S:
            peak = max(peak, (used - points[first][1]) / (at - points[first][0]))
    return mean, peak


def foreign_share(values: Values) -> float | None:
    """Of all processor time between the first and the last reading, what neither the run nor its runner used."""
    host = {
        metric: float(counted[-1] - counted[0])
        for metric in ("total_seconds", "busy_seconds", "runner_seconds")
        if len(counted := values.get((HOST, metric), ()))
    }
    if host.get("total_seconds", 0.0) <= 0:
        return None
    ours = host["runner_seconds"] + sum(
        float(stats.accumulated(used)[-1]) for (_, metric), used in values.items() if metric == "cpu_seconds"
    )
    return max(0.0, (host["busy_seconds"] - ours) / host["total_seconds"])
