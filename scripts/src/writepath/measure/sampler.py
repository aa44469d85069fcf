"""Samples what each component uses, each second of a load. One thread; clock and readers are given to it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil

from writepath.analysis import samples as sampled
from writepath.analysis import stats
from writepath.analysis.raw import Sample
from writepath.analysis.stats import US_PER_MS, US_PER_S
from writepath.measure.machine import Machine
from writepath.records import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from writepath.runtime.base import Usage

INTERVAL_S = 1.0
DIGITS = ".10g"  # of a value
LATE_S = 0.5  # after its moment, a reading counts as late
K6 = "k6"
HOST = "host"  # the whole machine


@dataclass(kw_only=True)
class Sampler:
    """Reads until stopped. usage: by component; gauges: by component, name and value."""

    usage: Callable[[], Mapping[str, Usage]]
    gauges: Callable[[], Mapping[str, Mapping[str, float]]]
    clock: Callable[[], float] = time.time
    wait: Callable[[float], bool] | None = None  # true when it should end; default: its own stop event
    samples: list[Sample] = field(default_factory=list)
    taken: int = 0
    late: int = 0
    failed: int = 0
    latest: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._machine = Machine()
        self._wait = self.wait or self._stop.wait
        self._thread = threading.Thread(target=self.run, name="sampler", daemon=True)

    def start(self) -> None:
        """Begins with a reading at once."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread after a last reading, so that the window's end is covered."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def run(self) -> None:
        """The loop; moments are multiples of the interval after the start, those missed are skipped."""
        start, number = self.clock(), 0
        ending = False
        while not ending:
            due = start + number * INTERVAL_S
            ending = self._wait(max(0.0, due - self.clock()))
            if not ending and self.clock() - due > LATE_S:
                self.late += 1
            self.read()
            number = max(number + 1, int((self.clock() - start) / INTERVAL_S) + 1)

    def read(self) -> None:
        """One reading of everything; a reader that fails is counted and never ends the run."""
        self.taken += 1
        try:
            at_us = self._now_us()
            for component, usage in self.usage().items():
                self._add(at_us, component, "cpu_seconds", usage.cpu_seconds)
                self._add(at_us, component, "rss_bytes", usage.rss_bytes)
                if usage.write_bytes is not None:
                    self._add(at_us, component, "write_bytes", usage.write_bytes)
            self._add_host(at_us)
            at_us = self._now_us()
            self.latest = self.gauges()
            for component, values in self.latest.items():
                for name, value in values.items():
                    self._add(at_us, component, name, value)
        except Exception:  # noqa: BLE001 - a process may end while it is read; the verdict counts what is missing
            self.failed += 1

    def _now_us(self) -> int:
        """To the millisecond: what is published of a load step keeps no more."""
        return round(self.clock() * 1000) * US_PER_MS

    def _add_host(self, at_us: int) -> None:
        own, times = psutil.Process().cpu_times(), psutil.cpu_times()
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        self._add(at_us, HOST, "total_seconds", total)
        self._add(at_us, HOST, "busy_seconds", total - times.idle - getattr(times, "iowait", 0.0))
        self._add(at_us, HOST, "runner_seconds", own.user + own.system)
        for name, value in self._machine.read():
            self._add(at_us, HOST, name, value)

    def _add(self, at_us: int, component: str, metric: str, value: float) -> None:
        """With ten digits, as published: what is made of samples follows from it to the last digit.

        A counter that is a sum of floats may fall in its last bits, which would be a restart of whoever counts.
        """
        rounded = float(f"{value:{DIGITS}}")
        self.samples.append(Sample(at_us=at_us, component=component, metric=metric, value=rounded))


def resources(samples: Sequence[Sample]) -> dict[str, Resource]:
    """By component: what it used between the first and the last sample."""
    found: dict[str, dict[str, list[float]]] = {}
    for sample in samples:
        found.setdefault(sample.component, {}).setdefault(sample.metric, []).append(sample.value)
    return {
        component: Resource(
            cpu_seconds=float(stats.accumulated(values["cpu_seconds"])[-1]),
            rss_peak_bytes=int(max(values["rss_bytes"])),
            write_bytes=_written(values),
        )
        for component, values in found.items()
        if "cpu_seconds" in values
    }


def _written(values: Mapping[str, Sequence[float]]) -> int | None:
    """Unknown too where only some readings could tell: those were of another process."""
    written = values.get("write_bytes", ())
    return int(stats.accumulated(written)[-1]) if len(written) == len(values["cpu_seconds"]) else None


def counted(samples: Sequence[Sample], component: str, counter: str, last: Mapping[str, float]) -> int | None:
    """Growth of a counter from the first sample to the last reading, each instance by itself; None: nobody counts."""
    readings: dict[str, list[float]] = {}
    for sample in samples:
        if sample.component == component and sample.metric.startswith(f"{counter}@"):
            readings.setdefault(sample.metric, []).append(sample.value)
    for metric, values in readings.items():
        values.extend([last[metric]] if metric in last else [])
    return int(sum(stats.accumulated(v)[-1] for v in readings.values())) if readings else None


def cpu_shares(samples: Sequence[Sample], component: str) -> tuple[float, float]:
    """Of one core: the mean over all samples, and the highest mean of 10 s (or of all, where it is shorter)."""
    readings = [s for s in samples if s.component == component and s.metric == "cpu_seconds"]
    return sampled.cpu_shares([s.at_us / US_PER_S for s in readings], [s.value for s in readings])


def foreign_share(samples: Sequence[Sample]) -> float | None:
    """Of all processor time between the first and the last sample, what neither the run nor its runner used."""
    values: dict[tuple[str, str], list[float]] = {}
    for sample in samples:
        values.setdefault((sample.component, sample.metric), []).append(sample.value)
    return sampled.foreign_share(values)
