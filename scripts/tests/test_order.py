"""Is a write overtaken exactly when one that was sent after its 201 is durable before it?"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from writepath.analysis.load_aggregates import CLOCK_RESOLUTION_US, Overtaking, overtaken

WRITE = st.tuples(st.integers(0, 40), st.integers(0, 10), st.one_of(st.none(), st.integers(0, 60)))


NEVER = -1


def of(*writes: tuple[float, float, float]) -> Overtaking:
    """Each write: sent, answered, durable, in milliseconds; NEVER: not durable."""
    sent, answered, durable = (
        np.array([at if at == NEVER else round(at * 1000) for at in column], np.int64)
        for column in zip(*writes, strict=True)
    )
    known = durable != NEVER
    return overtaken(sent[known], (answered - sent)[known], durable[known], CLOCK_RESOLUTION_US)


def test_writes_stored_in_the_order_they_were_sent_are_not_overtaken() -> None:
    assert of((0, 5, 20), (10, 15, 30), (20, 25, 40)) == Overtaking(writes=3, overtaken=0, inversions=0)


def test_one_write_that_comes_last_is_overtaken_by_all_sent_after_its_201() -> None:
    assert of((0, 5, 99), (10, 15, 30), (20, 25, 40)) == Overtaking(writes=3, overtaken=1, inversions=2)


def test_requests_under_way_together_have_no_order() -> None:
    assert of((0, 12, 99), (10, 15, 30)).inversions == 0
    assert of((0, 10, 99), (10.5, 15, 30)).inversions == 0  # within the clock's resolution


def test_one_transaction_is_no_inversion() -> None:
    assert of((0, 5, 30), (10, 15, 30)).inversions == 0


def test_what_is_not_stored_is_left_out() -> None:
    assert of((0, 5, NEVER), (10, 15, NEVER), (20, 25, 40)) == Overtaking(writes=1, overtaken=0, inversions=0)
    assert of((0, 5, NEVER)) == Overtaking(writes=0, overtaken=0, inversions=0)


@given(st.lists(WRITE, min_size=1, max_size=60))
def test_it_is_what_looking_at_every_pair_says(writes: list[tuple[int, int, int | None]]) -> None:
    rows = [(s, s + took, NEVER if d is None else d) for s, took, d in writes]
    known = [row for row in rows if row[2] != NEVER]
    pairs = [
        sum(later[0] >= one[1] + CLOCK_RESOLUTION_US / 1000 and later[2] < one[2] for later in known)
        for one in known
    ]
    assert of(*rows) == Overtaking(
        writes=len(known), overtaken=sum(count > 0 for count in pairs), inversions=sum(pairs)
    )


def test_a_million_writes_take_seconds() -> None:
    sent = np.arange(1_000_000) * 3000
    assert (
        overtaken(sent, np.full(len(sent), 1000), sent[::-1], CLOCK_RESOLUTION_US).inversions
        == 1_000_000 * 999_999 // 2
    )
