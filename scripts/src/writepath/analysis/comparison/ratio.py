"""By which factor do two sides differ, and how sure is that? On logarithms, because factors multiply.

Two values of one block are a pair: what the host did to the whole block falls out of their ratio. A percentile that
falls on an unserved request is infinite and stays in: such a pair has no ratio, but a side. Absent values, and zero or
less where only more than zero has a logarithm, make no pair.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.analysis.stats import Floats

Better = Literal["lower", "higher"]  # which value of a metric one wants
CONFIDENCE = 0.95
ENUMERATED = 16  # pairs of which every assignment of signs is tried where ranks are tied
EQUAL = 1e-12  # of logarithms: rounding


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One side's values by the other's. Ratios are of the values: above 1 is slower for a latency."""

    ratio: float | None  # geometric mean; infinite or 0 where it is so in every pair; None: no such value
    low: float | None  # of the 95 % interval; None with fewer than two finite values a side
    high: float | None
    spread: float | None  # standard deviation of the log-ratio of one pair
    p: float  # two-sided, t; 1 where it cannot be had
    rank_p: float  # two-sided, of ranks, exact
    pairs: int  # finite ones; unpaired: values of the smaller side
    compared: int  # finite and infinite ones
    asked: int  # absent ones too
    worse: int  # only this side is infinite (a throughput: zero)
    better: int  # only the other side is
    enough_for_ranks: bool  # with fewer no ranks whatever are significant


def paired(values: Sequence[float | None], others: Sequence[float | None], better: Better) -> Estimate:
    """By block: d = ln(value / other); the ratio is exp(mean d), the interval Student's t on d.

    The rank check is Wilcoxon's signed-rank test, in which an infinite pair ranks behind all finite ones.
    """
    mine, theirs = _logs(values, better), _logs(others, better)
    known = ~np.isnan(mine) & ~np.isnan(theirs)
    same = known & np.isinf(mine) & np.isinf(theirs)
    d = mine[known & ~same] - theirs[known & ~same]
    finite = d[np.isfinite(d)]
    low, high, p = _one_sample(finite)
    return Estimate(
        ratio=_ratio(d),
        low=low,
        high=high,
        spread=float(finite.std(ddof=1)) if finite.size > 1 else None,
        p=p,
        rank_p=signed_rank_p(d),
        pairs=int(finite.size),
        compared=int(known.sum()),
        asked=len(mine),
        worse=int((d == _worst(better)).sum()),
        better=int((d == -_worst(better)).sum()),
        enough_for_ranks=bool(ranks_can_tell(d.size)),
    )


def unpaired(values: Sequence[float | None], others: Sequence[float | None], better: Better) -> Estimate:
    """Of runs that share no block: Welch's t-test on logarithms, and Mann and Whitney's ranks."""
    mine, theirs = _logs(values, better), _logs(others, better)
    mine, theirs = mine[~np.isnan(mine)], theirs[~np.isnan(theirs)]
    a, b = mine[np.isfinite(mine)], theirs[np.isfinite(theirs)]
    low, high, p = _two_samples(a, b)
    all_worse, all_better = bool(mine.size and theirs.size) and not a.size, bool(mine.size) and not b.size
    difference = float(a.mean() - b.mean()) if a.size and b.size else None
    if all_worse != all_better and difference is None and mine.size and theirs.size:
        difference = _worst(better) if all_worse else -_worst(better)
    spread = math.hypot(float(a.std(ddof=1)), float(b.std(ddof=1))) if min(a.size, b.size) > 1 else None
    return Estimate(
        ratio=None if difference is None else _exp(difference),
        low=low,
        high=high,
        spread=spread,
        p=p,
        rank_p=_rank_sum_p(mine, theirs),
        pairs=int(min(a.size, b.size)),
        compared=int(min(mine.size, theirs.size)),
        asked=min(len(values), len(others)),
        worse=int(mine.size - a.size),
        better=int(theirs.size - b.size),
        enough_for_ranks=2 / math.comb(int(mine.size + theirs.size), int(mine.size)) < 1 - CONFIDENCE,
    )


def middle(values: Sequence[float | None], again: Sequence[float | None]) -> list[float | None]:
    """Of each block's two runs of the same: their geometric mean, or the one there is.

    Compared with it, a variant meets half the variance of the baseline, and an A/A pair that is independent of it.
    """
    return [
        b if a is None else a if b is None else math.sqrt(a) * math.sqrt(b) if min(a, b) >= 0 else None
        for a, b in zip(values, again, strict=True)
    ]


def apart(twin: Estimate | None) -> float | None:
    """How far the A/A pair of a suite came to lie apart, as a logarithm: what the order or the host gave to one of two.

    Infinite where only one of two runs of the same was; None where there is no pair to say.
    """
    if twin is None:
        return None
    if twin.worse or twin.better:
        return math.inf
    return None if twin.ratio is None or not twin.pairs else abs(math.log(twin.ratio))


def ranks_can_tell(pairs: int) -> bool:
    """Whether so many signs can be significant: the smallest two-sided p of Wilcoxon's test is 2 / 2^pairs."""
    return 2.0 ** (1 - pairs) < 1 - CONFIDENCE


def signed_rank_p(d: Floats) -> float:
    """Two-sided and exact; with ties by trying every assignment of signs. Zeros say nothing and are left out."""
    moved = d[np.abs(d) > EQUAL]
    if not moved.size:
        return 1.0
    ranked = np.sign(moved) * stats.rankdata(np.abs(moved))  # ranks are all it uses: infinities are the last
    return _of_ranks(tuple(np.sort(ranked).tolist()))


@cache
def _of_ranks(ranks: tuple[float, ...]) -> float:
    ranked = np.array(ranks)
    if np.unique(np.abs(ranked)).size == ranked.size:
        return float(stats.wilcoxon(ranked, method="exact").pvalue)
    if ranked.size > ENUMERATED:
        return float(stats.wilcoxon(ranked, method="asymptotic", correction=True).pvalue)
    every = stats.PermutationMethod(n_resamples=2**ENUMERATED)
    return float(stats.wilcoxon(ranked, method=every).pvalue)


def _rank_sum_p(mine: Floats, theirs: Floats) -> float:
    if min(mine.size, theirs.size) < 2:  # noqa: PLR2004 - of one run, fewer than 40 on the other side say nothing
        return 1.0
    ranks = stats.rankdata(np.concatenate((mine, theirs)))
    if np.unique(ranks).size == 1:
        return 1.0
    a, b = ranks[: mine.size], ranks[mine.size :]
    if np.unique(ranks).size == ranks.size:
        return float(stats.mannwhitneyu(a, b, method="exact").pvalue)
    if math.comb(ranks.size, a.size) <= 2**ENUMERATED:
        every = stats.PermutationMethod(n_resamples=2**ENUMERATED)
        return float(stats.mannwhitneyu(a, b, method=every).pvalue)
    return float(stats.mannwhitneyu(a, b, method="asymptotic").pvalue)


def _one_sample(d: Floats) -> tuple[float | None, float | None, float]:
    if d.size < 2:  # noqa: PLR2004 - of one pair nobody knows how far the next would lie
        return None, None, 1.0
    if np.ptp(d) <= EQUAL:
        only = float(d.mean())
        return math.exp(only), math.exp(only), float(abs(only) <= EQUAL)
    found = stats.ttest_1samp(d, 0.0)
    interval = found.confidence_interval(CONFIDENCE)
    return _exp(float(interval.low)), _exp(float(interval.high)), float(found.pvalue)


def _two_samples(a: Floats, b: Floats) -> tuple[float | None, float | None, float]:
    if min(a.size, b.size) < 2:  # noqa: PLR2004
        return None, None, 1.0
    if np.ptp(a) <= EQUAL and np.ptp(b) <= EQUAL:
        only = float(a.mean() - b.mean())
        return math.exp(only), math.exp(only), float(abs(only) <= EQUAL)
    with warnings.catch_warnings():  # one side may well be all equal: a throughput that is the plan's
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        found = stats.ttest_ind(a, b, equal_var=False)
    interval = found.confidence_interval(CONFIDENCE)
    return _exp(float(interval.low)), _exp(float(interval.high)), float(found.pvalue)


def _logs(values: Sequence[float | None], better: Better) -> Floats:
    """NaN for absent ones. A throughput of zero is what an infinite latency is: nothing was served."""
    given = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    known = given >= 0 if better == "higher" else given > 0
    logs = np.full(given.shape, math.nan)
    with np.errstate(divide="ignore"):
        np.log(given, out=logs, where=known)
    return logs


def _worst(better: Better) -> float:
    return math.inf if better == "lower" else -math.inf


def _ratio(d: Floats) -> float | None:
    finite = np.isfinite(d)
    if finite.all():
        return _exp(float(d.mean())) if d.size else None
    one_side = np.unique(d)
    return _exp(float(one_side[0])) if one_side.size == 1 else None


def _exp(value: float) -> float:
    """Infinity where it is too large: an interval of two wildly different pairs reaches that far."""
    return math.exp(value) if value < 700 else math.inf  # noqa: PLR2004 - e^709 is the largest float
