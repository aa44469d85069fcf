"""Which suite run is to be continued? The newest with a run missing, failed or unknown, asked for the same."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath import result
from writepath.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.result import SuiteResult, SuiteRun

SAME = (
    ("repetitions", "REPS"),
    ("seed", "SEED"),
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
    folders = sorted((results / wanted.suite).glob(f"*/{result.SUITE_FILE}"), reverse=True)
    for path in folders:
        found = result.load_suite(path.parent)
        kept = tuple(run for run in found.runs if _counts(run))
        if found.status != "finished" or len(kept) < len(found.runs):
            _require_same(found, wanted)
            return dataclasses.replace(found, status="running", finished_at=None, runs=kept), path.parent
    raise UsageError(
        f"RESUME=1: no suite run of '{wanted.suite}' in results/ has a run missing, failed or unknown;"
        " start one without RESUME"
    )


def _counts(run: SuiteRun) -> bool:
    """An invalid run is a finding and stays; one that noise made unknown says nothing, and is made again."""
    return run.outcome == "finished" and run.verdict != "unknown"


def _require_same(found: SuiteResult, wanted: SuiteResult) -> None:
    for field, words in SAME:
        before, now = getattr(found, field), getattr(wanted, field)
        if before != now:
            raise UsageError(
                f"RESUME=1: {words} differs from suite run {found.stamp}: it had {_short(before)}, now {_short(now)}."
                " Ask for the same, or start anew without RESUME."
            )


def _short(value: object) -> str:
    if isinstance(value, tuple) and value and hasattr(value[0], "name"):
        return ",".join(entry.name for entry in value)
    return str(value)[:120]
