"""What does a cell say in one word, and why? Of a naive twin: loses, or not discriminating."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis.audit import MUST_BE_ZERO
from writepath.faults.recovery import GOAL_S
from writepath.records.faults import broke

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.records import Audit
    from writepath.records.faults import CellStatus, Trial


def judge(
    trials: Sequence[Trial], audit: Audit | None, *, wanted: int, naive: bool, alone: bool
) -> tuple[CellStatus, tuple[str, ...]]:
    """A weakened control that loses nothing does not show that the fault can reveal a loss: that is never a pass.

    alone: no other cell ran at the same time. Otherwise a recovery time is an upper bound, because cells share the
    processors while they start: one that is too long leaves the cell unknown.
    """
    effective = [trial for trial in trials if trial.effective]
    losing = sum(1 for trial in effective if broke(trial))
    unseen = tuple(_unseen(effective, audit, 1 if naive else wanted))
    if naive:
        return _of_twin(len(effective), losing, unseen)
    taken = [trial.taken_along for trial in effective if trial.taken_along]
    broken, slow = tuple(_broken(len(effective), losing, audit, sum(taken))), tuple(_slow(trials))
    if broken or (slow and alone):
        return "broke", (*broken, *slow)
    unseen += tuple(f"{words}, while other cells were running; rerun with JOBS=1" for words in slow)
    if unseen:
        return "unknown", unseen
    if taken:
        return "destroyed", (
            f"{len(taken)} of {len(effective)} deletions removed {sum(taken)} acknowledged writes",
        )
    return "held", ()


def _of_twin(effective: int, losing: int, unseen: tuple[str, ...]) -> tuple[CellStatus, tuple[str, ...]]:
    if losing:
        return "loses", (f"guarantees broken in {losing} of {effective} faults",)
    if unseen:
        return "unknown", unseen
    return "not discriminating", (
        "the weakened control lost nothing either: this fault does not distinguish it from the correct variant",
    )


def _broken(effective: int, losing: int, audit: Audit | None, taken: int) -> Iterator[str]:
    """taken: lost with what was deleted on purpose."""
    if losing:
        yield f"guarantees broken in {losing} of {effective} faults"
    elif audit is not None:
        for name, words in MUST_BE_ZERO.items():
            if count := getattr(audit, name) - (taken if name == "lost" else 0):
                yield f"{count} {words}"
    if audit is not None:
        yield from (f"sums do not agree: {words}" for words in audit.identities_broken)


def _slow(trials: Sequence[Trial]) -> Iterator[str]:
    slow = [t for t in trials if t.recovered_after_seconds is None or t.recovered_after_seconds > GOAL_S]
    if slow:
        yield f"not recovered within {GOAL_S:.0f} s in {len(slow)} of {len(trials)} faults"


def _unseen(effective: Sequence[Trial], audit: Audit | None, wanted: int) -> Iterator[str]:
    if audit is None or audit.verdict == "UNKNOWN":
        yield from (
            ("the store could not be read back",) if audit is None else audit.unread or ("no row was read",)
        )
    if len(effective) < wanted:
        yield f"only {len(effective)} of {wanted} faults have proof that they happened"
