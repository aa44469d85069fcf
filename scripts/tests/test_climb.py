"""A climb whose limit is planted: where p99 leaves the SLO, what is served beyond it, and how long rows arrive."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from planted_tables import FACTS, ORIGIN_US, Planted
from writepath.analysis import load_result
from writepath.analysis.load_result import derive_load
from writepath.config.registry import Phase
from writepath.load.ledger import REFUSED_BY_STORE
from writepath.load.plan import arrival_plan
from writepath.records.load import Climb, LoadResult
from writepath.records.load_facts import PhaseFacts

PHASES = (
    PhaseFacts(name="sustained", seconds=5.0, from_per_s=100.0, to_per_s=100.0),
    PhaseFacts(name="climb", seconds=8.0, from_per_s=100.0, to_per_s=900.0),
    PhaseFacts(name="recovery", seconds=2.0, from_per_s=100.0, to_per_s=100.0),
)
LOAD = dataclasses.replace(FACTS, phases=PHASES, seconds=15.0, slo_ms=100.0)
BEYOND_S, CLIMB_ENDS_S = 8, 13  # of the load
STARTS_US = arrival_plan([Phase(**vars(phase)) for phase in PHASES]).starts_ns // 1000
AT_S = STARTS_US / 1e6
COUNT = len(STARTS_US)
PLANNED = np.bincount(AT_S.astype(int))
ALL_SERVED: dict[str, Any] = {
    "status": np.full(COUNT, 201),
    "error_code": np.zeros(COUNT, int),
    "copies": (np.ones(COUNT, int), np.ones(COUNT, int)),
}


def result(**changed: Any) -> LoadResult:
    """Answers in 1 ms; a stall of 0.3 s in the climb's second second; beyond the limit the store refuses half."""
    beyond = (AT_S >= BEYOND_S) & (AT_S < CLIMB_ENDS_S)
    refused = beyond & (np.arange(COUNT) % 2 == 0)
    took_us = np.where((AT_S >= 6) & (AT_S < 6.3), 300_000, 1_000)
    stored = (~refused).astype(int)
    planted = Planted(
        facts=LOAD,
        sequence=np.arange(COUNT),
        start_us=ORIGIN_US + STARTS_US,
        blocked_us=np.zeros(COUNT, int),
        duration_us=took_us,
        status=np.where(refused, 503, 201),
        error_code=np.where(refused, REFUSED_BY_STORE, 0),
        copies=(stored, stored),
        durable_at_us=ORIGIN_US + STARTS_US + took_us + np.where(beyond, 3_000_000, 0),
    )
    return derive_load(dataclasses.replace(planted, **changed).evidence())


def climb(**changed: Any) -> Climb:
    found = result(**changed).climb
    assert found is not None
    return found


@pytest.mark.parametrize("rows_max", [load_result.ROWS_MAX, 0], ids=["rows", "histograms"])
def test_a_path_leaves_the_slo_at_the_rate_after_the_last_good_second(
    rows_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_result, "ROWS_MAX", rows_max)
    found, beyond = climb(), PLANNED[BEYOND_S:CLIMB_ENDS_S]
    assert found.leaves_slo_per_s == pytest.approx(PLANNED[BEYOND_S], abs=1)
    assert found.goodput_per_s == pytest.approx(beyond.mean() / 2, abs=1)
    refused = found.errors_by_hop["store"]
    assert refused == pytest.approx(beyond.sum() / 2, abs=1)
    assert found.errors_by_hop == {"proxy": 0, "application": 0, "store": refused, "generator": 0}
    assert found.drained_seconds == pytest.approx(3.0, abs=0.01)
    assert (found.before, found.before_per_s, found.highest_per_s) == ("sustained", 100, 900)
    assert found.durable_latency_ms.median == pytest.approx(1.0, rel=2e-3)


def test_a_path_that_never_fails_has_no_such_rate_and_one_that_always_does_the_first() -> None:
    fast = climb(**ALL_SERVED, duration_us=np.full(COUNT, 1_000))
    assert (fast.leaves_slo_per_s, fast.goodput_per_s) == (None, None)
    assert climb(**ALL_SERVED, duration_us=np.full(COUNT, 101_000)).leaves_slo_per_s == 100.0


def sampled(system_busy: float, in_flight: float) -> dict[str, Any]:
    """Every second of the load: a share of the host's two processors, and of 64 requests in flight."""
    seconds = range(int(LOAD.seconds) + 1)
    host = {
        "total_seconds": [2.0 * at for at in seconds],
        "busy_seconds": [2 * system_busy * at for at in seconds],
    }
    app = {"in_flight": [in_flight * 64 for _ in seconds], "in_flight_max": [64.0 for _ in seconds]}
    return {
        "samples": {
            **{("host", name): values for name, values in host.items()},
            **{("app", name): values for name, values in app.items()},
        }
    }


@pytest.mark.parametrize(
    ("system_busy", "in_flight", "resource", "component"),
    [(0.97, 1.0, "host-cpu", "host"), (0.5, 1.0, "in-flight", "app")],
    ids=["processors before what waits for them", "a limit on idle processors"],
)
def test_the_bottleneck_of_a_climb_is_what_was_full_when_it_left_the_slo(
    system_busy: float, in_flight: float, resource: str, component: str
) -> None:
    found = climb(**sampled(system_busy, in_flight)).limited_by
    assert found is not None
    assert found.first is not None
    assert (found.first.resource, found.first.component) == (resource, component)


def test_a_climb_has_no_bottleneck_where_it_kept_the_slo_and_the_nearest_where_none_was_full() -> None:
    idle = climb(**sampled(0.5, 0.1)).limited_by
    assert idle is not None
    assert (idle.first, idle.nearest and idle.nearest.resource) == (None, "host-cpu")
    full = sampled(0.97, 1.0)
    assert climb(**ALL_SERVED, duration_us=np.full(COUNT, 1_000), **full).limited_by is None


def test_what_is_not_sent_beyond_the_limit_is_the_paths_fault_and_not_the_generators() -> None:
    found = result(facts=dataclasses.replace(LOAD, dropped=1))
    assert found.climb is not None
    assert found.climb.errors_by_hop["generator"] == 1
    assert not [reason for reason in found.verdict.reasons if "k6 dropped" in reason]
    assert result(facts=dataclasses.replace(LOAD, slo_ms=None, dropped=1)).verdict.status == "invalid"
