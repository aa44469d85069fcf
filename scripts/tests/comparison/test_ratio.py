"""Are ratios, intervals and ranks those of the reference, and are the hard cases said as they are?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from writepath.analysis.comparison import Better, apart, middle, paired, unpaired
from writepath.analysis.comparison.ratio import ranks_can_tell, signed_rank_p

BASE = [10.0, 12.0, 9.0, 11.0, 10.5, 13.0, 9.5]
MINE = [11.9, 13.1, 9.6, 12.7, 11.1, 15.2, 10.9]
INF = math.inf


def test_a_planted_ratio_is_found_whatever_the_blocks_do() -> None:
    factors = np.exp(np.array([0.19, 0.21, 0.2, 0.2, 0.18, 0.22]))
    blocks = np.array([1.0, 50.0, 3.0, 700.0, 0.1, 20.0])
    found = paired(list(blocks * factors), list(blocks), "lower")
    assert found.ratio == pytest.approx(math.exp(0.2))
    assert found.low == pytest.approx(math.exp(0.2 - 2.5705818 * found.spread / math.sqrt(6)))  # type: ignore[operator]
    assert found.spread == pytest.approx(np.std([0.19, 0.21, 0.2, 0.2, 0.18, 0.22], ddof=1))
    assert (found.pairs, found.compared, found.asked) == (6, 6, 6)


def test_paired_values_are_those_of_scipy() -> None:
    found = paired(MINE, BASE, "lower")
    logs = np.log(MINE), np.log(BASE)
    reference = stats.ttest_rel(*logs)
    interval = reference.confidence_interval(0.95)
    assert found.p == pytest.approx(reference.pvalue)
    assert (found.low, found.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert found.rank_p == pytest.approx(stats.wilcoxon(*logs, method="exact").pvalue)


def test_unpaired_values_are_those_of_scipy() -> None:
    found = unpaired(MINE, BASE[:5], "lower")
    logs = np.log(MINE), np.log(BASE[:5])
    reference = stats.ttest_ind(*logs, equal_var=False)
    interval = reference.confidence_interval(0.95)
    assert found.p == pytest.approx(reference.pvalue)
    assert (found.low, found.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert found.rank_p == pytest.approx(stats.mannwhitneyu(*logs, method="exact").pvalue)
    assert found.ratio == pytest.approx(stats.gmean(MINE) / stats.gmean(BASE[:5]))


def test_tied_ranks_are_enumerated() -> None:
    d = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert signed_rank_p(d) == 2 / 2**6
    assert signed_rank_p(np.zeros(9)) == 1.0
    assert signed_rank_p(np.array([0.0, 2.0, 2.0, -2.0])) == 1.0


@pytest.mark.parametrize(("pairs", "possible"), [(1, False), (5, False), (6, True)])
def test_five_pairs_can_never_be_significant_by_rank_and_six_can(pairs: int, *, possible: bool) -> None:
    assert ranks_can_tell(pairs) is possible
    best = signed_rank_p(np.arange(1.0, pairs + 1))
    assert (best < 0.05) is possible
    assert paired(MINE[:pairs], BASE[:pairs], "lower").enough_for_ranks is possible


def test_one_block_has_a_ratio_and_no_interval() -> None:
    found = paired([12.0], [10.0], "lower")
    assert found.ratio == pytest.approx(1.2)
    assert (found.low, found.high, found.p, found.rank_p) == (None, None, 1.0, 1.0)


def test_all_equal_is_a_ratio_of_one_without_a_width() -> None:
    found = paired([200.0] * 6, [200.0] * 6, "higher")
    assert (found.ratio, found.low, found.high, found.p, found.rank_p, found.spread) == (1, 1, 1, 1, 1, 0)


def test_one_factor_in_every_pair_has_no_width_and_no_doubt() -> None:
    found = paired([12.0] * 6, [10.0] * 6, "lower")
    assert (found.low, found.high) == pytest.approx((1.2, 1.2))
    assert (found.p, found.rank_p) == (0.0, 2 / 64)


def test_infinite_pairs_have_a_side_and_no_ratio() -> None:
    found = paired([INF, 11.0, INF, 12.0], [10.0, 10.0, INF, INF], "lower")
    assert (found.worse, found.better, found.pairs, found.compared, found.ratio) == (1, 1, 1, 4, None)


def test_a_side_that_is_infinite_throughout_is_infinitely_slower() -> None:
    found = paired([INF] * 6, BASE[:6], "lower")
    assert (found.ratio, found.worse, found.pairs, found.rank_p) == (INF, 6, 0, 2 / 64)
    assert paired(BASE[:6], [INF] * 6, "lower").ratio == 0


def test_no_success_at_all_is_a_throughput_of_zero() -> None:
    found = paired([0.0] * 6, [100.0] * 6, "higher")
    assert (found.ratio, found.worse, found.better) == (0, 6, 0)


def test_absent_values_and_moments_before_the_start_make_no_pair() -> None:
    found = paired([None, -0.2, 0.0, 11.0], [10.0, 10.0, 10.0, 10.0], "lower")
    assert (found.pairs, found.compared, found.asked) == (1, 1, 4)


@pytest.mark.parametrize("values", [[], [None, None]])
def test_nothing_to_compare_is_nothing(values: list[float | None]) -> None:
    for found in (paired(values, values, "lower"), unpaired(values, values, "lower")):
        assert (found.ratio, found.low, found.pairs, found.p) == (None, None, 0, 1.0)


def test_unserved_runs_of_unpaired_sides_are_counted_on_their_side() -> None:
    assert unpaired([INF] * 4, BASE[:4], "lower").ratio == INF
    assert unpaired([0.0] * 4, BASE[:4], "higher").ratio == 0
    some = unpaired([INF, 10.0, 11.0], BASE[:3], "lower")
    assert (some.worse, some.better, some.pairs) == (1, 0, 2)
    both = unpaired([INF] * 3, [INF] * 3, "lower")
    assert (both.ratio, both.rank_p) == (None, 1.0)


def test_three_and_three_runs_can_never_be_significant_by_rank_and_four_and_four_can() -> None:
    assert not unpaired([1, 2, 3], [4, 5, 6], "lower").enough_for_ranks
    assert unpaired([1, 2, 3, 4], [5, 6, 7, 8], "lower").enough_for_ranks


def test_an_a_a_pair_lies_apart_by_its_ratio_in_either_direction() -> None:
    pair = paired(MINE, BASE, "lower")
    assert pair.ratio is not None
    assert apart(pair) == pytest.approx(math.log(pair.ratio))
    assert apart(paired(BASE, MINE, "lower")) == pytest.approx(math.log(pair.ratio))
    assert apart(paired([INF, 1.0, 1.0], [1.0, 1.0, 1.0], "lower")) == INF
    assert apart(paired([None], [1.0], "lower")) is None
    assert apart(None) is None


def test_the_middle_of_two_runs_is_geometric_and_of_one_is_that_one() -> None:
    assert middle([4.0, None, 4.0, None, INF], [9.0, 9.0, None, None, 1.0]) == [6.0, 9.0, 4.0, None, INF]
    assert middle([-1.0, 0.0], [4.0, 4.0]) == [None, 0.0]


POSITIVE = st.floats(min_value=1e-3, max_value=1e6)
MAYBE = st.one_of(POSITIVE, st.just(INF), st.none())


@given(st.lists(st.tuples(MAYBE, MAYBE), max_size=9), st.sampled_from(["lower", "higher"]))
@settings(max_examples=150, deadline=None)
def test_swapping_the_sides_inverts_the_ratio(
    pairs: list[tuple[float | None, float | None]], better: Better
) -> None:
    if better == "higher":  # nothing is infinitely often served; nothing may be
        pairs = [(0.0 if a == INF else a, 0.0 if b == INF else b) for a, b in pairs]
    mine, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    for compare in (paired, unpaired):
        there, back = compare(mine, theirs, better), compare(theirs, mine, better)
        assert (there.worse, there.better) == (back.better, back.worse)
        assert there.p == pytest.approx(back.p)
        assert there.rank_p == pytest.approx(back.rank_p)
        for one, other in ((there.ratio, back.ratio), (there.low, back.high), (there.high, back.low)):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                assert _log(one) == pytest.approx(-_log(other), abs=1e-9)


def _log(value: float) -> float:
    return math.log(value) if value else -INF
