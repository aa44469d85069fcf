from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.planted import ORIGIN_US, RATE_PER_S, at, ledger, lost, struck
from writepath.analysis import stats
from writepath.analysis.audit import not_read
from writepath.faults.evaluate import by_trial
from writepath.faults.recovery import Sent, recovered_after_s
from writepath.faults.trials import trials

HEALED_US, END_US = ORIGIN_US + 21_000_000, ORIGIN_US + 60_000_000


def test_recovery_counts_from_the_heal_to_the_first_good_ten_seconds() -> None:
    sent = Sent.of(ledger(60, {range(at(20), at(24)): 503}))
    assert recovered_after_s(sent, HEALED_US, RATE_PER_S, END_US) == pytest.approx(3.0, abs=0.11)


def test_a_path_that_never_failed_is_well_at_once() -> None:
    assert recovered_after_s(Sent.of(ledger(60)), HEALED_US, RATE_PER_S, END_US) == 0.0


def test_one_failure_in_a_window_of_five_hundred_is_too_many() -> None:
    sent = Sent.of(ledger(60, {range(at(25), at(25) + 1): 503}))
    assert recovered_after_s(sent, HEALED_US, RATE_PER_S, END_US) == pytest.approx(4.1, abs=0.11)


def test_a_path_that_answers_too_few_is_not_well_though_none_fails() -> None:
    taken = ledger(60)
    thinned = taken.records[(taken.records["seq"] < at(20)) | (taken.records["seq"] % 10 != 0)]
    sent = Sent(at_us=thinned["start_us"], acknowledged=np.ones(len(thinned), np.bool_))
    assert recovered_after_s(sent, HEALED_US, RATE_PER_S, END_US) is None


def test_without_ten_good_seconds_before_the_end_it_has_not_recovered() -> None:
    sent = Sent.of(ledger(60, {range(at(20), at(55)): 503}))
    assert recovered_after_s(sent, HEALED_US, RATE_PER_S, END_US) is None


def test_a_lost_write_belongs_to_the_fault_that_could_reach_it() -> None:
    seqs = (at(14.9), at(20.5), at(39.0))  # 14.9 s: 5.1 s before the first fault; 39 s: 1 s before the second
    first, second = trials(ledger(60), lost(*seqs), [struck(1, 20), struck(2, 40)], RATE_PER_S, END_US)
    assert (first.lost, second.lost) == (2, 1)


def test_what_was_under_way_when_a_queue_was_deleted_was_taken_along_and_nothing_else() -> None:
    deleted = replace(struck(1, 20), destroyed_us=ORIGIN_US + 20_030_000)
    # Acknowledged 0.3 s before, 0.1 s before; sent while it was being deleted; sent when it was gone.
    seqs = (at(19.7), at(19.9), at(20) + 1, at(20) + 2)
    (trial,) = trials(ledger(60), lost(*seqs), [deleted], RATE_PER_S, END_US)
    assert (trial.lost, trial.taken_along) == (4, 2)
    (other,) = trials(ledger(60), lost(*seqs), [struck(1, 20)], RATE_PER_S, END_US)
    assert (other.lost, other.taken_along) == (4, 0)


def test_requests_without_an_answer_are_counted_by_kind() -> None:
    taken = ledger(60, {range(at(20), at(20) + 3): 0, range(at(22), at(22) + 2): 503})
    (trial,) = trials(taken, lost(), [struck(1, 20, 3)], RATE_PER_S, END_US)
    assert trial.errors == {"k6 error 0": 3, "HTTP 503": 2}


def test_a_fault_without_proof_is_not_effective() -> None:
    proved, unproved = trials(
        ledger(60), lost(), [struck(1, 20), struck(2, 40, proof="")], RATE_PER_S, END_US
    )
    assert (proved.effective, unproved.effective) == (True, False)


def test_a_fault_that_no_acknowledged_write_was_near_is_not_effective() -> None:
    taken = ledger(60, {range(at(14), at(28)): 503})
    (trial,) = trials(taken, lost(), [struck(1, 20)], RATE_PER_S, END_US)
    assert trial.exposed == 0
    assert not trial.effective


@given(st.lists(st.integers(0, 2999), unique=True, max_size=50), st.integers(1, 4))
def test_every_lost_write_is_counted_in_exactly_one_trial(seqs: list[int], faults: int) -> None:
    moments = [struck(number + 1, 12.0 * (number + 1)) for number in range(faults)]
    found = trials(ledger(60), lost(*seqs), moments, RATE_PER_S, END_US)
    assert sum(trial.lost for trial in found) == len(seqs)


def test_what_the_queue_still_holds_is_stranded_only_where_it_holds_all_that_is_absent() -> None:
    members = {"absent": np.array([1, 2])}
    audit = not_read()
    assert by_trial(replace(audit, stranded=2), members)["stranded"].tolist() == [1, 2]
    assert by_trial(replace(audit, stranded=1, lost=1), members)["lost"].tolist() == [1, 2]


def test_the_upper_bound_is_that_of_clopper_and_pearson() -> None:
    assert stats.upper_bound(0, 20) == pytest.approx(1 - 0.05 ** (1 / 20))  # 13.9 %
    assert stats.upper_bound(0, 6) == pytest.approx(0.393, abs=0.001)
    assert stats.upper_bound(6, 6) == 1.0
    assert stats.upper_bound(0, 0) is None
    assert stats.upper_bound(1, 20) == pytest.approx(0.216, abs=0.001)
