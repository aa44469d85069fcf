"""Names the next load step: where the limit, as fitted to all steps so far, probably is."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from writepath.analysis import limit
from writepath.analysis.steps import rounded
from writepath.records.steps import RESOLUTION, Bracket, LoadStep, StepKind

WIDE = 1.5  # an interval: high ÷ low; until it is narrower, steps are short and only show where to look
MOST_REPEATS = 3  # of a noisy step, running
REQUESTS = 1000  # of a step, at least: fewer carry no p99
RAMP_SECONDS = 10.0
BETWEEN_S = 8.0  # emptying, drain, read and canaries of a full step
NO_TIME = "no time was left for another load step"


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
        left_s: Callable[[], float],
        start_per_s: float | None = None,
        warm_per_s: float | None = None,
    ) -> None:
        """queue: the 201 is not with the final store. left_s: for more steps. start_per_s: the lowest rate if None.

        warm_per_s: a rate that the path probably carries.
        """
        self._lowest, self._highest, self._seconds = lowest_per_s, highest_per_s, step_seconds
        self._queue, self._left_s = queue, left_s
        self._start, self._warm = start_per_s or lowest_per_s, warm_per_s or 0.0
        self._made: list[LoadStep] = []  # without noisy ones
        self._noise = 0
        self.ended = (
            ""  # why before the limit was known, in words; empty where it is, or while the run goes on
        )
        self._step = self._choose()

    def next(self) -> Step | None:
        """The same until it was told of. None: the run has ended."""
        return self._step

    def told(self, made: LoadStep) -> None:
        """What became of the step."""
        noise = made.verdict == "noise"
        self._noise = self._noise + 1 if noise else 0
        self._made += () if noise else (made,)
        if self._noise > MOST_REPEATS:
            self.ended = f"noisy host {self._noise} times in a row at {made.rate_per_s:,g}/s"
        self._step = None if self.ended else self._choose()

    def sustained(self) -> Bracket:
        """What arrives is stored as fast; as known by now."""
        return self._bracket(burst=False)

    def burst(self) -> Bracket:
        """201s alone; the same as sustained where the 201 is with the store."""
        return self._bracket(burst=self._queue)

    def _bracket(self, *, burst: bool) -> Bracket:
        return limit.bracket(self._made, self._lowest, self._highest, burst=burst)

    def _choose(self) -> Step | None:
        step = self._step_for(burst=False)
        if step is None and self._queue and any(made.burst and made.verdict == "fail" for made in self._made):
            step = self._step_for(burst=True)
        if step is None or self._left_s() >= step.seconds + BETWEEN_S * (step.kind != "ramp"):
            return step
        self.ended = NO_TIME
        return None

    def _step_for(self, *, burst: bool) -> Step | None:
        """None: the limit is known, or not between the lowest and the highest rate."""
        found = limit.fit_steps(self._made, self._lowest, self._highest, burst=burst)
        kind: StepKind = "ramp" if found.high > WIDE * found.low else "bisection"
        passed = [one.rate_per_s for one in self._made if one.passes(burst=burst)]
        most = max(limit.MOST_TIMES * max(passed, default=math.inf), self._warm)
        rate = min(found.limit, most) if self._made else self._start
        if found.low >= self._highest or found.high <= self._lowest:
            if any(made.counted for made in self._made):
                return None
            kind = "confirmation"
        elif found.high <= found.low * RESOLUTION**2:
            known, kind = self._bracket(burst=burst), "confirmation"
            if (known.highest_passing_per_s or 0) < found.low / RESOLUTION:
                rate = found.low
            elif (known.lowest_failing_per_s or math.inf) > found.high * RESOLUTION:
                rate = found.high
            else:
                return None
        rate = max(self._lowest, min(self._highest, rounded(rate)))
        seconds = min(RAMP_SECONDS, self._seconds) if kind == "ramp" else seconds_at(rate, self._seconds)
        return Step(kind=kind, rate_per_s=rate, seconds=seconds, for_burst=burst)
