"""Which capacity suite run is continued? The newest with something missing, failed or left to noise, if the same."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath.records.capacity import CAPACITY_FILE, load_search, load_suite
from writepath.suite.resume import unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from writepath.records.capacity import CapacitySuite, Search, SearchLine
    from writepath.records.queries import Read

SAME = (
    ("repetitions", "REPS"),
    ("seed", "SEED"),
    ("runtime", "RUNTIME"),
    ("overrides", "settings"),
    ("slo_ms", "SLO_MS"),
    ("hold_seconds", "HOLD_SECONDS"),
    ("dataset", "DATASET"),
    ("variants", "VARIANTS, or their definition in variants.yaml"),
    ("baseline", "the suite's baseline in suites.yaml"),
    ("blocks", "the content of a block (`bench` has no A/A control and no ceilings)"),
)  # not the code: each search says which version made it


def newest(wanted: CapacitySuite, results: Path) -> tuple[CapacitySuite, Path]:
    """Its index without the searches that did not finish, and its folder; UsageError says what differs."""
    paths = (results / wanted.suite).glob(f"*/{CAPACITY_FILE}")
    return unfinished(
        wanted, paths, load_suite, _left, same=SAME, what="a missing, failed or noisy capacity run"
    )


def settled(
    lines: Iterable[SearchLine], folder: Path, load: Callable[[Path], Search | Read]
) -> tuple[SearchLine, ...]:
    """Those that finished and were not left to noise. load: what was made, of a folder of the suite's."""
    return tuple(
        line for line in lines if line.outcome == "finished" and not load(folder / line.folder).left_to_noise
    )


def _left(index: CapacitySuite, folder: Path) -> CapacitySuite | None:
    kept = settled(index.searches, folder, load_search)
    whole = len(kept) + len(index.ceilings) >= sum(map(len, index.blocks))
    return None if whole else dataclasses.replace(index, searches=kept)
