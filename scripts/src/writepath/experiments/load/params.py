"""What a suite says of its load, as the index keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.measure.plans import closed_plan
from writepath.records.base import record
from writepath.records.load_facts import LoadModel, PhaseFacts

if TYPE_CHECKING:
    from writepath.config.registry import Scenario


@record
class LoadParams:
    """A scenario of suites.yaml."""

    scenario: str
    script: str
    model: LoadModel
    phases: tuple[PhaseFacts, ...]  # empty in a closed load
    virtual_users: int | None  # of a closed load
    seconds: float  # scheduled duration
    warm_up_requests: int
    warm_up_per_s: float

    @property
    def warm_up_seconds(self) -> float:
        """0 without a warm-up."""
        return self.warm_up_requests / self.warm_up_per_s if self.warm_up_requests else 0.0


def params_of(scenario: Scenario) -> LoadParams:
    """The record of a scenario."""
    warm_up, closed = scenario.warm_up, closed_plan(scenario)
    return LoadParams(
        scenario=scenario.name,
        script=scenario.script,
        model="open" if closed is None else "closed",
        phases=tuple(PhaseFacts(**vars(phase)) for phase in scenario.phases),
        virtual_users=None if closed is None else closed.virtual_users,
        seconds=sum(phase.seconds for phase in scenario.phases) if closed is None else closed.seconds,
        warm_up_requests=warm_up.requests if warm_up else 0,
        warm_up_per_s=warm_up.rate_per_s if warm_up else 0.0,
    )
