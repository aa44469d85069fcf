"""Figures of the samples of a load: what each component used, the depth of the queue, the load generator."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from writepath.analysis import stats
from writepath.analysis.lines import GENERATOR_SIDE, HOST, K6, SIDES, SYSTEM_SIDE, is_split
from writepath.analysis.stats import US_PER_S, Floats, Ints
from writepath.load.parquet import column_of
from writepath.records.measures import Resource

Series = Mapping[tuple[str, str], tuple[Ints, Floats]]  # (component, metric): epoch us, values

NOTHING = (np.empty(0, np.int64), np.empty(0))
PEAK_WINDOW_S = 10.0


def queue_depth(seen: Series) -> tuple[Ints, Floats]:
    """Epoch us, and messages ready and unacknowledged: the most that any service sees of the one queue."""
    depth: dict[int, float] = {}
    for (component, metric), (at_us, ready) in seen.items():
        if metric != "queue_ready":
            continue
        moments, unacknowledged = seen.get((component, "queue_unacknowledged"), NOTHING)
        held = dict(zip(moments.tolist(), unacknowledged.tolist(), strict=True))
        for at, value in zip(at_us.tolist(), ready.tolist(), strict=True):
            depth[at] = max(depth.get(at, 0.0), value + held.get(at, 0.0))
    at = sorted(depth)
    return np.array(at, np.int64), np.array([depth[moment] for moment in at], np.float64)


def _of_host(seen: Series, metric: str) -> float:
    """Growth between the first and the last sample; 0 where there are no two."""
    _, values = seen.get((HOST, metric), NOTHING)
    return float(values[-1] - values[0]) if len(values) else 0.0


def shared_busy_share(seen: Series) -> float | None:
    """Of all processor time between the first and the last sample; None where there are no two.

    None, too, where the load generator has separate processors: then the system's work takes nothing from it.
    """
    total = 0.0 if is_split(seen) else _of_host(seen, "total_seconds")
    return _of_host(seen, "busy_seconds") / total if total > 0 else None


def foreign_share(seen: Series) -> float | None:
    """Of all processor time, what neither the run nor its runner used; the larger share of generator and system."""
    runner = _of_host(seen, "runner_seconds")
    used = {
        component: float(stats.accumulated(value)[-1])
        for (component, metric), (_, value) in seen.items()
        if metric == "cpu_seconds"
    }
    generator, system = runner + used.pop(K6, 0.0), sum(used.values())
    sides = {GENERATOR_SIDE + "_": generator, SYSTEM_SIDE + "_": system}
    shares = [
        max(0.0, (_of_host(seen, f"{side}busy_seconds") - ours) / total)
        for side, ours in (sides if is_split(seen) else {"": generator + system}).items()
        if (total := _of_host(seen, f"{side}total_seconds")) > 0
    ]
    return max(shares, default=None)


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


RESIDENT = "rss_bytes"
HOST_METRICS = ("total_seconds", "busy_seconds", "runner_seconds", "disk_write_bytes", *SIDES)
METRICS = ("cpu_seconds", RESIDENT, "write_bytes", "queue_ready", "queue_unacknowledged", *HOST_METRICS)
SAMPLES_SCHEMA = pa.schema(
    [("at_us", pa.int64()), ("component", pa.string()), ("metric", pa.string()), ("value", pa.float64())]
)
PROCESS_COUNTED = "native"  # there, the bytes a process wrote are whole folios of the page cache: no figure


def needed(samples: pa.Table) -> pa.Table:
    """The samples that figures are made of, by component, metric and time."""
    keep = np.isin(column_of(samples, "metric").to_numpy(), METRICS)
    order = [(name, "ascending") for name in ("component", "metric", "at_us")]
    return samples.filter(pa.array(keep)).sort_by(order).select(["at_us", "component", "metric", "value"])


def series(samples: pa.Table) -> Series:
    """By component and metric, times in microseconds and values."""
    at_us, value = (column_of(samples, name).to_numpy() for name in ("at_us", "value"))
    words = zip(*(column_of(samples, name).to_pylist() for name in ("component", "metric")), strict=True)
    places: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(words):
        places.setdefault(key, []).append(place)
    return {key: (at_us[own], value[own]) for key, own in places.items()}


def resources(seen: Series, runtime: str) -> dict[str, Resource]:
    """By component, what it used between the first and the last sample."""
    return {
        component: Resource(
            cpu_seconds=float(stats.accumulated(cpu)[-1]),
            rss_peak_bytes=int(seen[component, RESIDENT][1].max()),
            write_bytes=None if runtime == PROCESS_COUNTED else _written(seen, component),
        )
        for (component, metric), (_, cpu) in seen.items()
        if metric == "cpu_seconds" and (component, RESIDENT) in seen
    }


def _written(seen: Series, component: str) -> int | None:
    """Unknown too where only some readings could tell: those were of another process."""
    _, written = seen.get((component, "write_bytes"), NOTHING)
    known = len(written) == len(seen[component, "cpu_seconds"][1])
    return int(stats.accumulated(written)[-1]) if known else None


def disk_written(seen: Series) -> int | None:
    """To all disks of the host; None where they were not sampled."""
    written = seen.get((HOST, "disk_write_bytes"))
    return None if written is None else int(stats.accumulated(written[1])[-1])


def queue_peak(seen: Series) -> float | None:
    """The highest sum of ready and unacknowledged messages in one reading."""
    _, depth = queue_depth(seen)
    return float(depth.max()) if len(depth) else None


def generator_share(seen: Series) -> tuple[float, float, int]:
    """Of one core, k6's mean and its highest mean of 10 s; and how many samples say so."""
    at_us, cpu = seen.get((K6, "cpu_seconds"), NOTHING)
    mean, peak = cpu_shares((at_us / US_PER_S).tolist(), cpu.tolist())
    return mean, peak, len(cpu)
