from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import recording
from faults.planted import ORIGIN_US, RATE_PER_S, READ, STEP_US, TRIAL, at, evidence, injection, result, sent
from writepath.analysis import audit, stats
from writepath.analysis.audit import not_read
from writepath.analysis.faults import Sent, absent, recovered_after_s, trials, trials_of
from writepath.experiments.faults.measure import ANSWER_S, well_since
from writepath.records.faults import FaultResult, Trial

HEALED_US, END_US = ORIGIN_US + 21_000_000, ORIGIN_US + 60_000_000


def recovered(of: Sent) -> float | None:
    return recovered_after_s(of.at_us, of.acknowledged, HEALED_US, RATE_PER_S, END_US)


@pytest.mark.parametrize(
    ("failed", "seconds"),
    [
        ({}, 0.0),
        ({range(at(20), at(24)): 503}, 3.0),
        ({range(at(25), at(25) + 1): 503}, 4.1),  # one of five hundred
        ({range(at(20), at(55)): 503}, None),  # not ten good seconds before the end
    ],
)
def test_recovery_counts_from_the_heal_to_the_first_good_ten_seconds(
    failed: dict[range, int], seconds: float | None
) -> None:
    assert recovered(sent(60, failed)) == (seconds and pytest.approx(seconds, abs=0.11))


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


SLOW = replace(TRIAL, recovered_after_seconds=30.1)
TOOK = replace(TRIAL, lost=2, taken_along=2)
LOST_TWO = replace(READ, verdict="FAIL", lost=2)


def ended(one: FaultResult) -> tuple[str, str, int]:
    return one.status, one.verdict.status, one.verdict.exit_code


@pytest.mark.parametrize("broken", ["lost", "vanished", "stranded", "corrupted", "duplicated"])
def test_one_broken_guarantee_in_one_fault_breaks_it(broken: str) -> None:
    bad = result(*[TRIAL] * 5, Trial(**{**vars(TRIAL), broken: 1}))
    assert ended(bad) == ("broke", "valid", 1)
    assert bad.verdict.notes == ("guarantees broken in 1 of 6 faults",)


@pytest.mark.parametrize(
    ("trials", "facts", "status"),
    [
        ([TRIAL] * 6, {}, "held"),
        ([SLOW], {}, "broke"),
        ([replace(TRIAL, recovered_after_seconds=None)], {}, "broke"),
        ([SLOW], {"parallel": 2}, "unknown"),  # others shared the processors
        ([replace(SLOW, lost=1)], {"parallel": 2}, "broke"),
        ([TRIAL, replace(TRIAL, effective=False)], {}, "unknown"),
        ([TRIAL], {"audit": audit.not_read()}, "unknown"),
        ([TRIAL], {"audit": None, "weakened": True}, "unknown"),
        ([TRIAL], {"audit": replace(READ, unexpected=1)}, "broke"),  # outside any fault's reach
        ([TRIAL, TOOK], {"audit": LOST_TWO}, "destroyed"),
        ([TRIAL, replace(TOOK, lost=3)], {"audit": LOST_TWO}, "broke"),
        ([TRIAL, TOOK], {"audit": replace(LOST_TWO, lost=3)}, "broke"),
        ([replace(TRIAL, lost=3)], {"weakened": True, "trials_asked": 6}, "loses"),
        ([TRIAL], {"weakened": True}, "not discriminating"),
    ],
)
def test_the_status_is_never_better_than_what_was_seen(
    trials: list[Trial], facts: dict[str, Any], status: str
) -> None:
    codes = {"held": 0, "destroyed": 0, "loses": 0, "broke": 1, "unknown": 3, "not discriminating": 3}
    verdict = "unknown" if status == "unknown" else "valid"  # what was found may be published, whatever it is
    assert ended(result(*trials, **facts)) == (status, verdict, codes[status])


def test_a_long_recovery_next_to_other_cells_names_the_remedy() -> None:
    assert result(SLOW, parallel=2).reasons == (
        "not recovered within 30 s in 1 of 1 faults, while other cells were running; rerun with JOBS=1",
    )


def test_the_tables_of_evidence_give_each_trial_again() -> None:
    errors = replace(TRIAL, number=2, errors={"HTTP 503": 3, "timed out": 1}, recovered_after_seconds=None)
    assert trials_of(evidence(TRIAL, errors)) == (TRIAL, errors)
    both = result(errors, errors)
    assert (both.errors, both.exposed) == ({"HTTP 503": 6, "timed out": 2}, 200)


STRUCK_US = ORIGIN_US + 20_000_000
SEQUENCE = np.arange(at(60))


def well(now_s: float, folder: Path, *, took_us: NDArray[np.int64], sent: NDArray[np.bool_]) -> bool:
    """By a ledger that has what had its answer by then."""
    start_us = ORIGIN_US + SEQUENCE * STEP_US
    known = np.flatnonzero(sent & (start_us + took_us <= ORIGIN_US + now_s * 1_000_000)).tolist()
    rows = [(one, 0, int(start_us[one]), 0, int(took_us[one]), 201, 0) for one in known]
    path = recording.write(folder / "ledger.rec", rows)
    return well_since(STRUCK_US, path, RATE_PER_S, clock=lambda: ORIGIN_US / 1_000_000 + now_s)


def test_before_ten_good_seconds_have_passed_it_is_not_well(tmp_path: Path) -> None:
    quick = {"took_us": np.full(len(SEQUENCE), 5000), "sent": SEQUENCE >= 0}
    assert not well_since(STRUCK_US, tmp_path / "none", RATE_PER_S)
    assert not well(29.9 + ANSWER_S, tmp_path, **quick)
    assert well(30.1 + ANSWER_S, tmp_path, **quick)


def test_late_answers_to_early_requests_do_not_make_it_well(tmp_path: Path) -> None:
    """k6 had no free user for the requests of 20 to 24 s; what was sent before is answered in that time."""
    late = (at(12) <= SEQUENCE) & (at(20) > SEQUENCE)
    slow = {
        "took_us": np.where(late, 8_000_000, 5000),
        "sent": (at(20) > SEQUENCE) | (at(24) <= SEQUENCE),
    }
    assert not well(33.0, tmp_path, **slow)
    assert well(34.6, tmp_path, **slow)
