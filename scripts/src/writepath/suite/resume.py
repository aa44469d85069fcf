"""Finds the suite run that RESUME=1 continues, of the kinds that do not use the engine yet."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

from writepath.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from writepath.records.capacity import CapacitySuite
    from writepath.records.queries import QueriesSuite

Index = TypeVar("Index", "CapacitySuite", "QueriesSuite")


def unfinished(
    wanted: Index,
    paths: Iterable[Path],
    load: Callable[[Path], Index],
    left: Callable[[Index, Path], Index | None],
    *,
    same: Iterable[tuple[str, str]],
    what: str,
) -> tuple[Index, Path]:
    """The newest index of which something is left to be made, running again, and its folder.

    left: the index without what does not count, given its folder; None where nothing is left. UsageError where
    there is no such index, or where a field of `same` is not as it was.
    """
    for path in sorted(paths, reverse=True):
        found = left(load(path.parent), path.parent)
        if found is not None:
            require_same(found, wanted, same)
            return dataclasses.replace(found, status="running", finished_at=None), path.parent
    raise UsageError(
        f"RESUME=1: no suite run of '{wanted.suite}' in results/ has {what}; start a new one without RESUME"
    )


def require_same(found: Index, wanted: Index, same: Iterable[tuple[str, str]]) -> None:
    """UsageError names the first field, in words, that is not as it was."""
    for field, words in same:
        before, now = getattr(found, field), getattr(wanted, field)
        if before != now:
            raise UsageError(
                f"RESUME=1: {words} differs from suite run {found.stamp}: was {_short(before)}, is now {_short(now)}."
                " Use the same value, or start a new suite run without RESUME."
            )


def _short(value: object) -> str:
    if isinstance(value, tuple) and value and hasattr(value[0], "name"):
        return ",".join(entry.name for entry in value)
    return str(value)[:120]
