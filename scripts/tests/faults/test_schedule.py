from __future__ import annotations

from writepath.faults.catalogue import FAULTS
from writepath.faults.schedule import STEADY_SECONDS, schedule


def test_the_seed_alone_decides_when_a_fault_strikes_and_how_long_it_lasts() -> None:
    fault = FAULTS["pause-database"]
    assert schedule(7, fault, 20) == schedule(7, fault, 20)
    assert schedule(7, fault, 20) != schedule(8, fault, 20)
    assert schedule(7, fault, 20)[:6] == schedule(7, fault, 6)  # more trials begin with the same ones


def test_each_fault_has_a_schedule_of_its_own() -> None:
    kills = [moment.lasts_seconds for moment in schedule(1, FAULTS["kill-database"], 6)]
    others = [moment.lasts_seconds for moment in schedule(1, FAULTS["kill-broker"], 6)]
    assert kills != others


def test_every_draw_lies_within_the_faults_bounds() -> None:
    for fault in FAULTS.values():
        low, high = fault.lasts_seconds
        for moment in schedule(3, fault, 50):
            assert low <= moment.lasts_seconds <= high
            assert STEADY_SECONDS[0] <= moment.steady_seconds <= STEADY_SECONDS[1]


def test_freezes_and_black_holes_outlast_every_time_out_but_the_last_of_the_shortest() -> None:
    waits_s = 2.0  # pool, confirm, bulk
    for key, fault in FAULTS.items():
        if fault.action in ("pause", "blackhole-from", "blackhole-to"):
            assert fault.lasts_seconds[0] >= 2 * waits_s, key
