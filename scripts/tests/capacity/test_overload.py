"""Is it told right what a path did beyond its capacity: goodput, whose errors, and when it was itself again?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from capacity.planted_hold import answers, loaded, sampled
from writepath.analysis import overload as stretches
from writepath.capacity import overload
from writepath.load.ledger import (
    END_OF_FILE,
    INTERRUPTED,
    RECORD,
    REFUSED_BY_APPLICATION,
    REFUSED_BY_STORE,
    UNREAD,
)
from writepath.load.plan import align

if TYPE_CHECKING:
    from writepath.records.capacity import Overload

CAPACITY = 100.0  # 50/s for 20 s, 200/s for 20 s, 50/s for 60 s
PLAN = overload.plan_of(CAPACITY)
OFFSET_S = PLAN.starts_ns / 1e9
DURING = (OFFSET_S > 20) & (OFFSET_S <= 40)
SLO_MS = 100.0


def evaluated(records: np.ndarray, *, queue: bool = False, **more: object) -> Overload:
    return overload.evaluate(CAPACITY, loaded(PLAN, records, **more), slo_ms=SLO_MS, queue=queue)  # type: ignore[arg-type]


def test_the_load_is_half_twice_and_half_of_the_capacity() -> None:
    found = evaluated(answers(PLAN))
    assert [(p.name, p.rate_per_s, p.seconds, p.planned) for p in found.phases] == [
        ("before", 50.0, 20.0, 1000),
        ("overload", 200.0, 20.0, 4000),
        ("after", 50.0, 60.0, 3000),
    ]
    assert [p.goodput_per_s for p in found.phases] == [50.0, 200.0, 50.0]
    assert [p.p95_ms for p in found.phases] == [5.0, 5.0, 5.0]
    assert found.capacity_per_s == CAPACITY
    assert found.generator_faults == ()


def test_goodput_is_what_was_acknowledged_within_the_slo_from_the_planned_moment() -> None:
    records = answers(PLAN)
    slow, late = np.flatnonzero(DURING)[:1000], np.flatnonzero(DURING)[1000:1500]
    records["duration_us"][slow] = (SLO_MS + 1) * 1000
    records["start_us"][late] += round(SLO_MS * 1000)  # the answer itself took 5 ms
    found = evaluated(records).phases[stretches.OVERLOAD]
    assert (found.acknowledged, found.goodput_per_s) == (4000, 125.0)


def test_errors_are_told_by_the_hop_that_made_them() -> None:
    records = np.zeros(10, RECORD)
    records["status"] = [502, 504, 0, 0, 0, 503, 503, 503, 500, 0]
    records["error_code"] = [
        1502, 1504, 1050, END_OF_FILE, INTERRUPTED, REFUSED_BY_APPLICATION, REFUSED_BY_STORE, 1503, 1500, UNREAD,
    ]  # fmt: skip
    assert [stretches.HOPS[index] for index in stretches.hops(records)] == [
        "proxy", "proxy", "proxy", "proxy", "generator", "application", "store", "application", "application",
        "generator",
    ]  # fmt: skip


def test_errors_count_in_the_stretch_that_they_were_planned_in() -> None:
    records = answers(PLAN)
    during = np.flatnonzero(DURING)
    records["status"][during[:300]], records["error_code"][during[:300]] = 503, REFUSED_BY_STORE
    records["status"][during[300:500]], records["error_code"][during[300:500]] = 503, REFUSED_BY_APPLICATION
    records["status"][-1] = 504
    before, high, after = evaluated(records).phases
    nothing = dict.fromkeys(stretches.HOPS, 0)
    assert before.errors_by_hop == nothing
    assert high.errors_by_hop == {**nothing, "store": 300, "application": 200}
    assert after.errors_by_hop == {**nothing, "proxy": 1}
    assert high.p95_ms is None  # its rank falls on a refusal


def test_what_was_dropped_is_the_generators() -> None:
    records = answers(PLAN)
    kept = np.delete(records, np.flatnonzero(DURING)[1000:1400])
    slots = align(PLAN, np.arange(len(kept)), kept["start_us"]).slots
    assert len(np.setdiff1d(np.arange(PLAN.planned), slots)) == 400
    found = evaluated(kept).phases
    assert [p.errors_by_hop["generator"] for p in found] == [0, 400, 0]
    assert [p.acknowledged for p in found] == [1000, 3600, 3000]


def test_a_path_that_keeps_its_p95_needs_no_time_to_recover() -> None:
    assert evaluated(answers(PLAN)).recovered_after_s == 0.0


def test_recovery_is_the_start_of_the_first_five_seconds_as_good_as_the_first_stretch() -> None:
    records = answers(PLAN)
    records["duration_us"][DURING | ((OFFSET_S > 40) & (OFFSET_S <= 52))] = 400_000
    found = evaluated(records).recovered_after_s
    assert found is not None
    assert found == pytest.approx(12 - 0.25, abs=0.11)  # 5 % of a window's requests may still be slow


@pytest.mark.parametrize(("p95_ms", "recovered"), [(7.2, 0.0), (7.3, None)])
def test_as_good_means_a_quarter_and_a_millisecond_more(p95_ms: float, recovered: float | None) -> None:
    records = answers(PLAN, took_us=5000)
    records["duration_us"][OFFSET_S > 20] = round(p95_ms * 1000)
    assert evaluated(records).recovered_after_s == recovered


def test_refusals_are_no_recovery_and_what_comes_after_the_load_is_not_known() -> None:
    records = answers(PLAN)
    refused = (OFFSET_S > 20) & (OFFSET_S <= 96)
    records["status"][refused], records["error_code"][refused] = 503, REFUSED_BY_APPLICATION
    assert evaluated(records).recovered_after_s is None


def test_without_a_first_p95_there_is_nothing_to_come_back_to() -> None:
    records = answers(PLAN)
    records["status"][OFFSET_S <= 20] = 503
    assert evaluated(records).recovered_after_s is None


def test_the_backlog_is_drained_when_the_queue_is_no_deeper_than_before() -> None:
    ready = {0.0: 5.0, 10.0: 30.0, 25.0: 100.0, 39.0: 900.0, 45.0: 500.0, 47.0: 20.0, 48.0: 400.0}
    unacknowledged = {10.0: 10.0, 47.0: 25.0, 60.0: 40.0}
    samples = [
        *sampled("producer", "queue_ready", {**ready, 60.0: 0.0}),
        *sampled("consumer", "queue_ready", {**ready, 60.0: 0.0}),
        *sampled("consumer", "queue_unacknowledged", unacknowledged),
    ]
    found = evaluated(answers(PLAN), queue=True, samples=samples)
    assert found.backlog_drained_after_s == 20.0  # 20 + 25 at 47 s is more than 30 + 10 was
    assert evaluated(answers(PLAN), queue=True, samples=samples[:7]).backlog_drained_after_s == 7.0
    assert evaluated(answers(PLAN), queue=True, samples=samples[:5]).backlog_drained_after_s is None
    assert evaluated(answers(PLAN), queue=False, samples=samples).backlog_drained_after_s is None


def test_a_generator_that_was_full_late_or_stopped_is_named() -> None:
    records = answers(PLAN)
    records["start_us"][OFFSET_S > 20] += 300_000
    samples = list(sampled("k6", "cpu_seconds", {float(second): second * 0.9 for second in range(100)}))
    found = evaluated(records, samples=samples, complete=False).generator_faults
    assert [words.split(":")[0] for words in found] == [
        "did not send the whole schedule",
        "was saturated",
        "was late",
    ]
