"""What a scenario sends under settings of the load."""

from __future__ import annotations

import pytest

from experiments.planted_cell import CLOSED
from writepath.config.registry import Phase, Scenario
from writepath.errors import UsageError
from writepath.load.plan import ArrivalPlan, ClosedPlan
from writepath.measure.plans import plan_of, stack_settings

OPEN = Scenario(
    name="ramp",
    script="k6/scenarios/ramp.js",
    phases=(
        Phase(name="up", seconds=2.0, from_per_s=3, to_per_s=90),
        Phase(name="on", seconds=1.0, from_per_s=90, to_per_s=90),
    ),
)


def test_without_settings_a_plan_is_the_scenarios() -> None:
    plan = plan_of(OPEN, {"POOL_SIZE": "5"})
    assert isinstance(plan, ArrivalPlan)
    assert plan.phases == OPEN.phases


def test_rate_scales_every_phase_so_that_the_peak_is_that_rate() -> None:
    plan = plan_of(OPEN, {"RATE": "100"})
    assert isinstance(plan, ArrivalPlan)
    assert [(phase.from_per_s, phase.to_per_s) for phase in plan.phases] == [(3.333, 100), (100, 100)]
    assert plan.seconds == 3.0


def test_virtual_users_bound_the_requests_in_flight_of_an_open_load() -> None:
    assert plan_of(OPEN, {"VIRTUAL_USERS": "4"}).virtual_users == 4
    assert plan_of(OPEN, {}).virtual_users == 500  # computed: 90/s for 5 s, and 50 spare


def test_virtual_users_are_a_closed_loads() -> None:
    plan = plan_of(CLOSED, {"VIRTUAL_USERS": "4"})
    assert isinstance(plan, ClosedPlan)
    assert (plan.virtual_users, plan.seconds) == (4, CLOSED.seconds)
    assert plan_of(CLOSED, {}).virtual_users == CLOSED.virtual_users


def test_a_closed_load_has_no_rate_to_set() -> None:
    with pytest.raises(UsageError, match=r"RATE=100: scenario 'closed' is a closed load.*use VIRTUAL_USERS"):
        plan_of(CLOSED, {"RATE": "100"})


def test_settings_of_the_load_are_none_of_the_stack() -> None:
    settings = {"POOL_SIZE": "5", "RATE": "1", "VIRTUAL_USERS": "2"}
    assert stack_settings(settings) == {"POOL_SIZE": "5"}
