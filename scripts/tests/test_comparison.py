"""Tests of comparisons: ratios, intervals and ranks are the reference's, and a word is said only where all agree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from writepath.analysis.comparison import (
    LEAST,
    Better,
    Judged,
    detectable,
    holm,
    in_turns,
    judge,
    middle,
    paired,
    percent,
    signed_rank_p,
)

BASE = [10.0, 12.0, 9.0, 11.0, 10.5, 13.0, 9.5]
MINE = [11.9, 13.1, 9.6, 12.7, 11.1, 15.2, 10.9]
INF = math.inf
BOTH: tuple[Better, Better] = ("lower", "higher")
WOBBLE = np.array([0.004, -0.003, 0.001, -0.002, 0.003, -0.004, 0.002, -0.001, 0.005, -0.005])
MAYBE = st.one_of(st.floats(min_value=1e-3, max_value=1e6), st.just(INF), st.none())


def said(
    log_ratio: float,
    *,
    pairs: int = 6,
    scale: float = 1.0,
    better: Better = "lower",
    noise: float | None = None,
    family: int = 1,
) -> Judged:
    """The word of one comparison, read beside others that say nothing."""
    estimate = paired(list(np.exp(log_ratio + WOBBLE[:pairs] * scale)), [1.0] * pairs, better)
    nothing = paired([1.0, 1.1, 0.9, 1.05, 0.95, 1.0], [1.0] * 6, "lower")
    others = [nothing] * (family - 1)
    a_a = None if noise is None else paired([math.exp(noise)] * 6, [1.0] * 6, better)
    return judge([estimate, *others], better, a_a)[0]


def word_of(values: list[float | None], others: list[float | None]) -> tuple[str, str]:
    (found,) = judge([paired(values, others, "lower")], "lower")
    return found.word, found.because


def test_values_are_those_of_scipy() -> None:
    a, b = np.log(MINE), np.log(BASE)
    found, reference = paired(MINE, BASE, "lower"), stats.ttest_rel(a, b)
    interval = reference.confidence_interval(0.95)
    assert (found.p, found.rank_p) == pytest.approx(
        (reference.pvalue, stats.wilcoxon(a, b, method="exact").pvalue)
    )
    assert (found.low, found.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert found.ratio == pytest.approx(stats.gmean(MINE) / stats.gmean(BASE))
    assert found.spread == pytest.approx(np.std(a - b, ddof=1))
    assert (found.pairs, found.compared) == (7, 7)


def test_tied_ranks_are_enumerated() -> None:
    assert signed_rank_p(np.ones(6)) == 2 / 2**6
    assert signed_rank_p(np.zeros(9)) == 1.0
    assert signed_rank_p(np.array([0.0, 2.0, 2.0, -2.0])) == 1.0


@pytest.mark.parametrize(("pairs", "possible"), [(1, False), (5, False), (6, True)])
def test_five_pairs_can_never_be_significant_by_rank_and_six_can(pairs: int, *, possible: bool) -> None:
    assert (signed_rank_p(np.arange(1.0, pairs + 1)) < 0.05) is possible


def test_pairs_without_a_spread_have_no_width() -> None:
    one = paired([12.0], [10.0], "lower")
    assert (one.low, one.high, one.p, one.rank_p) == (None, None, 1.0, 1.0)
    same = paired([200.0] * 6, [200.0] * 6, "higher")
    assert (same.ratio, same.low, same.high, same.p, same.rank_p, same.spread) == (1, 1, 1, 1, 1, 0)
    sure = paired([12.0] * 6, [10.0] * 6, "lower")
    assert (sure.low, sure.high, sure.p, sure.rank_p) == pytest.approx((1.2, 1.2, 0.0, 2 / 64))


def test_infinite_and_absent_values_have_a_side_and_no_ratio() -> None:
    found = paired([INF, 11.0, INF, 12.0], [10.0, 10.0, INF, INF], "lower")
    assert (found.worse, found.better, found.pairs, found.compared, found.ratio) == (1, 1, 1, 4, None)
    whole = paired([INF] * 6, BASE[:6], "lower")
    assert (whole.ratio, whole.worse, whole.pairs, whole.rank_p) == (INF, 6, 0, 2 / 64)
    none_served = paired([0.0] * 6, [100.0] * 6, "higher")
    assert (none_served.ratio, none_served.worse, none_served.better) == (0, 6, 0)
    absent = paired([None, -0.2, 0.0, 11.0], [10.0, 10.0, 10.0, 10.0], "lower")
    assert (absent.pairs, absent.compared) == (1, 1)
    nothing = paired([None, None], [None, None], "lower")
    assert (nothing.ratio, nothing.low, nothing.pairs, nothing.p) == (None, None, 0, 1.0)


def test_the_middle_of_two_runs_is_geometric_and_of_one_is_that_one() -> None:
    assert middle([4.0, None, 4.0, None, INF], [9.0, 9.0, None, None, 1.0]) == [6.0, 9.0, 4.0, None, INF]
    assert middle([-1.0, 0.0], [4.0, 4.0]) == [None, 0.0]


@given(st.lists(st.tuples(MAYBE, MAYBE), max_size=9), st.sampled_from(["lower", "higher"]))
@settings(max_examples=150, deadline=None)
def test_swapping_the_sides_inverts_the_ratio(
    pairs: list[tuple[float | None, float | None]], better: Better
) -> None:
    if better == "higher":  # nothing is infinitely often served; nothing may be
        pairs = [(0.0 if a == INF else a, 0.0 if b == INF else b) for a, b in pairs]
    mine, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = paired(mine, theirs, better), paired(theirs, mine, better)
    assert (there.worse, there.better) == (back.better, back.worse)
    assert (there.p, there.rank_p) == pytest.approx((back.p, back.rank_p))
    for one, other in ((there.ratio, back.ratio), (there.low, back.high), (there.high, back.low)):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            logs = [math.log(value) if value else -INF for value in (one, other)]
            assert logs[0] == pytest.approx(-logs[1], abs=1e-9)


def test_the_direction_is_the_metrics() -> None:
    lower, higher = ([said(log_ratio, better=better).word for log_ratio in (0.1, -0.1)] for better in BOTH)
    assert (lower, higher) == (["slower", "faster"], ["faster", "slower"])


def test_a_difference_exceeds_three_per_cent_and_that_of_the_a_a_pair() -> None:
    small = said(0.028, scale=0.01)
    assert (small.word, small.estimate.p < 1e-6) == ("same", True)
    assert said(0.1, noise=0.05).word == "slower"
    found = said(0.1, noise=0.12)
    assert (found.word, found.because) == ("unresolved", "not above the difference of the A/A control, 13 %")
    assert said(0.1, noise=INF).word == "unresolved"


def test_same_needs_the_whole_interval_within_five_per_cent() -> None:
    assert said(0.02).word == "same"
    wide = said(0.0, scale=30.0)
    assert (wide.word, wide.because) == ("unresolved", "the interval includes 1")


def test_the_correction_takes_a_word_away_and_says_so() -> None:
    alone, among = said(0.1, scale=20.0), said(0.1, scale=20.0, family=5)
    assert (alone.word, among.word) == ("slower", "unresolved")
    assert among.because.startswith("not significant after Holm's correction for 5 tests (p 0.0")


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # S. Holm's example
        ([1.0, 1.0], [1.0, 1.0]),
        ([0.9, 0.001, 0.9, 0.012, 0.013], [1.0, 0.005, 1.0, 0.048, 0.048]),
        ([], []),
    ],
)
def test_holm_is_the_textbooks_in_the_given_order(p: list[float], adjusted: list[float]) -> None:
    assert holm(p) == pytest.approx(adjusted)


@pytest.mark.parametrize(
    ("values", "others", "word", "because"),
    [
        ([INF] * 3, [1.0] * 3, "slower", "infinite here in 3 of 3 pairs"),
        ([1.0] * 3, [INF] * 3, "faster", "infinite in the baseline in 3 of 3 pairs"),
        ([INF] * 3, [INF] * 3, "unresolved", "infinite in both variants"),
        ([INF, 1.0], [1.0, INF], "unresolved", "infinite here in 1 pairs, in the baseline in 1"),
        ([INF, *[1.0] * 6], [1.0] * 7, "unresolved", "infinite here in only 1 of 7 pairs"),
        ([INF, *[1.1, 1.2, 1.3, 1.4, 1.5, 1.6]], [1.0] * 7, "slower", "infinite here in 1 of 7 pairs"),
        ([None] * 6, [1.0] * 6, "unresolved", "no value to compare"),
        ([1.2], [1.0], "unresolved", "a single run does not show how much runs vary"),
        ([1.0] * 6, [1.0] * 6, "same", "the whole interval is within ±5 %"),
    ],
)
def test_hard_cases(values: list[float | None], others: list[float | None], word: str, because: str) -> None:
    assert word_of(values, others) == (word, because)


@pytest.mark.parametrize(
    ("logs", "because"),
    [
        ([0.5 + one for one in WOBBLE[:5]], "5 blocks are too few for the rank test (6 needed)"),
        (
            [0.2, 0.21, 0.19, 0.2, 0.22, 0.18, 0.2, 4.0],
            "the ranks show a difference (p 0.0078), the interval does not (p 0.2)",
        ),
        (
            [0.3, 0.31, 0.29, 0.3, 0.32, -0.01],
            "the interval shows a difference, the rank test does not (p 0.062)",
        ),
        (
            [0.28, 0.26, 0.02, 0.15, 0.09, 0.01],
            "the interval only just excludes 1 (p 0.036, required 0.03)",
        ),
    ],
)
def test_where_interval_and_ranks_do_not_both_say_so_it_is_not_resolved(
    logs: list[float], because: str
) -> None:
    assert word_of(list(np.exp(logs)), [1.0] * len(logs)) == ("unresolved", because)


def test_what_could_be_told_stands_beside_the_word() -> None:
    estimate = paired(list(np.exp(WOBBLE[:6] * 20)), [1.0] * 6, "lower")
    (by_itself,) = judge([estimate], "lower")
    assert by_itself.resolution_percent == pytest.approx(10, abs=2)
    a_a = paired(list(np.exp(0.3 + WOBBLE[:6])), [1.0] * 6, "lower")
    (by_a_a,) = judge([estimate], "lower", a_a)
    assert by_a_a.resolution_percent == pytest.approx(math.expm1(np.mean(0.3 + WOBBLE[:6])) * 100)
    (unknown,) = judge([paired([1.0], [1.0], "lower")], "lower")
    assert unknown.resolution_percent is None


@pytest.mark.parametrize("pairs", [2, 3, 6, 10, 20])
def test_eighty_of_a_hundred_suites_detect_what_is_detectable(pairs: int) -> None:
    difference = detectable(0.08, pairs)
    assert difference is not None
    d = np.random.default_rng(1).normal(difference, 0.08, size=(20_000, pairs))
    seen = float((stats.ttest_1samp(d, 0.0, axis=1).pvalue < 0.03).mean())
    assert seen == pytest.approx(0.8, abs=0.012)


def test_more_blocks_detect_less_and_never_less_than_three_per_cent() -> None:
    seen = [detectable(0.1, pairs) or 0.0 for pairs in (2, 3, 6, 10, 30)]
    assert seen == sorted(seen, reverse=True)
    assert detectable(0.0001, 30) == detectable(0.0, 6) == LEAST
    assert detectable(0.1, 1) is None
    assert (percent(math.log(1.1)), percent(math.inf)) == pytest.approx((10, math.inf))


def test_of_steps_in_turns_one_that_the_host_disturbed_does_not_decide() -> None:
    others = [1.0] * 16
    quiet = [1.1 + 0.01 * (number % 5 - 2) for number in range(16)]
    disturbed = [*quiet[:-1], 5.0]
    by_means, by_ranks = (found(disturbed, others, "lower") for found in (paired, in_turns))
    assert by_means.ratio is not None
    assert by_means.low is not None
    assert by_means.ratio > 1.19
    assert by_means.low < 1
    assert by_ranks.ratio == pytest.approx(1.1, abs=0.01)
    assert by_ranks.low == pytest.approx(1.09, abs=0.01)
    assert by_ranks.high == pytest.approx(1.115, abs=0.01)
    assert by_ranks.p < 0.001
    few = in_turns(disturbed[:5], others[:5], "lower")
    assert few == paired(disturbed[:5], others[:5], "lower")


@settings(max_examples=20)
@given(st.lists(st.integers(min_value=50, max_value=200), min_size=6, max_size=10, unique=True))
def test_the_interval_by_ranks_has_the_ratios_that_the_rank_test_does_not_reject(percents: list[int]) -> None:
    values = [one / 100 for one in percents]
    found = in_turns(values, [1.0] * len(values), "lower")
    assert found.low is not None
    assert found.high is not None
    for edge, outward in ((found.low, -1e-9), (found.high, 1e-9)):
        outside, inside = (
            signed_rank_p(np.log(np.array(values) / (edge * (1 + step)))) for step in (outward, -outward)
        )
        assert outside <= 0.05 < inside
