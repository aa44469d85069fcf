"""Which differences between suite runs are more than noise? Where a variant has several repetitions on both sides.

The runs share no block, so nothing is paired: Welch's test on logarithms, Mann and Whitney's ranks. What the host did
between the two suite runs is in the ratio, and no interval knows it.
"""

from __future__ import annotations

import itertools
import string
from typing import TYPE_CHECKING

from writepath.comparison import Judgement, apart, unpaired
from writepath.report import rows
from writepath.report.comparison_table import (
    METRICS,
    a_a,
    by_block,
    judge_by_metric,
    ratio_cell,
    values,
    worded,
)
from writepath.report.model import Column, Row, Table, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.comparison import Estimate
    from writepath.report.comparison_table import Metric
    from writepath.report.figures import Figures, SuiteFigures
    from writepath.result import SuiteVariant

    Pair = tuple[SuiteVariant, str, Metric, Estimate, float | None]  # the name is the other run's

FEWEST_REPETITIONS = 2
APART = (
    "These suite runs were made at different times and share no block. Changes of the host between them are part of the"
    " ratio, and the interval does not cover them. A suite with a baseline compares within its blocks."
)
COLUMNS = (
    rows.VARIANT,
    Column(key="against_a", title="compared with A"),
    Column(key="noise_metric", title="metric"),
    Column(key="noise_ratio", title="× A"),
    Column(key="noise_runs", title="runs"),
    Column(key="noise_word", title="verdict"),
    Column(key="noise_because", title="reason"),
)


def letters(number: int) -> tuple[str, ...]:
    """Names of the suite runs of a comparison: A to Z, then AA, AB and so on."""
    names = (
        "".join(name)
        for length in itertools.count(1)
        for name in itertools.product(string.ascii_uppercase, repeat=length)
    )
    return tuple(itertools.islice(names, number))


def more_than_noise(runs: Sequence[SuiteFigures], names: Sequence[str]) -> Table | None:
    """None where no variant has several repetitions that count on both sides."""
    pairs = list(_pairs(runs, names))
    if not pairs:
        return None
    judged = judge_by_metric(
        [
            (metric, Judgement(estimate=estimate, better=metric.better, noise=noise))
            for _, _, metric, estimate, noise in pairs
        ]
    )
    body = [
        Row(
            cells=(
                text(variant.title),
                text(name),
                text(metric.title),
                ratio_cell(estimate),
                text(f"at least {estimate.compared} per side" if estimate.compared else "none"),
                text(worded(metric, word)),
                text(word.because),
            )
        )
        for (variant, name, metric, estimate, _), word in zip(pairs, judged, strict=True)
    ]
    return Table(
        key="compare_noise",
        title="Which differences are more than noise",
        caption="Ratio of geometric means with its 95 % confidence interval (Welch's test on logarithms), checked by"
        " the Mann-Whitney rank test, with Holm's correction for all rows of a metric. Verdicts mean the same as in the"
        " comparison with a baseline.",
        columns=COLUMNS,
        rows=tuple(body),
        notes=(APART,),
    )


def _pairs(runs: Sequence[SuiteFigures], names: Sequence[str]) -> Iterator[Pair]:
    first, *others = runs
    for variant in first.suite.variants:
        mine = _counting(first, variant.name)
        for letter, name, other in zip(letters(len(runs))[1:], names[1:], others, strict=True):
            theirs = _counting(other, variant.name)
            if min(len(mine), len(theirs)) < FEWEST_REPETITIONS:
                continue
            for metric in METRICS:
                estimate = unpaired(values(metric, theirs), values(metric, mine), metric.better)
                yield variant, f"{letter} {name}", metric, estimate, _noise(metric, first, other)


def _counting(figures: SuiteFigures, variant: str) -> list[Figures]:
    return [run for run in by_block(figures, variant) if run is not None]


def _noise(metric: Metric, *runs: SuiteFigures) -> float | None:
    """Of their A/A pairs, the one farther apart."""
    distances = [apart(pair[metric.key]) for pair in map(a_a, runs) if pair]
    return max((one for one in distances if one is not None), default=None)
