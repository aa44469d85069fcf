"""Which rate is held next? A coarse ramp finds a bracket, bisection narrows it to 5 %, its edges are asked again.

A state machine without clock or process: it names a step, is told what became of it, names the next. Ramp steps pass or
fail on a path that is still warming; what they find is a hint, which holds may leave on either side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.capacity import said
from writepath.capacity.edges import Edges, rounded

if TYPE_CHECKING:
    from writepath.records.capacity import Bracket, Hold, HoldKind

MOST_HOLDS = 12
MOST_REPEATS = 3  # of a step that noise spoilt, running
REQUESTS = 1000  # of a hold, at least: fewer carry no p99
RAMP_SECONDS = 15.0
RAMP_FACTOR = 1.5
BURST_RAMP_FACTOR = 1.2  # its start is known, and few holds are left: a narrower hint


@dataclass(frozen=True, kw_only=True)
class Step:
    """One rate to be held."""

    kind: HoldKind
    rate_per_s: float
    seconds: float


def seconds_at(rate_per_s: float, hold_seconds: float) -> float:
    """Of a hold: at a low rate as long as a p99 takes."""
    return max(hold_seconds, float(math.ceil(REQUESTS / rate_per_s)))


class Searcher:
    """Sustained capacity first; on a queue path then how much more is answered 201 while a backlog grows."""

    def __init__(
        self,
        *,
        lowest_per_s: float,
        highest_per_s: float,
        hold_seconds: float,
        queue: bool,
        start_per_s: float | None = None,
    ) -> None:
        """queue: the 201 is not with the final store. start_per_s: where the ramp begins, the lowest rate if None."""
        self._lowest, self._highest, self._hold_seconds = lowest_per_s, highest_per_s, hold_seconds
        self._queue = queue
        self._sustained = Edges(lowest_per_s, highest_per_s, sure=True)
        self._burst = Edges(lowest_per_s, highest_per_s, sure=False)
        self._for_burst = False  # sustained capacity is known, holds are for burst now
        self._ramp_passed: float | None = None
        self._ramp_failed: float | None = None  # once, so far
        self._ramp_ceiling: float | None = None  # the lowest that failed, where the ramp began too high
        self._holds = self._sustained_holds = self._noise = 0
        self._ended: str | None = None
        self._step: Step = self._ramp_step(lowest_per_s if start_per_s is None else start_per_s)

    def next(self) -> Step | None:
        """The same until it was told of. None: the search has ended."""
        return None if self._ended is not None else self._step

    @property
    def ended(self) -> str | None:
        """Why, in words; None while it goes on."""
        return self._ended

    def told(self, step: Step, hold: Hold) -> None:
        """Reads verdict, burst and generator_bound of the hold that was made for the step."""
        if step != self._step or self._ended is not None:
            raise ValueError(f"unexpected step {step}; expected {self.next()}")
        if hold.verdict == "noise":
            self._noise += 1
            if self._noise > MOST_REPEATS:
                self._end(f"noisy host {self._noise} times in a row at {step.rate_per_s:,g}/s")
            return
        self._noise = 0
        passed = hold.verdict == "pass"
        if step.kind == "ramp":
            self._ramped(step.rate_per_s, passed=passed or (self._for_burst and hold.burst))
            return
        self._holds += 1
        bound = hold.generator_bound
        if not self._for_burst:
            self._sustained_holds += 1
            self._sustained.told(step.rate_per_s, passed=passed, generator_bound=bound)
        self._burst.told(step.rate_per_s, passed=passed or hold.burst, generator_bound=bound)
        self._go_on()

    def sustained(self) -> Bracket:
        """What arrives is stored as fast; as known by now."""
        return self._sustained.bracket(self._sustained_holds)

    def burst(self) -> Bracket:
        """201s alone; the same as sustained where the 201 is with the store."""
        return self._burst.bracket(self._holds) if self._queue else self.sustained()

    def _ramped(self, rate_per_s: float, *, passed: bool) -> None:
        edges = self._burst if self._for_burst else self._sustained
        again, self._ramp_failed = self._ramp_failed == rate_per_s, None if passed else rate_per_s
        if not passed and not again:
            return  # asked once more: early steps meet a path that is still warming
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
        edges.hint(lower, upper, failed=not passed or self._ramp_ceiling is not None)
        self._go_on()

    def _go_on(self) -> None:
        """The next hold, or the change from sustained to burst, or the end."""
        edges = self._burst if self._for_burst else self._sustained
        rate_per_s = edges.next()
        if self._holds >= MOST_HOLDS:
            self._end("" if rate_per_s is None else f"stopped after {MOST_HOLDS} load steps")
        elif rate_per_s is not None:
            kind: HoldKind = "confirm" if rate_per_s == edges.last_pass else "search"
            seconds = seconds_at(rate_per_s, self._hold_seconds)
            self._step = Step(kind=kind, rate_per_s=rate_per_s, seconds=seconds)
        elif self._queue and not self._for_burst and self._bursts():
            self._begin_burst()
        else:
            self._end("")

    def _begin_burst(self) -> None:
        """A ramp from what is known to be answered, unless something is known to fail."""
        self._for_burst = True
        self._ramp_passed, self._ramp_ceiling = self._burst.last_pass, None
        if self._ramp_passed is None or self._burst.first_fail is not None:
            self._go_on()
        else:
            self._step = self._ramp_step(self._ramp_passed * BURST_RAMP_FACTOR)

    def _bursts(self) -> bool:
        """Whether what failed for sustained capacity failed for its backlog alone."""
        carried, failed = self._burst.last_pass, self._sustained.first_fail
        return carried is not None and failed is not None and failed <= carried < self._highest

    def _ramp_step(self, rate_per_s: float) -> Step:
        rate_per_s = max(self._lowest, min(self._highest, rounded(rate_per_s)))
        return Step(kind="ramp", rate_per_s=rate_per_s, seconds=min(RAMP_SECONDS, self._hold_seconds))

    def _end(self, why: str) -> None:
        brackets = {"sustained": self.sustained()} | ({"burst": self.burst()} if self._queue else {})
        found = [f"{name} {said.bracket(bracket)}" for name, bracket in brackets.items()]
        self._ended = "; ".join([why, *found] if why else found)
