"""Says steps and brackets in one line of the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from writepath.records.capacity_run import CapacityResult
    from writepath.records.steps import Bracket, LoadStep


def step(made: LoadStep) -> str:
    """`step 3, 1,200/s: fail, p99 140 ms; p99 from ... (SLO 100 ms)`."""
    p99 = made.planned_latency_ms.p99
    word = {"noise": "noisy host"}.get(made.verdict, made.verdict)
    word += " (burst)" if made.burst and made.verdict != "pass" else ""
    line = (
        f"step {made.number}, {made.rate_per_s:,g}/s: {word}, p99 {'-' if p99 is None else f'{p99:.0f} ms'}"
    )
    return "; ".join((line, *made.reasons))


def bracket(found: Bracket) -> str:
    """With what is not known."""
    low, high = found.highest_passing_per_s, found.lowest_failing_per_s
    if low is None:
        return "unknown: no step was counted" if high is None else f"below {high:,g}/s (it failed there)"
    if high is None:
        return f"at least {low:,g}/s" + ("" if found.lower_bound else " (inconclusive: no failing rate)")
    least = "at least " if found.lower_bound else ""
    return f"{least}{low:,g}/s, fails at {high:,g}/s" + (
        "" if found.conclusive else " (inconclusive: not within 5 %)"
    )


def result(found: CapacityResult) -> str:
    """`sustained 1,234/s, fails at 1,290/s; 9 load steps`."""
    words = f"sustained {bracket(found.sustained)}"
    if found.burst != found.sustained:
        words += f"; burst {bracket(found.burst)}"
    return f"{words}; {max(found.sustained.steps, found.burst.steps)} load steps"
