"""Compares cells of every kind by its metrics: with the baseline within blocks, and between suite runs.

Suite runs share no block, so nothing is paired between them: Welch's test on logarithms, Mann and Whitney's ranks. What
the host did between the two suite runs is in the ratio, and no interval knows it.
"""

import itertools
import math
import string
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from writepath.analysis.comparison import (
    FEWEST_PAIRS,
    SAME_PERCENT,
    Estimate,
    Judged,
    Judgement,
    apart,
    judge,
    middle,
    paired,
    unpaired,
)
from writepath.analysis.stats import Spread
from writepath.report import rows
from writepath.report.data import Metric, RowKey, SuiteData
from writepath.report.model import ABSENT, Cell, Column, Report, Row, Table, number, row_of, shown
from writepath.report.rows import Label

R = TypeVar("R")
Key = tuple[str, str, str]  # row, table, column

FEWEST_BLOCKS = FEWEST_REPETITIONS = 2
COLUMNS = (
    rows.VARIANT,
    Column(key="compared_metric", title="metric"),
    Column(key="ratio", title="× baseline"),
    Column(key="pairs", title="pairs", exact=True),
    Column(key="word", title="verdict"),
    Column(key="resolution_percent", title="smallest detectable difference", unit="%"),
    Column(key="because", title="reason"),
)
WORDS = (
    "Faster, slower (CPU: cheaper, more expensive): the 95 % confidence interval, after Holm's correction for all"
    " variants compared in that metric, excludes 1; Wilcoxon's signed-rank test agrees; and the difference exceeds 3 %"
    f" and the difference between the baseline and its A/A control. Same: the whole interval is within"
    f" ±{SAME_PERCENT:.0f} %. Otherwise the difference is not resolved."
)
APART = (
    "These suite runs were made at different times and share no block. Changes of the host between them are part of the"
    " ratio, and the interval does not cover them. A suite with a baseline compares within its blocks."
)
NOISE_COLUMNS = (
    rows.VARIANT,
    Column(key="against_a", title="compared with A"),
    Column(key="noise_metric", title="metric"),
    Column(key="noise_ratio", title="× A"),
    Column(key="noise_runs", title="runs"),
    Column(key="noise_word", title="verdict"),
    Column(key="noise_because", title="reason"),
)
UNTOLD = "One run per side cannot show whether a difference is more than noise; several repetitions of a variant can."
TOLD = "The next table tests which differences exceed noise, for variants with several repetitions on both sides."


class Comparable(Protocol[R]):
    """What a kind of experiment must give to be compared."""

    @property
    def metrics(self) -> Sequence[Metric[R]]:
        """Which differences are judged."""

    def report(self, data: SuiteData[R]) -> Report:
        """Its tables with `compared` are put side by side."""


@dataclass(frozen=True, kw_only=True)
class _Pair(Generic[R]):
    """A comparison of two sides in one metric."""

    title: str  # of the side that is compared
    metric: Metric[R]
    estimate: Estimate
    noise: float | None = None  # as Judgement has it
    noise_spread: float | None = None
    other: str = ""  # name of its suite run


def with_baseline(
    data: SuiteData[R], metrics: Sequence[Metric[R]], label: Label = lambda row: row.title
) -> Table | None:
    """None where the suite has no baseline, or too few blocks for an interval. Weakened controls are not compared.

    With factors the reference is the baseline at the first level of each: that cell has the A/A control.
    """
    base, blocks = reference(data), data.index.repetitions
    if base is None or blocks < FEWEST_BLOCKS:
        return None
    noise = _a_a(data, metrics)
    first, control = by_block(data, base), by_block(data, base, control=True)
    middles = {m.key: middle(_values(m, first), _values(m, control)) for m in metrics}
    others = [row for row in data.rows if row != base and row.variant.naive_twin_of is None]
    pairs = [
        _Pair(
            title=label(row),
            metric=m,
            estimate=paired(_values(m, results), middles[m.key], m.better),
            noise=apart(noise[m.key]),
            noise_spread=noise[m.key].spread,
        )
        for row, results in [(row, by_block(data, row)) for row in others]
        for m in metrics
    ]
    controls = [_Pair(title=f"{base.title}{rows.AGAIN}", metric=m, estimate=noise[m.key]) for m in metrics]
    judged, check = _judged(pairs), _judged(controls)
    body = [_row(pair, found) for pair, found in zip(pairs, judged, strict=True)]
    body += [_row(pair, found, ("different",) * 2) for pair, found in zip(controls, check, strict=True)]
    few = f"With {blocks} blocks no difference can be significant in a rank test: {FEWEST_PAIRS} blocks are needed."
    return Table(
        key="comparison",
        title="Compared with the baseline",
        caption=_caption(base.title, blocks, metrics, check),
        columns=COLUMNS,
        rows=tuple(body),
        notes=(WORDS, few) if blocks < FEWEST_PAIRS else (WORDS,),
    )


def ratio_cell(estimate: Estimate) -> Cell:
    """With its interval, where there is one."""
    ratio, low, high = estimate.ratio, estimate.low, estimate.high
    if ratio is None:
        return Cell()
    if low is None or high is None:
        return Cell(figure=Spread.of_one(ratio))
    return Cell(figure=Spread(median=ratio, low=low, high=high, repetitions=estimate.pairs))


def reference(data: SuiteData[R]) -> RowKey | None:
    """The row that the others are compared with; None without a baseline."""
    return next((row for row in data.rows if row.variant.name == data.index.baseline), None)


def _a_a(data: SuiteData[R], metrics: Sequence[Metric[R]]) -> dict[str, Estimate]:
    """By metric, the baseline's A/A control ÷ its first cell; empty without a baseline."""
    row = reference(data)
    if row is None:
        return {}
    first, control = by_block(data, row), by_block(data, row, control=True)
    return {m.key: paired(_values(m, control), _values(m, first), m.better) for m in metrics}


def by_block(data: SuiteData[R], row: RowKey, *, control: bool = False) -> list[R | None]:
    """The row's result of each block; None where its cell does not count."""
    found = {one.record.block: one.result for one in data.of(row, control=control) if one.counts}
    return [found.get(block) for block in range(1, data.index.repetitions + 1)]


def _values(metric: Metric[R], results: Sequence[R | None]) -> list[float | None]:
    return [None if one is None else metric.get(one) for one in results]


def _judged(pairs: Sequence[_Pair[Any]]) -> list[Judged]:
    """In the given order. A metric is a question of its own: the correction runs over all that are compared in it."""
    found: dict[int, Judged] = {}
    for key in dict.fromkeys(pair.metric.key for pair in pairs):
        own = {index: pair for index, pair in enumerate(pairs) if pair.metric.key == key}
        waiting = [
            Judgement(
                estimate=pair.estimate,
                better=pair.metric.better,
                noise=pair.noise,
                noise_spread=pair.noise_spread,
            )
            for pair in own.values()
        ]
        found |= dict(zip(own, judge(waiting), strict=True))
    return [found[index] for index in range(len(pairs))]


def _worded(judged: Judged, words: tuple[str, str]) -> str:
    """The verdict as people read it. words: for faster and slower."""
    faster, slower = words
    said = {"faster": faster, "slower": slower, "same": f"same within {SAME_PERCENT:.0f} %"}
    return said.get(judged.word, "not resolved")


def _row(pair: _Pair[Any], judged: Judged, words: tuple[str, str] | None = None) -> Row:
    return row_of(
        pair.title,
        pair.metric.title,
        ratio_cell(pair.estimate),
        pair.estimate.pairs,
        _worded(judged, words or pair.metric.words),
        judged.resolution_percent,
        judged.because,
    )


def _caption(title: str, blocks: int, metrics: Sequence[Metric[Any]], check: Sequence[Judged]) -> str:
    """What the table compares, and what it can detect. title: of the baseline; check: of its A/A control."""
    told = [
        f"{metric.title} {number(judged.resolution_percent)} %"
        for metric, judged in zip(metrics, check, strict=True)
        if judged.resolution_percent is not None
    ]
    resolution = (
        f"Smallest differences that {blocks} blocks detect on this host in four of five suites, by the A/A control: "
        + ", ".join(told)
        if told
        else f"Without a valid A/A control the smallest detectable difference is unknown ({ABSENT})"
    )
    return (
        f"Each variant's value ÷ that of {title} in the same block: geometric mean of {blocks} blocks and its 95 %"
        f" confidence interval. {title} runs twice in each block; the second run is the A/A control. The other variants"
        f" are compared with the geometric mean of both. {resolution}."
    )


def compared(
    runs: Sequence[SuiteData[R]], *, labels: Sequence[str] = (), kind: Comparable[R]
) -> tuple[Table, ...]:
    """The table of values, that of differences beyond noise if there are repetitions, and that of settings.

    labels: of the runs; none: their stamps. kind: of all of them.
    """
    names = [
        f"{letter} {name}"
        for letter, name in zip(letters(len(runs)), labels or [one.index.stamp for one in runs], strict=True)
    ]
    reports = [kind.report(one) for one in runs]
    told = _more_than_noise(runs, names, kind.metrics)
    figures = _figures(runs, names, reports, TOLD if told else UNTOLD)
    return (figures, *([told] if told else []), _settings(reports, names))


def letters(number: int) -> tuple[str, ...]:
    """Names of the suite runs of a comparison: A to Z, then AA, AB and so on."""
    lengths = (itertools.product(string.ascii_uppercase, repeat=length) for length in itertools.count(1))
    return tuple("".join(name) for name in itertools.islice(itertools.chain.from_iterable(lengths), number))


def _figures(
    runs: Sequence[SuiteData[R]], names: Sequence[str], reports: Sequence[Report], note: str
) -> Table:
    first, *others = [dict(_cells(report)) for report in reports]
    columns = [rows.VARIANT, Column(key="compared_figure", title="metric")]
    for at, name in enumerate(names):
        letter = name.partition(" ")[0]
        columns.append(Column(key=letter.lower(), title=name))
        if at:
            columns.append(Column(key=f"{letter.lower()}_percent", title=f"{letter} versus A", unit="%"))
    body = []
    for key, (cell, column) in first.items():
        there = [other.get(key, (Cell(), column))[0] for other in others]
        if any(one.figure and cell.figure and one.figure.median != cell.figure.median for one in there):
            values = itertools.chain.from_iterable((shown(one, column), _percent(cell, one)) for one in there)
            body.append(row_of(key[0], column.header, shown(cell, column), *values))
    titles = [[row.title for row in one.rows] for one in runs]
    only = [one for one in dict.fromkeys(itertools.chain(*titles)) if not all(one in own for own in titles)]
    return Table(
        key="compare",
        title="Side by side",
        caption=" ".join(
            f"{name.partition(' ')[0]}: {one.index.suite} {one.index.stamp}."
            for name, one in zip(names, runs, strict=True)
        ),
        columns=tuple(columns),
        rows=tuple(body),
        notes=(
            *([f"Not in every suite run: {', '.join(only)}."] if only else []),
            "Metrics with the same value everywhere are omitted.",
            note,
        ),
    )


def _cells(report: Report) -> Iterator[tuple[Key, tuple[Cell, Column]]]:
    for table in (table for table in report.tables if table.compared):
        for row in table.rows:
            names = [shown(*pair) for pair in zip(row.cells, table.columns[: table.names], strict=False)]
            name = ", ".join([names[0].removesuffix(f" {rows.DAGGER}"), *names[1:]])
            for column, cell in zip(table.columns[table.names :], row.cells[table.names :], strict=True):
                if cell.figure is not None:
                    yield (name, table.key, column.key), (cell, column)


def _percent(a: Cell, b: Cell) -> float | None:
    if a.figure is None or b.figure is None or not a.figure.median:
        return None
    percent = (b.figure.median / a.figure.median - 1) * 100
    return percent if math.isfinite(percent) else None


def _more_than_noise(
    runs: Sequence[SuiteData[R]], names: Sequence[str], metrics: Sequence[Metric[R]]
) -> Table | None:
    """None where no row has several repetitions that count on both sides."""
    pairs = list(_pairs(runs, names, metrics))
    if not pairs:
        return None
    body = [
        row_of(
            pair.title,
            pair.other,
            pair.metric.title,
            ratio_cell(pair.estimate),
            f"at least {pair.estimate.compared} per side" if pair.estimate.compared else "none",
            _worded(word, pair.metric.words),
            word.because,
        )
        for pair, word in zip(pairs, _judged(pairs), strict=True)
    ]
    return Table(
        key="compare_noise",
        title="Which differences are more than noise",
        caption="Ratio of geometric means with its 95 % confidence interval (Welch's test on logarithms), checked by"
        " the Mann-Whitney rank test, with Holm's correction for all rows of a metric. Verdicts mean the same as in the"
        " comparison with a baseline.",
        columns=NOISE_COLUMNS,
        rows=tuple(body),
        notes=(APART,),
    )


def _pairs(
    runs: Sequence[SuiteData[R]], names: Sequence[str], metrics: Sequence[Metric[R]]
) -> Iterator[_Pair[R]]:
    """Rows of the first run against those of the others; noise: of both A/A controls the one farther apart."""
    controls = [_a_a(one, metrics) for one in runs]
    for row in runs[0].rows:
        mine = _counting(runs[0], row)
        for other, name, control in zip(runs[1:], names[1:], controls[1:], strict=True):
            theirs = _counting(other, row)
            if min(len(mine), len(theirs)) < FEWEST_REPETITIONS:
                continue
            for m in metrics:
                noise = [apart(own[m.key]) for own in (controls[0], control) if own]
                yield _Pair(
                    title=row.title,
                    other=name,
                    metric=m,
                    estimate=unpaired(_values(m, theirs), _values(m, mine), m.better),
                    noise=max((one for one in noise if one is not None), default=None),
                )


def _counting(data: SuiteData[R], row: RowKey) -> list[R]:
    """Of the same variant at the same levels, whatever its settings are."""
    own = [one for one in data.rows if (one.variant.name, one.levels) == (row.variant.name, row.levels)]
    return [result for one in own for result in by_block(data, one) if result is not None]


def _settings(reports: Sequence[Report], names: Sequence[str]) -> Table:
    facts = [_facts(one) for one in reports]
    body = [
        row_of(fact, *(one.get(fact, ABSENT) for one in facts))
        for fact in dict.fromkeys(fact for one in facts for fact in one)
        if len({one.get(fact) for one in facts}) > 1
    ]
    runs = [Column(key=f"{name.partition(' ')[0].lower()}_setting", title=name) for name in names]
    return Table(
        key="compare_settings",
        title="Settings that differ",
        caption="All facts of the fingerprints that differ." if body else "None: the fingerprints are equal.",
        columns=(Column(key="compared_setting", title="setting"), *runs),
        rows=tuple(body),
    )


def _facts(report: Report) -> dict[str, str]:
    found = defaultdict(list)
    for row in (row for table in report.tables if table.key == "fingerprint" for row in table.rows):
        group, fact, value, variants = (cell.text or "" for cell in row.cells)
        if (group, fact) != ("suite", "name"):
            where = "" if variants == "all" else f" ({variants})"
            found[f"{group}: {fact}{where}"].append(value)
    return {fact: "; ".join(values) for fact, values in found.items()}
