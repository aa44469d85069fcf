"""Does a suite see what it was said to see? Against simulation, and against Cohen's table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from writepath.analysis.comparison.power import LEAST, detectable, percent


@pytest.mark.parametrize("pairs", [3, 6, 10, 20])
def test_eighty_of_a_hundred_suites_see_it(pairs: int) -> None:
    spread, suites = 0.08, 20_000
    difference = detectable(spread, pairs)
    assert difference is not None
    d = np.random.default_rng(1).normal(difference, spread, size=(suites, pairs))
    seen = float((stats.ttest_1samp(d, 0.0, axis=1).pvalue < 0.03).mean())
    assert seen == pytest.approx(0.8, abs=0.012)


def test_it_is_the_noncentral_t_of_the_docstring() -> None:
    difference = detectable(0.1, 10)
    assert difference is not None
    away, edge = difference * math.sqrt(10) / 0.1, stats.t.ppf(0.985, 9)
    power = stats.nct.sf(edge, 9, away) + stats.nct.cdf(-edge, 9, away)
    assert power == pytest.approx(0.8, abs=1e-4)


def test_more_blocks_see_less_and_never_less_than_three_per_cent() -> None:
    seen = [detectable(0.1, pairs) or 0.0 for pairs in (2, 3, 6, 10, 30)]
    assert seen == sorted(seen, reverse=True)
    assert detectable(0.0001, 30) == detectable(0.0, 6) == LEAST


def test_one_block_sees_nothing() -> None:
    assert detectable(0.1, 1) is None


def test_per_cent() -> None:
    assert percent(math.log(1.1)) == pytest.approx(10)
    assert percent(math.inf) == math.inf
