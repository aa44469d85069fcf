"""Samples what each component and the machine use, each second of a load, in one thread."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from writepath.analysis import stats
from writepath.analysis.raw import Sample
from writepath.analysis.stats import US_PER_MS
from writepath.runtime.base import Usage

BLOCK_DEVICES = Path("/sys/block")
PRESSURE = Path("/proc/pressure")


@dataclass(kw_only=True)
class Machine:
    """Remembers the cores' times of the reading before."""

    devices: Path = BLOCK_DEVICES
    pressure: Path = PRESSURE
    _cores: list[tuple[float, float]] = field(default_factory=list)

    def read(self) -> Iterator[tuple[str, float]]:
        """Names and values; what this kernel does not tell is left out."""
        disks = disks_seen(self.devices)
        if disks:
            yield "disk_write_bytes", float(sum(disk.write_bytes for disk in disks.values()))
        for number, name in enumerate(sorted(disks), 1):  # numbered: a name tells of the machine
            if (busy_ms := getattr(disks[name], "busy_time", None)) is not None:
                yield f"disk_busy_seconds@{number}", busy_ms / 1000
        yield from stalls(self.pressure)
        if (busiest := self._busiest_core()) is not None:
            yield "core_busy_max", busiest

    def _busiest_core(self) -> float | None:
        """Share of the time since the reading before; None at the first."""
        before, self._cores = self._cores, [_busy_and_total(core) for core in psutil.cpu_times(percpu=True)]
        shares = [
            (busy - busy_before) / (total - total_before)
            for (busy, total), (busy_before, total_before) in zip(self._cores, before, strict=False)
            if total > total_before
        ]
        return max(shares, default=None)


def disks_seen(devices: Path = BLOCK_DEVICES) -> Mapping[str, Any]:
    """Counters of all disks, without those that are made of others (mappings, loops)."""
    counters = psutil.disk_io_counters(perdisk=True).items()
    return {name: disk for name, disk in counters if (devices / name / "device").exists()}


def stalls(folder: Path = PRESSURE) -> Iterator[tuple[str, float]]:
    """Since the boot: seconds in which something waited for a processor, a disk or memory."""
    for resource in ("cpu", "io", "memory"):
        try:
            some = (folder / resource).read_text(encoding="ascii").splitlines()[0]
        except (OSError, IndexError):  # an older kernel, or one that was told not to count
            continue
        _, found, total_us = some.partition("total=")
        if found and some.startswith("some") and total_us.isdigit():
            yield f"pressure_{resource}_seconds", int(total_us) / 1e6


def _busy_and_total(core: object) -> tuple[float, float]:
    times = {name: float(getattr(core, name, 0.0)) for name in _COUNTED}
    total = sum(times.values())
    return total - times["idle"] - times["iowait"], total


# A guest's is in the user's.
_COUNTED = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


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


def counted(samples: Sequence[Sample], component: str, counter: str, last: Mapping[str, float]) -> int | None:
    """Growth of a counter from the first sample to the last reading, each instance by itself; None: nobody counts."""
    readings: dict[str, list[float]] = {}
    for sample in samples:
        if sample.component == component and sample.metric.startswith(f"{counter}@"):
            readings.setdefault(sample.metric, []).append(sample.value)
    for metric, values in readings.items():
        values.extend([last[metric]] if metric in last else [])
    return int(sum(stats.accumulated(v)[-1] for v in readings.values())) if readings else None
