"""Does a search end within its budget, at the true capacity, whatever noise lies?"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capacity.planted import hold
from writepath.analysis import stats
from writepath.capacity.search import (
    MOST_HOLDS,
    MOST_REPEATS,
    RAMP_SECONDS,
    Searcher,
    Step,
    seconds_at,
)
from writepath.config.registry import Phase
from writepath.load.plan import arrival_plan
from writepath.records.capacity import RESOLUTION, answers

SEARCHES = 1000
LOWEST, HIGHEST = 200.0, 6000.0


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
    steps: list[tuple[Step, str]] = field(default_factory=list)
    counted: int = 0

    def passes(self, rate_per_s: float, capacity_per_s: float) -> bool:
        above = math.log(rate_per_s / capacity_per_s) / math.log1p(self.width)
        return self.random.random() < 1 / (1 + 9 ** min(above, 100.0))

    def search(self, *, queue: bool = False) -> Searcher:
        searcher = Searcher(lowest_per_s=LOWEST, highest_per_s=HIGHEST, hold_seconds=60.0, queue=queue)
        while (step := searcher.next()) is not None:
            self.made(searcher, step)
        return searcher

    def made(self, searcher: Searcher, step: Step) -> None:
        noisy = self.random.random() < self.noise
        warmth = min(1.0, len(self.steps) / 6)
        warm = self.warm_share + (1 - self.warm_share) * warmth if step.kind == "ramp" else 1.0
        bound = step.rate_per_s > self.generator_per_s
        odd = self.random.random() < self.odd_fails
        good = not (bound or odd)
        stored = good and self.passes(step.rate_per_s, self.capacity_per_s * warm)
        answered = stored or (
            good and self.burst_per_s is not None and self.passes(step.rate_per_s, self.burst_per_s)
        )
        verdict = "noise" if noisy else "pass" if stored else "fail"
        self.steps.append((step, verdict))
        self.counted += step.kind != "ramp" and not noisy
        searcher.told(step, hold(step, verdict, burst=answered, generator_bound=bound and not noisy))  # type: ignore[arg-type]


def simulated(seed: int, **changed: float) -> Path:
    chance = random.Random(seed)  # noqa: S311 - a simulation
    return Path(
        random=chance,
        capacity_per_s=math.exp(chance.uniform(math.log(260), math.log(4500))),
        width=chance.uniform(0.03, 0.05),
        warm_share=chance.uniform(0.6, 1.05),
        **changed,  # type: ignore[arg-type]
    )


def found(path: Path, searcher: Searcher) -> bool:
    """Whether last pass and first fail are 5 % apart, and the first within 5 % and the noise of the truth."""
    bracket = searcher.sustained()
    assert path.counted <= MOST_HOLDS
    if not answers(bracket) or bracket.last_pass_per_s is None:
        return False
    error = abs(math.log(bracket.last_pass_per_s / path.capacity_per_s))
    return error <= math.log(RESOLUTION) + math.log1p(path.width)


def test_nearly_every_search_of_a_noisy_path_finds_its_capacity() -> None:
    paths = [simulated(seed, odd_fails=0.01, noise=0.03) for seed in range(SEARCHES)]
    right = sum(found(path, path.search()) for path in paths)
    assert right >= 0.98 * SEARCHES
    assert sorted(path.counted for path in paths)[SEARCHES // 2] <= 8


def test_a_path_with_a_sharp_limit_takes_seven_holds_as_a_rule() -> None:
    paths = [simulated(seed) for seed in range(SEARCHES)]
    for path in paths:
        path.width, path.warm_share = 1e-6, 1.0
        bracket = path.search().sustained()
        assert bracket.last_pass_per_s is not None
        assert bracket.first_fail_per_s is not None
        assert bracket.last_pass_per_s <= path.capacity_per_s <= bracket.first_fail_per_s
        assert bracket.first_fail_per_s <= RESOLUTION * bracket.last_pass_per_s
    assert sum(path.counted <= 7 for path in paths) >= 0.95 * SEARCHES


def test_where_the_generator_ends_first_capacity_is_at_least_what_passed() -> None:
    for seed in range(SEARCHES):
        path = simulated(seed)
        path.generator_per_s = path.capacity_per_s * 0.8
        bracket = path.search().sustained()
        assert bracket.at_least
        assert bracket.last_pass_per_s is not None
        assert bracket.last_pass_per_s <= path.generator_per_s


@pytest.mark.parametrize(("width", "share"), [(0.01, 0.85), (0.05, 0.5)])
def test_burst_capacity_of_a_queue_path_is_found_in_the_same_budget_or_left_open(
    width: float, share: float
) -> None:
    right = wrong = 0
    for seed in range(SEARCHES):
        path = simulated(seed)
        path.capacity_per_s, path.width = min(path.capacity_per_s, 3000.0), width
        path.burst_per_s = path.capacity_per_s * path.random.uniform(1.2, 1.9)
        searcher = path.search(queue=True)
        assert path.counted <= MOST_HOLDS
        burst = searcher.burst()
        assert searcher.sustained().holds <= burst.holds == path.counted
        if answers(burst) and burst.last_pass_per_s is not None:
            near = abs(math.log(burst.last_pass_per_s / path.burst_per_s)) <= math.log(
                RESOLUTION * (1 + width)
            )
            right, wrong = right + near, wrong + (not near)
    assert right >= share * SEARCHES
    assert wrong <= 0.05 * SEARCHES


def test_a_queue_whose_fails_are_no_backlog_is_not_searched_for_burst() -> None:
    path = simulated(1)
    path.width = 1e-6
    searcher = path.search(queue=True)
    assert searcher.burst() == searcher.sustained()
    ramp = [step.kind == "ramp" for step, _ in path.steps]
    assert ramp == sorted(ramp, reverse=True)  # one ramp, at the start


def test_steps_go_ramp_then_search_then_confirm_at_the_last_pass() -> None:
    path = simulated(1)
    path.width, path.warm_share = 1e-6, 1.0
    bracket = path.search().sustained()
    kinds = [step.kind for step, _ in path.steps]
    ramps = kinds.count("ramp")
    assert kinds[:ramps] == ["ramp"] * ramps
    rates = [step.rate_per_s for step, _ in path.steps[:ramps]]
    assert rates[-1] == rates[-2]  # a step that fails is made once more
    assert rates[:-1] == [pytest.approx(LOWEST * 1.5**number, rel=1e-3) for number in range(ramps - 1)]
    assert {step.seconds for step, _ in path.steps[:ramps]} == {RAMP_SECONDS}
    last = path.steps[-1][0]
    assert (last.kind, last.rate_per_s, last.seconds) == ("confirm", bracket.last_pass_per_s, 60.0)
    assert bracket.holds == len(kinds) - ramps


def told(searcher: Searcher, *verdicts: str) -> list[Step]:
    steps = []
    for verdict in verdicts:
        step = searcher.next()
        assert step is not None
        steps.append(step)
        searcher.told(step, hold(step, verdict))  # type: ignore[arg-type]
    return steps


def test_a_pass_that_is_not_confirmed_is_the_first_fail() -> None:
    searcher = Searcher(lowest_per_s=100.0, highest_per_s=1000.0, hold_seconds=60.0, queue=False)
    told(searcher, "pass", "fail", "fail")  # 100, 150
    while (step := searcher.next()) is not None and step.kind != "confirm":
        told(searcher, "pass" if step.rate_per_s <= 130 else "fail")
    assert step is not None
    told(searcher, "fail")
    assert searcher.sustained().first_fail_per_s == step.rate_per_s
    after = searcher.next()
    assert after is not None
    assert after.rate_per_s <= step.rate_per_s


def test_when_no_hold_passes_the_search_widens_downward_and_upward_when_none_fails() -> None:
    down = Searcher(lowest_per_s=100.0, highest_per_s=1000.0, hold_seconds=60.0, queue=False)
    ramp = told(down, "pass", "pass", "pass", "fail", "fail")  # bracket 225 to 337.5
    assert [step.kind for step in ramp] == ["ramp"] * 5
    fails = told(down, *["fail"] * 4)
    assert fails[1].rate_per_s == pytest.approx(225)
    assert fails[2].rate_per_s == pytest.approx(225 * 0.9, rel=1e-3)
    assert fails[3].rate_per_s == pytest.approx(225 * 0.9 * 0.8, rel=1e-3)
    up = Searcher(lowest_per_s=100.0, highest_per_s=1000.0, hold_seconds=60.0, queue=False)
    passes = told(up, "pass", "fail", "fail", *["pass"] * 4)  # bracket 100 to 150
    assert [step.rate_per_s for step in passes[4:]] == [150.0, 165.0, pytest.approx(165 * 1.25, rel=1e-3)]


def test_the_lowest_rate_failing_is_said_and_no_answer() -> None:
    searcher = Searcher(lowest_per_s=100.0, highest_per_s=1000.0, hold_seconds=60.0, queue=False)
    told(searcher, *["fail"] * 4)  # twice in the ramp, twice held
    assert searcher.next() is None
    assert not answers(searcher.sustained())
    assert searcher.ended is not None
    assert "below 100/s" in searcher.ended


def test_the_highest_rate_passing_is_at_least() -> None:
    searcher = Searcher(lowest_per_s=100.0, highest_per_s=200.0, hold_seconds=60.0, queue=False)
    steps = told(searcher, "pass", "pass", "pass", "pass", "pass")
    assert searcher.next() is None
    assert [step.rate_per_s for step in steps] == [100.0, 150.0, 200.0, 200.0, 200.0]
    bracket = searcher.sustained()
    assert (bracket.last_pass_per_s, bracket.first_fail_per_s, bracket.at_least) == (200.0, None, True)
    assert answers(bracket)


def test_a_ramp_step_that_passes_when_made_again_ends_no_ramp() -> None:
    searcher = Searcher(lowest_per_s=100.0, highest_per_s=1000.0, hold_seconds=60.0, queue=False)
    steps = told(searcher, "pass", "fail", "pass", "fail")
    assert [step.rate_per_s for step in steps] == [100.0, 150.0, 150.0, 225.0]


def test_noise_repeats_a_step_three_times_then_ends_the_search_in_words() -> None:
    searcher = Searcher(lowest_per_s=100.0, highest_per_s=1000.0, hold_seconds=60.0, queue=False)
    told(searcher, "pass", "fail", "fail", "pass")
    steps = told(searcher, *["noise"] * (MOST_REPEATS + 1))
    assert len(set(steps)) == 1
    assert searcher.next() is None
    assert searcher.ended is not None
    assert "noisy host 4 times in a row" in searcher.ended
    assert "inconclusive: no failing rate" in searcher.ended
    assert searcher.sustained().holds == 1


def test_a_step_that_was_not_asked_for_is_an_error() -> None:
    searcher = Searcher(lowest_per_s=100.0, highest_per_s=1000.0, hold_seconds=60.0, queue=False)
    with pytest.raises(ValueError, match="unexpected step"):
        searcher.told(Step(kind="search", rate_per_s=7.0, seconds=60.0), hold())


def test_a_hold_at_a_low_rate_lasts_as_long_as_a_p99_takes_and_a_ramps_step_does_not() -> None:
    searcher = Searcher(lowest_per_s=2.0, highest_per_s=100.0, hold_seconds=60.0, queue=False)
    steps = told(searcher, "pass", "fail", "fail", "pass")
    assert [step.seconds for step in steps] == [RAMP_SECONDS] * 3 + [math.ceil(1000 / steps[3].rate_per_s)]
    for rate in (2.0, 3.7, 8.0, 9.99, 16.67):
        phase = Phase(name="hold", seconds=seconds_at(rate, 60.0), from_per_s=rate, to_per_s=rate)
        assert stats.carries(arrival_plan([phase]).planned, 0.99)
    assert seconds_at(200.0, 60.0) == 60.0


def begins_at_40() -> Searcher:
    return Searcher(lowest_per_s=15.0, highest_per_s=100.0, hold_seconds=60.0, queue=False, start_per_s=40.0)


def test_a_ramp_that_begins_too_high_goes_down_and_holds_lie_below_what_failed() -> None:
    steps = told(begins_at_40(), *["fail"] * 4, "pass", "pass", "fail")
    assert [step.rate_per_s for step in steps[:5]] == [40.0, 40.0, 26.67, 26.67, 17.78]
    assert [step.kind for step in steps] == ["ramp"] * 5 + ["search"] * 2
    assert 17.78 < steps[5].rate_per_s < steps[6].rate_per_s == 26.67


def test_a_ramp_that_goes_down_to_the_lowest_rate_ends_there() -> None:
    steps = told(begins_at_40(), *["fail"] * 10)
    assert [step.rate_per_s for step in steps[6:8]] == [15.0, 15.0]
    assert [(step.kind, step.rate_per_s) for step in steps[8:]] == [("search", 15.0)] * 2


def test_a_ramp_that_begins_low_enough_goes_up_as_ever() -> None:
    steps = told(begins_at_40(), "fail", "pass", "pass", "fail", "fail", "pass")
    assert [step.rate_per_s for step in steps[:5]] == [40.0, 40.0, 60.0, 90.0, 90.0]
    assert 60.0 < steps[5].rate_per_s < 90.0


def test_a_ramp_begins_no_higher_than_the_highest_rate() -> None:
    beyond = Searcher(
        lowest_per_s=2.0, highest_per_s=100.0, hold_seconds=60.0, queue=False, start_per_s=500.0
    ).next()
    assert beyond is not None
    assert beyond.rate_per_s == 100.0


@settings(max_examples=300, deadline=None)
@given(
    lowest=st.floats(1.0, 1000.0),
    span=st.floats(1.0, 100.0),
    hold_seconds=st.floats(1.0, 120.0),
    queue=st.booleans(),
    outcomes=st.lists(
        st.tuples(st.sampled_from(["pass", "fail", "noise"]), st.booleans(), st.booleans()), min_size=1
    ),
)
def test_whatever_holds_say_a_search_ends_in_its_budget_and_its_range(
    lowest: float, span: float, hold_seconds: float, queue: bool, outcomes: list[tuple[str, bool, bool]]
) -> None:
    highest = lowest * span
    searcher = Searcher(lowest_per_s=lowest, highest_per_s=highest, hold_seconds=hold_seconds, queue=queue)
    counted = number = 0
    while (step := searcher.next()) is not None:
        assert lowest <= step.rate_per_s <= highest
        assert step.seconds <= seconds_at(step.rate_per_s, hold_seconds)
        verdict, burst, bound = outcomes[number % len(outcomes)]
        number += 1
        counted += step.kind != "ramp" and verdict != "noise"
        searcher.told(
            step,
            hold(
                step,
                verdict,  # type: ignore[arg-type]
                burst=verdict == "pass" or (verdict == "fail" and burst),
                generator_bound=verdict == "fail" and bound,
            ),
        )
        for bracket in (searcher.sustained(), searcher.burst()):
            low, high = bracket.last_pass_per_s, bracket.first_fail_per_s
            assert low is None or high is None or low < high
        assert counted <= MOST_HOLDS
        assert number < 200
    assert searcher.ended
    assert searcher.burst().holds == counted
    stored, answered = searcher.sustained().last_pass_per_s, searcher.burst().last_pass_per_s
    assert stored is None or (answered is not None and answered >= stored)
