"""How do the results of a cell of faults read? Verdict, recovery and errors, in words."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.records.faults import broke

if TYPE_CHECKING:
    from writepath.records.faults import Cell as Struck

KINDS_SHOWN = 3
NO_FAULT = "none"


def verdict_in_words(one: Struck) -> str:
    """`no loss in 20 faults (loss probability ≤ 13.9 %)`: the bound is of the share of such faults, not of writes."""
    reasons, noun = "; ".join(one.reasons), "trial" if one.fault == NO_FAULT else "fault"
    if one.status == "unknown":
        return f"unknown: {reasons}"
    if one.status == "destroyed":
        return f"destroyed: {reasons}; no other loss"
    if one.losing:
        only_twice = all(broke(trial) == trial.duplicated for trial in one.effective)
        what = "stored writes twice" if only_twice else "lost data"
        return f"{what} in {one.losing} of {counted(len(one.effective), noun)}"
    if one.status == "broke":
        return f"failed: {reasons}"
    nothing = f"no loss in {counted(len(one.effective), noun)}{_bound(one)}"
    return f"not discriminating: {nothing}" if one.status == "not discriminating" else nothing


def _bound(one: Struck) -> str:
    bound = stats.upper_bound(one.losing, len(one.effective))
    return "" if bound is None else f" (loss probability ≤ {bound * 100:.1f} %)"


def recovery_in_words(one: Struck) -> str:
    """`; recovered in 7.0 s (max 12.3 s)`: median and maximum of the trials that recovered."""
    times = recovery_times(one)
    words = f"; recovered in {statistics.median(times):.1f} s (max {max(times):.1f} s)" if times else ""
    late = len(one.trials) - len(times)
    return f"{words}; did not recover in time in {late} of {len(one.trials)}" if late else words


def recovery_times(one: Struck) -> list[float]:
    """Seconds, of the trials that recovered."""
    return [t.recovered_after_seconds for t in one.trials if t.recovered_after_seconds is not None]


def kinds(one: Struck) -> str:
    """The most frequent ones, over all faults of the cell."""
    total: dict[str, int] = {}
    for trial in one.effective:
        for kind, count in trial.errors.items():
            total[kind] = total.get(kind, 0) + count
    shown = sorted(total.items(), key=lambda item: -item[1])
    rest = sum(count for _, count in shown[KINDS_SHOWN:])
    words = [f"{count} {kind}" for kind, count in shown[:KINDS_SHOWN]] + ([f"{rest} other"] if rest else [])
    return ", ".join(words) or "none"


def counted(count: int, noun: str) -> str:
    """`1 fault`, `2 faults`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
