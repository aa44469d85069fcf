"""Finds the suite run that RESUME=1 continues: the newest with a missing, failed or unknown cell."""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from writepath.errors import UsageError
from writepath.records.index import INDEX_FILE, load_index

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from writepath.records.index import CellEntry, Index

    # By the params of an earlier run, cells of which more is asked now; None where something else differs
    Grown = Callable[[dict[str, Any]], Collection[str] | None]

SAME: tuple[tuple[str, Callable[[Index], Any]], ...] = (
    ("kind", attrgetter("kind")),
    ("REPS", attrgetter("repetitions")),
    ("SEED", attrgetter("seed")),
    ("the suite's baseline in suites.yaml", attrgetter("baseline")),
    ("RUNTIME", attrgetter("runtime")),
    ("settings", attrgetter("settings")),
    ("factors", lambda index: {factor.name: ",".join(factor.levels) for factor in index.factors}),
    ("DATASET", lambda index: (index.dataset.name, index.dataset.lines, index.dataset.sha256)),
    ("VARIANTS, or their definition in variants.yaml", attrgetter("variants")),
    ("what suites.yaml or an option says of the load", attrgetter("params")),
    ("the references (`bench` has none), or their suite in suites.yaml", attrgetter("references")),
    ("the code that measures", attrgetter("code.digest")),
)


def newest(wanted: Index, results: Path, grown: Grown | None = None) -> tuple[Index, Path]:
    """Its index without the cells that do not count, running again, and its folder; UsageError says what differs.

    grown: of a kind that may be asked for more of a cell than before.
    """
    for path in sorted((results / wanted.suite).glob(f"*/{INDEX_FILE}"), reverse=True):
        found = load_index(path.parent)
        again: Collection[str] = ()
        if grown is not None and (more := grown(found.params)) is not None:
            again, found = more, dataclasses.replace(found, params=wanted.params)
        kept = tuple(cell for cell in found.cells if _stays(cell) and cell.name not in again)
        if found.status == "finished" and len(kept) == len(found.cells):
            continue
        _require_same(found, wanted)
        return dataclasses.replace(found, cells=kept, status="running", finished_at=None), path.parent
    raise UsageError(
        f"RESUME=1: no suite run of '{wanted.suite}' in results/ has a missing, failed or unknown cell;"
        " start a new one without RESUME"
    )


def _stays(cell: CellEntry) -> bool:
    """An invalid cell is a finding and stays; one that a noisy host made unknown says nothing, and is rerun."""
    return cell.outcome == "finished" and cell.verdict != "unknown"


def _require_same(found: Index, wanted: Index) -> None:
    for words, get in SAME:
        before, now = get(found), get(wanted)
        if isinstance(before, dict) and isinstance(now, dict):
            before, now = _without(before, now), _without(now, before)
        if before != now:
            raise UsageError(
                f"RESUME=1: {words} differs from suite run {found.stamp}: was {_short(before)}, is now {_short(now)}."
                " Use the same value, or start a new suite run without RESUME."
            )


def _without(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What differs."""
    return {key: value for key, value in one.items() if key not in other or other[key] != value}


def _short(value: object) -> str:
    if isinstance(value, tuple) and value and hasattr(value[0], "name"):
        return ",".join(entry.name for entry in value)
    return str(value)[:120]
