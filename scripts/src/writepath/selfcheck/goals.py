"""Measures an audit or a report of several sizes in processes of their own, and says which goals they meet."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from writepath import process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MEMORY_GOAL_MIB = 1024
LINEAR_GOAL = 1.5  # seconds per request at the largest size, ÷ those at the one before
TIMEOUT_S = 600.0


@dataclass(frozen=True, kw_only=True)
class Size:
    """How many requests, and how long they may take."""

    requests: int
    goal_s: float


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one process took, and what it said."""

    wall_s: float  # with its start
    seconds: float  # without
    peak_mib: float
    exit_code: int
    lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is measured."""

    what: str  # of measured.py
    exact: str  # said where nothing differs
    plant: Callable[
        [int, Path], Callable[[Found], Iterable[str]]
    ]  # gives what tells the differences, in words


def met(say: Callable[[str], None], subject: Subject, sizes: Sequence[Size]) -> bool:
    """Whether every goal is met; one line a figure."""
    good, per_request = [], []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="writepath-harness-") as name:
            differences = subject.plant(size.requests, Path(name))
            found = measured(subject.what, Path(name))
            wrong = list(differences(found))
        took = f"{found.wall_s:.2f} s from raw files to the {subject.what} (goal {size.goal_s:.0f} s)"
        held = f"{found.peak_mib:.0f} MiB peak memory (goal {MEMORY_GOAL_MIB} MiB)"
        for words, one in (
            (took, found.wall_s <= size.goal_s),
            (held, found.peak_mib < MEMORY_GOAL_MIB),
            ("; ".join(wrong) or subject.exact, not wrong),
        ):
            say(f"  {size.requests:>10,} requests: {words}{_sign(one)}")
            good.append(one)
        per_request.append(found.seconds / size.requests)
    if len(sizes) > 1:
        ratio = per_request[-1] / per_request[-2]
        good.append(ratio <= LINEAR_GOAL)
        words = f"time per request, largest size ÷ the one before: {ratio:.2f} (goal {LINEAR_GOAL})"
        say(f"  {words}{_sign(good[-1])}")
    return all(good)


def measured(what: str, folder: Path) -> Found:
    """In a new process."""
    began = time.monotonic()
    said = process.call(
        sys.executable, "-m", "writepath.selfcheck.measured", what, folder, timeout_s=TIMEOUT_S
    )
    wall_s = time.monotonic() - began
    figures = json.loads(said.splitlines()[-1])
    return Found(wall_s=wall_s, **figures | {"lines": tuple(figures["lines"])})


def _sign(met: bool) -> str:
    return "" if met else "  MISSED"
