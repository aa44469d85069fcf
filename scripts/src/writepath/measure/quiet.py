"""Waits for a quiet host: a hypervisor's other guests take processors in bursts, of ten seconds to minutes.

A load made again at once meets the same burst. Whether to wait follows from the noise alone, never from what the load
showed: waiting cannot choose results.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from writepath.analysis import noise
from writepath.measure import withheld

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.analysis.noise import Withheld
    from writepath.progress import Progress

LOOK_S = 5.0
QUIET_LOOKS = 3  # running: between two bursts lie moments
LONGEST_S = 600.0
BLOCK = bytes(4096)


def wait(folder: Path, progress: Progress) -> bool:
    """False: still noisy after LONGEST_S. folder: on the stores' disk."""
    progress.phase("wait for a quiet host")
    ends, quiet = time.monotonic() + LONGEST_S, 0
    while quiet < QUIET_LOOKS:
        if (left_s := ends - time.monotonic()) <= 0:
            return False
        seen = look(folder)
        quiet = 0 if noise.reasons(seen) else quiet + 1
        progress.noisy(seen.steal_share, left_s)
    return True


def look(folder: Path) -> Withheld:
    """What is withheld within LOOK_S from threads that flush small blocks, one for each processor.

    From a processor that sleeps nothing can be stolen, and from one that never does little is: loads fall asleep and
    wake thousands of times a second, as these threads do.
    """
    ended = threading.Event()
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="quiet") as pool:
        before = withheld.read()
        flushing = [pool.submit(_flush, folder / f"quiet-{number}.bin", ended) for number in range(threads)]
        try:
            ended.wait(LOOK_S)
        finally:
            ended.set()
        for flushed in flushing:
            flushed.result()
    return withheld.between(before, withheld.read())


def _flush(path: Path, ended: threading.Event) -> None:
    try:
        with path.open("wb", buffering=0) as file:
            while not ended.is_set():
                file.seek(0)
                file.write(BLOCK)
                os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)
