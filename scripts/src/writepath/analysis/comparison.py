"""Whether a difference is real: ratios with intervals, a rank check, a correction for several comparisons, and a word.

Pure functions on one value a run. A run is the unit: the requests within it hang together and are never taken for
independent samples. Ratios are on logarithms, because factors multiply. Two values of one block are a pair: what the
host did to the whole block is not in their ratio. A percentile that falls on an unserved request is infinite and stays
in: such a pair has no ratio, but a side. Absent values, and zero or less where only more than zero has a logarithm,
make no pair.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy import optimize, stats

from writepath.analysis.stats import Floats

Better = Literal["lower", "higher"]  # which value of a metric one wants
Word = Literal["faster", "slower", "same", "unresolved"]
CONFIDENCE = 0.95
ENUMERATED = 16  # pairs of which every assignment of signs is tried where ranks are tied
EQUAL = 1e-12  # of logarithms: rounding
ALPHA, POWER = 0.05, 0.8
SAYS = 0.03  # p of the t-test for a word; 5 % called 3 of 40 simulated pairs of the same different
LEAST = math.log(1.03)  # less is never called a difference, however sure the interval
FEWEST_PAIRS = 6  # Wilcoxon: 2 / 2^6 is the first below 5 %
SAME_PERCENT = 5.0
SAME = math.log1p(SAME_PERCENT / 100)
LARGEST = 700.0  # e^709 is the largest float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One side's values by the other's. Ratios are of the values: above 1 is slower for a latency."""

    ratio: float | None  # geometric mean; infinite or 0 where it is so in every pair; None: no such value
    low: float | None  # of the 95 % interval; None with fewer than two finite pairs
    high: float | None
    spread: float | None  # standard deviation of the log-ratio of one pair
    p: float  # two-sided, t; 1 where it cannot be had
    rank_p: float  # two-sided, of ranks, exact
    pairs: int  # finite ones
    compared: int  # finite and infinite ones
    worse: int  # only this side is infinite (a throughput: zero)
    better: int  # only the other side is


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A word and what decided it."""

    estimate: Estimate
    word: Word
    because: str  # in words
    resolution_percent: float | None  # the least difference that could be told here; None: nobody knows

    def in_words(self, faster: str, slower: str) -> str:
        """The word; its metric may have others for two of them."""
        words = {"faster": faster, "slower": slower, "same": f"same within {SAME_PERCENT:.0f} %"}
        return words.get(self.word, "not resolved")


def paired(values: Sequence[float | None], others: Sequence[float | None], better: Better) -> Estimate:
    """By block: d = ln(value / other); the ratio is exp(mean d), the interval Student's t on d.

    The rank check is Wilcoxon's signed-rank test, in which an infinite pair ranks behind all finite ones.
    """
    mine, theirs = _logs(values, better), _logs(others, better)
    known = ~np.isnan(mine) & ~np.isnan(theirs)
    same = known & np.isinf(mine) & np.isinf(theirs)
    d = mine[known & ~same] - theirs[known & ~same]
    finite = d[np.isfinite(d)]
    low, high, p = _interval(finite)
    sides = np.unique(d) if finite.size < d.size else d  # infinite in every pair is a ratio, in some is none
    return Estimate(
        ratio=_exp(float(sides.mean())) if d.size and (finite.size == d.size or sides.size == 1) else None,
        low=low,
        high=high,
        spread=float(finite.std(ddof=1)) if finite.size > 1 else None,
        p=p,
        rank_p=signed_rank_p(d),
        pairs=int(finite.size),
        compared=int(known.sum()),
        worse=int((d == _worst(better)).sum()),
        better=int((d == -_worst(better)).sum()),
    )


def in_turns(values: Sequence[float | None], others: Sequence[float | None], better: Better) -> Estimate:
    """As paired, by ranks alone: in many short steps, one that the host disturbed must not decide.

    The ratio is that of the Hodges-Lehmann estimate, the median of the means of any two d; the interval has those
    ratios that Wilcoxon's test at 5 % does not reject (J. L. Hodges and E. L. Lehmann, Estimates of location based on
    rank tests, 1963). With fewer than 6 pairs, or an infinite one, it is that of paired.
    """
    found = paired(values, others, better)
    d = (_logs(values, better) - _logs(others, better)) if found.pairs else np.array([])
    d = d[np.isfinite(d)]
    if d.size < FEWEST_PAIRS or found.pairs < found.compared:
        return found
    walsh = np.sort(((d[:, None] + d[None, :]) / 2)[np.triu_indices(d.size)])
    sums = np.ones(1)  # the chance of each rank sum, times 2^n
    for rank in range(1, d.size + 1):
        sums = np.convolve(sums, np.concatenate(([1.0], np.zeros(rank - 1), [1.0])))
    outside = int(np.searchsorted(np.cumsum(sums) / 2.0**d.size, (1 - CONFIDENCE) / 2, side="right"))
    low, ratio, high = (_exp(float(one)) for one in (walsh[outside - 1], np.median(walsh), walsh[-outside]))
    return replace(found, ratio=ratio, low=low, high=high, p=found.rank_p)


def middle(values: Sequence[float | None], again: Sequence[float | None]) -> list[float | None]:
    """Of each block's two runs of the same: their geometric mean, or the one there is.

    Compared with it, a variant meets half the variance of the baseline, and an A/A pair that is independent of it.
    """
    return [
        b if a is None else a if b is None else math.sqrt(a) * math.sqrt(b) if min(a, b) >= 0 else None
        for a, b in zip(values, again, strict=True)
    ]


def _apart(a_a: Estimate) -> float:
    """How far the two runs of the A/A control differ, as a logarithm: what the order or the host gave to one of them.

    Infinite where only one of the two was.
    """
    if a_a.worse or a_a.better:
        return math.inf
    return abs(math.log(a_a.ratio)) if a_a.ratio and a_a.pairs else 0.0


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
    method: Any = "exact"
    if np.unique(np.abs(ranked)).size < ranked.size:
        few = ranked.size <= ENUMERATED
        method = stats.PermutationMethod(n_resamples=2**ENUMERATED) if few else "asymptotic"
    return float(stats.wilcoxon(ranked, method=method, correction=True).pvalue)


def _interval(d: Floats) -> tuple[float | None, float | None, float]:
    """Both ends of the interval of exp(mean d), and the p-value of 1."""
    if d.size < 2:  # noqa: PLR2004 - of one pair nobody knows how far the next would lie
        return None, None, 1.0
    if np.ptp(d) <= EQUAL:
        only = float(d.mean())
        return math.exp(only), math.exp(only), float(abs(only) <= EQUAL)
    found = stats.ttest_1samp(d, 0.0)
    interval = found.confidence_interval(CONFIDENCE)
    return _exp(float(interval.low)), _exp(float(interval.high)), float(found.pvalue)


def _logs(values: Sequence[float | None], better: Better) -> Floats:
    """NaN for absent ones. A throughput of zero is what an infinite latency is: nothing was served."""
    given = np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    logs = np.full(given.shape, math.nan)
    with np.errstate(divide="ignore"):
        np.log(given, out=logs, where=given >= 0 if better == "higher" else given > 0)
    return logs


def _worst(better: Better) -> float:
    return math.inf if better == "lower" else -math.inf


def _exp(value: float) -> float:
    """Infinity where it is too large: an interval of two wildly different pairs reaches that far."""
    return math.exp(value) if value < LARGEST else math.inf


def percent(log_ratio: float) -> float:
    """As people say it: 0.0953 is 10 %."""
    return math.expm1(log_ratio) * 100 if log_ratio < LARGEST else math.inf


def detectable(spread: float, pairs: int) -> float | None:
    """The least |ln ratio| that a two-sided t-test at 3 % on so many pairs finds in 80 % of suites.

    The test statistic of a true log-ratio δ has a noncentral t distribution with pairs - 1 degrees of freedom and
    noncentrality δ √pairs / spread; δ is where |t| exceeds its 98.5 % quantile with probability 0.8 (J. Cohen,
    Statistical Power Analysis for the Behavioral Sciences, 2nd ed. 1988, ch. 2). spread is the standard deviation of an
    A/A pair's log-ratio. None below two pairs.
    """
    if pairs < 2:  # noqa: PLR2004 - no interval, no power
        return None
    return max(LEAST, _effect_size(pairs) * spread) if spread > 0 else LEAST


@cache
def _effect_size(pairs: int) -> float:
    """δ ÷ spread. The other tail is left out: it is below a millionth."""
    freedom = pairs - 1
    edge = float(stats.t.isf(SAYS / 2, freedom))
    away = optimize.brentq(lambda away: stats.nct.sf(edge, freedom, away) - POWER, 0.0, 3 * edge)
    return float(away) / math.sqrt(pairs)


def judge(estimates: Sequence[Estimate], better: Better, a_a: Estimate | None = None) -> tuple[Judged, ...]:
    """One word each; the correction (Holm) runs over all of them, so give all comparisons of one metric.

    faster or slower: the corrected t-test and the rank check both say so, and the effect is more than that of the A/A
    control and 3 %. same: the whole 95 % interval is within ±5 %. Else nothing is resolved. The smallest detectable
    difference is by the A/A control where there is one, else by the pairs.
    """
    noise = 0.0 if a_a is None else _apart(a_a)
    judged = []
    for one, adjusted_p in zip(estimates, holm([one.p for one in estimates]), strict=True):
        word, because = _word(one, better, noise, adjusted_p, len(estimates))
        spread = one.spread if a_a is None or a_a.spread is None else a_a.spread
        seen = None if spread is None else detectable(spread, one.pairs)
        resolution = None if seen is None else percent(max(seen, noise))
        judged.append(Judged(estimate=one, word=word, because=because, resolution_percent=resolution))
    return tuple(judged)


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Each p-value times the number of hypotheses not yet rejected, from the smallest on."""
    order = np.argsort(p, kind="stable")
    scaled = np.maximum.accumulate(np.array(p)[order] * np.arange(len(p), 0, -1)).clip(max=1.0)
    return tuple(scaled[np.argsort(order)].tolist())


def _word(
    estimate: Estimate, better: Better, noise: float, adjusted_p: float, family: int
) -> tuple[Word, str]:
    """The word, and what decided it. family: number of comparisons that the correction covers."""
    if estimate.worse or estimate.better:
        return _of_unserved(estimate)
    if estimate.ratio is None or estimate.low is None or estimate.high is None:
        nothing = "infinite in both variants" if estimate.compared else "no value to compare"
        single = "a single run does not show how much runs vary"
        return "unresolved", nothing if estimate.ratio is None else single
    effect, threshold = abs(math.log(estimate.ratio)), max(LEAST, noise)
    by_t, by_rank = adjusted_p < SAYS, estimate.rank_p < ALPHA
    if by_t and by_rank and effect > threshold:
        slower = (estimate.ratio > 1) == (better == "lower")
        return ("slower" if slower else "faster"), "interval, rank test and effect size agree"
    if max(abs(math.log(estimate.low)), abs(math.log(estimate.high))) <= SAME:
        return "same", f"the whole interval is within ±{SAME_PERCENT:.0f} %"
    if not by_t:
        because = _uncertain(estimate, adjusted_p, family)
    elif estimate.pairs < FEWEST_PAIRS:
        because = f"{estimate.pairs} blocks are too few for the rank test ({FEWEST_PAIRS} needed)"
    elif not by_rank:
        because = f"the interval shows a difference, the rank test does not (p {estimate.rank_p:.2g})"
    else:
        source = "difference of the A/A control" if threshold > LEAST else "smallest difference that counts"
        because = f"not above the {source}, {percent(threshold):.2g} %"
    return "unresolved", because


def _of_unserved(estimate: Estimate) -> tuple[Word, str]:
    """An infinite percentile has no ratio; in every pair, or by rank, it is a difference all the same."""
    worse, better, pairs = estimate.worse, estimate.better, estimate.compared
    if worse and better:
        return "unresolved", f"infinite here in {worse} pairs, in the baseline in {better}"
    count, where = (worse, "here") if worse else (better, "in the baseline")
    if count == pairs or estimate.rank_p < ALPHA:
        return ("slower" if worse else "faster"), f"infinite {where} in {count} of {pairs} pairs"
    return "unresolved", f"infinite {where} in only {count} of {pairs} pairs"


def _uncertain(estimate: Estimate, adjusted_p: float, family: int) -> str:
    """Why the corrected t-test does not say so."""
    if estimate.p < SAYS:
        return f"not significant after Holm's correction for {family} tests (p {estimate.p:.2g}, then {adjusted_p:.2g})"
    if estimate.p < ALPHA:
        return f"the interval only just excludes 1 (p {estimate.p:.2g}, required {SAYS:g})"
    if estimate.rank_p < ALPHA:
        return f"the ranks show a difference (p {estimate.rank_p:.2g}), the interval does not (p {estimate.p:.2g})"
    return "the interval includes 1"
