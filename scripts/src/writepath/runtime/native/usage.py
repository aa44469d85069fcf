"""What have the processes of a component used? Sums over its process trees, from /proc in one pass."""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from writepath import pidfile
from writepath.pidfile import Stat
from writepath.runtime.base import Meter, Usage

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def read(meter: Meter, roots: Iterable[int], processes: dict[int, Stat]) -> Usage:
    """Adds up the trees below the roots: memory of its own of each, and once what they share.

    PostgreSQL's processes all map the same buffers. A parent's time holds that of its ended children, so the sum over
    the living never loses any. Bytes written are not told: /proc/PID/io counts a whole folio of the page cache for
    each write into it, up to 2 MiB where the file system has large ones, and so up to 256 times what goes to disk for
    a write of 8 KiB.
    """
    present: dict[object, Usage] = {}
    most_shared = 0
    for tree in (pidfile.descendants(root, processes) for root in roots):
        memory = [_pages(each) for each in tree]
        most_shared = max([most_shared, *(shared for _, shared in memory)])
        if tree:
            present[tree[0].pid, tree[0].started_ticks] = Usage(
                cpu_seconds=sum(map(_cpu_seconds, tree)),
                rss_bytes=sum(own for own, _ in memory) * _PAGE_BYTES,
                write_bytes=None,
            )
    used = meter.read(present)
    return replace(used, rss_bytes=used.rss_bytes + most_shared * _PAGE_BYTES)


def _cpu_seconds(each: Stat) -> float:
    """Own and of ended children. Ticks are 10 ms; where one thread is all, the scheduler's nanoseconds are better."""
    own = each.cpu_ticks / _TICKS_PER_SECOND
    if each.threads == 1:
        with contextlib.suppress(OSError, ValueError, IndexError):  # a kernel without these figures
            own = int(Path(f"/proc/{each.pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    return own + each.children_cpu_ticks / _TICKS_PER_SECOND


def _pages(each: Stat) -> tuple[int, int]:
    """Its own, and those it shares."""
    try:
        resident, shared = map(int, Path(f"/proc/{each.pid}/statm").read_text(encoding="ascii").split()[1:3])
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    return resident - shared, shared
