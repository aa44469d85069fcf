"""Is every acknowledged write in the store, once, as it was sent, and nothing else? Sets compared by sequence.

Pure functions over arrays. Classes are those of docs/glossary.md; every sequence falls into exactly one of them, and
the sums are checked against counts that were made elsewhere (k6's own, the store's own).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from writepath.load.ledger import WRONG_ECHO, Outcome
from writepath.result import Audit, Offenders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from writepath.load.ledger import Ledger

INTERVALS_MAX = 100
FIRST_IDS = 20


@dataclass(frozen=True, kw_only=True)
class Attempts:
    """What the client saw: one entry a started request, in any order."""

    seq: NDArray[np.int64]
    outcome: NDArray[np.uint8]  # ledger.Outcome
    wrong_echo: NDArray[np.bool_]  # 201, but naming another id than the one sent

    @staticmethod
    def of(ledger: Ledger) -> Attempts:
        """From the ledger's records."""
        records = ledger.records
        return Attempts(
            seq=records["seq"], outcome=ledger.outcomes(), wrong_echo=records["error_code"] == WRONG_ECHO
        )

    @property
    def acknowledged(self) -> NDArray[np.bool_]:
        """By entry: answered 201."""
        return np.equal(self.outcome, Outcome.ACKNOWLEDGED)

    @property
    def rejected(self) -> NDArray[np.bool_]:
        """By entry: a documented refusal."""
        return np.equal(self.outcome, Outcome.REJECTED)


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the store held: one entry a row of this run, in any order, and the ids that are not of this run."""

    seq: NDArray[np.int64]
    content_ok: NDArray[np.bool_]
    durable_at_ms: NDArray[np.float64]  # epoch; NaN where unknown
    foreign_ids: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """All rows, foreign ones too."""
        return len(self.seq) + len(self.foreign_ids)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The same facts as counted by others, for the identities."""

    planned: int
    dropped: int  # by k6
    store_rows: int  # by the store itself
    left_in_queue: int  # ready + unacknowledged + in flight + dead-lettered, after the drain
    suppressed_duplicates: int | None


def compare(attempts: Attempts, stored: Stored, counts: Counts, post_id: Callable[[int], str]) -> Audit:
    """Sorts every sequence into its class. post_id gives the id of a sequence, for the list of offenders."""
    size = 1 + int(attempts.seq.max(initial=-1))
    within = stored.seq < size  # what lies beyond was never attempted; it must not size the arrays either
    beyond = [post_id(int(s)) for s in np.unique(stored.seq[~within])]
    stored_seq, wrong = stored.seq[within], stored.seq[within & ~stored.content_ok]
    acknowledged = _marks(attempts.seq[attempts.acknowledged], size)
    rejected = _marks(attempts.seq[attempts.rejected], size)
    attempted = _marks(attempts.seq, size)
    indeterminate = attempted & ~acknowledged & ~rejected
    copies = np.bincount(stored_seq, minlength=size)
    present = copies > 0
    unexpected = present & ~attempted
    duplicated = attempted & (copies > 1)
    corrupted = attempted & _marks(wrong, size) & ~duplicated
    sound = present & attempted & ~duplicated & ~corrupted
    offending = {
        "absent": acknowledged & ~present,
        "duplicated": duplicated,
        "corrupted": corrupted,
        "unexpected": unexpected,
        "rejected_present": rejected & sound,
        "wrong_echo": _marks(attempts.seq[attempts.wrong_echo], size),
    }
    absent = int(offending["absent"].sum())
    stranded = min(absent, counts.left_in_queue)
    foreign = list(dict.fromkeys((*stored.foreign_ids, *beyond)))
    audit = Audit(
        status="read",
        stored_rows=stored.rows,
        stored_ids=int(present.sum()) + len(foreign),
        ok=int((acknowledged & sound).sum()),
        lost=absent - stranded,
        stranded=stranded,
        duplicated=int(duplicated.sum()),
        corrupted=int(corrupted.sum()),
        unexpected=int(unexpected.sum()) + len(foreign),
        recovered=int((indeterminate & sound).sum()),
        clean_fail=int((indeterminate & ~present).sum()),
        clean_reject=int((rejected & ~present).sum()),
        rejected_present=int((rejected & sound).sum()),
        wrong_echo=int(attempts.wrong_echo.sum()),
        suppressed_duplicates=counts.suppressed_duplicates,
        offenders=_offenders(offending, foreign, post_id),
        identities_broken=(),
        seconds=0.0,
    )
    spoiled = int((acknowledged & (duplicated | corrupted)).sum())
    broken = tuple(_broken_identities(attempts, stored, counts, audit, spoiled))
    return replace(audit, identities_broken=broken)


def not_read() -> Audit:
    """The store could not be read back: nothing is known, which is never a pass."""
    nothing = Attempts(
        seq=np.empty(0, dtype=np.int64),
        outcome=np.empty(0, dtype=np.uint8),
        wrong_echo=np.empty(0, dtype=np.bool_),
    )
    none = Stored(
        seq=np.empty(0, dtype=np.int64), content_ok=np.empty(0, dtype=np.bool_), durable_at_ms=np.empty(0)
    )
    counts = Counts(planned=0, dropped=0, store_rows=0, left_in_queue=0, suppressed_duplicates=None)
    return replace(compare(nothing, none, counts, str), status="not-read")


def _broken_identities(
    attempts: Attempts, stored: Stored, counts: Counts, audit: Audit, spoiled: int
) -> list[str]:
    """spoiled: acknowledged, and duplicated or corrupted."""
    started = len(attempts.seq)
    acknowledged = int(attempts.acknowledged.sum())
    distinct = len(np.unique(attempts.seq))
    whole = audit.ok + audit.recovered + audit.rejected_present
    spoiled_ids = audit.duplicated + audit.corrupted + audit.unexpected
    sums = {
        f"planned {counts.planned} = started {started} + dropped {counts.dropped}": (
            counts.planned == started + counts.dropped
        ),
        f"started {started} = distinct sequences in the ledger {distinct}": started == distinct,
        f"acknowledged {acknowledged} = ok {audit.ok} + lost {audit.lost} + stranded {audit.stranded}"
        f" + duplicated or corrupted {spoiled}": (
            acknowledged == audit.ok + audit.lost + audit.stranded + spoiled
        ),
        f"ids in the store {audit.stored_ids} = ok, recovered and rejected-present {whole}"
        f" + duplicated, corrupted and unexpected {spoiled_ids}": audit.stored_ids == whole + spoiled_ids,
        f"rows read back {stored.rows} = rows the store counts {counts.store_rows}": (
            stored.rows == counts.store_rows
        ),
    }
    return [words for words, holds in sums.items() if not holds]


def _marks(seq: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    marks = np.zeros(size, dtype=np.bool_)
    marks[seq] = True
    return marks


def _offenders(
    classes: dict[str, NDArray[np.bool_]], foreign: Sequence[str], post_id: Callable[[int], str]
) -> dict[str, Offenders]:
    offenders = {}
    for name, marks in classes.items():
        seq = np.flatnonzero(marks)
        others = foreign if name == "unexpected" else ()
        if len(seq) or others:
            ids = [post_id(int(s)) for s in seq[:FIRST_IDS]] + list(others)
            offenders[name] = Offenders(
                count=len(seq) + len(others), intervals=intervals(seq), first_ids=tuple(ids[:FIRST_IDS])
            )
    return offenders


def intervals(seq: NDArray[np.int64]) -> str:
    """Sorted sequences as `17..42 90`; a contiguous stretch names its cause when laid beside the timeline."""
    if not len(seq):
        return ""
    breaks = np.flatnonzero(np.diff(seq) > 1)
    firsts = seq[np.concatenate(([0], breaks + 1))]
    lasts = seq[np.concatenate((breaks, [len(seq) - 1]))]
    words = [f"{a}..{b}" if b > a else f"{a}" for a, b in zip(firsts[:INTERVALS_MAX], lasts, strict=False)]
    return " ".join(words) + (" ..." if len(firsts) > INTERVALS_MAX else "")
