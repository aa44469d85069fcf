"""The load is called well by the definition of the result, while it still runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import recording
from faults.planted import ORIGIN_US, RATE_PER_S, STEP_US, at
from writepath.experiments.faults.watch import ANSWER_S, Watch

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

HEALED_US = ORIGIN_US + 20_000_000
SEQUENCE = np.arange(at(60))


def watch(now_s: float, folder: Path, *, took_us: NDArray[np.int64], sent: NDArray[np.bool_]) -> Watch:
    """Of a ledger in which stands what had its answer by then."""
    start_us = ORIGIN_US + SEQUENCE * STEP_US
    known = np.flatnonzero(sent & (start_us + took_us <= ORIGIN_US + now_s * 1_000_000)).tolist()
    rows = [(one, 0, int(start_us[one]), 0, int(took_us[one]), 201, 0) for one in known]
    path = recording.write(folder / "ledger.rec", rows)
    return Watch(path, RATE_PER_S, clock=lambda: ORIGIN_US / 1_000_000 + now_s)


def test_before_ten_good_seconds_have_passed_it_is_not_well(tmp_path: Path) -> None:
    quick = {"took_us": np.full(len(SEQUENCE), 5000), "sent": SEQUENCE >= 0}
    assert not Watch(tmp_path / "none", RATE_PER_S).well_since(HEALED_US)
    assert not watch(29.9 + ANSWER_S, tmp_path, **quick).well_since(HEALED_US)
    assert watch(30.1 + ANSWER_S, tmp_path, **quick).well_since(HEALED_US)


def test_late_answers_to_early_requests_do_not_make_it_well(tmp_path: Path) -> None:
    """k6 had no free user for the requests of 20 to 24 s; what was sent before is answered in that time."""
    late = (at(12) <= SEQUENCE) & (at(20) > SEQUENCE)
    slow = {
        "took_us": np.where(late, 8_000_000, 5000),
        "sent": (at(20) > SEQUENCE) | (at(24) <= SEQUENCE),
    }
    assert not watch(33.0, tmp_path, **slow).well_since(HEALED_US)
    assert watch(34.6, tmp_path, **slow).well_since(HEALED_US)
