"""Does the audit name exactly what was planted, and nothing else?"""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.load.ledger import Outcome
from writepath.load.plan import encode_id
from writepath.run.audit import Attempts, Counts, Stored, compare, intervals, not_read

RUN = "0123456789abcde"


def post_id(sequence: int) -> str:
    return encode_id(RUN, sequence)


def attempts(outcomes: list[Outcome]) -> Attempts:
    return Attempts(
        seq=np.arange(len(outcomes)),
        outcome=np.array(outcomes, dtype=np.uint8),
        wrong_echo=np.zeros(len(outcomes), dtype=np.bool_),
    )


def stored(
    seq: list[int] | np.ndarray, corrupt: tuple[int, ...] = (), foreign: tuple[str, ...] = ()
) -> Stored:
    rows = np.asarray(seq, dtype=np.int64)
    return Stored(
        seq=rows,
        content_ok=~np.isin(rows, corrupt),
        durable_at_ms=np.zeros(len(rows)),
        foreign_ids=foreign,
    )


def counts(planned: int, rows: Stored, **others: int) -> Counts:
    known = {"dropped": 0, "store_rows": rows.rows, "left_in_queue": 0, "suppressed_duplicates": 0} | others
    return Counts(planned=planned, **known)


ACK, REJECT, LOST_ANSWER = Outcome.ACKNOWLEDGED, Outcome.REJECTED, Outcome.INDETERMINATE


def test_a_faithful_store_has_only_ok_rows() -> None:
    rows = stored([2, 0, 1])
    audit = compare(attempts([ACK] * 3), rows, counts(3, rows), post_id)
    assert (audit.ok, audit.offenders, audit.identities_broken) == (3, {}, ())


def test_every_planted_lie_is_named_by_sequence_and_id_and_nothing_else_is() -> None:
    number = 1_000_000
    rng = np.random.default_rng(7)
    planted = rng.choice(number, 4_000, replace=False)
    skipped, doubled, spoilt = (np.sort(part) for part in np.split(planted[:3_000], 3))
    kept = np.setdiff1d(np.arange(number), skipped)
    order = rng.permutation(np.concatenate([kept, doubled]))
    foreign = (encode_id("fffffffffffffff", 3), "not-an-id")
    rows = stored(order, tuple(spoilt.tolist()), foreign)
    began = time.monotonic()
    audit = compare(attempts([ACK] * number), rows, counts(number, rows), post_id)
    assert time.monotonic() - began < 5
    assert (audit.lost, audit.duplicated, audit.corrupted, audit.unexpected) == (1_000, 1_000, 1_000, 2)
    assert audit.ok == number - 3_000
    for name, expected in (("absent", skipped), ("duplicated", doubled), ("corrupted", spoilt)):
        offenders = audit.offenders[name]
        assert offenders.count == len(expected)
        assert offenders.first_ids == tuple(post_id(int(s)) for s in expected[:20])
    assert audit.offenders["unexpected"].first_ids == foreign
    assert audit.identities_broken == ()


def test_a_sequence_beyond_the_last_attempt_is_unexpected_and_costs_no_memory() -> None:
    rows = stored([0, 2**59])
    audit = compare(attempts([ACK]), rows, counts(1, rows), post_id)
    assert (audit.ok, audit.unexpected) == (1, 1)
    assert audit.offenders["unexpected"].first_ids == (post_id(2**59),)


def test_a_write_without_an_answer_is_recovered_when_stored_and_a_clean_fail_when_not() -> None:
    rows = stored([0])
    audit = compare(attempts([LOST_ANSWER, LOST_ANSWER]), rows, counts(2, rows), post_id)
    assert (audit.recovered, audit.clean_fail, audit.offenders) == (1, 1, {})


def test_a_refused_write_that_is_stored_is_an_offender() -> None:
    rows = stored([0])
    audit = compare(attempts([REJECT, REJECT]), rows, counts(2, rows), post_id)
    assert (audit.rejected_present, audit.clean_reject) == (1, 1)
    assert audit.offenders["rejected_present"].intervals == "0"


def test_absent_writes_that_the_queue_still_holds_are_stranded_not_lost() -> None:
    rows = stored([0])
    audit = compare(attempts([ACK] * 4), rows, counts(4, rows, left_in_queue=2), post_id)
    assert (audit.stranded, audit.lost) == (2, 1)
    assert audit.offenders["absent"].intervals == "1..3"


def test_an_answer_that_names_another_id_is_an_offender() -> None:
    rows = stored([0])
    wrong = Attempts(seq=np.array([0]), outcome=np.array([ACK], dtype=np.uint8), wrong_echo=np.array([True]))
    assert compare(wrong, rows, counts(1, rows), post_id).wrong_echo == 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"planned": 4}, "planned 4 = started 3 + dropped 0"),
        ({"dropped": 2}, "planned 3 = started 3 + dropped 2"),
        ({"store_rows": 9}, "rows read back 3 = rows the store counts 9"),
    ],
)
def test_sums_that_disagree_are_told_in_words(changed: dict[str, int], words: str) -> None:
    rows = stored([0, 1, 2])
    known = {"planned": 3, "dropped": 0, "store_rows": 3, "left_in_queue": 0, "suppressed_duplicates": 0}
    audit = compare(attempts([ACK] * 3), rows, Counts(**(known | changed)), post_id)
    assert audit.identities_broken == (words,)


def test_a_ledger_with_a_sequence_twice_breaks_an_identity() -> None:
    twice = Attempts(
        seq=np.array([0, 0]), outcome=np.array([ACK, ACK], dtype=np.uint8), wrong_echo=np.zeros(2, np.bool_)
    )
    rows = stored([0])
    audit = compare(twice, rows, counts(2, rows), post_id)
    assert "started 2 = distinct sequences in the ledger 1" in audit.identities_broken


def test_what_was_never_read_is_no_pass() -> None:
    assert not_read().status == "not-read"


@given(
    outcomes=st.lists(st.sampled_from(list(Outcome)), min_size=1, max_size=60),
    rows=st.lists(st.integers(0, 80), max_size=90),
    spoilt=st.sets(st.integers(0, 80), max_size=10),
    shuffle=st.randoms(use_true_random=False),
)
def test_every_id_falls_into_exactly_one_class(
    outcomes: list[Outcome], rows: list[int], spoilt: set[int], shuffle: object
) -> None:
    held = stored(rows, tuple(spoilt))
    audit = compare(attempts(outcomes), held, counts(len(outcomes), held), post_id)
    assert audit.identities_broken == ()
    attempted, present = set(range(len(outcomes))), set(rows)
    assert audit.unexpected == len(present - attempted)
    assert audit.duplicated == sum(1 for s in attempted if rows.count(s) > 1)
    assert audit.corrupted == sum(1 for s in attempted & spoilt if rows.count(s) == 1)
    assert audit.lost == sum(1 for s in attempted - present if outcomes[s] == ACK)
    shuffled = rows[:]
    shuffle.shuffle(shuffled)  # type: ignore[attr-defined]
    again = stored(shuffled, tuple(spoilt))
    assert compare(attempts(outcomes), again, counts(len(outcomes), again), post_id) == audit


def test_intervals_join_neighbours() -> None:
    assert intervals(np.array([1, 2, 3, 7, 9, 10])) == "1..3 7 9..10"


def test_intervals_are_cut_after_a_hundred() -> None:
    words = intervals(np.arange(0, 1000, 2)).split()
    assert (len(words), words[-1]) == (101, "...")
