"""Turns a scenario and settings into a plan of the load, and tells settings of the load from those of the stack."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath.config.settings import LOAD
from writepath.errors import UsageError
from writepath.load.plan import ClosedPlan, arrival_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from writepath.config.registry import Phase, Scenario
    from writepath.load.plan import LoadPlan

VIRTUAL_USERS = "VIRTUAL_USERS"  # of a closed load; of an open one, the most requests in flight
RATE = "RATE"  # requests per second at the peak of an open load
THOUSANDTHS = 3  # decimals of a rate: k6 takes whole requests per 1,000 s


def stack_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Those that a stack is started with: variables of docker-compose.yml."""
    of_load = {setting.name for setting in LOAD}
    return {name: value for name, value in settings.items() if name not in of_load}


def plan_of(scenario: Scenario, settings: Mapping[str, str]) -> LoadPlan:
    """The scenario's load. UsageError names a setting that does not apply to it."""
    users = int(settings[VIRTUAL_USERS]) if VIRTUAL_USERS in settings else None
    if (closed := closed_plan(scenario)) is not None:
        if RATE in settings:
            raise UsageError(
                f"{RATE}={settings[RATE]}: scenario '{scenario.name}' is a closed load, in which the virtual users"
                f" decide the rate; use {VIRTUAL_USERS}"
            )
        return closed if users is None else dataclasses.replace(closed, virtual_users=users)
    phases = scenario.phases
    if RATE in settings:
        phases = _scaled(phases, float(settings[RATE]))
    plan = arrival_plan(phases)
    return plan if users is None else dataclasses.replace(plan, most_users=users)


def closed_plan(scenario: Scenario) -> ClosedPlan | None:
    """None: an open load."""
    if scenario.virtual_users is None or scenario.seconds is None:
        return None
    return ClosedPlan(virtual_users=scenario.virtual_users, seconds=scenario.seconds)


def _scaled(phases: tuple[Phase, ...], peak_per_s: float) -> tuple[Phase, ...]:
    """So that the highest rate is the peak."""
    times = peak_per_s / max(max(phase.from_per_s, phase.to_per_s) for phase in phases)
    return tuple(
        dataclasses.replace(
            phase,
            from_per_s=round(phase.from_per_s * times, THOUSANDTHS),
            to_per_s=round(phase.to_per_s * times, THOUSANDTHS),
        )
        for phase in phases
    )
