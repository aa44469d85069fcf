"""Names the next load step: a coarse ramp finds a bracket, bisection narrows it, its edges are measured again."""

import math
from collections import Counter
from dataclasses import dataclass

from writepath.analysis.step_verdict import Outcomes
from writepath.analysis.steps import rounded
from writepath.records.steps import RESOLUTION, Bracket, LoadStep, StepKind

CELL = math.log(1.0495)  # a little finer than the resolution, as rates are rounded
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


MOST_STEPS = 12
MOST_REPEATS = 3  # of a noisy step, running
REQUESTS = 1000  # of a step, at least: fewer carry no p99
RAMP_SECONDS = 15.0
RAMP_FACTOR = 1.5
BURST_RAMP_FACTOR = 1.2  # its start is known, and few steps are left: a narrower hint


@dataclass(frozen=True, kw_only=True)
class Step:
    """A constant rate to be measured."""

    kind: StepKind
    rate_per_s: float
    seconds: float
    for_burst: bool = False  # the sustained rate is known


def seconds_at(rate_per_s: float, step_seconds: float) -> float:
    """Of a step: at a low rate as long as a p99 takes."""
    return max(step_seconds, float(math.ceil(REQUESTS / rate_per_s)))


class Stepper:
    """The sustained rate first; on a queue path then how much more is answered 201 while a backlog grows."""

    def __init__(
        self,
        *,
        lowest_per_s: float,
        highest_per_s: float,
        step_seconds: float,
        queue: bool,
        start_per_s: float | None = None,
    ) -> None:
        """queue: the 201 is not with the final store. start_per_s: where the ramp begins, the lowest rate if None."""
        self._lowest, self._highest, self._seconds = lowest_per_s, highest_per_s, step_seconds
        self._queue = queue
        self._sustained = Limit(lowest_per_s, highest_per_s, sure=True)
        self._burst = Limit(lowest_per_s, highest_per_s, sure=False)
        self._for_burst = False
        self._ramp_passed: float | None = None
        self._ramp_failed: float | None = None  # once, so far
        self._ramp_ceiling: float | None = None  # the lowest that failed, where the ramp began too high
        self._counted = self._noise = 0
        self._ended: str | None = None
        self._step: Step = self._ramp_step(lowest_per_s if start_per_s is None else start_per_s)

    def next(self) -> Step | None:
        """The same until it was told of. None: the run has ended."""
        return None if self._ended is not None else self._step

    @property
    def ended(self) -> str:
        """Why before the limit was known, in words; empty where it is, or while the run goes on."""
        return self._ended or ""

    def told(self, made: LoadStep) -> None:
        """Reads verdict, burst and generator_bound of what became of the step."""
        step = self._step
        if made.verdict == "noise":
            self._noise += 1
            if self._noise > MOST_REPEATS:
                self._ended = f"noisy host {self._noise} times in a row at {step.rate_per_s:,g}/s"
            return
        self._noise = 0
        passed = made.verdict == "pass"
        if step.kind == "ramp":
            self._ramped(step.rate_per_s, passed=passed or (self._for_burst and made.burst))
            return
        self._counted += 1
        rate, bound = step.rate_per_s, made.generator_bound
        if not self._for_burst:
            self._sustained.told(rate, passed=passed, generator_bound=bound)
        self._burst.told(rate, passed=passed or made.burst, generator_bound=bound)
        self._go_on()

    def sustained(self) -> Bracket:
        """What arrives is stored as fast; as known by now."""
        return self._sustained.bracket()

    def burst(self) -> Bracket:
        """201s alone; the same as sustained where the 201 is with the store."""
        return self._burst.bracket() if self._queue else self.sustained()

    def _ramped(self, rate_per_s: float, *, passed: bool) -> None:
        limit = self._burst if self._for_burst else self._sustained
        again, self._ramp_failed = self._ramp_failed == rate_per_s, None if passed else rate_per_s
        if not passed and not again:
            return  # retried: early steps meet a path that is still warming
        if not passed and self._ramp_passed is None and rate_per_s > self._lowest:
            self._ramp_ceiling = rate_per_s
            self._step = self._ramp_step(rate_per_s / RAMP_FACTOR)
            return
        if passed and self._ramp_ceiling is None and rate_per_s < self._highest:
            self._ramp_passed = rate_per_s
            factor = BURST_RAMP_FACTOR if self._for_burst else RAMP_FACTOR
            self._step = self._ramp_step(rate_per_s * factor)
            return
        lower = rate_per_s if self._ramp_passed is None else self._ramp_passed
        upper = self._ramp_ceiling if passed and self._ramp_ceiling is not None else rate_per_s
        limit.hint(lower, upper, failed=not passed or self._ramp_ceiling is not None)
        self._go_on()

    def _go_on(self) -> None:
        """The next step, or the change from sustained to burst, or the end."""
        limit = self._burst if self._for_burst else self._sustained
        rate_per_s = limit.next()
        if self._counted >= MOST_STEPS:
            self._ended = "" if rate_per_s is None else f"stopped after {MOST_STEPS} load steps"
        elif rate_per_s is not None:
            self._step = Step(
                kind="confirmation" if rate_per_s == limit.highest_passing else "bisection",
                rate_per_s=rate_per_s,
                seconds=seconds_at(rate_per_s, self._seconds),
                for_burst=self._for_burst,
            )
        elif self._queue and not self._for_burst and self._bursts():
            self._begin_burst()
        else:
            self._ended = ""

    def _begin_burst(self) -> None:
        """A ramp from what is known to be answered, unless something is known to fail."""
        self._for_burst = True
        self._ramp_passed, self._ramp_ceiling = self._burst.highest_passing, None
        if self._ramp_passed is None or self._burst.lowest_failing is not None:
            self._go_on()
        else:
            self._step = self._ramp_step(self._ramp_passed * BURST_RAMP_FACTOR)

    def _bursts(self) -> bool:
        """Whether what failed for the sustained rate failed for its backlog alone."""
        passing, failed = self._burst.highest_passing, self._sustained.lowest_failing
        return passing is not None and failed is not None and failed <= passing < self._highest

    def _ramp_step(self, rate_per_s: float) -> Step:
        return Step(
            kind="ramp",
            rate_per_s=max(self._lowest, min(self._highest, rounded(rate_per_s))),
            seconds=min(RAMP_SECONDS, self._seconds),
            for_burst=self._for_burst,
        )
