"""Is a write overtaken exactly when one that was sent after its 201 is durable before it?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.analysis.load_aggregates import CLOCK_RESOLUTION_US, overtaken

WRITE = st.tuples(st.integers(0, 40), st.integers(0, 10), st.integers(0, 60))


def of(*writes: tuple[float, float, float]) -> int:
    """Each write: sent, answered, durable, in milliseconds."""
    sent, answered, durable = (np.array(column) * 1000 for column in zip(*writes, strict=True))
    return overtaken(sent.astype(int), (answered - sent).astype(int), durable.astype(int))


@pytest.mark.parametrize(
    ("writes", "found"),
    [
        ([(0, 5, 20), (10, 15, 30), (20, 25, 40)], 0),  # in the order they were sent
        ([(0, 5, 99), (10, 15, 30), (20, 25, 40)], 1),
        ([(0, 12, 99), (10, 15, 30)], 0),  # in progress together
        ([(0, 10, 99), (10.5, 15, 30)], 0),  # within the clock's resolution
        ([(0, 5, 30), (10, 15, 30)], 0),  # one transaction
    ],
)
def test_a_write_is_overtaken_by_one_that_was_sent_after_its_201(
    writes: list[tuple[float, float, float]], found: int
) -> None:
    assert of(*writes) == found


@given(st.lists(WRITE, min_size=1, max_size=60))
def test_it_is_what_looking_at_every_pair_says(writes: list[tuple[int, int, int]]) -> None:
    rows = [(sent, sent + took, durable) for sent, took, durable in writes]
    resolution_ms = CLOCK_RESOLUTION_US / 1000
    assert of(*rows) == sum(
        any(later[0] >= one[1] + resolution_ms and later[2] < one[2] for later in rows) for one in rows
    )


def test_without_a_write_none_is_overtaken() -> None:
    nothing = np.empty(0, int)
    assert overtaken(nothing, nothing, nothing) == 0
