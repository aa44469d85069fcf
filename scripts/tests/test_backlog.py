"""Is a queue that fills up told from one that breathes?"""

import numpy as np
import pytest

from writepath.analysis.stats import Floats
from writepath.analysis.steps import backlog

SECONDS: Floats = np.arange(60.0)


def test_a_queue_that_grows_by_two_percent_of_the_rate_grows() -> None:
    found = backlog(SECONDS, SECONDS * 20, 1000.0, 980.0)
    assert found.grows
    assert found.slope_per_s == pytest.approx(20)
    assert (found.at_start, found.at_end) == (0.0, 58 * 20.0)
    assert found.work_seconds == pytest.approx(58 * 20 / 980)


def test_a_queue_that_is_long_and_stays_so_does_not_grow() -> None:
    assert not backlog(SECONDS, np.full(60, 5000.0), 1000.0, 1000.0).grows


def test_a_few_in_flight_at_the_end_are_no_backlog_however_steep() -> None:
    assert not backlog(SECONDS, SECONDS * 1.5, 100.0, 98.0).grows  # ends at 87 messages
    short = SECONDS[:20]
    assert not backlog(short, short * 45, 2000.0, 1900.0).grows  # 810 of 2,000/s: under half a second


def test_one_peak_does_not_bend_the_line() -> None:
    depth = np.zeros(60)
    depth[55] = 40_000.0
    found = backlog(SECONDS, depth, 1000.0, 1000.0)
    assert not found.grows
    assert found.slope_per_s == 0.0


@pytest.mark.parametrize("stored", [None, 0.0])
def test_where_nothing_was_stored_the_work_has_no_length(stored: float | None) -> None:
    found = backlog(SECONDS, SECONDS * 1000, 1000.0, stored)
    assert found.grows
    assert found.work_seconds is None
