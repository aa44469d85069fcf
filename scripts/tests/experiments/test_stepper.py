"""The order of load steps: a run ends in its time, at the true limit or with an interval that holds it."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planted_capacity import step as planted
from writepath.analysis import stats
from writepath.analysis.limit import WARM_SHARE
from writepath.config.registry import Phase
from writepath.experiments.capacity.stepper import (
    BETWEEN_S,
    MOST_REPEATS,
    NO_TIME,
    RAMP_SECONDS,
    Stepper,
    seconds_at,
)
from writepath.experiments.warm_path import Step
from writepath.load.plan import arrival_plan
from writepath.records.steps import RESOLUTION, Bracket

RUNS = 100
LOWEST, HIGHEST, STEP_S = 20.0, 6000.0, 20.0
TIME_S = 260.0  # of eight minutes, without start, warm-up, overload and recovery


@dataclass(kw_only=True)
class Path:
    """A simulated path; `width` is how far above its limit it passes one time in ten."""

    seed: int
    width: float = 0.05
    odd_fails: float = 0.02
    noise: float = 0.0
    generator_per_s: float = math.inf  # beyond it the generator fails
    burst_times: float = 1.0
    time_s: float = TIME_S
    limit_per_s: float | None = None
    warmed: bool = True
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 - a simulation
        drawn = math.exp(self.chance.uniform(math.log(150), math.log(4500)))
        self.true_per_s = self.limit_per_s or drawn
        self.left_s = self.time_s

    def passes(self, rate_per_s: float, limit_per_s: float) -> bool:
        above = math.log(rate_per_s / limit_per_s) / math.log1p(self.width)
        return self.chance.random() < 1 / (1 + 9 ** min(above, 100.0))

    def run(self, *, queue: bool = False) -> Stepper:
        reached_per_s = self.true_per_s * random.Random(self.seed).uniform(0.9, 1.3)  # noqa: S311 - a simulation
        warm_per_s = WARM_SHARE * reached_per_s if self.warmed else None
        of = stepper(lambda: self.left_s, queue=queue, start=200.0, warm=warm_per_s)
        while (step := of.step) is not None:
            self.steps.append(step)
            self.left_s -= step.seconds + (2.0 if step.kind == "ramp" else BETWEEN_S)
            bound = step.rate_per_s > self.generator_per_s
            good = not (bound or self.chance.random() < self.odd_fails)
            stored = good and self.passes(step.rate_per_s, self.true_per_s)
            answered = stored or (
                good and self.passes(step.rate_per_s, self.burst_times * self.true_per_s * 0.999)
            )
            verdict = "pass" if stored else "burst" if answered and self.burst_times > 1 else "fail"
            verdict = "noise" if self.chance.random() < self.noise else verdict
            of.told(planted(step.rate_per_s, verdict, kind=step.kind, generator_bound=bound))
        assert self.left_s >= -2.0
        return of


def stepper(
    left_s: Callable[[], float] = lambda: math.inf,
    *,
    lowest: float = LOWEST,
    highest: float = HIGHEST,
    queue: bool = False,
    start: float | None = None,
    warm: float | None = None,
) -> Stepper:
    return Stepper(
        lowest_per_s=lowest, highest_per_s=highest, step_seconds=STEP_S, queue=queue, left_s=left_s, start_per_s=start,
        warm_per_s=warm,
    )  # fmt: skip


def holds(found: Bracket, per_s: float) -> bool:
    """Whether its interval has the true limit, give or take a cell of the grid."""
    low, high = found.interval_per_s
    return low / 1.005 <= per_s <= high * 1.005


def runs(**asked: float) -> Iterator[tuple[Path, Stepper]]:
    for seed in range(RUNS):
        path = Path(seed=seed, **asked)  # type: ignore[arg-type]
        yield path, path.run()


def test_most_runs_know_the_limit_to_5_percent_in_their_time_and_the_others_say_what_stopped_them() -> None:
    """Of 1,000 runs 77 % know it, 96 % of these rightly; the rule before knew it in 16 % in the same time."""
    known = right = held = 0
    for path, of in runs():
        found = of.bracket()
        assert found.conclusive == (of.ended == "")
        assert found.conclusive or of.ended == NO_TIME
        held += holds(found, path.true_per_s)
        if found.conclusive and found.highest_passing_per_s:
            known += 1
            low, high = found.interval_per_s
            right += abs(math.log(math.sqrt(low * high) / path.true_per_s)) <= math.log(RESOLUTION)
            assert found.lowest_failing_per_s is not None
            assert low / RESOLUTION <= found.highest_passing_per_s < found.lowest_failing_per_s
            assert found.lowest_failing_per_s <= high * RESOLUTION
    assert known >= 0.7 * RUNS
    assert right >= 0.9 * known
    assert held >= 0.85 * RUNS  # of 90 %


def test_a_noisy_step_says_nothing_and_is_retried() -> None:
    of = stepper()
    first = of.step
    assert first is not None
    for _ in range(MOST_REPEATS):
        of.told(planted(first.rate_per_s, "noise", kind=first.kind))
        assert of.step == first
    of.told(planted(first.rate_per_s, "noise", kind=first.kind))
    assert of.step is None
    assert of.ended == f"noisy host {MOST_REPEATS + 1} times in a row at 20/s"


def test_where_the_generator_ends_first_the_limit_is_a_lower_bound() -> None:
    for seed in range(20):
        path = Path(seed=seed, generator_per_s=1000.0, limit_per_s=3000.0, odd_fails=0.0, time_s=1000.0)
        found = path.run().bracket()
        assert found.lower_bound
        assert found.highest_passing_per_s is not None
        assert found.highest_passing_per_s <= 1000.0


@pytest.mark.parametrize(("limit", "low", "high"), [(1e6, HIGHEST, None), (0.1, None, LOWEST)])
def test_where_every_rate_passes_or_fails_the_run_ends_at_the_last_one(
    limit: float, low: float | None, high: float | None
) -> None:
    path = Path(seed=1, limit_per_s=limit, odd_fails=0.0, time_s=1000.0)
    of = path.run()
    found = of.bracket()
    assert (found.highest_passing_per_s, found.lowest_failing_per_s, of.ended) == (low, high, "")
    assert found.lower_bound == (low is not None)
    assert path.steps[-1].kind != "ramp"


def test_the_burst_rate_of_a_queue_path_is_looked_for_in_what_time_is_left() -> None:
    right = held = 0
    for seed in range(20):
        path = Path(seed=seed, limit_per_s=1000.0, burst_times=1.5, odd_fails=0.0, time_s=600.0)
        of = path.run(queue=True)
        assert [step.for_burst for step in path.steps] == sorted(step.for_burst for step in path.steps)
        held += holds(of.bracket(), 1000.0)
        right += of.bracket(burst=True).conclusive and holds(of.bracket(burst=True), 1500.0)
    assert held >= 17  # of 90 %
    assert right >= 14


def test_the_load_rises_by_half_at_most_and_steps_are_short_until_the_limit_is_near() -> None:
    path = Path(seed=1, width=1e-6, odd_fails=0.0, limit_per_s=2100.0, warmed=False, time_s=1000.0)
    path.run()
    rates, kinds = [step.rate_per_s for step in path.steps], [step.kind for step in path.steps]
    assert rates[:5] == pytest.approx([200, 300, 450, 675, 1012], rel=1e-3)
    ramps = kinds.count("ramp")
    assert kinds[:ramps] == ["ramp"] * ramps
    assert {step.seconds for step in path.steps[:ramps]} == {RAMP_SECONDS}
    assert {step.seconds for step in path.steps[ramps:]} == {STEP_S}
    assert max(rates) < 1.5 * 2100


def test_a_step_at_a_low_rate_lasts_as_long_as_a_p99_takes() -> None:
    for rate in (2.0, 3.7, 8.0, 9.99, 16.67):
        phase = Phase(name="step", seconds=seconds_at(rate, 60.0), from_per_s=rate, to_per_s=rate)
        assert stats.carries(arrival_plan([phase]).planned, 0.99)
    assert seconds_at(200.0, 60.0) == 60.0


@settings(max_examples=100, deadline=None)
@given(
    lowest=st.floats(1.0, 1000.0),
    span=st.floats(1.0, 100.0),
    queue=st.booleans(),
    outcomes=st.lists(
        st.tuples(st.sampled_from(["pass", "fail", "burst", "noise"]), st.booleans()), min_size=1
    ),
)
def test_whatever_steps_say_a_run_ends_in_its_time_and_its_range(
    lowest: float, span: float, queue: bool, outcomes: list[tuple[str, bool]]
) -> None:
    highest, left_s, number = lowest * span, [1500.0], 0
    of = stepper(lambda: left_s[0], lowest=lowest, highest=highest, queue=queue)
    while (step := of.step) is not None:
        assert lowest <= step.rate_per_s <= highest
        assert left_s[0] >= step.seconds
        left_s[0] -= step.seconds
        verdict, bound = outcomes[number % len(outcomes)]
        number += 1
        made = planted(step.rate_per_s, verdict, kind=step.kind)
        of.told(replace(made, generator_bound=bound and verdict == "fail"))
        for bracket in (of.bracket(), of.bracket(burst=True)):
            low, high = bracket.highest_passing_per_s, bracket.lowest_failing_per_s
            assert low is None or high is None or low < high
