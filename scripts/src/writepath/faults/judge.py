"""What does a cell say in one word, and why? Held, broke, unknown; of a naive twin: loses, or not discriminating."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.faults.recovery import GOAL_S
from writepath.result.faults import broke

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.result import Audit
    from writepath.result.faults import CellStatus, Trial

RECOVERY_IS_NONE = ("none",)


def judge(
    trials: Sequence[Trial], audit: Audit | None, *, wanted: int, naive: bool
) -> tuple[CellStatus, tuple[str, ...]]:
    """A twin that loses nothing has not shown that the fault can tell good from bad: that is never a pass."""
    effective = [trial for trial in trials if trial.effective]
    losing = sum(1 for trial in effective if broke(trial))
    if naive:
        return _of_twin(effective, losing, audit)
    broken = tuple(_broken(trials, effective, losing, audit))
    if broken:
        return "broke", broken
    missing = tuple(_missing(effective, audit, wanted))
    return ("unknown", missing) if missing else ("held", ())


def _of_twin(
    effective: Sequence[Trial], losing: int, audit: Audit | None
) -> tuple[CellStatus, tuple[str, ...]]:
    if losing:
        return "loses", (f"{losing} of {len(effective)} faults broke promises",)
    if audit is None or audit.status == "not-read" or not effective:
        return "unknown", ("nothing effective was seen",)
    return "not discriminating", (
        "it lost nothing either: this fault cannot tell it from the correct variant",
    )


def _broken(
    trials: Sequence[Trial], effective: Sequence[Trial], losing: int, audit: Audit | None
) -> Iterator[str]:
    if losing:
        yield f"{losing} of {len(effective)} faults broke promises"
    elif audit is not None and audit.status == "read" and _spoiled(audit):
        yield f"{_spoiled(audit)} promises broken outside any fault's reach"
    if audit is not None:
        yield from (f"sums do not agree: {words}" for words in audit.identities_broken)
    slow = [t for t in trials if t.recovered_after_seconds is None or t.recovered_after_seconds > GOAL_S]
    if slow:
        yield f"{len(slow)} of {len(trials)} times it was not well again {GOAL_S:.0f} s after the heal"


def _spoiled(audit: Audit) -> int:
    return (
        audit.lost
        + audit.stranded
        + audit.duplicated
        + audit.corrupted
        + audit.unexpected
        + audit.rejected_present
    )


def _missing(effective: Sequence[Trial], audit: Audit | None, wanted: int) -> Iterator[str]:
    if audit is None or audit.status == "not-read":
        yield "the store could not be read back"
    if len(effective) < wanted:
        yield f"only {len(effective)} of {wanted} faults are proved"
