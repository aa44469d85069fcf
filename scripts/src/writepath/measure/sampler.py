"""Samples what each component and the machine use, each second of a load, in one thread."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import psutil

from writepath.analysis import stats
from writepath.analysis.raw import Sample
from writepath.analysis.samples import GENERATOR_SIDE, SYSTEM_SIDE, TIME_WAIT
from writepath.analysis.stats import US_PER_MS
from writepath.measure.host import busy_and_total_s, text_of
from writepath.processors import Split, parsed
from writepath.runtime.base import Usage

BLOCK_DEVICES = Path("/sys/block")
PRESSURE = Path("/proc/pressure")
SOCKETS = Path("/proc/net/sockstat")
ONLINE = Path("/sys/devices/system/cpu/online")


@dataclass(kw_only=True)
class Machine:
    """Remembers the cores' times of the reading before. split: where load generator and system have their own."""

    split: Split | None = None
    _cores: list[tuple[float, float]] = field(default_factory=list)

    def read(self) -> Iterator[tuple[str, float]]:
        """Names and values; what this kernel does not tell is left out."""
        own = psutil.Process().cpu_times()
        busy, total = busy_and_total_s(psutil.cpu_times())
        yield from (
            ("total_seconds", total),
            ("busy_seconds", busy),
            ("runner_seconds", own.user + own.system),
        )
        yield from _disks()
        yield from _stalls()
        yield from _time_wait()
        cores = [*map(busy_and_total_s, psutil.cpu_times(percpu=True))]
        if self.split is not None:
            online = sorted(parsed(text_of(ONLINE).strip()))
            by_number = dict(zip(online, cores, strict=False))
            told = by_number.keys() >= self.split.generator | self.split.system  # else a container hides some
            for side in (GENERATOR_SIDE, SYSTEM_SIDE) if told else ():
                cores = [by_number[number] for number in sorted(getattr(self.split, side))]
                yield f"{side}_busy_seconds", sum(busy for busy, _ in cores)
                yield f"{side}_total_seconds", sum(total for _, total in cores)
        if (busiest := self._busiest(cores)) is not None:
            yield "core_busy_max", busiest

    def _busiest(self, cores: list[tuple[float, float]]) -> float | None:
        """Share of the time since the reading before; None at the first. cores: of the system, where split."""
        before, self._cores = self._cores, cores
        shares = [
            (busy - busy_before) / (total - total_before)
            for (busy, total), (busy_before, total_before) in zip(self._cores, before, strict=False)
            if total > total_before
        ]
        return max(shares, default=None)


def _disks() -> Iterator[tuple[str, float]]:
    """Of all disks without those that are made of others (mappings, loops)."""
    counters = psutil.disk_io_counters(perdisk=True).items()
    disks = [disk for name, disk in sorted(counters) if (BLOCK_DEVICES / name / "device").exists()]
    if disks:
        yield "disk_write_bytes", float(sum(disk.write_bytes for disk in disks))
    for number, disk in enumerate(disks, 1):  # numbered: a name tells of the machine
        yield f"disk_busy_seconds@{number}", disk.busy_time / 1000


def _stalls() -> Iterator[tuple[str, float]]:
    """Since the boot: seconds in which something waited for a disk or memory."""
    for resource in ("io", "memory"):
        some, _, total_us = text_of(PRESSURE / resource).partition("\n")[0].partition("total=")
        if some.startswith("some") and total_us.isdigit():
            yield f"pressure_{resource}_seconds", int(total_us) / 1e6


def _time_wait() -> Iterator[tuple[str, float]]:
    """Sockets that wait until their pair of ports may be used again, as the kernel counts them."""
    _, found, rest = text_of(SOCKETS).partition(" tw ")
    if found:
        yield TIME_WAIT, float(rest.split(maxsplit=1)[0])


INTERVAL_S = 1.0
DIGITS = ".10g"  # of a value
LATE_S = 0.5  # after its moment, a reading counts as late
K6 = "k6"
HOST = "host"  # the whole machine


@dataclass(kw_only=True)
class Sampler:
    """A context manager: reads until it is left. usage: by component; gauges: by component, name and value."""

    usage: Callable[[], Mapping[str, Usage]]
    gauges: Callable[[], Mapping[str, Mapping[str, float]]]
    split: Split | None = None
    clock: Callable[[], float] = time.time
    wait: Callable[[float], bool] | None = None  # true when it should end; default: its own stop event
    samples: list[Sample] = field(default_factory=list)
    late: int = 0
    latest: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._machine = Machine(split=self.split)
        self._wait = self.wait or self._stop.wait
        self._thread = threading.Thread(target=self.run, name="sampler", daemon=True)

    def __enter__(self) -> Self:
        """Begins with a reading at once."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the thread after a last reading, so that the window's end is covered."""
        self._stop.set()
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
            with contextlib.suppress(
                Exception
            ):  # a process may end while it is read; the verdict counts what is missing
                self.read()
            number = max(number + 1, int((self.clock() - start) / INTERVAL_S) + 1)

    def read(self) -> None:
        """One reading of everything."""
        at_us = self._now_us()
        for component, usage in self.usage().items():
            self._add(at_us, component, vars(usage))
        self._add(at_us, HOST, dict(self._machine.read()))
        at_us = self._now_us()
        self.latest = self.gauges()
        for component, values in self.latest.items():
            self._add(at_us, component, values)

    def _now_us(self) -> int:
        """To the millisecond: what is published of a load step keeps no more."""
        return round(self.clock() * 1000) * US_PER_MS

    def _add(self, at_us: int, component: str, values: Mapping[str, float | None]) -> None:
        """With ten digits, as published: what is made of samples follows from it to the last digit.

        A counter that is a sum of floats may fall in its last bits, which would be a restart of whoever counts.
        """
        self.samples += [
            Sample(at_us=at_us, component=component, metric=metric, value=float(f"{value:{DIGITS}}"))
            for metric, value in values.items()
            if value is not None
        ]


def redelivered(gauges: Iterable[tuple[str, float]]) -> int | None:
    """Growth from the first to the last reading, each instance by itself, which restarts from 0; None: not counted."""
    counts: dict[str, list[float]] = {}
    for name, value in gauges:
        if name.startswith("redelivered@"):
            counts.setdefault(name, []).append(value)
    return int(sum(stats.accumulated(values)[-1] for values in counts.values())) if counts else None
