"""Which rate passes and which fails: of two steps that contradict each other the later one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.records.steps import Bracket

if TYPE_CHECKING:
    from collections.abc import Iterable

    from writepath.records.steps import LoadStep


class Outcomes:
    """Passes and fails of one limit.

    A pass takes every fail at its rate and below with it, a fail every pass at its rate and above: so the highest
    passing rate is always below the lowest failing one.
    """

    def __init__(self, highest_per_s: float) -> None:
        """highest_per_s: no rate above it is tried."""
        self._highest = highest_per_s
        self._passes: set[float] = set()
        self._fails: dict[float, bool] = {}  # by rate, whether the generator could be why
        self._steps = 0

    @property
    def highest_passing(self) -> float | None:
        """None where none passed."""
        return max(self._passes, default=None)

    @property
    def lowest_failing(self) -> float | None:
        """None where none failed."""
        return min(self._fails, default=None)

    def told(self, rate_per_s: float, *, passed: bool, generator_bound: bool) -> bool:
        """What became of a step; whether it contradicted all that was known on the other side."""
        self._steps += 1
        if passed:
            lost = bool(self._fails) and max(self._fails) <= rate_per_s
            self._passes.add(rate_per_s)
            self._fails = {rate: bound for rate, bound in self._fails.items() if rate > rate_per_s}
        else:
            lost = bool(self._passes) and min(self._passes) >= rate_per_s
            self._fails[rate_per_s] = generator_bound
            self._passes = {rate for rate in self._passes if rate < rate_per_s}
        return lost

    def bracket(self) -> Bracket:
        """As known by now."""
        low, high = self.highest_passing, self.lowest_failing
        return Bracket(
            highest_passing_per_s=low,
            lowest_failing_per_s=high,
            lower_bound=low is not None and (low >= self._highest if high is None else self._fails[high]),
            steps=self._steps,
        )


def sustained(steps: Iterable[LoadStep], highest_per_s: float) -> Bracket:
    """What arrives is stored as fast: steps for the burst rate say nothing of it."""
    known = Outcomes(highest_per_s)
    for step in steps:
        if step.counted and not step.for_burst:
            known.told(step.rate_per_s, passed=step.verdict == "pass", generator_bound=step.generator_bound)
    return known.bracket()


def burst(steps: Iterable[LoadStep], highest_per_s: float) -> Bracket:
    """201s alone."""
    known = Outcomes(highest_per_s)
    for step in steps:
        if step.counted:
            passed = step.verdict == "pass" or step.burst
            known.told(step.rate_per_s, passed=passed, generator_bound=step.generator_bound)
    return known.bracket()
