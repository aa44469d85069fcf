"""Is the harness itself fast enough, small enough and right? One part for each thing that is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.config.registry import nearest
from writepath.errors import UsageError
from writepath.selfcheck import audit_part, comparison_part, recorder_part, report_part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of Writepath with goals."""

    run: Callable[
        [Callable[[str], None]], bool
    ]  # takes what to say a line with; gives whether all goals are met
    about: str


PARTS = {
    "audit": Part(
        run=audit_part.run, about="audit from raw files: speed, memory, and exact detection of planted errors"
    ),
    "recorder": Part(
        run=recorder_part.run, about="k6 with the recorder versus plain k6: p99, CPU and maximum rate"
    ),
    "report": Part(
        run=report_part.run,
        about="report from raw files: speed, memory, and every figure as planted",
    ),
    "comparison": Part(
        run=comparison_part.run,
        about="verdicts on simulated suites with recorded noise: identical variants, and one that is 10 % slower",
    ),
}


def run(names: Sequence[str] | None, say: Callable[[str], None]) -> int:
    """The parts of these names, or all: 0 where every goal is met, else 1."""
    for name in names or ():
        if name not in PARTS:
            raise UsageError(f"ONLY={name}: {nearest(name, list(PARTS))}")
    met = True
    for name in names or PARTS:
        say(f"{name}: {PARTS[name].about}")
        met &= PARTS[name].run(say)
    say("all goals met" if met else "at least one goal was missed")
    return 0 if met else 1
