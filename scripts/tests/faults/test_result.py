from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faults.planted import READ, TRIAL, evidence, result
from writepath.analysis import audit
from writepath.analysis.faults import trials_of
from writepath.records.faults import FaultResult, Trial

SLOW = replace(TRIAL, recovered_after_seconds=30.1)
TOOK = replace(TRIAL, lost=2, taken_along=2)
LOST_TWO = replace(READ, verdict="FAIL", lost=2)


def ended(one: FaultResult) -> tuple[str, str, int]:
    return one.status, one.verdict.status, one.verdict.exit_code


def test_a_correct_variant_that_keeps_every_guarantee_and_recovers_has_held() -> None:
    held = result(*[TRIAL] * 6)
    assert ended(held) == ("held", "valid", 0)
    assert (held.effective, held.exposed) == (6, 600)
    assert held.loss_probability_bound == pytest.approx(0.393, abs=0.001)


@pytest.mark.parametrize("broken", ["lost", "vanished", "stranded", "corrupted", "duplicated"])
def test_one_broken_guarantee_in_one_fault_breaks_it(broken: str) -> None:
    bad = result(*[TRIAL] * 5, Trial(**{**vars(TRIAL), broken: 1}))
    assert ended(bad) == ("broke", "valid", 1)
    assert bad.verdict.notes == ("guarantees broken in 1 of 6 faults",)


@pytest.mark.parametrize(
    ("trials", "facts", "status"),
    [
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
    assert result(errors, errors).errors == {"HTTP 503": 6, "timed out": 2}
