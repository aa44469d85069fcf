"""Does one read's audit pass only what was read, and is in no class that should be empty?"""

from __future__ import annotations

import numpy as np
import pytest

from capacity.planted_hold import answers
from writepath.analysis.audit import Attempts, Counts, Held, Stored, compare, not_read
from writepath.capacity import one_read
from writepath.capacity.hold import plan_of
from writepath.capacity.search import Step
from writepath.load.ledger import Ledger
from writepath.records import Audit, Reading

PLAN = plan_of(Step(kind="search", rate_per_s=50.0, seconds=2.0), 100.0)


def audited(seq: list[int], *, left: int = 0, unread: tuple[str, ...] = (), status: int = 201) -> Audit:
    """Of rows with these sequences, read once."""
    records = answers(PLAN)
    records["status"] = status
    attempts = Attempts.of(Ledger(records=records))
    rows = np.asarray(seq, np.int64)
    stored = Stored(seq=rows, content_ok=np.ones(len(rows), np.bool_), durable_at_us=np.full(len(rows), 1000))
    counts = Counts(
        planned=PLAN.planned,
        dropped=0,
        reads=(Reading(store_rows=len(rows), left_in_queue=left),),
        unread=unread,
    )
    return compare(attempts, Held.of(stored, attempts), None, counts, str).audit


ALL = list(range(PLAN.planned))


def test_one_whole_read_without_an_offence_passes() -> None:
    found = audited(ALL)
    assert found.verdict == "UNKNOWN"  # of a run, which needs a second read
    assert (one_read.verdict(found), one_read.offences(found)) == ("PASS", ())


@pytest.mark.parametrize(
    ("seq", "left", "words"),
    [
        (ALL[1:], 0, "1 acknowledged writes are not in the store"),
        (ALL[1:], 1, "1 acknowledged writes are still in the queue or dead-lettered"),
        ([*ALL, 7], 0, "1 writes are stored more than once"),
        ([*ALL, 4000], 0, "1 rows are stored that no request sent"),
    ],
    ids=["lost", "stranded", "duplicated", "unexpected"],
)
def test_an_offence_fails_it_in_words(seq: list[int], left: int, words: str) -> None:
    found = audited(seq, left=left)
    assert one_read.verdict(found) == "FAIL"
    assert words in one_read.offences(found)


def test_what_was_not_read_is_no_pass() -> None:
    assert one_read.verdict(audited(ALL, unread=("the ledger is torn",))) == "UNKNOWN"
    assert one_read.verdict(not_read("the inspector did not answer")) == "UNKNOWN"


def test_a_load_without_a_201_proves_nothing() -> None:
    assert one_read.verdict(audited([], status=503)) == "UNKNOWN"


def test_an_offence_stands_whatever_else_was_not_read() -> None:
    assert one_read.verdict(audited([*ALL, 7], unread=("the ledger is torn",))) == "FAIL"
