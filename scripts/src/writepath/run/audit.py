"""Is every acknowledged write in the store, once, as it was sent, and nothing else? Sets compared by sequence.

Judged by two reads: after the drain, and after every store was killed and started again. Classes are those of
docs/glossary.md; every sequence falls into exactly one of them, and the sums are checked against counts that were
made elsewhere (k6's own, the store's own). What was not read is never a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from writepath.load import ledger as ledgers
from writepath.load.ledger import ACKNOWLEDGED_STATUS, REJECTED_STATUSES, SEQUENCES
from writepath.result import Audit
from writepath.run import offenders

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from writepath.result import AuditVerdict, Reading

LATE_MS = 5000.0  # T_late: durable so long after the 201 is late
NEVER, ACKNOWLEDGED, REJECTED, INDETERMINATE, UNREAD = range(5)  # what the client saw of a sequence
COPIES_MAX = 255
MUST_BE_ZERO = {
    "lost": "acknowledged writes are not in the store",
    "stranded": "acknowledged writes are still in the queue or dead-lettered",
    "vanished": "writes were in the store before its restart and are missing after it",
    "duplicated": "writes are stored more than once",
    "corrupted": "writes are stored with different content",
    "unexpected": "rows are stored that no request sent",
    "rejected_present": "refused writes are stored",
    "wrong_ack": "answers named a different id than the request",
    "never_read": "writes were sent, but their answers could not be read",
}
NOTED = ("late", "recovered")
COUNTED = (
    "ok", "vanished", "duplicated", "corrupted", "recovered", "clean_fail", "clean_reject", "rejected_present",
    "wrong_ack", "never_read",
)  # fmt: skip
# Lost and stranded are one list: which of the absent a message in the queue would bring is not known.
NAMED = ("absent", *(name for name in MUST_BE_ZERO if name not in ("lost", "stranded")), *NOTED)
NOT_READ_AGAIN = "the store was not read after a restart"


class Attempts:
    """What the client saw, by sequence. Filled part by part, in any order; the first line of a sequence counts."""

    def __init__(self, expected: int = 0) -> None:
        """expected: how many sequences to make room for; more are taken too."""
        self._state = np.zeros(expected, dtype=np.uint8)
        self._wrong = np.zeros(expected, dtype=np.bool_)
        self._start_ms = np.zeros(expected)
        self._answer_ms = np.zeros(expected)
        self.size = 0  # one more than the highest sequence
        self.lines = 0

    @staticmethod
    def of(ledger: ledgers.Ledger) -> Attempts:
        """Of a whole ledger in memory."""
        attempts = Attempts(len(ledger.records))
        attempts.add(ledger.records)
        return attempts

    def add(self, records: NDArray[np.void]) -> None:
        """records: of ledger.RECORD."""
        if not len(records):
            return
        self.lines += len(records)
        seq = records["seq"]
        if not (seq[1:] > seq[:-1]).all():
            seq, first = np.unique(seq, return_index=True)
            records = records[first]
        self._make_room(1 + int(seq[-1]))
        fresh = self._state[seq] == NEVER
        if not fresh.all():
            seq, records = seq[fresh], records[fresh]
        state = np.full(len(seq), INDETERMINATE, dtype=np.uint8)
        state[np.isin(records["status"], REJECTED_STATUSES)] = REJECTED
        state[records["error_code"] == ledgers.UNREAD] = UNREAD
        state[records["status"] == ACKNOWLEDGED_STATUS] = ACKNOWLEDGED
        self._state[seq] = state
        self._wrong[seq] = records["error_code"] == ledgers.WRONG_ACK
        self._start_ms[seq] = records["start_ms"]
        self._answer_ms[seq] = records["start_ms"] + records["blocked_ms"] + records["duration_ms"]

    def _make_room(self, size: int) -> None:
        self.size = max(self.size, size)
        if self.size > len(self._state):
            room = min(max(self.size, 2 * len(self._state)), SEQUENCES)
            for name in ("_state", "_wrong", "_start_ms", "_answer_ms"):
                old = getattr(self, name)
                new = np.zeros(room, dtype=old.dtype)
                new[: len(old)] = old
                setattr(self, name, new)

    @property
    def state(self) -> NDArray[np.uint8]:
        """NEVER, ACKNOWLEDGED, REJECTED, INDETERMINATE or UNREAD."""
        return self._state[: self.size]

    @property
    def wrong_ack(self) -> NDArray[np.bool_]:
        """201, but naming another id than the one sent."""
        return self._wrong[: self.size]

    @property
    def start_ms(self) -> NDArray[np.float64]:
        """When it was sent, epoch; NaN for one that was interrupted."""
        return self._start_ms[: self.size]

    @property
    def answer_ms(self) -> NDArray[np.float64]:
        """When its answer came, likewise."""
        return self._answer_ms[: self.size]


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


class Held:
    """One read of the store, by sequence. Filled part by part, in any order."""

    def __init__(self, size: int) -> None:
        """size: of the attempts; what lies beyond was never attempted, and must not size the arrays either."""
        self.copies = np.zeros(size, dtype=np.uint8)
        self.spoilt = np.zeros(size, dtype=np.bool_)
        self.durable_at_ms = np.full(size, np.nan)
        self.foreign: dict[str, None] = {}
        self._beyond: list[NDArray[np.int64]] = []
        self.rows = 0

    @staticmethod
    def of(stored: Stored, attempts: Attempts) -> Held:
        """Of a whole read in memory."""
        held = Held(attempts.size)
        held.add(stored)
        return held

    def add(self, part: Stored) -> None:
        """Some of the rows."""
        self.rows += part.rows
        self.foreign.update(dict.fromkeys(part.foreign_ids))
        within = (part.seq >= 0) & (part.seq < len(self.copies))
        if not within.all():
            self._beyond.append(np.unique(part.seq[~within]))
        seq = part.seq[within]
        known, copies = np.unique(seq, return_counts=True)
        self.copies[known] = np.minimum(self.copies[known] + copies, COPIES_MAX)
        self.spoilt[seq[~part.content_ok[within]]] = True
        self.durable_at_ms[seq] = part.durable_at_ms[within]

    @property
    def beyond(self) -> NDArray[np.int64]:
        """Sequences behind the last attempt, each once, ascending."""
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *self._beyond]))

    @property
    def present(self) -> NDArray[np.bool_]:
        """By sequence: at least one row."""
        return self.copies > 0


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The same facts as counted by others, and what could not be read."""

    planned: int
    dropped: int  # by k6
    reads: tuple[Reading, ...]  # as many as were read
    suppressed_duplicates: int | None = None
    unread: tuple[str, ...] = ()  # in words: a torn file, an inspector that did not answer


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """The audit, and every member of each class it names."""

    audit: Audit
    members: dict[str, NDArray[np.int64]] = field(default_factory=dict)  # ascending
    foreign: tuple[str, ...] = ()  # ids that are unexpected and no sequence of this run's attempts


def compare(
    attempts: Attempts, first: Held, second: Held | None, counts: Counts, post_id: Callable[[int], str]
) -> Comparison:
    """Sorts every sequence into its class. post_id gives the id of a sequence; second: None where it was not read."""
    again = first if second is None else second
    classes = _classes(attempts, first, again)
    number = {name: int(marks.sum()) for name, marks in classes.items()}
    beyond = np.union1d(first.beyond, again.beyond)
    foreign = tuple(dict.fromkeys((*first.foreign, *again.foreign)))
    members = {name: np.flatnonzero(classes[name]) for name in NAMED}
    members["unexpected"] = np.concatenate([members["unexpected"], beyond])
    left = max((reading.left_in_queue for reading in counts.reads), default=0)
    stranded = min(number["absent"], left)
    dated = not number["ok"] or bool((classes["ok"] & ~np.isnan(first.durable_at_ms)).any())
    listed = {
        name: found
        for name, seq in members.items()
        if (found := offenders.of(seq, foreign if name == "unexpected" else (), post_id)).count
    }
    unread = list(counts.unread)
    if second is None and not unread:
        unread.append(NOT_READ_AGAIN)
    audit = Audit(
        verdict="UNKNOWN",
        unread=tuple(unread),
        reads=counts.reads,
        stored_rows=first.rows,
        stored_ids=int((first.present | again.present).sum()) + len(beyond) + len(foreign),
        acknowledged=int((attempts.state == ACKNOWLEDGED).sum()),
        lost=number["absent"] - stranded,
        stranded=stranded,
        unexpected=len(members["unexpected"]) + len(foreign),
        late=number["late"] if dated else None,
        **{name: number[name] for name in COUNTED},
        suppressed_duplicates=counts.suppressed_duplicates,
        offenders={name: found for name, found in listed.items() if name not in NOTED},
        noted={name: found for name, found in listed.items() if name in NOTED},
        identities_broken=(),
        seconds=0.0,
    )
    rows = (first.rows, again.rows)
    broken = tuple(_broken_identities(attempts, classes, counts, audit, rows))
    audit = replace(audit, identities_broken=broken)
    return Comparison(audit=replace(audit, verdict=verdict(audit)), members=members, foreign=foreign)


def _classes(attempts: Attempts, first: Held, again: Held) -> dict[str, NDArray[np.bool_]]:
    """By class, the marks of its sequences; all but late and wrong_ack exclude one another."""
    state = attempts.state
    acknowledged, rejected = state == ACKNOWLEDGED, state == REJECTED
    indeterminate, attempted = state == INDETERMINATE, state != NEVER
    before, after = first.present, again.present
    duplicated = attempted & ((first.copies > 1) | (again.copies > 1))
    corrupted = attempted & (first.spoilt | again.spoilt) & ~duplicated
    plain = attempted & ~duplicated & ~corrupted
    ok = plain & acknowledged & before & after
    return {
        "ok": ok,
        "late": ok & (first.durable_at_ms - attempts.answer_ms > LATE_MS),
        "absent": plain & acknowledged & ~before,
        "vanished": plain & (acknowledged | indeterminate) & before & ~after,
        "duplicated": duplicated,
        "corrupted": corrupted,
        "unexpected": (before | after) & ~attempted,
        "recovered": plain & indeterminate & after,
        "clean_fail": plain & indeterminate & ~before & ~after,
        "clean_reject": plain & rejected & ~before & ~after,
        "rejected_present": plain & rejected & (before | after),
        "never_read": plain & (state == UNREAD),
        "wrong_ack": attempts.wrong_ack,
        # Kept for the sums alone: stored, but in a class that does not say so.
        "absent_then_stored": plain & acknowledged & ~before & after,
        "never_read_stored": plain & (state == UNREAD) & (before | after),
    }


def verdict(audit: Audit) -> AuditVerdict:
    """PASS only where everything was read, nothing is in a class that should be empty, and all sums agree."""
    if audit.unread or audit.never_read or len(audit.reads) != 2 or not audit.acknowledged:  # noqa: PLR2004
        return "UNKNOWN"
    faults = any(getattr(audit, name) for name in MUST_BE_ZERO) or audit.identities_broken
    return "FAIL" if faults else "PASS"


def not_read(*words: str) -> Audit:
    """The store could not be read back: nothing is known, which is never a pass."""
    counts = Counts(planned=0, dropped=0, reads=(), unread=words or ("the store could not be read back",))
    return compare(Attempts(), Held(0), None, counts, str).audit


def _broken_identities(
    attempts: Attempts,
    classes: dict[str, NDArray[np.bool_]],
    counts: Counts,
    audit: Audit,
    rows: tuple[int, int],
) -> list[str]:
    state = attempts.state
    distinct = int((state != NEVER).sum())
    seen = np.bincount(state, minlength=UNREAD + 1)
    of = np.bincount(state[classes["duplicated"] | classes["corrupted"]], minlength=UNREAD + 1)
    gone = int((state[classes["vanished"]] == ACKNOWLEDGED).sum())
    gone_without_answer = audit.vanished - gone
    whole = audit.ok + audit.recovered + audit.rejected_present + audit.vanished
    others = int((classes["absent_then_stored"] | classes["never_read_stored"]).sum())
    spoilt_ids = audit.duplicated + audit.corrupted + audit.unexpected
    sums = {
        f"planned {counts.planned} = started {attempts.lines} + dropped {counts.dropped}": (
            counts.planned == attempts.lines + counts.dropped
        ),
        f"started {attempts.lines} = distinct sequences in the ledger {distinct}": attempts.lines == distinct,
        f"acknowledged {seen[ACKNOWLEDGED]} = ok {audit.ok} + lost {audit.lost} + stranded {audit.stranded}"
        f" + vanished {gone} + duplicated or corrupted {of[ACKNOWLEDGED]}": (
            seen[ACKNOWLEDGED] == audit.ok + audit.lost + audit.stranded + gone + of[ACKNOWLEDGED]
        ),
        f"indeterminate {seen[INDETERMINATE]} = recovered {audit.recovered} + clean fail {audit.clean_fail}"
        f" + vanished {gone_without_answer} + duplicated or corrupted {of[INDETERMINATE]}": (
            seen[INDETERMINATE] - of[INDETERMINATE]
            == audit.recovered + audit.clean_fail + gone_without_answer
        ),
        f"rejected {seen[REJECTED]} = clean reject {audit.clean_reject} + rejected-present"
        f" {audit.rejected_present} + duplicated or corrupted {of[REJECTED]}": (
            seen[REJECTED] == audit.clean_reject + audit.rejected_present + of[REJECTED]
        ),
        f"ids in the store {audit.stored_ids} = ok, recovered, rejected-present and vanished {whole}"
        f" + duplicated, corrupted and unexpected {spoilt_ids} + lost or never read, but stored {others}": (
            audit.stored_ids == whole + spoilt_ids + others
        ),
    }
    when = ("after the drain", "after the restart")
    for read, reading, words in zip(rows, counts.reads, when, strict=False):
        name = f"rows read back {words} {read} = rows the store counts {reading.store_rows}"
        sums[name] = read == reading.store_rows
    return [words for words, holds in sums.items() if not holds]
