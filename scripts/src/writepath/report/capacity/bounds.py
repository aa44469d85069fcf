"""Says how well a maximum sustainable rate is known, and whether one is known to be higher than another."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from writepath.analysis import stats
from writepath.analysis.stats import Spread
from writepath.records.steps import Bracket
from writepath.report.model import Cell, number, text

Comparison = Literal["more", "less", "within noise", "not resolved"]
UNKNOWN = "not known"
MEASURED, LOWER, UPPER = "measured ±5 %", "lower bound", "upper bound"
AT_LEAST, BELOW = "≥ ", "< "


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The maximum sustainable rate of one variant over its blocks."""

    by_block: Mapping[int, Bracket]

    @property
    def passed(self) -> dict[int, float]:
        """By block, the highest passing rate; 0 where none passed."""
        return {block: one.highest_passing_per_s or 0.0 for block, one in self.by_block.items()}

    @property
    def per_s(self) -> float:
        """The median of the highest passing rates."""
        return statistics.median(self.passed.values())

    @property
    def lowest_failing(self) -> Spread | None:
        """Of the lowest failing rates; infinite in a block in which no rate failed."""
        return stats.spread(_lowest_failing(one) for one in self.by_block.values())

    @property
    def measured(self) -> bool:
        """Whether no block has a bound."""
        return all(low == high for low, high in map(limits, self.by_block.values()))

    @property
    def limits(self) -> tuple[float, float]:
        """Between which rates the median is; equal where it is measured."""
        return _median([limits(one) for one in self.by_block.values()])

    @property
    def confidence(self) -> str:
        """Whether the median is measured or a bound; in how many blocks its run was inconclusive."""
        if unsure := self.inconclusive:
            return f"inconclusive ({unsure} of {len(self.by_block)})"
        low, high = self.limits
        return MEASURED if low == high else LOWER if low else UPPER

    @property
    def inconclusive(self) -> int:
        """Blocks whose run ended before the limit was known; none where every run failed at its lowest rate."""
        below = all(
            one.highest_passing_per_s is None and one.lowest_failing_per_s for one in self.by_block.values()
        )
        return 0 if below else sum(not one.conclusive for one in self.by_block.values())


def limits(bracket: Bracket, times: float = 1.0) -> tuple[float, float]:
    """Between which rates the maximum sustainable rate is, multiplied; equal where it is measured."""
    low, fail = bracket.highest_passing_per_s, bracket.lowest_failing_per_s
    if low is None:
        return 0.0, math.inf if fail is None else times * fail
    return times * low, times * low if bracket.conclusive and not bracket.lower_bound else math.inf


def compare(one: Capacity, other: Capacity, apart: float) -> Comparison:
    """Block by block, where host and day were the same. apart: ratio that noise does not explain.

    Bounds and inconclusive runs have no order: one of them in any common block leaves the comparison unresolved.
    """
    blocks = one.by_block.keys() & other.by_block.keys()
    pairs = [(limits(one.by_block[block]), limits(other.by_block[block])) for block in blocks]
    if not pairs or any(low != high for pair in pairs for low, high in pair):
        return "not resolved"
    if all(mine > apart * theirs for (mine, _), (theirs, _) in pairs):
        return "more"
    if all(theirs > apart * mine for (mine, _), (theirs, _) in pairs):
        return "less"
    return "within noise"


def cell(found: Capacity, whole: Mapping[int, float] | None = None) -> Cell:
    """The median with its range, each with the sign of its bound: `≥ 2,081 (< 200–≥ 2,177)`.

    whole: by block, what the rate is a share of, in percent.
    """
    between = [
        limits(one, 1.0 if whole is None else 100 / whole[block])
        for block, one in found.by_block.items()
        if whole is None or block in whole
    ]
    if not between:
        return Cell()
    value, sign = _signed(*_median(between))
    if value == math.inf:
        return text(UNKNOWN)
    known = sorted(_signed(low, high) for low, high in between)
    (low, low_sign), (high, high_sign) = known[0], known[-1]
    return Cell(
        figure=Spread(median=value, low=low, high=high, repetitions=len(between)),
        prefix=sign,
        ends=(low_sign, high_sign),
    )


def in_words(found: Capacity) -> str:
    """`≥ 2,100/s, lower bound`."""
    shown = cell(found)
    value = shown.text if shown.figure is None else f"{shown.prefix}{number(shown.figure.median)}/s"
    return f"{value}, {found.confidence}"


def _signed(low: float, high: float) -> tuple[float, str]:
    """The bound that is known, and its sign."""
    return (low, AT_LEAST if high > low else "") if low else (high, BELOW)


def _median(between: Sequence[tuple[float, float]]) -> tuple[float, float]:
    lows, highs = zip(*between, strict=True)
    return statistics.median(lows), statistics.median(highs)


def _lowest_failing(bracket: Bracket) -> float | None:
    """+∞ where every rate passed: left out, the others' median could be below the highest passing rate."""
    passed_all = bracket.lowest_failing_per_s is None and bracket.highest_passing_per_s is not None
    return math.inf if passed_all else bracket.lowest_failing_per_s
