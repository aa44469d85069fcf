"""Which word may be said of a comparison? Faster, slower, same, or not resolved, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from writepath.analysis.comparison.power import ALPHA, LEAST, SAYS, detectable, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.analysis.comparison.ratio import Better, Estimate

Word = Literal["faster", "slower", "same", "unresolved"]
FEWEST_PAIRS = 6  # Wilcoxon: 2 / 2^6 is the first below 5 %
SAME_PERCENT = 5.0
SAME = math.log1p(SAME_PERCENT / 100)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A comparison that waits for its word."""

    estimate: Estimate
    better: Better
    noise: float | None = None  # |ln ratio| of the A/A pair (ratio.apart); None: no A/A pair
    noise_spread: float | None = None  # of the A/A pair's log-ratios


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A word and what decided it."""

    word: Word
    because: str  # in words
    adjusted_p: float  # after Holm's correction
    resolution_percent: float | None  # the least difference that could be told here; None: nobody knows


def judge(waiting: Sequence[Judgement]) -> tuple[Judged, ...]:
    """One word each; the correction (Holm) runs over all of them, so give all comparisons of one table.

    faster or slower: the corrected t-test and the rank check both say so, and the effect is more than the A/A pair's
    and 3 %. same: the whole 95 % interval is within ±5 %. Else nothing is resolved.
    """
    adjusted = holm([one.estimate.p for one in waiting])
    return tuple(_judged(one, p, len(waiting)) for one, p in zip(waiting, adjusted, strict=True))


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Each p-value times the number of hypotheses not yet rejected, from the smallest on."""
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - seconds to load

    if not p:
        return ()
    return tuple(float(value) for value in multipletests(np.asarray(p), method="holm")[1])


def _judged(one: Judgement, adjusted_p: float, family: int) -> Judged:
    word, because = _word(one, adjusted_p, family)
    return Judged(
        word=word, because=because, adjusted_p=adjusted_p, resolution_percent=_resolution_percent(one)
    )


def _word(one: Judgement, adjusted_p: float, family: int) -> tuple[Word, str]:
    estimate = one.estimate
    if estimate.worse or estimate.better:
        return _of_unserved(estimate)
    if estimate.ratio is None:
        return (
            "unresolved",
            "infinite in both variants" if estimate.compared else "no value to compare",
        )
    if estimate.low is None or estimate.high is None:
        return "unresolved", "a single run does not show how much runs vary"
    effect, threshold = abs(math.log(estimate.ratio)), max(LEAST, one.noise or 0.0)
    by_t, by_rank = adjusted_p < SAYS, estimate.rank_p < ALPHA
    if by_t and by_rank and effect > threshold:
        slower = (estimate.ratio > 1) == (one.better == "lower")
        return ("slower" if slower else "faster"), "interval, rank test and effect size agree"
    if max(abs(math.log(estimate.low)), abs(math.log(estimate.high))) <= SAME:
        return "same", f"the whole interval is within ±{SAME_PERCENT:.0f} %"
    return "unresolved", _why_not(estimate, (by_t, by_rank), (effect, threshold), (adjusted_p, family))


def _of_unserved(estimate: Estimate) -> tuple[Word, str]:
    """An infinite percentile has no ratio; in every pair, or by rank, it is a difference all the same."""
    if estimate.worse and estimate.better:
        return (
            "unresolved",
            f"infinite here in {estimate.worse} pairs, in the baseline in {estimate.better}",
        )
    word: Word = "slower" if estimate.worse else "faster"
    count, where = (estimate.worse, "here") if estimate.worse else (estimate.better, "in the baseline")
    if count == estimate.compared or estimate.rank_p < ALPHA:
        return word, f"infinite {where} in {count} of {estimate.compared} pairs"
    return "unresolved", f"infinite {where} in only {count} of {estimate.compared} pairs"


def _why_not(
    estimate: Estimate, said: tuple[bool, bool], size: tuple[float, float], corrected: tuple[float, int]
) -> str:
    (by_t, by_rank), (effect, threshold) = said, size
    if by_t and not estimate.enough_for_ranks:
        return f"{estimate.pairs} blocks are too few for the rank test ({FEWEST_PAIRS} needed)"
    if by_t and not by_rank:
        return f"the interval shows a difference, the rank test does not (p {estimate.rank_p:.2g})"
    if by_t and effect <= threshold:
        source = "difference of the A/A control" if threshold > LEAST else "smallest difference that counts"
        return f"not above the {source}, {percent(threshold):.2g} %"
    return _uncertain(estimate, corrected, by_rank=by_rank)


def _uncertain(estimate: Estimate, corrected: tuple[float, int], *, by_rank: bool) -> str:
    adjusted_p, family = corrected
    if estimate.p < SAYS:
        return f"not significant after Holm's correction for {family} tests (p {estimate.p:.2g}, then {adjusted_p:.2g})"
    if estimate.p < ALPHA:
        return f"the interval only just excludes 1 (p {estimate.p:.2g}, required {SAYS:g})"
    if by_rank:
        return f"the ranks show a difference (p {estimate.rank_p:.2g}), the interval does not (p {estimate.p:.2g})"
    return "the interval includes 1"


def _resolution_percent(one: Judgement) -> float | None:
    """What a true difference would have had to be; by the A/A pair where there is one, else by the pairs themselves."""
    spread = one.estimate.spread if one.noise_spread is None else one.noise_spread
    seen = None if spread is None else detectable(spread, one.estimate.pairs)
    if seen is None:
        return None
    return percent(max(seen, one.noise or 0.0))
