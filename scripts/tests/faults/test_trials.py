from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.planted import ORIGIN_US, RATE_PER_S, at, injection, sent
from writepath.analysis import stats
from writepath.analysis.audit import not_read
from writepath.analysis.fault_trials import Sent, recovered_after_s, trials
from writepath.analysis.faults import absent

HEALED_US, END_US = ORIGIN_US + 21_000_000, ORIGIN_US + 60_000_000


def recovered(of: Sent) -> float | None:
    return recovered_after_s(of.at_us, of.acknowledged, HEALED_US, RATE_PER_S, END_US)


def test_recovery_counts_from_the_heal_to_the_first_good_ten_seconds() -> None:
    assert recovered(sent(60)) == 0.0
    assert recovered(sent(60, {range(at(20), at(24)): 503})) == pytest.approx(3.0, abs=0.11)
    one_of_five_hundred = {range(at(25), at(25) + 1): 503}
    assert recovered(sent(60, one_of_five_hundred)) == pytest.approx(4.1, abs=0.11)


def test_without_ten_good_seconds_before_the_end_it_has_not_recovered() -> None:
    assert recovered(sent(60, {range(at(20), at(55)): 503})) is None


def test_a_path_that_answers_too_few_is_not_well_though_none_fails() -> None:
    whole, sequence = sent(60), np.arange(at(60))
    kept = (sequence < at(20)) | (sequence % 10 != 0)
    thinned = replace(whole, at_us=whole.at_us[kept], acknowledged=whole.acknowledged[kept])
    assert recovered(thinned) is None


def test_a_lost_write_belongs_to_the_fault_that_could_reach_it() -> None:
    lost = (at(14.9), at(20.5), at(39.0))  # 14.9 s: 5.1 s before the first fault; 39 s: 1 s before the second
    first, second = trials(sent(60, lost=lost), [injection(1, 20), injection(2, 40)], RATE_PER_S, END_US)
    assert (first.lost, second.lost) == (2, 1)


def test_what_was_under_way_when_a_queue_was_deleted_was_taken_along_and_nothing_else() -> None:
    deleted = injection(1, 20, destroyed_at_us=ORIGIN_US + 20_030_000)
    # Acknowledged 0.3 s before, 0.1 s before; sent while it was being deleted; sent when it was gone.
    load = sent(60, lost=(at(19.7), at(19.9), at(20) + 1, at(20) + 2))
    (trial,) = trials(load, [deleted], RATE_PER_S, END_US)
    assert (trial.lost, trial.taken_along, trial.broken) == (4, 2, 2)
    (other,) = trials(load, [injection(1, 20)], RATE_PER_S, END_US)
    assert (other.lost, other.taken_along) == (4, 0)


def test_requests_without_an_answer_are_counted_by_kind() -> None:
    load = sent(60, {range(at(20), at(20) + 2): 503, range(at(22), at(22) + 3): 0})
    (trial,) = trials(load, [injection(1, 20, 3)], RATE_PER_S, END_US)
    assert list(trial.errors.items()) == [("k6 error 0", 3), ("HTTP 503", 2)]


def test_a_fault_counts_with_proof_and_an_acknowledged_write_near_it() -> None:
    faults = [injection(1, 20), injection(2, 40, proof="")]
    assert [one.effective for one in trials(sent(60), faults, RATE_PER_S, END_US)] == [True, False]
    (alone,) = trials(sent(60, {range(at(14), at(28)): 503}), faults[:1], RATE_PER_S, END_US)
    assert (alone.exposed, alone.effective) == (0, False)


@given(st.lists(st.integers(0, 2999), unique=True, max_size=50), st.integers(1, 4))
def test_every_lost_write_is_counted_in_exactly_one_trial(sequences: list[int], faults: int) -> None:
    moments = [injection(number + 1, 12.0 * (number + 1)) for number in range(faults)]
    found = trials(sent(60, lost=tuple(sequences)), moments, RATE_PER_S, END_US)
    assert sum(trial.lost for trial in found) == len(sequences)


def test_what_the_queue_still_holds_is_stranded_only_where_it_holds_all_that_is_absent() -> None:
    marks, audit = np.array([False, True, True]), not_read()
    assert absent(replace(audit, stranded=2), marks)["stranded"].tolist() == [False, True, True]
    assert absent(replace(audit, stranded=1, lost=1), marks)["lost"].tolist() == [False, True, True]


def test_the_upper_bound_is_that_of_clopper_and_pearson() -> None:
    assert stats.upper_bound(0, 20) == pytest.approx(1 - 0.05 ** (1 / 20))  # 13.9 %
    assert stats.upper_bound(6, 6) == 1.0
    assert stats.upper_bound(0, 0) is None
    assert stats.upper_bound(1, 20) == pytest.approx(0.216, abs=0.001)
