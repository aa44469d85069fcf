"""Says at which rate the next step is worth most: keeps what passed and failed, and narrows what lies between."""

from __future__ import annotations

import math
from collections import Counter

from writepath.analysis.brackets import Outcomes
from writepath.records.steps import RESOLUTION

CELL = math.log(1.0495)  # a little finer than the resolution, as rates are rounded
DIGITS = 4
TWICE = 2
DOWN, UP = (0.9, 0.8), (1.1, 1.25, 1.5)  # beyond the hint; the last one again and again
NARROW_DOWN, NARROW_UP = (0.95, *DOWN), (1.05, *UP)  # where the limit was believed to be near


class Limit(Outcomes):
    """One limit between lowest and highest rate, found from passes and fails that may err."""

    def __init__(self, lowest_per_s: float, highest_per_s: float, *, sure: bool) -> None:
        """sure: both edges are measured twice, and the hint's own edges before what lies between."""
        super().__init__(highest_per_s)
        self._lowest, self._highest, self._sure = lowest_per_s, highest_per_s, sure
        self._hint = (lowest_per_s, highest_per_s)
        self._start = math.sqrt(lowest_per_s * highest_per_s)
        self._passed: Counter[float] = Counter()
        self._failed: Counter[float] = Counter()
        self._beyond = 0  # steps in a row outside the hint, or near a limit that was not one
        self._contradicted = False

    def hint(self, lower_per_s: float, upper_per_s: float, *, failed: bool) -> None:
        """Between which rates the limit probably is; failed: the upper one was seen to fail."""
        self._hint = (lower_per_s, upper_per_s)
        self._start = _split(lower_per_s, upper_per_s) if failed else upper_per_s
        self._contradicted, self._beyond = False, 0

    def told(self, rate_per_s: float, *, passed: bool, generator_bound: bool) -> bool:
        """What became of a step."""
        lost = super().told(rate_per_s, passed=passed, generator_bound=generator_bound)
        (self._passed if passed else self._failed)[rate_per_s] += 1
        outside = rate_per_s > self._hint[1] if passed else rate_per_s < self._hint[0]
        if lost:
            self._contradicted, self._beyond = True, 0
        elif self.highest_passing is not None and self.lowest_failing is not None:
            self._beyond = 0
        elif self._contradicted or outside:
            self._beyond += 1
        return lost

    def next(self) -> float | None:
        """The rate of the next step; None: nothing is left to measure."""
        low, high = self.highest_passing, self.lowest_failing
        if low is None:
            return self._start if high is None else self._downward(high)
        if high is None:
            return self._upward(low)
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
