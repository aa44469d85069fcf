"""What did a load use, by the samples taken of it? Processor time, memory, bytes written, the depth of the queue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from writepath import stats
from writepath.result import Resource

if TYPE_CHECKING:
    from writepath.report.raw import Samples, Series

QUEUE_METRICS = ("queue_ready", "queue_unacknowledged")
DISKS_WRITTEN = ("host", "disk_write_bytes")
PROCESS_COUNTED = "native"  # the runtime whose bytes written were the kernel's count of a process


def used(series: Series) -> dict[str, Resource]:
    """By component, what it used between the first and the last sample."""
    return {
        component: Resource(
            cpu_seconds=float(stats.accumulated(samples.value)[-1]),
            rss_peak_bytes=int(series[component, "rss_bytes"].value.max()),
            write_bytes=_written(samples, series.get((component, "write_bytes"))),
        )
        for (component, metric), samples in series.items()
        if metric == "cpu_seconds" and (component, "rss_bytes") in series
    }


def _written(cpu: Samples, written: Samples | None) -> int | None:
    """Unknown too where only some readings could tell: those were of another process."""
    if written is None or written.value.size != cpu.value.size:
        return None
    return int(stats.accumulated(written.value)[-1])


def told(runtime: str, resources: dict[str, Resource]) -> dict[str, Resource]:
    """Without what native runs of before said a process wrote: the kernel counts whole folios of the page cache."""
    if runtime != PROCESS_COUNTED:
        return resources
    return {name: replace(resource, write_bytes=None) for name, resource in resources.items()}


def disk_written(series: Series) -> int | None:
    """To all disks of the host; None where they were not sampled."""
    samples = series.get(DISKS_WRITTEN)
    return None if samples is None else int(stats.accumulated(samples.value)[-1])


def queue_peak(series: Series) -> float | None:
    """The highest sum of ready and unacknowledged messages in one reading."""
    peaks = []
    for component in {component for component, metric in series if metric in QUEUE_METRICS}:
        depth: dict[float, float] = {}
        for metric in QUEUE_METRICS:
            samples = series.get((component, metric))
            if samples is not None:
                for at, value in zip(samples.at_ms.tolist(), samples.value.tolist(), strict=True):
                    depth[at] = depth.get(at, 0.0) + (0.0 if np.isnan(value) else value)
        peaks.append(max(depth.values()))
    return max(peaks) if peaks else None
