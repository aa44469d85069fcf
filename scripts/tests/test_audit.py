"""Does the audit name exactly what was planted, and nothing else?"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.analysis import audit as auditing
from writepath.analysis import offenders
from writepath.analysis.audit import Attempts, Comparison, Counts, Held, Stored, not_read, verdict
from writepath.load.ledger import INTERRUPTED, NO_TIME, RECORD, UNREAD, WRONG_ACK, Ledger
from writepath.load.plan import encode_id
from writepath.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.records import Audit

RUN = "0123456789abcde"
ACK, REJECT, LOST_ANSWER = 201, 409, 0
SENT_US, TOOK_US = 1_000_000_000, 10_000


def post_id(sequence: int) -> str:
    return encode_id(RUN, sequence)


def records(statuses: Sequence[int], codes: dict[int, int] | None = None) -> Ledger:
    rows = np.zeros(len(statuses), RECORD)
    rows["seq"] = np.arange(len(statuses))
    rows["status"] = statuses
    rows["start_us"], rows["duration_us"] = SENT_US, TOOK_US
    for seq, code in (codes or {}).items():
        rows["error_code"][seq] = code
    return Ledger(records=rows)


def attempts(statuses: Sequence[int], codes: dict[int, int] | None = None) -> Attempts:
    made = Attempts()
    made.add(records(statuses, codes))
    return made


def stored(
    seq: Sequence[int] | np.ndarray,
    corrupt: tuple[int, ...] = (),
    foreign: tuple[str, ...] = (),
    late: tuple[int, ...] = (),
) -> Stored:
    rows = np.asarray(seq, dtype=np.int64)
    return Stored(
        seq=rows,
        content_ok=~np.isin(rows, corrupt),
        durable_at_us=np.where(np.isin(rows, late), SENT_US + 5_011_000, SENT_US + 20_000),
        foreign_ids=foreign,
    )


def compare(
    made: Attempts, first: Stored, second: Stored | None = None, *, left: int = 0, **others: int
) -> Comparison:
    """second: as the first, where none is given."""
    again = first if second is None else second
    reads = tuple(Reading(store_rows=rows.rows, left_in_queue=left) for rows in (first, again))
    known: dict[str, Any] = {"planned": made.lines, "dropped": 0} | others
    counts = Counts(reads=reads, suppressed_duplicates=0, **known)
    return auditing.compare(made, Held.of(first, made), Held.of(again, made), counts, post_id)


def audit(made: Attempts, first: Stored, second: Stored | None = None, **others: Any) -> Audit:
    return compare(made, first, second, **others).audit


def test_a_faithful_store_has_only_ok_rows() -> None:
    found = audit(attempts([ACK] * 3), stored([2, 0, 1]))
    assert (found.ok, found.offenders, found.noted, found.identities_broken) == (3, {}, {}, ())
    assert (found.verdict, found.unread, found.late) == ("PASS", (), 0)


def test_every_planted_lie_is_named_by_sequence_and_id_and_nothing_else_is() -> None:
    number = 1_000_000
    rng = np.random.default_rng(7)
    planted = rng.choice(number, 4_000, replace=False)
    skipped, doubled, spoilt, gone = (np.sort(part) for part in np.split(planted, 4))
    kept = np.setdiff1d(np.arange(number), skipped)
    order = rng.permutation(np.concatenate([kept, doubled]))
    foreign = (encode_id("fffffffffffffff", 3), "not-an-id")
    rows = stored(order, tuple(spoilt.tolist()), foreign)
    again = stored(np.setdiff1d(kept, gone), tuple(spoilt.tolist()))
    began = time.monotonic()
    found = compare(attempts([ACK] * number), rows, again)
    assert time.monotonic() - began < 5
    known = found.audit
    assert (known.lost, known.duplicated, known.corrupted, known.vanished, known.unexpected) == (
        1_000,
    ) * 4 + (2,)
    assert known.ok == number - 4_000
    for name, expected in (
        ("absent", skipped), ("duplicated", doubled), ("corrupted", spoilt), ("vanished", gone)
    ):  # fmt: skip
        assert np.array_equal(found.members[name], expected)
        assert known.offenders[name].count == len(expected)
        assert known.offenders[name].first_ids == tuple(post_id(int(s)) for s in expected[:20])
    assert known.offenders["unexpected"].first_ids == foreign
    assert (known.identities_broken, known.verdict) == ((), "FAIL")


def test_a_sequence_beyond_the_last_attempt_is_unexpected_and_costs_no_memory() -> None:
    found = audit(attempts([ACK]), stored([0, 2**59, 2**59]))
    assert (found.ok, found.unexpected, found.identities_broken) == (1, 1, ())
    assert found.offenders["unexpected"].first_ids == (post_id(2**59),)


def test_a_write_without_an_answer_is_recovered_when_stored_and_a_clean_fail_when_not() -> None:
    found = audit(attempts([ACK, LOST_ANSWER, 503]), stored([0, 1]))
    assert (found.recovered, found.clean_fail, found.offenders, found.verdict) == (1, 1, {}, "PASS")
    assert found.noted["recovered"].intervals == "1"


def test_a_refused_write_that_is_stored_in_either_read_is_an_offender() -> None:
    for first, second in (([0, 1], [0]), ([0], [0, 1]), ([0, 1], [0, 1])):
        found = audit(attempts([ACK, REJECT, REJECT]), stored(first), stored(second))
        assert (found.rejected_present, found.clean_reject, found.verdict) == (1, 1, "FAIL")
        assert found.offenders["rejected_present"].intervals == "1"


def test_absent_writes_that_the_queue_still_holds_are_stranded_not_lost() -> None:
    found = audit(attempts([ACK] * 4), stored([0]), left=2)
    assert (found.stranded, found.lost, found.verdict) == (2, 1, "FAIL")
    assert found.offenders["absent"].intervals == "1..3"
    assert audit(attempts([ACK] * 4), stored([0]), left=3).verdict == "FAIL"


def test_a_write_that_appears_only_after_the_restart_is_lost_all_the_same() -> None:
    found = audit(attempts([ACK, ACK]), stored([0]), stored([0, 1]))
    assert (found.ok, found.lost, found.identities_broken, found.verdict) == (1, 1, (), "FAIL")


def test_what_was_there_and_is_gone_after_the_restart_has_vanished_and_is_not_lost_too() -> None:
    found = audit(attempts([ACK, ACK, LOST_ANSWER]), stored([0, 1, 2]), stored([0]))
    assert (found.ok, found.vanished, found.lost, found.recovered, found.clean_fail) == (1, 2, 0, 0, 0)
    assert (found.offenders["vanished"].intervals, found.verdict) == ("1..2", "FAIL")


@pytest.mark.parametrize("second", [False, True])
def test_a_fault_in_either_read_counts(second: bool) -> None:
    sound, bad = stored([0, 1, 2]), stored([0, 1, 1, 2, 7], corrupt=(2,))
    found = audit(attempts([ACK] * 3), *((sound, bad) if second else (bad, sound)))
    assert (found.ok, found.duplicated, found.corrupted, found.unexpected) == (1, 1, 1, 1)
    assert (found.identities_broken, found.verdict) == ((), "FAIL")


@pytest.mark.parametrize("second", [False, True])
def test_a_row_that_was_never_sent_is_unexpected_in_either_read(second: bool) -> None:
    made = Attempts()
    made.add(Ledger(records=np.delete(records([ACK] * 3).records, 1)))
    sound, invented = stored([0, 2]), stored([0, 1, 2], foreign=("an id of another run",))
    found = audit(made, *((sound, invented) if second else (invented, sound)))
    assert (found.unexpected, found.ok, found.verdict) == (2, 2, "FAIL")
    assert found.offenders["unexpected"].intervals == "1"
    assert found.offenders["unexpected"].first_ids == (post_id(1), "an id of another run")
    assert found.identities_broken == ()


def test_the_second_copy_of_a_write_is_seen_however_the_read_is_cut_into_parts() -> None:
    made, held = attempts([ACK, ACK]), Held(2)
    for part in ([0], [1], [1]):
        held.add(stored(part))
    reads = (Reading(store_rows=3, left_in_queue=0),) * 2
    found = auditing.compare(made, held, held, Counts(planned=2, dropped=0, reads=reads), post_id).audit
    assert (found.duplicated, found.ok, found.verdict) == (1, 1, "FAIL")


def test_more_messages_than_absent_writes_strand_no_more_than_are_absent() -> None:
    found = audit(attempts([ACK] * 4), stored([0]), left=9)
    assert (found.stranded, found.lost, found.verdict) == (3, 0, "FAIL")
    assert audit(attempts([ACK]), stored([0]), left=9).verdict == "PASS"


def test_a_second_read_without_the_systems_own_count_is_no_pass() -> None:
    good = audit(attempts([ACK]), stored([0]))
    assert verdict(replace(good, reads=good.reads[:1])) == "UNKNOWN"
    assert verdict(replace(good, reads=())) == "UNKNOWN"


def test_a_write_durable_more_than_five_seconds_after_its_answer_is_ok_and_late() -> None:
    found = audit(attempts([ACK, ACK]), stored([0, 1], late=(1,)))
    assert (found.ok, found.late, found.noted["late"].intervals, found.verdict) == (2, 1, "1", "PASS")
    in_time = replace(stored([0]), durable_at_us=np.array([SENT_US + TOOK_US + 5_000_000]))
    assert audit(attempts([ACK]), in_time).late == 0


def test_where_no_moment_is_known_late_is_unknown() -> None:
    assert audit(attempts([ACK]), replace(stored([0]), durable_at_us=np.array([NO_TIME]))).late is None


def test_an_answer_that_names_another_id_is_an_offender() -> None:
    found = audit(attempts([ACK, ACK], {1: WRONG_ACK}), stored([0, 1]))
    assert (found.wrong_ack, found.ok, found.verdict) == (1, 2, "FAIL")
    assert found.offenders["wrong_ack"].intervals == "1"


def test_a_write_whose_line_is_unreadable_is_never_a_pass() -> None:
    found = audit(attempts([ACK, 0, 0], {1: UNREAD, 2: INTERRUPTED}), stored([0, 1]))
    assert (found.never_read, found.recovered, found.clean_fail, found.verdict) == (1, 0, 1, "UNKNOWN")
    assert (found.offenders["never_read"].intervals, found.identities_broken) == ("1", ())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"planned": 4}, "planned 4 = started 3 + dropped 0"),
        ({"dropped": 2}, "planned 3 = started 3 + dropped 2"),
    ],
)
def test_sums_that_disagree_are_told_in_words(changed: dict[str, Any], words: str) -> None:
    found = audit(attempts([ACK] * 3), stored([0, 1, 2]), **changed)
    assert (found.identities_broken, found.verdict) == ((words,), "FAIL")


@pytest.mark.parametrize(("wrong", "when"), [(0, "after the drain"), (1, "after the restart")])
def test_rows_that_the_store_counts_otherwise_break_an_identity(wrong: int, when: str) -> None:
    made, rows = attempts([ACK] * 3), stored([0, 1, 2])
    reads = [Reading(store_rows=3, left_in_queue=0)] * 2
    reads[wrong] = Reading(store_rows=9, left_in_queue=0)
    counts = Counts(planned=3, dropped=0, reads=tuple(reads))
    found = auditing.compare(made, Held.of(rows, made), Held.of(rows, made), counts, post_id).audit
    assert found.identities_broken == (f"rows read back {when} 3 = rows the store counts 9",)
    assert found.verdict == "FAIL"


def test_a_ledger_with_a_sequence_twice_breaks_an_identity_and_the_first_line_counts() -> None:
    twice = attempts([ACK, ACK])
    twice.add(records([REJECT]))
    found = audit(twice, stored([0, 1]), planned=3)
    assert found.identities_broken == ("started 3 = distinct sequences in the ledger 2",)
    assert (found.ok, found.verdict) == (2, "FAIL")


def test_what_was_not_read_is_no_pass() -> None:
    assert (not_read().verdict, not_read("cut").unread) == ("UNKNOWN", ("cut",))
    made, rows = attempts([ACK]), stored([0])
    reads = (Reading(store_rows=1, left_in_queue=0),)
    once = auditing.compare(
        made, Held.of(rows, made), None, Counts(planned=1, dropped=0, reads=reads), post_id
    )
    assert (once.audit.verdict, once.audit.unread) == ("UNKNOWN", (auditing.NOT_READ_AGAIN,))
    nothing = audit(attempts([503]), stored([]))
    assert (nothing.verdict, nothing.offenders) == ("UNKNOWN", {})


@pytest.mark.parametrize("name", list(auditing.MUST_BE_ZERO))
def test_no_class_that_should_be_empty_passes(name: str) -> None:
    good = audit(attempts([ACK]), stored([0]))
    one: dict[str, Any] = {name: 1}
    assert verdict(good) == "PASS"
    assert verdict(replace(good, **one)) == ("UNKNOWN" if name == "never_read" else "FAIL")
    assert verdict(replace(good, identities_broken=("a = b",))) == "FAIL"
    assert verdict(replace(good, unread=("a file",), **one)) == "UNKNOWN"


STATUSES = [ACK, REJECT, 400, LOST_ANSWER, 503]


@given(
    statuses=st.lists(st.sampled_from(STATUSES), min_size=1, max_size=40),
    first=st.lists(st.integers(0, 50), max_size=60),
    second=st.lists(st.integers(0, 50), max_size=60),
    spoilt=st.sets(st.integers(0, 50), max_size=8),
    parts=st.integers(1, 5),
)
def test_every_id_falls_into_exactly_one_class_whatever_the_order_and_the_parts(
    statuses: list[int], first: list[int], second: list[int], spoilt: set[int], parts: int
) -> None:
    rows, again = stored(first, tuple(spoilt)), stored(second, tuple(spoilt))
    found = audit(attempts(statuses), rows, again)
    expected = dict.fromkeys(("ok", "lost", "vanished", "duplicated", "corrupted", "recovered", "clean_fail",
                              "clean_reject", "rejected_present"), 0)  # fmt: skip
    for seq, status in enumerate(statuses):
        expected[class_of(seq, status, first, second, spoilt)] += 1
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.unexpected == len((set(first) | set(second)) - set(range(len(statuses))))
    assert found.identities_broken == ()
    bad = found.unexpected or sum(expected[name] for name in auditing.MUST_BE_ZERO if name in expected)
    assert found.verdict == ("UNKNOWN" if ACK not in statuses else "FAIL" if bad else "PASS")
    made = Attempts()
    for part in np.array_split(records(statuses).records[::-1], parts):
        made.add(Ledger(records=part))
    assert audit(made, stored(first[::-1], tuple(spoilt)), again) == found


def class_of(seq: int, status: int, first: list[int], second: list[int], spoilt: set[int]) -> str:
    """The table of docs/methodology.md, written down a second time in another way."""
    before, after = seq in first, seq in second
    if first.count(seq) > 1 or second.count(seq) > 1:
        return "duplicated"
    if seq in spoilt and (before or after):
        return "corrupted"
    if status in (REJECT, 400):
        return "rejected_present" if before or after else "clean_reject"
    if before and not after:
        return "vanished"
    if status == ACK:
        return "ok" if before else "lost"
    return "recovered" if after else "clean_fail"


def test_intervals_join_neighbours() -> None:
    assert offenders.intervals(np.array([1, 2, 3, 7, 9, 10])) == "1..3 7 9..10"


def test_intervals_are_cut_after_a_hundred() -> None:
    words = offenders.intervals(np.arange(0, 1000, 2)).split()
    assert (len(words), words[-1]) == (101, "...")
