"""Reads what the processes of a component have used: sums over its process trees."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

import psutil

from writepath import pidfile
from writepath.runtime.base import Meter, Usage

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def read(meter: Meter, roots: Iterable[int], processes: Mapping[int, pidfile.Stat]) -> Usage:
    """Adds up the process trees below the roots: memory of its own of each, and once what they share.

    PostgreSQL's processes all map the same buffers. A parent's time holds that of its ended children, so the sum over
    the living never loses any. Bytes written are not told: /proc/PID/io counts a whole folio of the page cache for
    each write into it, up to 2 MiB where the file system has large ones, and so up to 256 times what goes to disk for
    a write of 8 KiB.
    """
    present: dict[object, Usage] = {}
    most_shared = 0
    for tree in (pidfile.descendants(root, processes) for root in roots):
        memory = [_memory(each.pid) for each in tree]
        most_shared = max([most_shared, *(shared for _, shared in memory)])
        if tree:
            present[tree[0].life] = Usage(
                cpu_seconds=sum(each.cpu_ticks for each in tree) / _TICKS_PER_SECOND,
                rss_bytes=sum(own for own, _ in memory),
                write_bytes=None,
            )
    used = meter.read(present)
    return replace(used, rss_bytes=used.rss_bytes + most_shared)


def _memory(pid: int) -> tuple[int, int]:
    """Bytes of its own, and those it shares."""
    try:
        found = psutil.Process(pid).memory_info()
    except psutil.NoSuchProcess:
        return 0, 0
    return found.rss - found.shared, found.shared
