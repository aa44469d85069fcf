"""What each factor of a suite changes: a linear model of logarithms with blocks, its contrasts and its variance.

The value of a cell is a product: of its block, of the level of each factor, and of each pair of levels where they do
not act apart from each other. So the model is of logarithms, and an effect is a ratio. A run is the unit.
"""

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from writepath.analysis.stats import Floats, Spread, spread

Words = NDArray[Any]  # a level of each cell

BLOCK, VALUE = "block", "y"
SIGNIFICANT = 0.05  # after Holm's correction for all effects and interactions of one metric
CONFIDENCE = 0.95
LEAST = 0.01  # less is never called an effect, however sure the interval
FEWEST_BLOCKS = 2
PAIR = 2  # values that are shown themselves


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The value of one cell in one block."""

    block: int
    levels: Mapping[str, str]  # by factor
    value: float | None


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A level against the first one of its factor, over all levels of the others: a share, 0.03 is 3 % more."""

    level: str
    share: float
    low: float  # of the 95 % interval
    high: float


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Of a factor, or of two factors together beyond what each does alone."""

    factors: tuple[str, ...]
    contrasts: tuple[Contrast, ...]  # of a factor; none of an interaction
    largest: float  # share: of the contrasts, or by which a pair of levels differs from the product of both
    p: float  # corrected
    measurable: bool


@dataclass(frozen=True, kw_only=True)
class Effects:
    """All of one metric."""

    effects: tuple[Effect, ...]  # main effects, then interactions
    same: float | None  # largest share by which two runs of one cell in a block differ; None: no A/A control
    without: str = ""  # in words, why there are no interactions


def interval(values: Sequence[float | None]) -> Spread | None:
    """Mean of the blocks and its 95 % interval (Student's t); of two values both, of one that one; None of none.

    Of two values that interval is 13 times as wide as they are apart: it would say less than they do.
    """
    from scipy import stats  # noqa: PLC0415 - half a second to load

    known = [float(value) for value in values if value is not None]
    if not np.isfinite(known).all():
        return None
    if len(known) <= PAIR:
        return spread(known)  # the median of two values is their mean
    mean = float(np.mean(known))
    half = float(
        stats.t.ppf((1 + CONFIDENCE) / 2, len(known) - 1) * np.std(known, ddof=1) / math.sqrt(len(known))
    )
    return Spread(median=mean, low=mean - half, high=mean + half, repetitions=len(known))


def apart(values: Sequence[float | None], again: Sequence[float | None]) -> float | None:
    """The largest share by which two runs of the same cell differ in one block; None where no block has both."""
    ratios = [
        abs(math.log(b / a)) for a, b in zip(values, again, strict=True) if a and b and math.isfinite(a * b)
    ]
    return math.expm1(max(ratios)) if ratios else None


def effects(
    seen: Sequence[Observation], factors: Mapping[str, Sequence[str]], same: float | None
) -> Effects | None:
    """None where there are too few values. factors: by name, the levels in order; same: of apart().

    An effect is measurable where its p is below 5 % and its size exceeds what two runs of one cell differ by.
    """
    known = [one for one in seen if one.value is not None and one.value > 0 and math.isfinite(one.value)]
    ran = {
        name: [level for level in levels if any(one.levels[name] == level for one in known)]
        for name, levels in factors.items()
    }
    varied = {name: levels for name, levels in ran.items() if len(levels) > 1}
    if not varied or len({one.block for one in known}) < FEWEST_BLOCKS:
        return None
    combinations = {tuple(one.levels[name] for name in varied) for one in known}
    whole = len(combinations) == math.prod(map(len, varied.values()))
    found = _fitted(known, varied, interactions=whole and len(varied) > 1)
    if found is None:
        return None
    few = "" if whole else "some cells have no value, so interactions cannot be estimated"
    return replace(_judged(found, same), without=few)


def _fitted(
    seen: Sequence[Observation], factors: Mapping[str, Sequence[str]], *, interactions: bool
) -> Effects | None:
    """With p as the analysis of variance gives it; None where nothing is left to estimate noise from."""
    import pandas as pd  # noqa: PLC0415 - two seconds to load, for one table of a report
    from statsmodels.formula import api  # noqa: PLC0415
    from statsmodels.stats.anova import anova_lm  # noqa: PLC0415

    columns = {name: f"f{place}" for place, name in enumerate(factors)}  # any name, in a formula
    table = pd.DataFrame(
        {
            VALUE: [math.log(one.value or math.nan) for one in seen],
            BLOCK: [f"b{one.block}" for one in seen],
            **{short: [one.levels[name] for one in seen] for name, short in columns.items()},
        }
    )
    terms = {short: f"C({short}, Sum)" for short in columns.values()}
    power = "**2" if interactions else ""
    formula = f"{VALUE} ~ C({BLOCK}, Sum) + ({' + '.join(terms.values())}){power}"
    fit = api.ols(formula, table).fit()
    if fit.df_resid < 1:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a perfect fit, whose p is 0
        variance = anova_lm(fit, typ=2)
    grid = pd.DataFrame(itertools.product(*factors.values()), columns=list(columns.values()))
    grid[BLOCK] = table[BLOCK].iloc[0]
    logs = np.asarray(fit.predict(grid), np.float64)
    made = []
    for name, short in columns.items():
        contrasts = tuple(_contrasts(fit, terms[short], factors[name]))
        largest = max(abs(one.share) for one in contrasts)
        made.append(_effect((name,), contrasts, largest, float(variance["PR(>F)"][terms[short]])))
    for (one, a), (other, b) in itertools.combinations(columns.items(), 2) if interactions else ():
        p = float(variance["PR(>F)"][f"{terms[a]}:{terms[b]}"])
        largest = _departure(logs, np.asarray(grid[a]), np.asarray(grid[b]))
        made.append(_effect((one, other), (), largest, p))
    return Effects(effects=tuple(made), same=None)


def _effect(factors: tuple[str, ...], contrasts: tuple[Contrast, ...], largest: float, p: float) -> Effect:
    """Uncorrected; a p that cannot be had, of values without any noise or difference, is 1."""
    known = 1.0 if math.isnan(p) else p
    return Effect(factors=factors, contrasts=contrasts, largest=largest, p=known, measurable=False)


def _contrasts(fit: Any, term: str, levels: Sequence[str]) -> Iterator[Contrast]:
    """Each level against the first. Coded to a sum of 0, a factor's own parameters are means over all others."""
    names = [*fit.params.index]
    of_term = [name for name in names if name.startswith(f"{term}[") and ":C(" not in name]

    def weights(level: str) -> Floats:
        """Of the parameters; the level without one is minus the sum of the others."""
        own = f"{term}[S.{level}]"
        weight = {own: 1.0} if own in of_term else dict.fromkeys(of_term, -1.0)
        return np.array([weight.get(name, 0.0) for name in names])

    for level in levels[1:]:
        test = fit.t_test(weights(level) - weights(levels[0]))
        low, high = np.asarray(test.conf_int(alpha=1 - CONFIDENCE)).ravel()
        share = float(np.expm1(np.asarray(test.effect).item()))
        yield Contrast(level=level, share=share, low=float(np.expm1(low)), high=float(np.expm1(high)))


def _departure(logs: Floats, one: Words, other: Words) -> float:
    """The largest share by which a pair of levels differs from the product of both. logs: fitted, of every cell."""
    mean, largest = float(logs.mean()), 0.0
    for a, b in itertools.product(dict.fromkeys(one), dict.fromkeys(other)):
        alone = logs[one == a].mean() + logs[other == b].mean() - mean
        largest = max(largest, abs(float(logs[(one == a) & (other == b)].mean() - alone)))
    return math.expm1(largest)


def _judged(found: Effects, same: float | None) -> Effects:
    """With p after Holm's correction, and a word: what two runs of one cell differ by is no effect."""
    order = sorted(range(len(found.effects)), key=lambda place: found.effects[place].p)
    corrected, highest = dict[int, float](), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, found.effects[place].p * (len(order) - rank)))
        corrected[place] = highest
    least = max(LEAST, same or 0.0)
    judged = tuple(
        replace(one, p=corrected[place], measurable=corrected[place] < SIGNIFICANT and one.largest > least)
        for place, one in enumerate(found.effects)
    )
    return replace(found, effects=judged, same=same)
