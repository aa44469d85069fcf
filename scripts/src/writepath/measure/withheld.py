"""Reads what the machine withheld from a load: stolen processor time, throttling, swapping.

None of these shows in the figures of the run itself: a request that waits for a processor the hypervisor took is just
a slow request. Counters are read before and after a load; what lies between them is what happened to it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from writepath.analysis.noise import Withheld

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def read(proc: Path = PROC, groups: Path = GROUPS) -> Counters:
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


def between(first: Counters, last: Counters) -> Withheld:
    """What could not be read at both moments is None, never zero."""
    total_s, wall_s = last.total_s - first.total_s, last.wall_s - first.wall_s
    throttled, swapped = (
        None if None in (before, after) else (after or 0) - (before or 0)
        for before, after in (
            (first.throttled_s, last.throttled_s),
            (first.swapped_pages, last.swapped_pages),
        )
    )
    return Withheld(
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
