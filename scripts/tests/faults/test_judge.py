from __future__ import annotations

from dataclasses import replace

import pytest

from faults.planted import TRIAL
from writepath.analysis import audit
from writepath.faults.judge import judge
from writepath.records.faults import Trial

READ = replace(audit.not_read(), verdict="PASS", unread=())


def test_a_correct_variant_that_keeps_every_guarantee_and_recovers_has_held() -> None:
    assert judge([TRIAL] * 6, READ, wanted=6, naive=False, alone=True) == ("held", ())


@pytest.mark.parametrize("broken", ["lost", "vanished", "stranded", "corrupted", "duplicated"])
def test_one_broken_guarantee_in_one_fault_breaks_it(broken: str) -> None:
    bad = Trial(**{**vars(TRIAL), broken: 1})
    status, reasons = judge([TRIAL] * 5 + [bad], READ, wanted=6, naive=False, alone=True)
    assert (status, reasons) == ("broke", ("guarantees broken in 1 of 6 faults",))


@pytest.mark.parametrize("seconds", [None, 30.1])
def test_a_variant_that_has_not_recovered_within_thirty_seconds_is_broken(seconds: float | None) -> None:
    status, reasons = judge(
        [replace(TRIAL, recovered_after_seconds=seconds)], READ, wanted=1, naive=False, alone=True
    )
    assert status == "broke"
    assert "not recovered within 30 s" in reasons[0]


def test_a_long_recovery_during_other_cells_is_unknown_and_a_broken_guarantee_is_not() -> None:
    slow = replace(TRIAL, recovered_after_seconds=30.1)
    status, reasons = judge([slow], READ, wanted=1, naive=False, alone=False)
    assert status == "unknown"
    assert reasons == (
        "not recovered within 30 s in 1 of 1 faults, while other cells were running; rerun with JOBS=1",
    )
    assert judge([replace(slow, lost=1)], READ, wanted=1, naive=False, alone=False)[0] == "broke"


def test_too_few_proved_faults_are_unknown_never_held() -> None:
    unproved = replace(TRIAL, effective=False)
    assert judge([TRIAL] * 5 + [unproved], READ, wanted=6, naive=False, alone=True)[0] == "unknown"


def test_a_store_that_could_not_be_read_is_unknown_never_held() -> None:
    assert judge([TRIAL], audit.not_read(), wanted=1, naive=False, alone=True)[0] == "unknown"
    assert judge([TRIAL], None, wanted=1, naive=True, alone=True)[0] == "unknown"


def test_a_guarantee_broken_outside_any_faults_reach_breaks_it_too() -> None:
    assert judge([TRIAL], replace(READ, unexpected=1), wanted=1, naive=False, alone=True)[0] == "broke"


def test_what_was_in_a_deleted_queue_is_destroyed_and_anything_else_is_broken() -> None:
    took = replace(TRIAL, lost=2, taken_along=2)
    seen = replace(READ, verdict="FAIL", lost=2)
    status, reasons = judge([TRIAL] * 5 + [took], seen, wanted=6, naive=False, alone=True)
    assert (status, reasons) == ("destroyed", ("1 of 6 deletions removed 2 acknowledged writes",))
    more = replace(took, lost=3)
    assert judge([TRIAL] * 5 + [more], seen, wanted=6, naive=False, alone=True)[0] == "broke"
    elsewhere = replace(seen, lost=3)  # outside of every trial's stretch
    assert judge([TRIAL] * 5 + [took], elsewhere, wanted=6, naive=False, alone=True)[0] == "broke"
    slow = replace(took, recovered_after_seconds=None)
    assert judge([slow], seen, wanted=1, naive=False, alone=True)[0] == "broke"


def test_a_weakened_control_that_loses_says_so_and_one_that_does_not_discriminates_nothing() -> None:
    assert judge([replace(TRIAL, lost=3)], READ, wanted=6, naive=True, alone=True)[0] == "loses"
    assert judge([TRIAL], READ, wanted=1, naive=True, alone=True)[0] == "not discriminating"
