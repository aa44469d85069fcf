"""At which rate is the next hold worth most? Keeps the highest rate that passes and the lowest that fails, and narrows.

A hold that passes takes every fail at its rate and below with it, one that fails every pass at its rate and above: of
two holds that contradict each other the later one counts. So the highest pass is always below the lowest fail.
"""

from __future__ import annotations

import math
from collections import Counter

from writepath.records.capacity import RESOLUTION, Bracket

CELL = math.log(1.0495)  # a little finer, as rates are rounded
DIGITS = 4
TWICE = 2
DOWN, UP = (0.9, 0.8), (1.1, 1.25, 1.5)  # beyond the hint; the last one again and again
NARROW_DOWN, NARROW_UP = (0.95, *DOWN), (1.05, *UP)  # where the limit was believed to be near


class Edges:
    """One limit between lowest and highest rate, found from passes and fails that may err."""

    def __init__(self, lowest_per_s: float, highest_per_s: float, *, sure: bool) -> None:
        """sure: both edges are asked twice, and the hint's own edges before what lies between."""
        self._lowest, self._highest, self._sure = lowest_per_s, highest_per_s, sure
        self._hint = (lowest_per_s, highest_per_s)
        self._start = math.sqrt(lowest_per_s * highest_per_s)
        self._passes: set[float] = set()
        self._fails: dict[float, bool] = {}  # by rate, whether the generator could be why
        self._passed: Counter[float] = Counter()
        self._failed: Counter[float] = Counter()
        self._beyond = 0  # holds in a row outside the hint, or near a limit that was not one
        self._contradicted = False

    def hint(self, lower_per_s: float, upper_per_s: float, *, failed: bool) -> None:
        """Between which rates the limit probably is; failed: the upper one was seen to fail."""
        self._hint = (lower_per_s, upper_per_s)
        self._start = _split(lower_per_s, upper_per_s) if failed else upper_per_s
        self._contradicted, self._beyond = False, 0

    @property
    def last_pass(self) -> float | None:
        """The highest rate that passes."""
        return max(self._passes, default=None)

    @property
    def first_fail(self) -> float | None:
        """The lowest rate that fails."""
        return min(self._fails, default=None)

    def told(self, rate_per_s: float, *, passed: bool, generator_bound: bool) -> None:
        """What became of a hold."""
        if passed:
            lost = bool(self._fails) and max(self._fails) <= rate_per_s
            self._passed[rate_per_s] += 1
            self._passes.add(rate_per_s)
            self._fails = {rate: bound for rate, bound in self._fails.items() if rate > rate_per_s}
        else:
            lost = bool(self._passes) and min(self._passes) >= rate_per_s
            self._failed[rate_per_s] += 1
            self._fails[rate_per_s] = generator_bound
            self._passes = {rate for rate in self._passes if rate < rate_per_s}
        self._count_beyond(rate_per_s, passed=passed, lost=lost)

    def _count_beyond(self, rate_per_s: float, *, passed: bool, lost: bool) -> None:
        if lost:
            self._contradicted, self._beyond = True, 0
        elif self._passes and self._fails:
            self._beyond = 0
        elif (
            self._contradicted
            or (passed and rate_per_s > self._hint[1])
            or (not passed and rate_per_s < self._hint[0])
        ):
            self._beyond += 1

    def next(self) -> float | None:
        """The rate to hold next; None: nothing is left to ask."""
        low, high = self.last_pass, self.first_fail
        if low is None and high is None:
            return self._start
        if low is None and high is not None:
            return self._downward(high)
        if high is None and low is not None:
            return self._upward(low)
        if low is None or high is None:
            raise AssertionError("both edges are known here")
        if not _near(low, high):
            return _split(low, high)
        if self._sure and self._failed[high] < TWICE:
            return high
        return low if self._passed[low] < TWICE else None

    def _downward(self, high: float) -> float | None:
        if high <= self._lowest:
            return high if self._failed[high] < TWICE else None
        hinted = self._hint[0]
        if hinted < high and not self._contradicted:
            return hinted if self._sure or _near(hinted, high) else _split(hinted, high)
        return max(self._lowest, rounded(high * self._step(NARROW_DOWN, DOWN)))

    def _upward(self, low: float) -> float | None:
        if low >= self._highest:
            return low if self._passed[low] < TWICE else None
        hinted = self._hint[1]
        if hinted > low and not self._contradicted:
            return hinted if self._sure or _near(low, hinted) else _split(low, hinted)
        return min(self._highest, rounded(low * self._step(NARROW_UP, UP)))

    def _step(self, narrow: tuple[float, ...], wide: tuple[float, ...]) -> float:
        steps = narrow if self._contradicted else wide
        return steps[min(self._beyond, len(steps) - 1)]

    def bracket(self, holds: int) -> Bracket:
        """As known by now."""
        low, high = self.last_pass, self.first_fail
        return Bracket(
            last_pass_per_s=low,
            first_fail_per_s=high,
            at_least=low is not None and (low >= self._highest if high is None else self._fails[high]),
            holds=holds,
        )


def _near(low: float, high: float) -> bool:
    return high <= low * RESOLUTION


def _split(low: float, high: float) -> float:
    """The middle on a log scale, at a whole number of cells of the resolution."""
    cells = max(2, math.ceil(math.log(high / low) / CELL))
    between = rounded(low * (high / low) ** ((cells // 2) / cells))
    return between if low < between < high else low


def rounded(rate_per_s: float) -> float:
    """To four digits, and to the thousandths that a plan can carry."""
    return round(float(f"{rate_per_s:.{DIGITS}g}"), 3)
