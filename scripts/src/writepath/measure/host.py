"""The machine: its facts, how fast it is right now, what it withheld from a load, and the wait for a quiet one.

None of what is withheld shows in the figures of the run itself: a request that waits for a processor the hypervisor
took is just a slow request. Counters are read before and after a load; what lies between them is what happened to it.
"""

import contextlib
import os
import platform
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from writepath import control_groups
from writepath.analysis import verdict
from writepath.errors import SetupError
from writepath.processors import Split, available
from writepath.progress import Progress
from writepath.records.load_facts import WithheldFacts
from writepath.records.measures import Canary, Host

CPU_TIMES = (
    "user",
    "nice",
    "system",
    "idle",
    "iowait",
    "irq",
    "softirq",
    "steal",
)  # a guest's is in the user's
UNITS_PER_S = {"throttled_usec": 1e6, "throttled_time": 1e9}  # version 2, version 1


@dataclass(frozen=True, kw_only=True)
class Counters:
    """At one moment; all of them only grow."""

    steal_s: float  # of all processors
    total_s: float
    throttled_s: float | None  # None: no quota can be read
    wall_s: float
    swapped_pages: int | None  # in and out


def read_counters() -> Counters:
    """Of the machine, and of the control group of this process: natively every part of a variant is in it, too."""
    times = psutil.cpu_times()
    swapped = _statistics(Path(psutil.PROCFS_PATH) / "vmstat")
    return Counters(
        steal_s=times.steal,
        total_s=busy_and_total_s(times)[1],
        throttled_s=_throttled_s(),
        wall_s=time.monotonic(),
        swapped_pages=swapped["pswpin"] + swapped["pswpout"] if "pswpin" in swapped else None,
    )


def withheld_between(first: Counters, last: Counters) -> WithheldFacts:
    """What could not be read at both moments is None, never zero."""
    total_s, wall_s = last.total_s - first.total_s, last.wall_s - first.wall_s
    throttled_s = _growth(first.throttled_s, last.throttled_s)
    swapped_pages = _growth(first.swapped_pages, last.swapped_pages)
    return WithheldFacts(
        steal_share=(last.steal_s - first.steal_s) / total_s if total_s > 0 else None,
        throttled_share=None if throttled_s is None or wall_s <= 0 else throttled_s / wall_s,
        swapped_pages=None if swapped_pages is None else int(swapped_pages),
    )


def busy_and_total_s(times: Any) -> tuple[float, float]:
    """Of psutil's times of one processor or of all."""
    known = {name: float(getattr(times, name, 0.0)) for name in CPU_TIMES}
    total = sum(known.values())
    return total - known["idle"] - known["iowait"], total


def text_of(path: Path) -> str:
    """Of a file of the kernel; empty where this kernel has none, or was told not to count."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _growth(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _throttled_s() -> float | None:
    """The most of the group and those it is in: a quota of any of them halts it, and often at the same time.

    Not of the groups below them: that of an application with APPLICATION_CPUS halts it alone, as asked.
    """
    found = [
        count / UNITS_PER_S[name]
        for folder in control_groups.of_this_process()
        for name, count in _statistics(folder / "cpu.stat").items()
        if name in UNITS_PER_S
    ]
    return max(found, default=None)


def _statistics(path: Path) -> dict[str, int]:
    """Lines of a name and a number; nothing where there is no such file."""
    pairs = [line.split() for line in text_of(path).splitlines()]
    return {name: int(value) for name, value in pairs}


BLOCK_BYTES = 4096
FSYNCS = 50
CPU_LOOPS = 400_000
CPU_TRIES = 5  # what a stack still does right after a load, on the other half of a core, must not look like a slow host
DISK_FREE_MIN_BYTES = 2 << 30


def host_facts(data: Path, split: Split | None = None) -> Host:
    """Of the machine; data: the folder the stores write to; split: of its processors, where it is not shared."""
    return Host(
        cpu_model=_cpu_model(),
        cores=len(available()),
        memory_bytes=psutil.virtual_memory().total,
        kernel=platform.release(),
        filesystem=_filesystem(data),
        processors=None if split is None else split.text,
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


IDLE_LOOK_S = 10.0
IDLE_LIMIT = 0.1  # of all processors: what a machine does on which nothing runs
NAMED = 3


def require_idle() -> None:
    """SetupError where other programs use the processors; names those that use most. Takes IDLE_LOOK_S."""
    programs, (busy_s, total_s) = _used_s(), _worked_and_total_s()
    time.sleep(IDLE_LOOK_S)
    busy_after_s, total_after_s = _worked_and_total_s()
    share = max(busy_after_s - busy_s, 0.0) / max(total_after_s - total_s, 1e-9)
    if share > IDLE_LIMIT:
        used = {one: used_s - programs.get(one, 0.0) for one, used_s in _used_s().items()}
        most = sorted(used, key=used.__getitem__, reverse=True)[:NAMED]
        names = ", ".join(f"{name} (pid {pid})" for pid, name in most)
        raise SetupError(
            f"other programs use {share:.0%} of the CPU (limit {IDLE_LIMIT:.0%}), most of it {names}; that distorts"
            " the results. Stop them, or wait until they have ended"
        )


def _worked_and_total_s() -> tuple[float, float]:
    """Of all processors, without what the hypervisor took: that is the business of a run's verdict."""
    times = psutil.cpu_times()
    busy_s, total_s = busy_and_total_s(times)
    return busy_s - times.steal, total_s


def _used_s() -> dict[tuple[int, str], float]:
    """By pid and name of each program, processor time so far."""
    found = {}
    for program in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it has ended
            times = program.cpu_times()
            found[program.pid, program.name()] = times.user + times.system
    return found


@dataclass(kw_only=True)
class CanaryCage:
    """Measures the host beside the runs; remembers CPU times to tell what was stolen in between."""

    folder: Path
    _last: Counters | None = None

    def measure(self) -> Canary:
        """About half a second on a fast disk."""
        fsyncs = sorted(_fsyncs_ms(self.folder / "canary.bin"))
        before, self._last = self._last, read_counters()
        stolen = None if before is None else withheld_between(before, self._last).steal_share
        return Canary(
            fsync_ms_p50=round(fsyncs[len(fsyncs) // 2], 3),
            fsync_ms_p99=round(fsyncs[-1], 3),
            cpu_ms=round(min(_cpu_ms() for _ in range(CPU_TRIES)), 3),
            steal_share=None if stolen is None else round(stolen, 4),
            load_average_1m=round(os.getloadavg()[0], 2),
            disk_free_bytes=shutil.disk_usage(self.folder).free,
        )


def _fsyncs_ms(path: Path) -> list[float]:
    """How long each of some flushes of a small block took."""
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


def _cpu_ms() -> float:
    start = time.perf_counter()
    value = 1
    for _ in range(CPU_LOOPS):
        value = (value * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
    return (time.perf_counter() - start) * 1000


def _cpu_model() -> str:
    lines = text_of(Path("/proc/cpuinfo")).splitlines()
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


def wait_until_quiet(folder: Path, progress: Progress, at_most_s: float = LONGEST_S) -> bool:
    """False: still noisy after so long. folder: on the stores' disk."""
    progress.phase("wait for a quiet host")
    ends, quiet = time.monotonic() + at_most_s, 0
    while quiet < QUIET_LOOKS:
        if (left_s := ends - time.monotonic()) <= 0:
            return False
        seen = look_for_noise(folder)
        quiet = 0 if verdict.noise_reasons(seen) else quiet + 1
        progress.noisy(seen.steal_share, left_s)
    return True


def look_for_noise(folder: Path) -> WithheldFacts:
    """What is withheld within LOOK_S from threads that flush small blocks, one on each processor.

    From a processor that sleeps nothing can be stolen, and from one that never does little is: loads fall asleep and
    wake thousands of times a second, as these threads do.
    """
    ends, processors = time.monotonic() + LOOK_S, available()

    def flush(number: int) -> None:
        os.sched_setaffinity(0, {number})  # of this thread alone
        while time.monotonic() < ends:
            _fsyncs_ms(folder / f"quiet-{number}.bin")

    before = read_counters()
    with ThreadPoolExecutor(max_workers=len(processors), thread_name_prefix="quiet") as pool:
        list(pool.map(flush, processors))
    return withheld_between(before, read_counters())
