"""Buckets are those of HdrHistogram, and several of them as one end where the last of them ends."""

import numpy as np
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from writepath.analysis.times import ends_us

HIGHEST_US = 120_000_000
REFERENCE = HdrHistogram(1, HIGHEST_US, 3)
VALUES = st.lists(st.integers(0, HIGHEST_US), min_size=1, max_size=50)


@given(VALUES)
def test_a_bucket_ends_where_that_of_the_reference_ends(us: list[int]) -> None:
    assert ends_us(np.array(us)).tolist() == [REFERENCE.get_highest_equivalent_value(value) for value in us]


@given(VALUES, st.sampled_from([2, 8, 32]))
def test_several_buckets_as_one_hold_the_value_and_are_so_much_wider(us: list[int], width: int) -> None:
    values = np.array(us)
    ends = ends_us(values, width)
    assert (ends >= values).all()
    assert (ends - values <= width * np.maximum(1, values / 1024 * (1 + width / 1024))).all()
    assert np.array_equal(ends_us(ends, width), ends)


def test_a_value_below_zero_is_its_own_bucket() -> None:
    assert ends_us(np.array([-5, 0])).tolist() == [-5, 0]
