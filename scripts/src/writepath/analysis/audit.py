"""Is every acknowledged write in the store, once, as it was sent, and nothing else? Sets compared by sequence.

Judged by two reads: after the drain, and after every store was killed and started again. Classes are those of
docs/glossary.md; every sequence falls into exactly one of them, and the sums are checked against counts that were
made elsewhere (k6's own, the store's own). What was not read is never a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import offenders
from writepath.analysis.audit_classes import (
    ACKNOWLEDGED,
    CLASSES,
    COMBINATIONS,
    IN_TIME,
    INDETERMINATE,
    LATE,
    MANY,
    MOMENT_UNKNOWN,
    MUST_BE_ZERO,
    NAMED,
    NEVER,
    NOT_READ_AGAIN,
    NOTED,
    REJECTED,
    UNREAD,
    Counts,
    Found,
    audited,
    combinations,
    not_read,
    verdict,
)
from writepath.load import ledger as ledgers
from writepath.load.ledger import NO_TIME, SEQUENCES, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from writepath.records import Audit

__all__ = [
    "MUST_BE_ZERO",
    "NAMED",
    "NOTED",
    "NOT_READ_AGAIN",
    "Attempts",
    "Comparison",
    "Counts",
    "Held",
    "Stored",
    "compare",
    "not_read",
    "verdict",
]
LATE_US = 5_000_000  # T_late: durable so long after the 201 is late
COPIES_MAX = 255
AT_ONCE = 1 << 20  # of the sequences


class Attempts:
    """What the client saw, by sequence. Filled part by part, in any order; the first line of a sequence counts."""

    def __init__(self, expected: int = 0) -> None:
        """expected: how many sequences to make room for; more are taken too."""
        self._state = np.zeros(expected, dtype=np.uint8)
        self._wrong = np.zeros(expected, dtype=np.bool_)
        self._start_us = np.zeros(expected, dtype=np.int64)
        self._answer_us = np.zeros(expected, dtype=np.int64)
        self.size = 0  # one more than the highest sequence
        self.lines = 0

    @staticmethod
    def of(ledger: ledgers.Ledger) -> Attempts:
        """Of a whole ledger in memory."""
        attempts = Attempts(len(ledger.records))
        attempts.add(ledger)
        return attempts

    def add(self, part: ledgers.Ledger) -> None:
        """Some of the records, in any order."""
        records, outcomes = part.records, part.outcomes()
        if not len(records):
            return
        self.lines += len(records)
        seq = records["seq"]
        if not (seq[1:] > seq[:-1]).all():
            seq, first = np.unique(seq, return_index=True)
            records, outcomes = records[first], outcomes[first]
        self._make_room(1 + int(seq[-1]))
        fresh = self._state[seq] == NEVER
        if not fresh.all():
            seq, records, outcomes = seq[fresh], records[fresh], outcomes[fresh]
        state = np.full(len(seq), INDETERMINATE, dtype=np.uint8)
        state[outcomes == Outcome.REJECTED] = REJECTED
        state[records["error_code"] == ledgers.UNREAD] = UNREAD
        state[outcomes == Outcome.ACKNOWLEDGED] = ACKNOWLEDGED
        self._state[seq] = state
        self._wrong[seq] = records["error_code"] == ledgers.WRONG_ACK
        self._start_us[seq] = records["start_us"]
        answer_us = records["start_us"] + records["blocked_us"] + records["duration_us"]
        self._answer_us[seq] = np.maximum(answer_us, NO_TIME)

    def _make_room(self, size: int) -> None:
        self.size = max(self.size, size)
        if self.size > len(self._state):
            room = min(max(self.size, 2 * len(self._state)), SEQUENCES)
            for name in ("_state", "_wrong", "_start_us", "_answer_us"):
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
    def start_us(self) -> NDArray[np.int64]:
        """When it was sent, epoch; NO_TIME for one that was interrupted, 0 for one that was never sent."""
        return self._start_us[: self.size]

    @property
    def answer_us(self) -> NDArray[np.int64]:
        """When its answer came: as start_us."""
        return self._answer_us[: self.size]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the store held: one entry a row of this run, in any order, and the ids that are not of this run."""

    seq: NDArray[np.int64]
    content_ok: NDArray[np.bool_]
    durable_at_us: NDArray[np.int64]  # epoch; NO_TIME where unknown
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
        self.damaged = np.zeros(size, dtype=np.bool_)
        self.durable_at_us = np.full(size, NO_TIME, dtype=np.int64)
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
        self.damaged[seq[~part.content_ok[within]]] = True
        self.durable_at_us[seq] = part.durable_at_us[within]

    @property
    def beyond(self) -> NDArray[np.int64]:
        """Sequences behind the last attempt, each once, ascending."""
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *self._beyond]))

    @property
    def present(self) -> NDArray[np.bool_]:
        """By sequence: at least one row."""
        return self.copies > 0


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
    number = _combinations(attempts, first, again)
    beyond = np.union1d(first.beyond, again.beyond)
    foreign = tuple(dict.fromkeys((*first.foreign, *again.foreign)))
    members = {name: np.flatnonzero(CLASSES[name][number]) for name in NAMED}
    members["unexpected"] = np.concatenate([members["unexpected"], beyond])
    found = Found(
        tally=np.bincount(number, minlength=COMBINATIONS),
        requests=attempts.lines,
        rows=(first.rows, again.rows),
        never_sent=len(beyond) + len(foreign),
        read_again=second is not None,
        listed={
            name: of
            for name, seq in members.items()
            if (of := offenders.of(seq, foreign if name == "unexpected" else (), post_id)).count
        },
    )
    return Comparison(audit=audited(found, counts), members=members, foreign=foreign)


def _combinations(attempts: Attempts, first: Held, again: Held) -> NDArray[np.uint16]:
    """By sequence; part by part, as the moments of ten million take 80 MB more."""
    number = np.empty(attempts.size, np.uint16)
    for begin in range(0, attempts.size, AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        delay_us = first.durable_at_us[part] - attempts.answer_us[part]
        durable = np.full(len(delay_us), IN_TIME)
        durable[delay_us > LATE_US] = LATE
        durable[first.durable_at_us[part] == NO_TIME] = MOMENT_UNKNOWN
        number[part] = combinations(
            client=attempts.state[part],
            wrong_ack=attempts.wrong_ack[part],
            first=np.minimum(first.copies[part], MANY),
            second=np.minimum(again.copies[part], MANY),
            differs=first.damaged[part] | again.damaged[part],
            durable=durable,
        )
    return number
