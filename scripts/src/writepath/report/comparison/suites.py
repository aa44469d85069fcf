"""Compares suite runs: their figures in per cent of the first, which differences are more than noise, their settings.

The runs share no block, so nothing is paired: Welch's test on logarithms, Mann and Whitney's ranks. What the host did
between the two suite runs is in the ratio, and no interval knows it.
"""

from __future__ import annotations

import itertools
import math
import string
from typing import TYPE_CHECKING, Protocol, TypeVar

from writepath.analysis.comparison import Judgement, apart, unpaired
from writepath.analysis.stats import Spread
from writepath.report import rows
from writepath.report.comparison.baseline import a_a, by_block, judge_by_metric, ratio_cell, values, worded
from writepath.report.model import ABSENT, Cell, Column, Row, Table, shown, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.analysis.comparison import Estimate
    from writepath.report.data import RowKey, SuiteData
    from writepath.report.metrics import Metric
    from writepath.report.model import Report

    Found = dict[tuple[str, str, str], tuple[Cell, Column]]  # by (row, table, column)

R = TypeVar("R")

FEWEST_REPETITIONS = 2
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


def compared(
    runs: Sequence[SuiteData[R]], *, labels: Sequence[str] = (), kind: Comparable[R]
) -> tuple[Table, ...]:
    """The table of values, that of differences beyond noise if there are repetitions, and that of settings.

    labels: of the runs; none: their stamps. kind: of all of them.
    """
    names = list(labels) or [one.index.stamp for one in runs]
    reports = [kind.report(one) for one in runs]
    told = _more_than_noise(runs, names, kind.metrics)
    figures = _figures(runs, names, reports, told=told is not None)
    return (figures, *([told] if told is not None else []), _settings(reports, names))


def letters(number: int) -> tuple[str, ...]:
    """Names of the suite runs of a comparison: A to Z, then AA, AB and so on."""
    names = (
        "".join(name)
        for length in itertools.count(1)
        for name in itertools.product(string.ascii_uppercase, repeat=length)
    )
    return tuple(itertools.islice(names, number))


def _figures(
    runs: Sequence[SuiteData[R]], names: Sequence[str], reports: Sequence[Report], *, told: bool
) -> Table:
    first, *others = [dict(_cells(report)) for report in reports]
    body = [
        _row(key, first, others)
        for key in first
        if any(key in other and not _equal(first[key][0], other[key][0]) for other in others)
    ]
    notes = ["Metrics with the same value everywhere are omitted.", TOLD if told else UNTOLD]
    if only := _not_in_all(runs):
        notes.insert(0, f"Not in every suite run: {', '.join(only)}.")
    return Table(
        key="compare",
        title="Side by side",
        caption=" ".join(
            f"{letter}: {one.index.suite} {one.index.stamp}."
            for letter, one in zip(letters(len(runs)), runs, strict=True)
        ),
        columns=_figure_columns(names),
        rows=tuple(body),
        notes=tuple(notes),
    )


def _figure_columns(names: Sequence[str]) -> tuple[Column, ...]:
    columns = [
        rows.VARIANT,
        Column(key="compared_figure", title="metric"),
        Column(key="a", title=f"A {names[0]}"),
    ]
    for letter, name in zip(letters(len(names))[1:], names[1:], strict=True):
        columns.append(Column(key=letter.lower(), title=f"{letter} {name}"))
        columns.append(Column(key=f"{letter.lower()}_percent", title=f"{letter} versus A", unit="%"))
    return tuple(columns)


def _row(key: tuple[str, str, str], first: Found, others: Sequence[Found]) -> Row:
    cell, column = first[key]
    cells = [text(key[0]), text(column.header), text(shown(cell, column))]
    for other in others:
        there = other[key][0] if key in other else Cell()
        cells += [text(shown(there, column)), _percent(cell, there)]
    return Row(cells=tuple(cells))


def _not_in_all(runs: Sequence[SuiteData[R]]) -> list[str]:
    every = [{row.title for row in one.rows} for one in runs]
    titles = dict.fromkeys(row.title for one in runs for row in one.rows)
    return [title for title in titles if not all(title in own for own in every)]


def _cells(report: Report) -> Iterator[tuple[tuple[str, str, str], tuple[Cell, Column]]]:
    for table in report.tables:
        if not table.compared:
            continue
        for row in table.rows:
            names = [shown(*pair) for pair in zip(row.cells, table.columns[: table.names], strict=False)]
            name = ", ".join([names[0].removesuffix(f" {rows.DAGGER}"), *names[1:]])
            for column, cell in zip(table.columns[table.names :], row.cells[table.names :], strict=True):
                if cell.figure is not None:
                    yield (name, table.key, column.key), (cell, column)


def _equal(a: Cell, b: Cell) -> bool:
    return a.figure is not None and b.figure is not None and a.figure.median == b.figure.median


def _percent(a: Cell, b: Cell) -> Cell:
    if a.figure is None or b.figure is None or not a.figure.median:
        return Cell()
    percent = (b.figure.median / a.figure.median - 1) * 100
    if not math.isfinite(percent):
        return Cell()
    return Cell(figure=Spread(median=percent, low=percent, high=percent, repetitions=1))


def _more_than_noise(
    runs: Sequence[SuiteData[R]], names: Sequence[str], metrics: Sequence[Metric[R]]
) -> Table | None:
    """None where no row has several repetitions that count on both sides."""
    pairs = list(_pairs(runs, names, metrics))
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
                text(title),
                text(name),
                text(metric.title),
                ratio_cell(estimate),
                text(f"at least {estimate.compared} per side" if estimate.compared else "none"),
                text(worded(metric, word)),
                text(word.because),
            )
        )
        for (title, name, metric, estimate, _), word in zip(pairs, judged, strict=True)
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
) -> Iterator[tuple[str, str, Metric[R], Estimate, float | None]]:
    """Title, name of the other run, metric, its estimate and the noise."""
    first, *others = runs
    controls = [a_a(one, metrics) for one in runs]
    for row in first.rows:
        mine = _counting(first, row)
        for letter, name, other, control in zip(
            letters(len(runs))[1:], names[1:], others, controls[1:], strict=True
        ):
            theirs = _counting(other, row)
            if min(len(mine), len(theirs)) < FEWEST_REPETITIONS:
                continue
            for metric in metrics:
                estimate = unpaired(values(metric, theirs), values(metric, mine), metric.better)
                noise = _noise(metric, controls[0], control)
                yield row.title, f"{letter} {name}", metric, estimate, noise


def _counting(data: SuiteData[R], row: RowKey) -> list[R]:
    """Of the same variant at the same levels, whatever its settings are."""
    own = [one for one in data.rows if (one.variant.name, one.levels) == (row.variant.name, row.levels)]
    return [result for one in own for result in by_block(data, one) if result is not None]


def _noise(metric: Metric[R], *controls: dict[str, Estimate]) -> float | None:
    """Of their A/A controls, the one farther apart."""
    distances = [apart(own[metric.key]) for own in controls if own]
    return max((one for one in distances if one is not None), default=None)


def _settings(reports: Sequence[Report], names: Sequence[str]) -> Table:
    facts = [_facts(one) for one in reports]
    body = [
        Row(cells=(text(fact), *(text(one.get(fact, ABSENT)) for one in facts)))
        for fact in dict.fromkeys(fact for one in facts for fact in one)
        if len({one.get(fact) for one in facts}) > 1
    ]
    return Table(
        key="compare_settings",
        title="Settings that differ",
        caption="All facts of the fingerprints that differ." if body else "None: the fingerprints are equal.",
        columns=(
            Column(key="compared_setting", title="setting"),
            *(
                Column(key=f"{letter.lower()}_setting", title=f"{letter} {name}")
                for letter, name in zip(letters(len(names)), names, strict=True)
            ),
        ),
        rows=tuple(body),
    )


def _facts(report: Report) -> dict[str, str]:
    """The lines of its fingerprint."""
    found: dict[str, list[str]] = {}
    for row in (row for table in report.tables if table.key == "fingerprint" for row in table.rows):
        group, fact, value, variants = (cell.text or "" for cell in row.cells)
        if (group, fact) == ("suite", "name"):
            continue
        where = "" if variants == "all" else f" ({variants})"
        found.setdefault(f"{group}: {fact}{where}", []).append(value)
    return {fact: "; ".join(values) for fact, values in found.items()}
