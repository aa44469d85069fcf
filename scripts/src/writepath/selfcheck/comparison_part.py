"""Are two of the same told from each other too often, and is a slower one seen? Simulated, on recorded noise."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis.comparison import Judgement, apart, judge, middle, paired
from writepath.selfcheck import simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from writepath.analysis.comparison.words import Word
    from writepath.selfcheck.simulated import Noise

SUITES = 1000  # of each kind, so that the rates are stable
PAIRS, DIFFERENT_GOAL = 40, 2  # of so many A/A pairs at most so many are called different
TRIALS, SLOWER_GOAL = 10, 9  # of so many suites with a slowed variant at least so many call it slower
BLOCKS, FACTOR = 10, 1.1
SEED = 20261122
SLOWED_FIGURE = "median"  # what a slowdown moves as a whole; the others are printed without a goal


def run(say: Callable[[str], None], noise: Noise | None = None, suites: int = SUITES) -> bool:
    """Whether both goals are met: by the first suites exactly, and by the rates over all of them."""
    noise = noise or simulated.recorded()
    say(f"  simulated with recorded noise: {noise.source}")
    for index, name in enumerate(noise.metrics):
        say(
            f"  {name}: standard deviation of a run {noise.spread[index]:.1%}, autocorrelation between runs"
            f" {noise.memory[index]:.2f}"
        )
    with _little_to_collect():
        alike, slowed = (words(noise, factor, suites) for factor in (1.0, FACTOR))
    return all([_different(say, noise, alike), _slower(say, noise, slowed)])


def words(noise: Noise, factor: float, suites: int) -> list[tuple[Word, ...]]:
    """By suite, the word of each figure; a function of the seed alone."""
    rng = np.random.default_rng(SEED)
    return [_words(noise, factor, rng) for _ in range(suites)]


def _words(noise: Noise, factor: float, rng: np.random.Generator) -> tuple[Word, ...]:
    cells = simulated.suite(noise, BLOCKS, factor, rng)
    found = []
    for base, again, other in zip(cells.base.T, cells.again.T, cells.other.T, strict=True):
        first, second = base.tolist(), again.tolist()
        judgement = Judgement(
            estimate=paired(other.tolist(), middle(first, second), "lower"),
            better="lower",
            noise=apart(paired(second, first, "lower")),
        )
        found.append(judge([judgement])[0].word)
    return tuple(found)


def _different(say: Callable[[str], None], noise: Noise, alike: list[tuple[Word, ...]]) -> bool:
    met = True
    for index, name in enumerate(noise.metrics):
        called = [found[index] in ("faster", "slower") for found in alike]
        first, rate = sum(called[:PAIRS]), sum(called) / len(called)
        good = first <= DIFFERENT_GOAL and rate * PAIRS <= DIFFERENT_GOAL
        met &= good
        say(
            f"  {name}: identical variants called different in {first} of the first {min(PAIRS, len(called))} pairs"
            f" (goal {DIFFERENT_GOAL} of {PAIRS}), {rate:.1%} of {len(called):,}{_sign(good)}"
        )
    return met


def _slower(say: Callable[[str], None], noise: Noise, slowed: list[tuple[Word, ...]]) -> bool:
    met = True
    for index, name in enumerate(noise.metrics):
        called = [found[index] == "slower" for found in slowed]
        first, rate = sum(called[:TRIALS]), sum(called) / len(called)
        counted = name == SLOWED_FIGURE
        good = not counted or (first >= SLOWER_GOAL and rate >= SLOWER_GOAL / TRIALS)
        met &= good
        goal = f"goal {SLOWER_GOAL} of {TRIALS}" if counted else "no goal"
        say(
            f"  {name}: variant slower by {FACTOR - 1:.0%} called slower in {first} of the first"
            f" {min(TRIALS, len(called))} suites of {BLOCKS} blocks ({goal}), {rate:.1%} of {len(called):,}"
            f"{_sign(good)}"
        )
    return met


@contextmanager
def _little_to_collect() -> Iterator[None]:
    """Statsmodels collects garbage in each call; what is there already need not be looked through each time."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _sign(met: bool) -> str:
    return "" if met else "  MISSED"
