"""Is the load called well by the definition of the result, while it still runs?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import recording
from faults.planted import ORIGIN_US, RATE_PER_S, at, ledger
from writepath.faults.watch import ANSWER_S, Watch

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.load import ledger as ledgers

HEALED_US = ORIGIN_US + 20_000_000


def watch(taken: ledgers.Ledger, now_s: float, folder: Path) -> Watch:
    """Of a ledger in which stands what had its answer by then."""
    records = taken.records
    answered = records[records["start_us"] + records["duration_us"] <= ORIGIN_US + now_s * 1_000_000]
    path = recording.write(folder / "ledger.rec", answered.tolist())
    return Watch(path, RATE_PER_S, clock=lambda: ORIGIN_US / 1_000_000 + now_s)


def test_before_ten_good_seconds_have_passed_it_is_not_well(tmp_path: Path) -> None:
    assert not watch(ledger(60), 29.9 + ANSWER_S, tmp_path).well_since(HEALED_US)
    assert watch(ledger(60), 30.1 + ANSWER_S, tmp_path).well_since(HEALED_US)


def test_late_answers_to_early_requests_do_not_make_it_well(tmp_path: Path) -> None:
    """k6 had no free user for the requests of 20 to 24 s; what was sent before is answered in that time."""
    taken = ledger(60)
    records = taken.records
    records["duration_us"][at(12) : at(20)] = 8_000_000
    sent = records[(records["seq"] < at(20)) | (records["seq"] >= at(24))]
    assert not watch(replace(taken, records=sent), 33.0, tmp_path).well_since(HEALED_US)
    assert watch(replace(taken, records=sent), 34.6, tmp_path).well_since(HEALED_US)


def test_without_a_ledger_yet_it_is_not_well(tmp_path: Path) -> None:
    assert not Watch(tmp_path / "none", RATE_PER_S).well_since(HEALED_US)
