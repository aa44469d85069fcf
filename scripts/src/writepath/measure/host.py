"""The machine: its facts, how fast it is right now, what it withheld from a load, and the wait for a quiet one.

None of what is withheld shows in the figures of the run itself: a request that waits for a processor the hypervisor
took is just a slow request. Counters are read before and after a load; what lies between them is what happened to it.
"""

import os
import platform
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from writepath.analysis import verdict
from writepath.errors import SetupError
from writepath.progress import Progress
from writepath.records.load_facts import WithheldFacts
from writepath.records.measures import Canary, Host

USER_FIELDS = 8  # user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice already
STEAL_FIELD = 7
PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
CONTROLLERS_OF_TIME = ("cpu", "cpu,cpuacct")  # folders of control groups version 1
UNITS_PER_S = {"throttled_usec": 1e6, "throttled_time": 1e9}  # version 2, version 1


@dataclass(frozen=True, kw_only=True)
class Counters:
    """At one moment; all of them only grow."""

    steal_s: float  # of all processors
    total_s: float
    throttled_s: float | None  # None: no quota can be read
    wall_s: float
    swapped_pages: int | None  # in and out


def read_counters(proc: Path = PROC, groups: Path = GROUPS) -> Counters:
    """Of the machine, and of the control group of this process: natively every part of a variant is in it, too."""
    ticks = _processor_ticks(proc)
    per_s = os.sysconf("SC_CLK_TCK")
    return Counters(
        steal_s=ticks[STEAL_FIELD] / per_s,
        total_s=sum(ticks) / per_s,
        throttled_s=_throttled_s(proc, groups),
        wall_s=time.monotonic(),
        swapped_pages=_swapped_pages(proc),
    )


def withheld_between(first: Counters, last: Counters) -> WithheldFacts:
    """What could not be read at both moments is None, never zero."""
    total_s, wall_s = last.total_s - first.total_s, last.wall_s - first.wall_s
    throttled, swapped = (
        None if None in (before, after) else (after or 0) - (before or 0)
        for before, after in (
            (first.throttled_s, last.throttled_s),
            (first.swapped_pages, last.swapped_pages),
        )
    )
    return WithheldFacts(
        steal_share=(last.steal_s - first.steal_s) / total_s if total_s > 0 else None,
        throttled_share=None if throttled is None or wall_s <= 0 else throttled / wall_s,
        swapped_pages=None if swapped is None else int(swapped),
    )


def _processor_ticks(proc: Path) -> list[int]:
    """The line of all processors together."""
    name, *ticks = (proc / "stat").read_text(encoding="ascii").splitlines()[0].split()
    if name != "cpu" or len(ticks) < USER_FIELDS:
        raise ValueError(f"{proc / 'stat'}: no line of all processors")
    return [int(tick) for tick in ticks[:USER_FIELDS]]


def _throttled_s(proc: Path, groups: Path) -> float | None:
    """The most of the group and those it is in: a quota of any of them halts it, and often at the same time."""
    found = [
        count / UNITS_PER_S[name]
        for folder in _folders(proc, groups)
        for name, count in _statistics(folder / "cpu.stat").items()
        if name in UNITS_PER_S
    ]
    return max(found, default=None)


def _folders(proc: Path, groups: Path) -> Iterator[Path]:
    """Of this process's group and of all above it. In a container the path may begin outside of what is seen."""
    try:
        lines = (proc / "self" / "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            tops = [groups]
        elif "cpu" in controllers.split(","):
            tops = [groups / name for name in CONTROLLERS_OF_TIME]
        else:
            continue
        inner = Path(path.strip("/"))
        for top in tops:
            yield from (top / part for part in (inner, *inner.parents))


def _statistics(path: Path) -> dict[str, int]:
    """Lines of a name and a number; nothing where there is no such file."""
    try:
        pairs = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    except OSError:
        return {}
    return {name: int(value) for name, value in pairs}


def _swapped_pages(proc: Path) -> int | None:
    known = _statistics(proc / "vmstat")
    counters = [known[name] for name in ("pswpin", "pswpout") if name in known]
    return sum(counters) if counters else None


BLOCK_BYTES = 4096
FSYNCS = 50
CPU_LOOPS = 400_000
CPU_TRIES = 5  # what a stack still does right after a load, on the other half of a core, must not look like a slow host
DISK_FREE_MIN_BYTES = 2 << 30


def host_facts(data: Path) -> Host:
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
    _last: Counters | None = None

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
        before, self._last = self._last, read_counters()
        share = None if before is None else withheld_between(before, self._last).steal_share
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


LOOK_S = 5.0
QUIET_LOOKS = 3  # running: between two bursts lie moments
LONGEST_S = 600.0
BLOCK = bytes(4096)


def wait_until_quiet(folder: Path, progress: Progress) -> bool:
    """False: still noisy after LONGEST_S. folder: on the stores' disk."""
    progress.phase("wait for a quiet host")
    ends, quiet = time.monotonic() + LONGEST_S, 0
    while quiet < QUIET_LOOKS:
        if (left_s := ends - time.monotonic()) <= 0:
            return False
        seen = look_for_noise(folder)
        quiet = 0 if verdict.noise_reasons(seen) else quiet + 1
        progress.noisy(seen.steal_share, left_s)
    return True


def look_for_noise(folder: Path) -> WithheldFacts:
    """What is withheld within LOOK_S from threads that flush small blocks, one for each processor.

    From a processor that sleeps nothing can be stolen, and from one that never does little is: loads fall asleep and
    wake thousands of times a second, as these threads do.
    """
    ended = threading.Event()
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="quiet") as pool:
        before = read_counters()
        flushing = [pool.submit(_flush, folder / f"quiet-{number}.bin", ended) for number in range(threads)]
        try:
            ended.wait(LOOK_S)
        finally:
            ended.set()
        for flushed in flushing:
            flushed.result()
    return withheld_between(before, read_counters())


def _flush(path: Path, ended: threading.Event) -> None:
    try:
        with path.open("wb", buffering=0) as file:
            while not ended.is_set():
                file.seek(0)
                file.write(BLOCK)
                os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)
