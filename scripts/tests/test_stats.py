"""Are the figures right? Against brute force, on random values and on the edges."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.analysis import stats

LATENCIES = st.lists(st.floats(min_value=0.001, max_value=1e5), max_size=400)
QUANTILES = st.sampled_from([0.5, 0.9, 0.95, 0.99])


def brute_force(served: list[float], planned: int, quantile: str) -> float | None:
    """Literally: sort all planned requests, the unserved at infinity, and take the ceil(q*N)-th."""
    exact = Fraction(quantile)
    if planned * (1 - exact) < 10:
        return None
    return sorted(served + [math.inf] * (planned - len(served)))[math.ceil(exact * planned) - 1]


@given(LATENCIES, st.integers(min_value=0, max_value=3000), QUANTILES)
def test_a_rank_is_that_of_all_planned_requests_with_ten_beyond_it(
    served: list[float], unserved: int, quantile: float
) -> None:
    planned = len(served) + unserved
    values = sorted(served) + [math.inf] * unserved
    found = values[stats.rank(planned, quantile) - 1] if stats.carries(planned, quantile) else None
    assert found == brute_force(served, planned, str(quantile))


@pytest.mark.parametrize(("quantile", "fewest"), [(0.5, 20), (0.95, 200), (0.99, 1000), (0.999, 10_000)])
def test_a_percentile_needs_ten_requests_beyond_it(quantile: float, fewest: int) -> None:
    assert (stats.carries(fewest - 1, quantile), stats.carries(fewest, quantile)) == (False, True)


def test_spread_is_the_median_and_the_range_of_the_runs() -> None:
    assert stats.spread([5.0, 1.0, 3.0]) == stats.Spread(median=3, low=1, high=5, repetitions=3)
    assert stats.spread([None, 4.0]) == stats.Spread(median=4, low=4, high=4, repetitions=1)
    assert stats.spread([None, None]) is None
    unserved = stats.spread([1.0, math.inf])
    assert unserved is not None
    assert unserved.median == math.inf


def test_mean_rate_divides_by_seconds() -> None:
    assert stats.mean_rate_per_s(500, 10_000_000) == 50
    assert stats.mean_rate_per_s(500, 0) is None


def test_a_counter_that_falls_began_again_from_zero() -> None:
    assert stats.accumulated([100.0, 110.0, 4.0, 9.0]).tolist() == [0, 10, 14, 19]
    assert stats.accumulated([]).tolist() == []
