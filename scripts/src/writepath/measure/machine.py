"""Reads the kernel's counters: how busy disks and cores are, and what waits for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
