"""What a load used, by the samples taken of it: processor time, memory, bytes written, the depth of the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from writepath.analysis import samples as sampled
from writepath.analysis import stats
from writepath.analysis.load_rows import column_of
from writepath.analysis.saturation.rules import HOST
from writepath.records import Resource

if TYPE_CHECKING:
    from writepath.analysis.samples import Series

K6 = "k6"
RESIDENT = "rss_bytes"
US_PER_S = 1_000_000
HOST_METRICS = ("total_seconds", "busy_seconds", "runner_seconds", "disk_write_bytes")
METRICS = ("cpu_seconds", RESIDENT, "write_bytes", "queue_ready", "queue_unacknowledged", *HOST_METRICS)
PROCESS_COUNTED = "native"  # there, the bytes a process wrote are whole folios of the page cache: no figure


def needed(samples: pa.Table) -> pa.Table:
    """The samples that figures are made of, by component, metric and time."""
    keep = np.isin(column_of(samples, "metric").to_numpy(), METRICS)
    order = [(name, "ascending") for name in ("component", "metric", "at_us")]
    return samples.filter(pa.array(keep)).sort_by(order).select(["at_us", "component", "metric", "value"])


def series(samples: pa.Table) -> Series:
    """By component and metric, times in microseconds and values."""
    at_us, value = (column_of(samples, name).to_numpy().astype(np.float64) for name in ("at_us", "value"))
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
    _, written = seen.get((component, "write_bytes"), (None, np.empty(0)))
    return (
        int(stats.accumulated(written)[-1])
        if len(written) == len(seen[component, "cpu_seconds"][1])
        else None
    )


def disk_written(seen: Series) -> int | None:
    """To all disks of the host; None where they were not sampled."""
    written = seen.get((HOST, "disk_write_bytes"))
    return None if written is None else int(stats.accumulated(written[1])[-1])


def queue_peak(seen: Series) -> float | None:
    """The highest sum of ready and unacknowledged messages in one reading."""
    _, depth = sampled.queue_depth(seen)
    return float(depth.max()) if len(depth) else None


def generator_share(seen: Series) -> tuple[float, float, int]:
    """Of one core, k6's mean and its highest mean of 10 s; and how many samples say so."""
    at_us, cpu = seen.get((K6, "cpu_seconds"), (np.empty(0), np.empty(0)))
    mean, peak = sampled.cpu_shares((at_us / US_PER_S).tolist(), cpu.tolist())
    return mean, peak, len(cpu)


def foreign_share(seen: Series) -> float | None:
    """Of all processor time, what neither the run nor its runner used."""
    return sampled.foreign_share({key: values for key, (_, values) in seen.items()})
