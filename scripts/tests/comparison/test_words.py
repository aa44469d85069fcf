"""Is a word said only where interval, ranks and size agree, and is what stops it said too?"""

from __future__ import annotations

import gc
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from writepath.analysis.comparison import Better, Judged, Judgement, apart, judge, paired
from writepath.analysis.comparison.words import holm

if TYPE_CHECKING:
    from collections.abc import Iterator

WOBBLE = np.array([0.004, -0.003, 0.001, -0.002, 0.003, -0.004, 0.002, -0.001, 0.005, -0.005])
INF = math.inf


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
    values = np.exp(log_ratio + WOBBLE[:pairs] * scale)
    estimate = paired(list(values), [1.0] * pairs, better)
    nothing = paired([1.0, 1.1, 0.9, 1.05, 0.95, 1.0], [1.0] * 6, "lower")
    others = [Judgement(estimate=nothing, better="lower")] * (family - 1)
    return judge([Judgement(estimate=estimate, better=better, noise=noise), *others])[0]


@pytest.mark.parametrize(
    ("log_ratio", "better", "word"),
    [
        (0.1, "lower", "slower"),
        (-0.1, "lower", "faster"),
        (0.1, "higher", "faster"),
        (-0.1, "higher", "slower"),
    ],
)
def test_the_direction_is_the_metrics(log_ratio: float, better: Better, word: str) -> None:
    assert said(log_ratio, better=better).word == word


def test_less_than_three_per_cent_is_no_difference_however_sure() -> None:
    found = said(0.028, scale=0.01)
    assert found.adjusted_p < 1e-6
    assert found.word == "same"


def test_less_than_the_a_a_pair_reaches_is_not_resolved() -> None:
    assert said(0.1, noise=0.05).word == "slower"
    found = said(0.1, noise=0.12)
    assert (found.word, found.because) == ("unresolved", "not above the difference of the A/A control, 13 %")
    assert said(0.1, noise=INF).word == "unresolved"


def test_same_needs_the_whole_interval_within_five_per_cent() -> None:
    assert said(0.02).word == "same"
    assert said(0.0, scale=30.0).word == "unresolved"
    assert said(0.0, scale=30.0).because == "the interval includes 1"


def test_fewer_than_six_blocks_are_never_a_difference_and_it_says_why() -> None:
    found = said(0.5, pairs=5)
    assert found.word == "unresolved"
    assert found.because == "5 blocks are too few for the rank test (6 needed)"


def test_where_ranks_and_interval_disagree_it_is_unclear() -> None:
    one_far = np.array([0.2, 0.21, 0.19, 0.2, 0.22, 0.18, 0.2, 4.0])
    one_against = np.array([0.3, 0.31, 0.29, 0.3, 0.32, -0.01])
    for d, because in (
        (one_far, "the ranks show a difference (p 0.0078), the interval does not (p 0.2)"),
        (one_against, "the interval shows a difference, the rank test does not (p 0.062)"),
    ):
        estimate = paired(list(np.exp(d)), [1.0] * d.size, "lower")
        (found,) = judge([Judgement(estimate=estimate, better="lower")])
        assert (found.word, found.because) == ("unresolved", because)


def test_an_interval_that_only_just_leaves_out_one_is_no_word() -> None:
    d = np.array([0.28, 0.26, 0.02, 0.15, 0.09, 0.01])
    estimate = paired(list(np.exp(d)), [1.0] * d.size, "lower")
    assert estimate.low is not None
    assert (estimate.low > 1, estimate.rank_p < 0.05, 0.03 < estimate.p < 0.05) == (True, True, True)
    (found,) = judge([Judgement(estimate=estimate, better="lower")])
    assert found.word == "unresolved"
    assert found.because.startswith("the interval only just excludes 1")


def test_the_correction_takes_a_word_away_and_says_so() -> None:
    alone, among = said(0.1, scale=20.0), said(0.1, scale=20.0, family=5)
    assert alone.word == "slower"
    assert among.word == "unresolved"
    assert among.because.startswith("not significant after Holm's correction for 5 tests (p 0.0")


@pytest.mark.parametrize(
    "p", [[0.01, 0.04, 0.03, 0.005], [1.0, 1.0], [0.02], [0.9, 0.001, 0.9, 0.012, 0.013]]
)
def test_holm_is_the_textbooks_in_the_given_order(p: list[float]) -> None:
    order = np.argsort(p)
    textbook = np.empty(len(p))
    textbook[order] = np.minimum(1, np.maximum.accumulate(np.sort(p) * np.arange(len(p), 0, -1)))
    assert holm(p) == pytest.approx(textbook)
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_holm_of_nothing_is_nothing() -> None:
    assert judge([]) == ()


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
    (found,) = judge([Judgement(estimate=paired(values, others, "lower"), better="lower")])
    assert (found.word, found.because) == (word, because)


def test_what_could_be_told_stands_beside_the_word() -> None:
    wide = np.exp(WOBBLE[:6] * 20)
    estimate = paired(list(wide), [1.0] * 6, "lower")
    (by_itself,) = judge([Judgement(estimate=estimate, better="lower")])
    assert by_itself.resolution_percent is not None
    assert 8 < by_itself.resolution_percent < 12
    (by_a_a,) = judge([Judgement(estimate=estimate, better="lower", noise=0.3, noise_spread=0.01)])
    assert by_a_a.resolution_percent == pytest.approx(math.expm1(0.3) * 100)
    (unknown,) = judge([Judgement(estimate=paired([1.0], [1.0], "lower"), better="lower")])
    assert unknown.resolution_percent is None


@pytest.fixture
def _few_to_collect() -> Iterator[None]:
    """Statsmodels collects garbage in each call; what is there already need not be looked through each time."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("_few_to_collect")
def test_two_of_the_same_are_called_different_in_less_than_five_suites_of_a_hundred() -> None:
    rng = np.random.default_rng(20261122)
    suites, different = 400, 0
    for _ in range(suites):
        base, twin, other = np.exp(rng.normal(0, 0.1, size=(3, 10)))
        a_a = paired(list(twin), list(base), "lower")
        estimate = paired(list(other), list(base), "lower")
        (found,) = judge([Judgement(estimate=estimate, better="lower", noise=apart(a_a))])
        different += found.word in ("faster", "slower")
    assert different < suites * 0.05
