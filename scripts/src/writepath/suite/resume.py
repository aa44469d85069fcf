"""Which suite run is to be continued? The newest with something missing, failed or unknown, asked for the same."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

from writepath import result
from writepath.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from writepath.result import SuiteResult, SuiteRun
    from writepath.result.capacity import CapacitySuite
    from writepath.result.queries import QueriesSuite

Index = TypeVar("Index", "SuiteResult", "CapacitySuite", "QueriesSuite")

SAME = (
    ("repetitions", "REPS"),
    ("seed", "SEED"),
    ("baseline", "the suite's baseline in suites.yaml"),
    ("runtime", "RUNTIME"),
    ("overrides", "settings"),
    ("dataset", "DATASET"),
    ("variants", "VARIANTS, or their definition in variants.yaml"),
    ("phases", "the scenario's phases in suites.yaml"),
    ("warm_up_requests", "the scenario's warm-up in suites.yaml"),
    ("warm_up_per_s", "the scenario's warm-up in suites.yaml"),
    ("code", "the version of Writepath"),
)


def newest(wanted: SuiteResult, results: Path) -> tuple[SuiteResult, Path]:
    """Its index without the runs that do not count, and its folder; UsageError says what differs."""
    paths = (results / wanted.suite).glob(f"*/{result.SUITE_FILE}")
    return unfinished(
        wanted, paths, result.load_suite, _left, same=SAME, what="a missing, failed or unknown run"
    )


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


def _left(index: SuiteResult, _: Path) -> SuiteResult | None:
    kept = tuple(run for run in index.runs if _counts(run))
    whole = index.status == "finished" and len(kept) == len(index.runs)
    return None if whole else dataclasses.replace(index, runs=kept)


def _counts(run: SuiteRun) -> bool:
    """An invalid run is a finding and stays; one that noise made unknown says nothing, and is made again."""
    return run.outcome == "finished" and run.verdict != "unknown"


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
