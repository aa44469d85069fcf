"""Names the next load step: where the limit, as fitted to all steps so far, probably is."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from writepath.analysis import limit
from writepath.analysis.steps import rounded
from writepath.experiments.warm_path import Step
from writepath.records.steps import RESOLUTION, Bracket, LoadStep, StepKind

WIDE = 1.5  # an interval: high ÷ low; until it is narrower, steps are short and only show where to look
MOST_REPEATS = 3  # of a noisy step, running
REQUESTS = 1000  # of a step, at least: fewer carry no p99
RAMP_SECONDS = 10.0
BETWEEN_S = 8.0  # emptying, drain, read and canaries of a full step
NO_TIME = "no time was left for another load step"


def seconds_at(rate_per_s: float, step_seconds: float) -> float:
    """Of a step: at a low rate as long as a p99 takes."""
    return max(step_seconds, float(math.ceil(REQUESTS / rate_per_s)))


@dataclass(kw_only=True)
class Stepper:
    """The sustained rate first; on a queue path then how much more is answered 201 while a backlog grows."""

    lowest_per_s: float
    highest_per_s: float
    step_seconds: float
    queue: bool  # the 201 is not with the final store
    left_s: Callable[[], float]  # for more steps
    start_per_s: float | None = None  # None: the lowest rate
    warm_per_s: float | None = None  # a rate that the path probably carries
    step: Step | None = field(init=False)  # the next one, until it was told of; None: the run has ended
    ended: str = ""  # why before the limit was known, in words; empty where it is, or while the run goes on
    _made: list[LoadStep] = field(default_factory=list)  # without noisy ones
    _noise: int = 0  # noisy steps in a row

    def __post_init__(self) -> None:
        self.step = self._choose()

    def told(self, made: LoadStep) -> None:
        """What became of the step."""
        noise = made.verdict == "noise"
        self._noise = self._noise + 1 if noise else 0
        self._made += () if noise else (made,)
        if self._noise > MOST_REPEATS:
            self.ended = f"noisy host {self._noise} times in a row at {made.rate_per_s:,g}/s"
        self.step = None if self.ended else self._choose()

    def bracket(self, *, burst: bool = False) -> Bracket:
        """As known by now. burst: of 201s alone; else of what is stored as fast."""
        return limit.bracket(self._made, self.lowest_per_s, self.highest_per_s, burst=burst)

    def _choose(self) -> Step | None:
        step = self._step_for(burst=False)
        if step is None and self.queue and any(made.burst and made.verdict == "fail" for made in self._made):
            step = self._step_for(burst=True)
        if step is None or self.left_s() >= step.seconds + BETWEEN_S * (step.kind != "ramp"):
            return step
        self.ended = NO_TIME
        return None

    def _step_for(self, *, burst: bool) -> Step | None:
        """None: the limit is known, or not between the lowest and the highest rate."""
        found = limit.fit(self._made, self.lowest_per_s, self.highest_per_s, burst=burst)
        kind: StepKind = "ramp" if found.high > WIDE * found.low else "bisection"
        passed = [one.rate_per_s for one in self._made if one.passes(burst=burst)]
        most = max(limit.MOST_TIMES * max(passed, default=math.inf), self.warm_per_s or 0.0)
        rate = min(found.limit, most) if self._made else self.start_per_s or self.lowest_per_s
        if found.low >= self.highest_per_s or found.high <= self.lowest_per_s:
            if any(made.counted for made in self._made):
                return None
            kind = "confirmation"
        elif found.high <= found.low * RESOLUTION**2:
            known, kind = self.bracket(burst=burst), "confirmation"
            if (known.highest_passing_per_s or 0) < found.low / RESOLUTION:
                rate = found.low
            elif (known.lowest_failing_per_s or math.inf) > found.high * RESOLUTION:
                rate = found.high
            else:
                return None
        rate = max(self.lowest_per_s, min(self.highest_per_s, rounded(rate)))
        whole_s = seconds_at(rate, self.step_seconds)
        seconds = min(RAMP_SECONDS, self.step_seconds) if kind == "ramp" else whole_s
        return Step(kind=kind, rate_per_s=rate, seconds=seconds, for_burst=burst)
