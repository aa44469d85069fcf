"""How small a difference would a suite see? From how much two runs of the same differ on this host."""

from __future__ import annotations

import math
from functools import cache

ALPHA, POWER = 0.05, 0.8
SAYS = 0.03  # p of the t-test for a word; 5 % called 3 of 40 simulated pairs of the same different
LEAST = math.log(1.03)  # less is never called a difference, however sure the interval


def detectable(spread: float, pairs: int) -> float | None:
    """The least |ln ratio| that a two-sided t-test at 3 % on so many pairs finds in 80 % of suites.

    The test statistic of a true log-ratio δ has a noncentral t distribution with pairs - 1 degrees of freedom and
    noncentrality δ √pairs / spread; δ is where |t| exceeds its 98.5 % quantile with probability 0.8 (J. Cohen,
    Statistical Power Analysis for the Behavioral Sciences, 2nd ed. 1988, ch. 2; statsmodels' TTestPower). spread is the
    standard deviation of an A/A pair's log-ratio. None below two pairs.
    """
    if pairs < 2:  # noqa: PLR2004 - no interval, no power
        return None
    if spread <= 0:
        return LEAST
    return max(LEAST, _effect_size(pairs) * spread)


@cache
def _effect_size(pairs: int) -> float:
    from statsmodels.stats.power import TTestPower  # noqa: PLC0415 - seconds to load, for few lines of a report

    return float(TTestPower().solve_power(nobs=pairs, alpha=SAYS, power=POWER))


def percent(log_ratio: float) -> float:
    """As people say it: 0.0953 is 10 %."""
    return math.expm1(log_ratio) * 100 if log_ratio < 700 else math.inf  # noqa: PLR2004 - e^709 is the largest float
