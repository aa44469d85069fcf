"""What have the processes of a component used? Sums over its process trees, from /proc in one pass."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from writepath import pidfile
from writepath.runtime.base import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from writepath.pidfile import Stat

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Meter:
    """One component. What ended processes have used stays counted.

    Bytes written are not told: /proc/PID/io counts a whole folio of the page cache for each write into it, up to 2 MiB
    where the file system has large ones, and so up to 256 times what goes to disk for a write of 8 KiB.
    """

    cpu_seconds: dict[tuple[int, int], float] = field(default_factory=dict)  # by root: (pid, start)

    def read(self, roots: Iterable[int], processes: Mapping[int, Stat]) -> Usage:
        """Adds up the trees below the roots."""
        trees = [tree for root in roots if (tree := pidfile.descendants(root, dict(processes)))]
        for tree in trees:
            # A parent's time holds that of its ended children, so the sum over the living never loses any.
            key = tree[0].pid, tree[0].started_ticks
            self.cpu_seconds[key] = max(self.cpu_seconds.get(key, 0.0), sum(map(_cpu_seconds, tree)))
        members = [each for tree in trees for each in tree]
        return Usage(
            cpu_seconds=sum(self.cpu_seconds.values()),
            rss_bytes=_resident_bytes(members),
            write_bytes=None,
        )


def _cpu_seconds(each: Stat) -> float:
    """Own and of ended children. Ticks are 10 ms; where one thread is all, the scheduler's nanoseconds are better."""
    own = each.cpu_ticks / _TICKS_PER_SECOND
    if each.threads == 1:
        with contextlib.suppress(OSError, ValueError, IndexError):  # a kernel without these figures
            own = int(Path(f"/proc/{each.pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    return own + each.children_cpu_ticks / _TICKS_PER_SECOND


def _resident_bytes(members: Iterable[Stat]) -> int:
    """Private memory of each, and once what they share: PostgreSQL's processes all map the same buffers."""
    private = shared = 0
    for each in members:
        try:
            fields = Path(f"/proc/{each.pid}/statm").read_text(encoding="ascii").split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        resident_pages, shared_pages = int(fields[1]), int(fields[2])
        private += resident_pages - shared_pages
        shared = max(shared, shared_pages)
    return (private + shared) * _PAGE_BYTES
