"""A warm-up: what a suite asks for, and how its path became steady."""

from typing import Any

from writepath.config.registry import WarmUp
from writepath.records.base import record


@record
class WarmUpParams:
    """Of a kind that sends a scenario's load."""

    warm_up_requests: int = 0  # of runs recorded when a warm-up could be so many requests at one rate
    warm_up_per_s: float = 0.0
    warm_up_users: int | None = None  # of the closed load
    warm_up_at_most_s: float | None = None  # until steady
    warm_up_for_s: float | None = None  # for a fixed time

    @property
    def warm_up_seconds(self) -> float:
        """At most; 0 without a warm-up."""
        fixed_s = self.warm_up_requests / self.warm_up_per_s if self.warm_up_requests else 0.0
        if self.warm_up_at_most_s is not None:
            return self.warm_up_at_most_s
        return self.warm_up_for_s or fixed_s


def warm_up_params(asked: WarmUp | None) -> dict[str, Any]:
    """The fields of WarmUpParams."""
    return {
        "warm_up_users": asked.virtual_users if asked else None,
        "warm_up_at_most_s": asked.at_most_seconds if asked else None,
        "warm_up_for_s": asked.for_seconds if asked else None,
    }


@record
class WarmUpWindow:
    """Some seconds of a warm-up."""

    until_s: float  # its end, since the first answer
    rate_per_s: float  # acknowledged
    cpu_us_per_request: float | None  # of all components but the load generator; null: none was acknowledged
    median_ms: float | None  # from sending to the 201


@record
class WarmUpFacts:
    """A closed load before the one that is measured, until the path was steady."""

    seconds: float
    virtual_users: int
    steady: bool  # analysis/warm_up.py has the rule
    windows: tuple[WarmUpWindow, ...]
