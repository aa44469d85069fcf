"""How is a bracket said? In words, for a line of the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.records.capacity import answers

if TYPE_CHECKING:
    from writepath.records.capacity import Bracket, Search


def bracket(found: Bracket | None) -> str:
    """In words, and whether it is inconclusive."""
    if found is None:
        return "not measured"
    low, high = found.last_pass_per_s, found.first_fail_per_s
    if low is None:
        return "unknown: no step was counted" if high is None else f"below {high:,g}/s (it failed there)"
    if high is None:
        return f"at least {low:,g}/s" + ("" if found.at_least else " (inconclusive: no failing rate)")
    least = "at least " if found.at_least else ""
    return f"{least}{low:,g}/s, fails at {high:,g}/s" + (
        "" if answers(found) else " (inconclusive: not within 5 %)"
    )


def search(found: Search) -> str:
    """One line of the terminal."""
    if found.outcome != "finished":
        return found.error or f"stopped after {len(found.holds)} load steps"
    words = f"sustained {bracket(found.sustained)}"
    if found.burst != found.sustained:
        words += f"; burst {bracket(found.burst)}"
    holds = max((part.holds for part in (found.sustained, found.burst) if part), default=0)
    return f"{words}; {holds} load steps"
