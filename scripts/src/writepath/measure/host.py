"""Facts of the machine and how fast it is right now; without names, paths or addresses."""

from __future__ import annotations

import os
import platform
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from writepath.errors import SetupError
from writepath.measure import withheld
from writepath.records import Canary, Host

BLOCK_BYTES = 4096
FSYNCS = 50
CPU_LOOPS = 400_000
CPU_TRIES = 5  # what a stack still does right after a load, on the other half of a core, must not look like a slow host
DISK_FREE_MIN_BYTES = 2 << 30


def facts(data: Path) -> Host:
    """Of the machine; data: the folder the stores write to."""
    return Host(
        cpu_model=_cpu_model(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=psutil.virtual_memory().total,
        kernel=platform.release(),
        filesystem=_filesystem(data),
    )


def require_disk(data: Path) -> None:
    """SetupError where the disk is too full for a run: a store without space fails in ways that look like others."""
    free = shutil.disk_usage(data).free
    if free < DISK_FREE_MIN_BYTES:
        raise SetupError(
            f"only {free / 1e9:.1f} GB are free on the disk of this checkout; a run needs"
            f" {DISK_FREE_MIN_BYTES / 1e9:.1f} GB."
            " Free some, for example old folders below results/, or run `make clean`."
        )


@dataclass(kw_only=True)
class CanaryCage:
    """Measures the host beside the runs; remembers CPU times to tell what was stolen in between."""

    folder: Path
    _last: withheld.Counters | None = None

    def measure(self) -> Canary:
        """About half a second on a fast disk."""
        fsyncs = sorted(self._fsyncs_ms())
        stolen = self._steal_share()
        return Canary(
            fsync_ms_p50=round(fsyncs[len(fsyncs) // 2], 3),
            fsync_ms_p99=round(fsyncs[-1], 3),
            cpu_ms=round(min(_cpu_ms() for _ in range(CPU_TRIES)), 3),
            steal_share=stolen,
            load_average_1m=round(os.getloadavg()[0], 2),
            disk_free_bytes=shutil.disk_usage(self.folder).free,
        )

    def _fsyncs_ms(self) -> list[float]:
        path = self.folder / "canary.bin"
        block = os.urandom(BLOCK_BYTES)
        took = []
        try:
            with path.open("wb", buffering=0) as file:
                for _ in range(FSYNCS):
                    start = time.perf_counter()
                    file.write(block)
                    os.fsync(file.fileno())
                    took.append((time.perf_counter() - start) * 1000)
        finally:
            path.unlink(missing_ok=True)
        return took

    def _steal_share(self) -> float | None:
        before, self._last = self._last, withheld.read()
        share = None if before is None else withheld.between(before, self._last).steal_share
        return None if share is None else round(share, 4)


def _cpu_ms() -> float:
    start = time.perf_counter()
    value = 1
    for _ in range(CPU_LOOPS):
        value = (value * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
    return (time.perf_counter() - start) * 1000


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(found, platform.processor() or "unknown")


def _filesystem(path: Path) -> str:
    """Type of the mount that holds path, never its name."""
    resolved = path.resolve()
    mounts = [m for m in psutil.disk_partitions(all=True) if resolved.is_relative_to(m.mountpoint)]
    return max(mounts, key=lambda m: len(m.mountpoint)).fstype if mounts else "unknown"
