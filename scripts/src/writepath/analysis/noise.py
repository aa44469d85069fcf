"""Names what made a host noisy: stolen processor time, throttling, swapping, and a host slower than before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from writepath.records import Canary
    from writepath.records.load_facts import WithheldFacts

STEAL_LIMIT = 0.02  # of all processor time: what the hypervisor gave to others
THROTTLED_LIMIT = 0.01  # of the time: a quota that bites halts every request under way, some 10 ms each time
SWAPPED_LIMIT = 256  # pages, 1 MiB of 4 KiB each: less is what an idle program of somebody else had left
CPU_SLOWER = 1.3  # times: processors share caches and clocks, one part in ten between two moments is usual
FSYNC_SLOWER = 3.0  # times, and
FSYNC_SLOWER_MS = (
    2.0  # more than so much: from 0.3 to 1 ms is what any disk cache does, and changes no figure
)


@dataclass(frozen=True, kw_only=True)
class Withheld:
    """Between two moments."""

    steal_share: float | None  # of all processor time
    throttled_share: float | None  # of the time, this process's control group was not let run
    swapped_pages: int | None


def reasons(withheld: Withheld | WithheldFacts) -> tuple[str, ...]:
    """In words, where a limit is passed: the figures of the load are noise."""
    found = []
    if (withheld.steal_share or 0.0) > STEAL_LIMIT:
        found.append(
            f"noisy host: {withheld.steal_share:.1%} of the CPU time was stolen during the load"
            f" (limit {STEAL_LIMIT:.0%})"
        )
    if (withheld.throttled_share or 0.0) > THROTTLED_LIMIT:
        found.append(
            f"noisy host: the CPU quota stopped the run for {withheld.throttled_share:.1%} of the load"
            f" (limit {THROTTLED_LIMIT:.0%})"
        )
    if (withheld.swapped_pages or 0) > SWAPPED_LIMIT:
        found.append(
            f"noisy host: {withheld.swapped_pages} pages swapped during the load (limit {SWAPPED_LIMIT})"
        )
    return tuple(found)


def slower(before: Canary, after: Canary) -> tuple[str, ...]:
    """In words, where the same work takes much longer after the load than before it: the host itself changed."""
    found = []
    if after.cpu_ms > before.cpu_ms * CPU_SLOWER:
        found.append(
            f"noisy host: a fixed CPU task took {after.cpu_ms:.0f} ms after the load,"
            f" {before.cpu_ms:.0f} ms before it (limit {CPU_SLOWER:g} times)"
        )
    flush, flush_before = after.fsync_ms_p50, before.fsync_ms_p50
    if flush > flush_before * FSYNC_SLOWER and flush - flush_before > FSYNC_SLOWER_MS:
        found.append(
            f"noisy host: an fsync took {flush:.1f} ms after the load, {flush_before:.1f} ms before it"
            f" (limit {FSYNC_SLOWER:g} times and {FSYNC_SLOWER_MS:g} ms more)"
        )
    return tuple(found)
