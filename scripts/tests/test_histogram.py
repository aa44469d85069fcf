"""Does the histogram count as HdrHistogram does, stay within 0.1 % of the exact rank, and add up?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from writepath.analysis import histogram, stats
from writepath.analysis.histogram import BUCKETS, HIGHEST_US, Histogram, from_text, merged, of
from writepath.errors import UsageError

if TYPE_CHECKING:
    from writepath.analysis.stats import Floats

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
RNG = np.random.default_rng(11)


def whole_us(ms: Floats) -> Floats:
    return np.rint(ms * 1000) / 1000


SHAPES = {
    "lognormal": whole_us(RNG.lognormal(1.5, 1.2, 50_000)),
    "two humps": whole_us(np.concatenate([RNG.normal(3, 0.2, 30_000), RNG.normal(900, 80, 20_000)])),
    "all equal": np.full(20_000, 7.351),
    "up to the limit": whole_us(RNG.uniform(0.001, HIGHEST_US / 1000, 20_000)),
    "finest": whole_us(RNG.uniform(0, 2.5, 20_000)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_percentiles_and_counts_are_those_of_the_reference(shape: str) -> None:
    values = SHAPES[shape]
    reference = HdrHistogram(1, HIGHEST_US, 3)
    for value in values.tolist():
        assert reference.record_value(round(value * 1000))
    ours = of(values, len(values))
    assert ours.planned == reference.get_total_count()
    for quantile in QUANTILES:
        assert ours.percentile(quantile) == reference.get_value_at_percentile(quantile * 100) / 1000
    theirs = [
        (item.value_iterated_to, item.count_at_value_iterated_to)
        for item in reference.get_recorded_iterator()
    ]
    mine = np.flatnonzero(ours.counts)
    highest = [int(histogram._lowest_us(bucket + 1)) - 1 for bucket in mine.tolist()]  # noqa: SLF001
    assert list(zip(highest, ours.counts[mine].tolist(), strict=True)) == theirs


@pytest.mark.parametrize("shape", SHAPES)
def test_least_most_and_mean_are_within_a_thousandth(shape: str) -> None:
    values, found = SHAPES[shape], of(SHAPES[shape], len(SHAPES[shape]) + 7)
    assert found.at(1) == pytest.approx(values.min(), rel=0.001)
    assert found.at(len(values)) == pytest.approx(values.max(), rel=0.001)
    assert found.at(len(values) + 1) == math.inf
    assert found.mean == pytest.approx(values.mean(), rel=0.001)
    assert of((), 3).mean is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("unserved", [0, 300, 5000])
def test_a_percentile_is_within_a_thousandth_of_the_exact_rank(shape: str, unserved: int) -> None:
    values = SHAPES[shape]
    planned = len(values) + unserved
    for quantile in QUANTILES:
        exact = stats.percentile(values, planned, quantile)
        found = of(values, planned).percentile(quantile)
        assert exact is not None
        assert found is not None
        assert found == exact or abs(found - exact) <= exact * 0.001


@pytest.mark.parametrize("planned", [0, 1, 19, 20, 199, 200, 999, 1000])
@pytest.mark.parametrize("served", [0, 1, 200])
def test_what_the_sample_cannot_carry_is_none_and_what_was_not_served_infinite(
    planned: int, served: int
) -> None:
    values = np.full(min(served, planned), 5.0)
    ours = of(values, planned)
    for quantile in QUANTILES:
        exact = stats.percentile(values, planned, quantile)
        found = ours.percentile(quantile)
        assert (found is None) is (exact is None)
        if exact is not None:
            assert math.isinf(exact) is math.isinf(found or 0)
    assert (ours.served, ours.planned) == (len(values), planned)


def test_what_takes_longer_than_two_minutes_counts_as_not_served() -> None:
    ours = of([HIGHEST_US / 1000, HIGHEST_US / 1000 + 0.001, math.inf, 1e300], 5)
    assert (ours.served, ours.beyond) == (1, 4)


@pytest.mark.parametrize(("values", "planned"), [([1.0, 2.0], 1), ([-0.001], 3), ([math.nan], 3)])
def test_what_is_no_latency_is_refused(values: list[float], planned: int) -> None:
    with pytest.raises(ValueError, match=r"more answers|at least 0"):
        of(values, planned)


def test_several_runs_together_are_one_of_all_their_requests() -> None:
    parts = tuple(SHAPES.values())
    one = of(np.concatenate(parts), sum(map(len, parts)) + 10 * len(parts))
    several = merged(tuple(of(part, len(part) + 10) for part in parts))
    assert several.to_text() == one.to_text()
    assert several.percentile(0.99) == one.percentile(0.99)
    assert merged(()).planned == 0


@given(st.lists(st.integers(0, 2 * HIGHEST_US), max_size=50), st.integers(0, 5))
def test_text_gives_the_same_histogram_again(us: list[int], unserved: int) -> None:
    ours = of(np.array(us) / 1000, len(us) + unserved)
    again = from_text(ours.to_text())
    assert np.array_equal(again.counts, ours.counts)
    assert again.beyond == ours.beyond
    assert again.planned == len(us) + unserved


def test_text_names_the_lowest_value_of_each_bucket_that_is_not_empty() -> None:
    assert of([0.001, 0.001, 2.049, 4.099], 6).to_text() == "lower_us,count\n1,2\n2048,1\n4096,1\ninf,2\n"


@pytest.mark.parametrize(
    "text",
    ["", "lower_us,count\n1,2\n", "lower_us,count\ninf,2\nx,1\n", "lower_us,count\n1,2\n1,2\ninf,0\n",
     "lower_us,count\n2049,1\ninf,0\n", "lower_us,count\n1,-2\ninf,0\n", "lower_us,count\n120000001,1\ninf,0\n",
     "lower_us,count\n1,9223372036854775809\ninf,0\n"],
)  # fmt: skip
def test_a_text_that_is_no_histogram_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"a histogram must begin|a line of the histogram"):
        from_text(text)


def test_every_bucket_follows_the_one_before() -> None:
    lowest = histogram._lowest_us(np.arange(BUCKETS + 1))  # noqa: SLF001
    assert lowest[0] == 0
    assert np.array_equal(histogram._bucket(lowest[:-1]), np.arange(BUCKETS))  # noqa: SLF001
    assert np.array_equal(histogram._bucket(lowest[1:] - 1), np.arange(BUCKETS))  # noqa: SLF001
    assert isinstance(of((), 0), Histogram)
