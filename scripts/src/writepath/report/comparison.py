"""Compares cells of every kind: with the baseline within blocks by its metrics, and the tables of suite runs."""

import itertools
import math
import string
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from writepath.analysis.comparison import FEWEST_PAIRS, SAME_PERCENT, Estimate, Judged, judge, middle, paired
from writepath.analysis.stats import Spread, spread
from writepath.report import rows
from writepath.report.data import Metric, RowKey, SuiteData
from writepath.report.model import ABSENT, Cell, Column, Report, Table, number, row_of, shown
from writepath.report.rows import Label, field

R = TypeVar("R")
Key = tuple[str, str, str]  # row, table, column

FEWEST_BLOCKS = 2
LETTERS = len(string.ascii_uppercase)


class Line(NamedTuple):
    """Of the table: a variant in one metric."""

    row: RowKey
    variant: str
    metric: str
    words: tuple[str, str]  # for faster and slower
    judged: Judged


FIELDS: tuple[rows.Field[Line], ...] = (
    field("variant", "variant", lambda line: line.variant),
    field("compared_metric", "metric", lambda line: line.metric),
    field("ratio", "× baseline", lambda line: ratio_cell(line.judged.estimate)),
    field("pairs", "pairs", lambda line: line.judged.estimate.pairs, exact=True),
    field("word", "verdict", lambda line: line.judged.in_words(*line.words)),
    field(
        "resolution_percent",
        "smallest detectable difference",
        lambda line: line.judged.resolution_percent,
        "%",
    ),
    field("because", "reason", lambda line: line.judged.because),
)
WORDS = (
    "Faster, slower (CPU: cheaper, more expensive): the 95 % confidence interval, after Holm's correction for all"
    " variants compared in that metric, excludes 1; Wilcoxon's signed-rank test agrees; and the difference exceeds 3 %"
    f" and the difference between the baseline and its A/A control. Same: the whole interval is within"
    f" ±{SAME_PERCENT:.0f} %. Otherwise the difference is not resolved."
)
APART = (
    "These suite runs were made at different times and share no block: changes of the host between them are part of"
    " each difference, and ranges that overlap may be noise. A suite with a baseline compares within its blocks."
)


def with_baseline(
    data: SuiteData[R], metrics: Sequence[Metric[R]], label: Label = lambda row: row.title
) -> Table | None:
    """None where the suite has no baseline, or too few blocks for an interval. Weakened controls are not compared.

    With factors the reference is the baseline at those levels that have the A/A control. A metric is a
    question of its own: the correction runs over all variants that are compared in it.
    """
    base, blocks = reference(data), data.index.repetitions
    if base is None or blocks < FEWEST_BLOCKS:
        return None
    first, control = by_block(data, base), by_block(data, base, control=True)
    others = [row for row in data.rows if row != base and row.variant.naive_twin_of is None]
    results = [by_block(data, row) for row in others]
    by_metric, checks, detected = list[list[Line]](), list[Line](), list[str]()
    for metric in metrics:
        mine, again = _values(metric, first), _values(metric, control)
        a_a = paired(again, mine, metric.better)
        both = middle(mine, again)
        estimates = [paired(_values(metric, own), both, metric.better) for own in results]
        judged = judge(estimates, metric.better, a_a)
        found = zip(others, judged, strict=True)
        by_metric.append([Line(row, label(row), metric.title, metric.words, one) for row, one in found])
        (check,) = judge([a_a], metric.better)
        words = ("different", "different")
        checks.append(Line(base, f"{base.title}{rows.AGAIN}", metric.title, words, check))
        if check.resolution_percent is not None:
            detected.append(f"{metric.title} {number(check.resolution_percent)} %")
    few = f"With {blocks} blocks no difference can be significant in a rank test: {FEWEST_PAIRS} blocks are needed."
    return rows.table(
        "comparison",
        "Compared with the baseline",
        _caption(base.title, blocks, detected),
        FIELDS,
        (*itertools.chain.from_iterable(zip(*by_metric, strict=True)), *checks),
        notes=(WORDS, few) if blocks < FEWEST_PAIRS else (WORDS,),
    )


def _caption(title: str, blocks: int, detected: Sequence[str]) -> str:
    """What the table compares, and what it can detect. title: of the baseline; detected: by metric."""
    resolution = (
        f"Smallest differences that {blocks} blocks detect on this host in four of five suites, by the A/A control: "
        + ", ".join(detected)
        if detected
        else f"Without a valid A/A control the smallest detectable difference is unknown ({ABSENT})"
    )
    return (
        f"Each variant's value ÷ that of {title} in the same block: geometric mean of {blocks} blocks and its 95 %"
        f" confidence interval. {title} runs twice in each block; the second run is the A/A control. The other variants"
        f" are compared with the geometric mean of both. {resolution}."
    )


def ratio_cell(estimate: Estimate) -> Cell:
    """With its interval, where there is one."""
    ratio, low, high = estimate.ratio, estimate.low, estimate.high
    if ratio is None:
        return Cell()
    if low is None or high is None:
        return Cell(figure=spread([ratio]))
    return Cell(figure=Spread(median=ratio, low=low, high=high, repetitions=estimate.pairs))


def reference(data: SuiteData[R]) -> RowKey | None:
    """The row that the others are compared with: the one with the A/A control, else the baseline's first.

    None without a baseline.
    """
    own = [row for row in data.rows if row.variant.name == data.index.baseline]
    return next((row for row in own if data.of(row, control=True)), own[0] if own else None)


def by_block(data: SuiteData[R], row: RowKey, *, control: bool = False) -> list[R | None]:
    """The row's result of each block; None where its cell does not count."""
    found = {one.record.block: one.result for one in data.of(row, control=control) if one.counts}
    return [found.get(block) for block in range(1, data.index.repetitions + 1)]


def _values(metric: Metric[R], results: Sequence[R | None]) -> list[float | None]:
    return [None if one is None else metric.get(one) for one in results]


def compared(
    runs: Sequence[SuiteData[R]], report: Callable[[SuiteData[R]], Report], labels: Sequence[str] = ()
) -> tuple[Table, Table]:
    """The tables with `compared` side by side, and the settings that differ.

    report: of their kind. labels: of the runs; none: their stamps.
    """
    letters = [string.ascii_uppercase[at] if at < LETTERS else f"R{at + 1}" for at in range(len(runs))]
    names = labels or [one.index.stamp for one in runs]
    titles = {letter: f"{letter} {name}" for letter, name in zip(letters, names, strict=True)}
    reports = [report(one) for one in runs]
    return _figures(runs, titles, reports), _settings(titles, reports)


def _figures(runs: Sequence[SuiteData[R]], titles: Mapping[str, str], reports: Sequence[Report]) -> Table:
    columns = [rows.VARIANT, Column(key="compared_figure", title="metric")]
    for place, (letter, title) in enumerate(titles.items()):
        columns.append(Column(key=letter.lower(), title=title))
        if place:
            columns.append(Column(key=f"{letter.lower()}_percent", title=f"{letter} versus A", unit="%"))
    first, *others = [dict(_cells(report)) for report in reports]
    body = []
    for key, (cell, column) in first.items():
        there = [other.get(key, (Cell(), column))[0] for other in others]
        if any(one.figure and cell.figure and one.figure.median != cell.figure.median for one in there):
            values = itertools.chain.from_iterable((shown(one, column), _percent(cell, one)) for one in there)
            body.append(row_of(key[0], column.header, shown(cell, column), *values))
    ran = [[row.title for row in one.rows] for one in runs]
    only = [one for one in dict.fromkeys(itertools.chain(*ran)) if not all(one in own for own in ran)]
    suites = zip(titles, (one.index for one in runs), strict=True)
    return Table(
        key="compare",
        title="Side by side",
        caption=" ".join(f"{letter}: {index.suite} {index.stamp}." for letter, index in suites),
        columns=tuple(columns),
        rows=tuple(body),
        notes=(
            *([f"Not in every suite run: {', '.join(only)}."] if only else []),
            "Metrics with the same value everywhere are omitted.",
            APART,
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


def _settings(titles: Mapping[str, str], reports: Sequence[Report]) -> Table:
    facts = [_facts(one) for one in reports]
    body = [
        row_of(fact, *(one.get(fact, ABSENT) for one in facts))
        for fact in dict.fromkeys(itertools.chain.from_iterable(facts))
        if len({one.get(fact) for one in facts}) > 1
    ]
    runs = [Column(key=f"{letter.lower()}_setting", title=title) for letter, title in titles.items()]
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
