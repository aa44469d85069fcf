"""Fits the rate at which a path begins to fail to load steps, of which some pass or fail by chance.

The chance to pass falls with the rate: one half at the limit, one tenth a width above it. Every rate of a grid gets the
likelihood of what became of all steps, averaged over several widths; the limit is the median. This is QUEST (Watson and
Pelli 1983), which finds thresholds of hearing and sight. The order of the steps does not matter, and none is final.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from writepath.records.steps import Bracket, LoadStep
from writepath.records.warm_up import WarmUpFacts

# Shares of the limit. Of the full steps of 31 runs at -5, 0 and +5 % of it, 89, 48 and 12 % passed.
WIDTHS = (0.02, 0.05, 0.1)
CHANCE = 0.03  # of a step that says nothing of its rate
TAIL = 0.05  # on either side of the interval
ROOM = 1.25  # of the grid, beyond what is tried: a limit may be there
CELL = 0.004  # of the grid
MOST_TIMES = 1.5  # the highest rate that passed, of the next step: overload leaves a path other than it was
WARM_SHARE = 0.4  # of what a closed load reached: a rate that the path carries, even when a stall has filled its queues


def carried_per_s(warm_up: WarmUpFacts | None) -> float | None:
    """What a path probably carries, by the end of its warm-up; None where that is not known."""
    return WARM_SHARE * warm_up.windows[-1].rate_per_s if warm_up is not None and warm_up.windows else None


class Fit(NamedTuple):
    """Requests per second."""

    low: float  # with high: the interval of 90 %
    limit: float
    high: float


def fit(steps: Iterable[LoadStep], lowest_per_s: float, highest_per_s: float, *, burst: bool) -> Fit:
    """lowest, highest: what may be tried. burst: of the rate of 201s alone; else of what is stored as fast."""
    begin, end = math.log(lowest_per_s / ROOM), math.log(highest_per_s * ROOM)
    grid = np.linspace(begin, end, math.ceil((end - begin) / CELL) + 2)
    likelihood = np.zeros((len(WIDTHS), len(grid)))
    for step in steps:
        if step.verdict != "noise":
            above = np.clip((math.log(step.rate_per_s) - grid) / np.log1p(WIDTHS)[:, None], -50, 50)
            passes = CHANCE / 2 + (1 - CHANCE) / (1 + 9**above)
            likelihood += np.log(passes if step.passes(burst=burst) else 1 - passes)
    share = np.exp(likelihood - likelihood.max()).sum(axis=0).cumsum()
    return Fit(*(math.exp(grid[share.searchsorted(part * share[-1])]) for part in (TAIL, 0.5, 1 - TAIL)))


def bracket(steps: Sequence[LoadStep], lowest_per_s: float, highest_per_s: float, *, burst: bool) -> Bracket:
    """The nearest rates on either side of the limit that passed and failed in full steps, and its interval."""
    found = fit(steps, lowest_per_s, highest_per_s, burst=burst)
    counted = [step for step in steps if step.counted]
    passes = [one.rate_per_s for one in counted if one.passes(burst=burst) and one.rate_per_s <= found.limit]
    fails = [one for one in counted if not one.passes(burst=burst) and one.rate_per_s > found.limit]
    low = max(passes, default=None)
    high = min((one.rate_per_s for one in fails), default=None)
    bound = all(one.generator_bound for one in fails if one.rate_per_s == high)
    return Bracket(
        highest_passing_per_s=low,
        lowest_failing_per_s=high,
        lower_bound=low is not None and (low >= highest_per_s if high is None else bound),
        steps=len(counted),
        interval_per_s=(round(found.low, 1), round(found.high, 1)),
    )
