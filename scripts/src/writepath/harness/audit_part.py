"""How fast and how small is the audit, and does it find exactly what was planted? Up to ten million ids."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from writepath import process
from writepath.harness import planted
from writepath.harness.measured import MEMBERS_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MEMORY_GOAL_MIB = 1024
LINEAR_GOAL = 1.5  # seconds per id at the largest size, ÷ those at the one before
TIMEOUT_S = 600.0


@dataclass(frozen=True, kw_only=True)
class Size:
    """How many ids, and how long they may take."""

    ids: int
    goal_s: float


SIZES = (
    Size(ids=100_000, goal_s=10.0),
    Size(ids=1_000_000, goal_s=10.0),
    Size(ids=10_000_000, goal_s=100.0),
)


def run(say: Callable[[str], None], sizes: tuple[Size, ...] = SIZES) -> bool:
    """Whether every goal is met; one line a figure."""
    met, per_id = True, 0.0
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="writepath-harness-") as folder:
            truth = planted.plant(size.ids)
            planted.write(truth, Path(folder))
            wall_s, found = _measured(Path(folder))
            wrong = list(differences(truth, found, Path(folder)))
        good = wall_s <= size.goal_s
        say(
            f"  {size.ids:>10,} ids: {wall_s:.2f} s from start to verdict (goal {size.goal_s:.0f} s){_sign(good)}"
        )
        small = found["peak_mib"] <= MEMORY_GOAL_MIB
        say(
            f"  {size.ids:>10,} ids: {found['peak_mib']:.0f} MiB peak memory (goal {MEMORY_GOAL_MIB} MiB){_sign(small)}"
        )
        exact = "exactly what was planted" if not wrong else "; ".join(wrong)
        say(f"  {size.ids:>10,} ids: {exact}{_sign(not wrong)}")
        met &= good and small and not wrong
        before, per_id = per_id, found["seconds"] / size.ids
    if len(sizes) > 1:
        ratio = per_id / before
        linear = ratio <= LINEAR_GOAL
        say(f"  time per id, largest size ÷ the one before: {ratio:.2f} (goal {LINEAR_GOAL}){_sign(linear)}")
        met &= linear
    return met


def differences(truth: planted.Planted, found: dict[str, Any], folder: Path) -> Iterator[str]:
    """Between what was planted and what was found, in words; none where the audit is right."""
    with np.load(folder / MEMBERS_FILE, allow_pickle=False) as members:
        for name in planted.CLASSES:
            if not np.array_equal(members[name], truth.of(name)):
                yield f"{name}: {len(members[name])} found, {len(truth.of(name))} planted, not the same ids"
    if tuple(found["foreign"]) != planted.FOREIGN:
        yield f"foreign ids {found['foreign']}"
    yield from (f"not read: {words}" for words in found["unread"])
    yield from (f"sums do not agree: {words}" for words in found["identities_broken"])
    if found["verdict"] != "UNKNOWN":
        yield f"verdict {found['verdict']} of a run with unreadable lines"


def _measured(folder: Path) -> tuple[float, dict[str, Any]]:
    began = time.monotonic()
    said = process.call(sys.executable, "-m", "writepath.harness.measured", folder, timeout_s=TIMEOUT_S)
    return time.monotonic() - began, json.loads(said)


def _sign(met: bool) -> str:
    return "" if met else "  MISSED"
