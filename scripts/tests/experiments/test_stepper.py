"""The order of load steps: a run ends within its budget, at the true capacity, however noisy its steps are."""

import math
import random
from dataclasses import dataclass, field
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from writepath.analysis import stats
from writepath.config.registry import Phase
from writepath.experiments.capacity.stepper import (
    MOST_REPEATS,
    MOST_STEPS,
    RAMP_SECONDS,
    Step,
    Stepper,
    seconds_at,
)
from writepath.load.plan import arrival_plan
from writepath.records.steps import RESOLUTION, LoadStep

RUNS = 300
LOWEST, HIGHEST = 200.0, 6000.0


@dataclass(frozen=True, kw_only=True)
class Made:
    """What the stepper reads of a load step."""

    verdict: str
    burst: bool
    generator_bound: bool = False


def tell(stepper: Stepper, verdict: str, *, burst: bool | None = None, bound: bool = False) -> None:
    made = Made(verdict=verdict, burst=verdict == "pass" if burst is None else burst, generator_bound=bound)
    stepper.told(cast("LoadStep", made))


@dataclass(kw_only=True)
class Path:
    """A simulated path; `width` is how far below its capacity it passes nine times of ten."""

    random: random.Random
    capacity_per_s: float
    width: float
    warm_share: float = 1.0  # of its capacity that it has in the first ramp step
    odd_fails: float = 0.0
    noise: float = 0.0
    generator_per_s: float = math.inf  # beyond it the generator fails
    burst_per_s: float | None = None
    steps: list[Step] = field(default_factory=list)
    counted: int = 0

    def passes(self, rate_per_s: float, capacity_per_s: float) -> bool:
        above = math.log(rate_per_s / capacity_per_s) / math.log1p(self.width)
        return self.random.random() < 1 / (1 + 9 ** min(above, 100.0))

    def run(self, *, queue: bool = False) -> Stepper:
        stepper = Stepper(lowest_per_s=LOWEST, highest_per_s=HIGHEST, step_seconds=60.0, queue=queue)
        while (step := stepper.next()) is not None:
            self.take(stepper, step)
        assert self.counted <= MOST_STEPS
        return stepper

    def take(self, stepper: Stepper, step: Step) -> None:
        noisy = self.random.random() < self.noise
        warmth = min(1.0, len(self.steps) / 6)
        warm = self.warm_share + (1 - self.warm_share) * warmth if step.kind == "ramp" else 1.0
        bound = step.rate_per_s > self.generator_per_s
        good = not (bound or self.random.random() < self.odd_fails)
        stored = good and self.passes(step.rate_per_s, self.capacity_per_s * warm)
        answered = stored or (
            good and self.burst_per_s is not None and self.passes(step.rate_per_s, self.burst_per_s)
        )
        self.steps.append(step)
        self.counted += step.kind != "ramp" and not noisy
        verdict = "noise" if noisy else "pass" if stored else "fail"
        tell(stepper, verdict, burst=answered, bound=bound and not noisy)


def simulated(seed: int, **changed: float) -> Path:
    chance = random.Random(seed)  # noqa: S311 - a simulation
    drawn = {
        "capacity_per_s": math.exp(chance.uniform(math.log(260), math.log(4500))),
        "width": chance.uniform(0.03, 0.05),
        "warm_share": chance.uniform(0.6, 1.05),
    }
    return Path(random=chance, **drawn | changed)  # type: ignore[arg-type]


def error(rate_per_s: float | None, truth_per_s: float) -> float:
    return math.inf if rate_per_s is None else abs(math.log(rate_per_s / truth_per_s))


def test_nearly_every_run_of_a_noisy_path_finds_its_capacity_in_eight_steps_as_a_rule() -> None:
    paths = [simulated(seed, odd_fails=0.01, noise=0.03) for seed in range(RUNS)]
    right = 0
    for path in paths:
        found = path.run().sustained()
        near = error(found.highest_passing_per_s, path.capacity_per_s) <= math.log(RESOLUTION) + math.log1p(
            path.width
        )
        right += found.conclusive and near
    assert right >= 0.98 * RUNS
    assert sorted(path.counted for path in paths)[RUNS // 2] <= 8


def test_where_the_generator_ends_first_the_bracket_is_a_lower_bound() -> None:
    for seed in range(RUNS):
        path = simulated(seed)
        path.generator_per_s = path.capacity_per_s * 0.8
        found = path.run().sustained()
        assert found.lower_bound
        assert found.highest_passing_per_s is not None
        assert found.highest_passing_per_s <= path.generator_per_s


@pytest.mark.parametrize(("width", "share"), [(0.01, 0.85), (0.05, 0.5)])
def test_the_burst_rate_of_a_queue_path_is_found_in_the_same_budget_or_left_open(
    width: float, share: float
) -> None:
    right = wrong = 0
    for seed in range(RUNS):
        path = simulated(seed, width=width)
        path.capacity_per_s = min(path.capacity_per_s, 3000.0)
        path.burst_per_s = path.capacity_per_s * path.random.uniform(1.2, 1.9)
        stepper = path.run(queue=True)
        burst = stepper.burst()
        assert stepper.sustained().steps <= burst.steps == path.counted
        assert (
            sum(not step.for_burst and step.kind != "ramp" for step in path.steps)
            >= stepper.sustained().steps
        )
        if burst.conclusive:
            near = error(burst.highest_passing_per_s, path.burst_per_s) <= math.log(RESOLUTION * (1 + width))
            right, wrong = right + near, wrong + (not near)
    assert right >= share * RUNS
    assert wrong <= 0.05 * RUNS


def test_steps_go_ramp_then_bisection_then_confirmation_at_the_highest_passing_rate() -> None:
    path = simulated(1, width=1e-6, warm_share=1.0)
    stepper = path.run(queue=True)
    assert stepper.burst() == stepper.sustained()  # its fails are no backlog
    kinds = [step.kind for step in path.steps]
    ramps = kinds.count("ramp")
    assert kinds[:ramps] == ["ramp"] * ramps
    rates = [step.rate_per_s for step in path.steps[:ramps]]
    assert rates[-1] == rates[-2]  # a step that fails is retried
    assert rates[:-1] == [pytest.approx(LOWEST * 1.5**number, rel=1e-3) for number in range(ramps - 1)]
    assert {step.seconds for step in path.steps[:ramps]} == {RAMP_SECONDS}
    last = path.steps[-1]
    assert (last.kind, last.rate_per_s) == ("confirmation", stepper.sustained().highest_passing_per_s)


def stepper(lowest: float = 100.0, highest: float = 1000.0, start: float | None = None) -> Stepper:
    return Stepper(
        lowest_per_s=lowest, highest_per_s=highest, step_seconds=60.0, queue=False, start_per_s=start
    )


def told(of: Stepper, verdicts: str) -> list[Step]:
    """p: pass, f: fail, n: noise."""
    steps = []
    for letter in verdicts:
        step = of.next()
        assert step is not None
        steps.append(step)
        tell(of, {"p": "pass", "f": "fail", "n": "noise"}[letter])
    return steps


@pytest.mark.parametrize(
    ("of", "verdicts", "rates"),
    [
        (stepper(), "pfpf", (100, 150, 150, 225)),  # a ramp step that passes when retried ends no ramp
        (stepper(), "pppffffff", (100, 150, 225, 337.5, 337.5, 269.4, 225, 202.5, 162)),  # widens downward
        (stepper(), "pffpppp", (100, 150, 150, 119.7, 150, 165, 206.2)),  # widens upward
        (stepper(highest=200.0), "ppppp", (100, 150, 200, 200, 200)),
        (
            stepper(highest=200.0),
            "ppppfp",
            (100, 150, 200, 200, 200, 190),
        ),  # a pass that is not confirmed fails
        (stepper(15.0, 100.0, 40.0), "ffffppf", (40, 40, 26.67, 26.67, 17.78, 21.29, 26.67)),
        (stepper(15.0, 100.0, 40.0), "ffffffffff", (40, 40, 26.67, 26.67, 17.78, 17.78, 15, 15, 15, 15)),
        (stepper(15.0, 100.0, 40.0), "fppff", (40, 40, 60, 90, 90)),  # begins low enough
        (stepper(2.0, 100.0, 500.0), "f", (100,)),
    ],
)
def test_which_rate_follows_which_outcome(of: Stepper, verdicts: str, rates: tuple[float, ...]) -> None:
    assert [step.rate_per_s for step in told(of, verdicts)] == [
        pytest.approx(rate, rel=1e-2) for rate in rates
    ]


@pytest.mark.parametrize(
    ("of", "verdicts", "low", "high", "conclusive"),
    [
        (stepper(), "ffff", None, 100.0, False),  # twice in the ramp, twice counted
        (stepper(highest=200.0), "ppppp", 200.0, None, True),
        (stepper(), "pffp" + "n" * (MOST_REPEATS + 1), 119.7, None, False),
    ],
)
def test_a_run_ends_at_its_limits_or_when_the_host_stays_noisy(
    of: Stepper, verdicts: str, low: float | None, high: float | None, conclusive: bool
) -> None:
    steps = told(of, verdicts)
    assert of.next() is None
    found = of.sustained()
    assert (found.highest_passing_per_s, found.lowest_failing_per_s) == (low, high)
    assert found.conclusive == conclusive
    if verdicts.endswith("n"):
        assert len(set(steps[-MOST_REPEATS - 1 :])) == 1
        assert of.ended == "noisy host 4 times in a row at 150/s"


def test_a_step_at_a_low_rate_lasts_as_long_as_a_p99_takes_and_a_ramp_step_does_not() -> None:
    steps = told(stepper(2.0, 100.0), "pffp")
    assert [step.seconds for step in steps] == [RAMP_SECONDS] * 3 + [math.ceil(1000 / steps[3].rate_per_s)]
    for rate in (2.0, 3.7, 8.0, 9.99, 16.67):
        phase = Phase(name="step", seconds=seconds_at(rate, 60.0), from_per_s=rate, to_per_s=rate)
        assert stats.carries(arrival_plan([phase]).planned, 0.99)
    assert seconds_at(200.0, 60.0) == 60.0


@settings(max_examples=200, deadline=None)
@given(
    lowest=st.floats(1.0, 1000.0),
    span=st.floats(1.0, 100.0),
    step_seconds=st.floats(1.0, 120.0),
    queue=st.booleans(),
    outcomes=st.lists(
        st.tuples(st.sampled_from(["pass", "fail", "noise"]), st.booleans(), st.booleans()), min_size=1
    ),
)
def test_whatever_steps_say_a_run_ends_in_its_budget_and_its_range(
    lowest: float, span: float, step_seconds: float, queue: bool, outcomes: list[tuple[str, bool, bool]]
) -> None:
    highest = lowest * span
    of = Stepper(lowest_per_s=lowest, highest_per_s=highest, step_seconds=step_seconds, queue=queue)
    counted = number = 0
    while (step := of.next()) is not None:
        assert lowest <= step.rate_per_s <= highest
        assert step.seconds <= seconds_at(step.rate_per_s, step_seconds)
        verdict, burst, bound = outcomes[number % len(outcomes)]
        number += 1
        counted += step.kind != "ramp" and verdict != "noise"
        failed = verdict == "fail"
        tell(of, verdict, burst=verdict == "pass" or (failed and burst), bound=failed and bound)
        for bracket in (of.sustained(), of.burst()):
            low, high = bracket.highest_passing_per_s, bracket.lowest_failing_per_s
            assert low is None or high is None or low < high
        assert counted <= MOST_STEPS
        assert number < 200
    assert of.burst().steps == counted
    stored, answered = of.sustained().highest_passing_per_s, of.burst().highest_passing_per_s
    assert stored is None or (answered is not None and answered >= stored)
