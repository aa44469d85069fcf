"""Are the figures right? Against brute force, on random values and on the edges."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
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
def test_percentile_is_the_ranked_value_over_all_planned_requests(
    served: list[float], unserved: int, quantile: float
) -> None:
    planned = len(served) + unserved
    assert stats.percentile(served, planned, quantile) == brute_force(served, planned, str(quantile))


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=20, max_size=2000))
def test_percentiles_without_unserved_are_numpys_inverted_cdf(served: list[float]) -> None:
    assert stats.percentile(served, len(served), 0.5) == np.percentile(served, 50, method="inverted_cdf")


@given(LATENCIES, st.integers(min_value=0, max_value=100))
def test_more_unserved_requests_never_lower_a_percentile(served: list[float], unserved: int) -> None:
    before = stats.percentile(served, 2000, 0.95)
    after = stats.percentile(served[unserved:], 2000, 0.95)
    assert before is not None
    assert after is not None
    assert len(served) < 1900
    assert before == after == math.inf


@pytest.mark.parametrize(("quantile", "fewest"), [(0.5, 20), (0.95, 200), (0.99, 1000), (0.999, 10_000)])
def test_a_percentile_needs_ten_requests_beyond_it(quantile: float, fewest: int) -> None:
    assert stats.percentile([1.0] * (fewest - 1), fewest - 1, quantile) is None
    assert stats.percentile([1.0] * fewest, fewest, quantile) == 1.0


def test_one_drop_too_many_puts_p99_at_infinity() -> None:
    served = [float(i) for i in range(1, 991)]
    assert stats.percentile(served, 1000, 0.99) == 990
    assert stats.percentile(served[:-1], 1000, 0.99) == math.inf


def test_no_success_at_all_has_no_mean_and_infinite_percentiles() -> None:
    summary = stats.distribution([], 1000)
    assert (summary.min_served, summary.mean_served, summary.max_served) == (None, None, None)
    assert (summary.median, summary.p95, summary.p99) == (math.inf, math.inf, math.inf)
    assert summary.unserved == 1000


def test_nothing_planned_has_no_figures() -> None:
    summary = stats.distribution([], 0)
    assert summary.median is None
    assert summary.unserved == 0


def test_one_sample_has_a_mean_and_no_percentile() -> None:
    summary = stats.distribution([7.5], 1)
    assert (summary.min_served, summary.mean_served, summary.max_served) == (7.5, 7.5, 7.5)
    assert (summary.median, summary.p95, summary.p99) == (None, None, None)


def test_equal_samples_have_equal_figures() -> None:
    summary = stats.distribution([3.25] * 5000, 5000)
    values = (summary.min_served, summary.mean_served, summary.max_served, summary.median, summary.p99)
    assert set(values) == {3.25}


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1, max_size=50))
def test_min_mean_and_max_are_of_the_served(served: list[float]) -> None:
    summary = stats.distribution(served, len(served) + 5)
    assert summary.min_served == min(served)
    assert summary.max_served == max(served)
    assert summary.mean_served == pytest.approx(statistics.fmean(served))


def test_more_answers_than_requests_are_an_error() -> None:
    with pytest.raises(ValueError, match="more answers than requests"):
        stats.distribution([1.0, 2.0], 1)


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_a_served_value_that_is_not_finite_is_an_error(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        stats.percentile([bad] * 50, 50, 0.5)


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


@given(
    st.lists(st.tuples(st.integers(0, 60), st.one_of(st.none(), st.integers(0, 10**7))), max_size=80),
    st.lists(st.integers(0, 60), unique=True, max_size=60),
)
def test_delay_to_durable_is_that_of_the_first_row_with_a_moment(
    rows: list[tuple[int, int | None]], sent: list[int]
) -> None:
    start = {seq: 10_000 * seq for seq in sent}
    moments = [-1 if moment is None else moment for _, moment in rows]
    columns = (sent, list(start.values()), [seq for seq, _ in rows], moments)
    delays = stats.delays_us(*(np.array(column, np.int64) for column in columns))
    for seq, delay in zip(sent, delays, strict=True):
        known = [moment for row, moment in rows if row == seq and moment is not None]
        assert delay == (min(known) - start[seq] if known else stats.NEVER_US)


def test_a_counter_that_falls_began_again_from_zero() -> None:
    assert stats.accumulated([100.0, 110.0, 4.0, 9.0]).tolist() == [0, 10, 14, 19]
    assert stats.accumulated([]).tolist() == []


@given(st.lists(st.tuples(st.floats(0, 4999), st.one_of(st.just(math.inf), st.floats(0, 1e4))), max_size=200))
def test_bands_are_each_seconds_own_median_p95_and_max(requests: list[tuple[float, float]]) -> None:
    seconds = [[latency for offset, latency in requests if int(offset // 1000) == n] for n in range(5)]
    served_ms = [np.array([latency for latency in own if latency < math.inf]) for own in seconds]
    bands = stats.bands(served_ms, np.array([len(own) for own in seconds]))
    for second in range(5):
        own = sorted(latency for offset, latency in requests if int(offset // 1000) == second)
        served = [latency for latency in own if latency < math.inf]
        assert bands.served[second] == len(served)
        assert bands.unserved[second] == len(own) - len(served)
        for quantile, values in (("0.5", bands.median), ("0.95", bands.p95), ("1", bands.max)):
            if served:
                assert values[second] == served[math.ceil(Fraction(quantile) * len(served)) - 1]
            else:
                assert math.isnan(values[second])
