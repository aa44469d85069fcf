"""Sorts writes into the classes of the audit by what is known of each, and checks the sums.

What is known of a write: what the client saw, its rows in either read of the store, whether their content differs, and
when it was durable. There are few combinations, so that a table of all classes is as good as a look at each write: a
write's class is that of its combination, and an audit follows from how many writes have each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from writepath.records import Audit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt
    from numpy.typing import NDArray

    from writepath.records import AuditVerdict, Offenders, Reading


NEVER, ACKNOWLEDGED, REJECTED, INDETERMINATE, UNREAD = range(5)  # what the client saw of a sequence
MOMENT_UNKNOWN, IN_TIME, LATE = range(3)  # when the row of the first read became durable
MANY = 2  # rows; more make no difference
SIZES = {"client": 5, "wrong_ack": 2, "first": MANY + 1, "second": MANY + 1, "differs": 2, "durable": 3}
COMBINATIONS = math.prod(SIZES.values())
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
READS = 2  # of the store: after the drain, after the restart


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The same facts as counted by others, and what could not be read."""

    planned: int
    dropped: int  # by k6
    reads: tuple[Reading, ...]  # as many as were read
    suppressed_duplicates: int | None = None
    unread: tuple[str, ...] = ()  # in words: a torn file, an inspector that did not answer
    reads_required: int = READS


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What a ledger and the reads of a store hold of one load."""

    tally: NDArray[np.int64]  # writes by combination
    requests: int  # records of the ledger
    rows: tuple[int, int]  # in either read, of whatever id; without a second one, the first's
    never_sent: int  # different ids in either read that are no sequence of the tally
    read_again: bool
    listed: Mapping[str, Offenders] = field(default_factory=dict)  # by class of NAMED that is not empty


def combinations(**known: npt.ArrayLike) -> NDArray[np.uint16]:
    """By write, the number of its combination; known: one array for each name of SIZES."""
    number = np.asarray(known["client"]).astype(np.uint16)
    for name, size in list(SIZES.items())[1:]:
        number *= np.uint16(size)
        number += np.asarray(known[name]).astype(np.uint16)
    return number


def known_of(number: npt.ArrayLike) -> dict[str, NDArray[np.int64]]:
    """What combinations() was given."""
    return dict(zip(SIZES, np.unravel_index(np.asarray(number), tuple(SIZES.values())), strict=True))


def _classes() -> dict[str, NDArray[np.bool_]]:
    """By class, whether a combination is in it; all but late and wrong_ack exclude one another."""
    known = known_of(np.arange(COMBINATIONS))
    client, first, second = known["client"], known["first"], known["second"]
    acknowledged, rejected = client == ACKNOWLEDGED, client == REJECTED
    indeterminate, attempted = client == INDETERMINATE, client != NEVER
    before, after = first > 0, second > 0
    duplicated = attempted & ((first > 1) | (second > 1))
    corrupted = attempted & (known["differs"] > 0) & ~duplicated
    plain = attempted & ~duplicated & ~corrupted
    ok = plain & acknowledged & before & after
    return {
        "ok": ok,
        "late": ok & (known["durable"] == LATE),
        "absent": plain & acknowledged & ~before,
        "vanished": plain & (acknowledged | indeterminate) & before & ~after,
        "duplicated": duplicated,
        "corrupted": corrupted,
        "unexpected": (before | after) & ~attempted,
        "recovered": plain & indeterminate & after,
        "clean_fail": plain & indeterminate & ~before & ~after,
        "clean_reject": plain & rejected & ~before & ~after,
        "rejected_present": plain & rejected & (before | after),
        "never_read": plain & (client == UNREAD),
        "wrong_ack": known["wrong_ack"] > 0,
        # For the sums alone: stored, but in a class that does not say so.
        "absent_then_stored": plain & acknowledged & ~before & after,
        "never_read_stored": plain & (client == UNREAD) & (before | after),
        "stored": before | after,
        "dated": ok & (known["durable"] != MOMENT_UNKNOWN),
        "attempted": attempted,
        "acknowledged": acknowledged,
    }


CLASSES = _classes()


def audited(found: Found, counts: Counts) -> Audit:
    """The audit, its seconds left at 0."""
    number = {name: int(found.tally[marks].sum()) for name, marks in CLASSES.items()}
    left = max((reading.left_in_queue for reading in counts.reads), default=0)
    stranded = min(number["absent"], left)
    unread = list(counts.unread)
    if not found.read_again and not unread and counts.reads_required == READS:
        unread.append(NOT_READ_AGAIN)
    audit = Audit(
        verdict="UNKNOWN",
        unread=tuple(unread),
        reads=counts.reads,
        stored_rows=found.rows[0],
        stored_ids=number["stored"] + found.never_sent,
        acknowledged=number["acknowledged"],
        lost=number["absent"] - stranded,
        stranded=stranded,
        unexpected=number["unexpected"] + found.never_sent,
        late=number["late"] if not number["ok"] or number["dated"] else None,
        **{name: number[name] for name in COUNTED},
        suppressed_duplicates=counts.suppressed_duplicates,
        offenders={name: of for name, of in found.listed.items() if name not in NOTED},
        noted={name: of for name, of in found.listed.items() if name in NOTED},
        identities_broken=(),
        seconds=0.0,
    )
    audit = replace(audit, identities_broken=tuple(_broken_identities(found, counts, number, audit)))
    if not found.read_again and counts.reads_required < READS:
        audit = replace(audit, vanished=None)
    return replace(audit, verdict=verdict(audit, counts.reads_required))


def verdict(audit: Audit, reads_required: int = READS) -> AuditVerdict:
    """PASS only where everything was read, nothing is in a class that should be empty, and all sums agree."""
    if audit.unread or audit.never_read or len(audit.reads) < reads_required or not audit.acknowledged:
        return "UNKNOWN"
    faults = any(getattr(audit, name) for name in MUST_BE_ZERO) or audit.identities_broken
    return "FAIL" if faults else "PASS"


def not_read(*words: str) -> Audit:
    """The store could not be read back: nothing is known, which is never a pass."""
    nothing = Found(
        tally=np.zeros(COMBINATIONS, np.int64), requests=0, rows=(0, 0), never_sent=0, read_again=False
    )
    unread = words or ("the store could not be read back",)
    return audited(nothing, Counts(planned=0, dropped=0, reads=(), unread=unread))


def _broken_identities(
    found: Found, counts: Counts, number: Mapping[str, int], audit: Audit
) -> Iterator[str]:
    """In words, the sums that do not agree; audit: with a number of vanished."""
    distinct, vanished = number["attempted"], number["vanished"]
    seen = _by_client(found.tally, np.ones(COMBINATIONS, np.bool_))
    of = _by_client(found.tally, CLASSES["duplicated"] | CLASSES["corrupted"])
    gone = _by_client(found.tally, CLASSES["vanished"])[ACKNOWLEDGED]
    gone_without_answer = vanished - gone
    whole = audit.ok + audit.recovered + audit.rejected_present + vanished
    others = number["absent_then_stored"] + number["never_read_stored"]
    wrong_ids = audit.duplicated + audit.corrupted + audit.unexpected
    sums = {
        f"planned {counts.planned} = started {found.requests} + dropped {counts.dropped}": (
            counts.planned == found.requests + counts.dropped
        ),
        f"started {found.requests} = distinct sequences in the ledger {distinct}": found.requests == distinct,
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
        f" + duplicated, corrupted and unexpected {wrong_ids} + lost or never read, but stored {others}": (
            audit.stored_ids == whole + wrong_ids + others
        ),
    }
    when = ("after the drain", "after the restart")
    for read, reading, words in zip(found.rows, counts.reads, when, strict=False):
        name = f"rows read back {words} {read} = rows the store counts {reading.store_rows}"
        sums[name] = read == reading.store_rows
    yield from (words for words, holds in sums.items() if not holds)


def _by_client(tally: NDArray[np.int64], marks: NDArray[np.bool_]) -> list[int]:
    """Writes of the combinations marked, by what the client saw."""
    client = known_of(np.arange(COMBINATIONS))["client"]
    return [int(tally[marks & (client == saw)].sum()) for saw in range(SIZES["client"])]
