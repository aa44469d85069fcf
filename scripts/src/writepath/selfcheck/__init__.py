"""Measures whether Writepath itself is fast, small and right enough: one part for each thing that is measured."""

from collections.abc import Callable, Sequence
from functools import partial

from writepath.config.checked import nearest
from writepath.errors import UsageError
from writepath.selfcheck import comparison_part, fuzz_part, recorder_part, scale

Say = Callable[[str], None]

# By name: what is measured, and what gives whether all its goals are met, saying one line a figure.
PARTS: dict[str, tuple[str, Callable[[Say], bool]]] = {
    "audit": (
        "audit from raw files: speed, memory, and exact detection of planted errors",
        partial(scale.met, what="audit", goals_s=scale.AUDIT_GOALS_S),
    ),
    "recorder": (
        "the load generator on one processor: requests dropped, p99 and CPU at a high rate",
        recorder_part.run,
    ),
    "report": (
        "report from raw files: speed, memory, and every figure as planted",
        partial(scale.met, what="report", goals_s=scale.REPORT_GOALS_S),
    ),
    "comparison": (
        "verdicts on simulated suites with recorded noise: identical variants, and one that is 10 % slower",
        comparison_part.run,
    ),
    "fuzz": (
        "100,000 generated requests: answers and stored posts against the OpenAPI document",
        fuzz_part.run,
    ),
}
ON_REQUEST = frozenset({"fuzz"})  # takes longer than the others together


def run(names: Sequence[str] | None, say: Say) -> int:
    """The parts of these names, or all but those on request: 0 where every goal is met, else 1."""
    for name in names or ():
        if name not in PARTS:
            raise UsageError(f"ONLY={name}: {nearest(name, list(PARTS))}")
    met = True
    for name in names or [name for name in PARTS if name not in ON_REQUEST]:
        about, part = PARTS[name]
        say(f"{name}: {about}")
        met &= part(say)
    say("all goals met" if met else "at least one goal was missed")
    return 0 if met else 1
