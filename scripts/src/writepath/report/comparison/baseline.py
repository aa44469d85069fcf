"""Compares the rows of a suite with its baseline, block by block, and judges what exceeds the noise of the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from writepath.analysis.comparison import FEWEST_PAIRS, SAME_PERCENT, Judgement, apart, judge, middle, paired
from writepath.analysis.stats import Spread
from writepath.report import rows
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, number, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.analysis.comparison import Estimate, Judged
    from writepath.report.data import RowKey, SuiteData
    from writepath.report.metrics import Metric
    from writepath.report.rows import Label

R = TypeVar("R")

FEWEST_BLOCKS = 2
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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Blocks(Generic[R]):
    """The reference row's results by block, and its A/A control's."""

    row: RowKey
    first: Sequence[R | None]
    control: Sequence[R | None]
    estimates: dict[str, Estimate]  # control ÷ first, by metric


def with_baseline(
    data: SuiteData[R], metrics: Sequence[Metric[R]], label: Label = lambda row: row.title
) -> Table | None:
    """None where the suite has no baseline, or too few blocks for an interval.

    With factors the reference is the baseline at the first level of each: that cell has the A/A control.
    """
    row = reference(data)
    if row is None or data.index.repetitions < FEWEST_BLOCKS:
        return None
    base = _reference_blocks(data, row, metrics)
    body = _rows(data, base, metrics, label)
    check = judge_by_metric(
        [(m, Judgement(estimate=base.estimates[m.key], better=m.better)) for m in metrics]
    )
    title = f"{row.title}{rows.AGAIN}"
    for metric, judged in zip(metrics, check, strict=True):
        different = ("different", "different")
        body.append(table_row(title, metric, base.estimates[metric.key], judged, different=different))
    return Table(
        key="comparison",
        title="Compared with the baseline",
        caption=caption(row.title, data.index.repetitions, metrics, check),
        columns=COLUMNS,
        rows=tuple(body),
        notes=(WORDS, *few(data.index.repetitions)),
    )


def reference(data: SuiteData[R]) -> RowKey | None:
    """The row that the others are compared with; None without a baseline."""
    return next((row for row in data.rows if row.variant.name == data.index.baseline), None)


def a_a(data: SuiteData[R], metrics: Sequence[Metric[R]]) -> dict[str, Estimate]:
    """By metric, the baseline's A/A control ÷ its first cell; empty without a baseline."""
    row = reference(data)
    return {} if row is None else _reference_blocks(data, row, metrics).estimates


def by_block(data: SuiteData[R], row: RowKey, *, control: bool = False) -> list[R | None]:
    """The row's result of each block; None where its cell does not count."""
    found = {one.record.block: one.result for one in data.of(row, control=control) if one.counts}
    return [found.get(block) for block in range(1, data.index.repetitions + 1)]


def values(metric: Metric[R], results: Sequence[R | None]) -> list[float | None]:
    """None where there is no such value."""
    return [None if one is None else metric.get(one) for one in results]


def judge_by_metric(waiting: Sequence[tuple[Metric[Any], Judgement]]) -> list[Judged]:
    """In the given order. A metric is a question of its own: the correction runs over all that are compared in it."""
    found: dict[int, Judged] = {}
    for key in dict.fromkeys(metric.key for metric, _ in waiting):
        own = [index for index, (metric, _) in enumerate(waiting) if metric.key == key]
        found |= dict(zip(own, judge([waiting[index][1] for index in own]), strict=True))
    return [found[index] for index in range(len(waiting))]


def worded(metric: Metric[Any], judged: Judged, *, different: tuple[str, str] | None = None) -> str:
    """The verdict as people read it."""
    faster, slower = different or metric.words
    words = {"faster": faster, "slower": slower, "same": f"same within {SAME_PERCENT:.0f} %"}
    return words.get(judged.word, "not resolved")


def ratio_cell(estimate: Estimate) -> Cell:
    """With its interval, where there is one."""
    ratio, low, high = estimate.ratio, estimate.low, estimate.high
    if ratio is None:
        return Cell()
    spans = low is not None and high is not None
    return Cell(
        figure=Spread(
            median=ratio,
            low=ratio if low is None else low,
            high=ratio if high is None else high,
            repetitions=estimate.pairs if spans else 1,
        )
    )


def table_row(
    title: str,
    metric: Metric[Any],
    estimate: Estimate,
    judged: Judged,
    *,
    different: tuple[str, str] | None = None,
) -> Row:
    """One comparison."""
    return Row(
        cells=(
            text(title),
            text(metric.title),
            ratio_cell(estimate),
            cell([estimate.pairs]),
            text(worded(metric, judged, different=different)),
            cell([judged.resolution_percent]),
            text(judged.because),
        )
    )


def caption(title: str, blocks: int, metrics: Sequence[Metric[Any]], check: Sequence[Judged]) -> str:
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


def few(blocks: int) -> tuple[str, ...]:
    """A note where there are too few blocks for a rank test."""
    if blocks >= FEWEST_PAIRS:
        return ()
    return (
        f"With {blocks} blocks no difference can be significant in a rank test: {FEWEST_PAIRS} blocks are needed.",
    )


def _reference_blocks(data: SuiteData[R], row: RowKey, metrics: Sequence[Metric[R]]) -> _Blocks[R]:
    first, control = by_block(data, row), by_block(data, row, control=True)
    return _Blocks(
        row=row,
        first=first,
        control=control,
        estimates={m.key: paired(values(m, control), values(m, first), m.better) for m in metrics},
    )


def _rows(data: SuiteData[R], base: _Blocks[R], metrics: Sequence[Metric[R]], label: Label) -> list[Row]:
    """One a row of the suite and metric; weakened controls are not compared."""
    middles = {m.key: middle(values(m, base.first), values(m, base.control)) for m in metrics}
    others = [row for row in data.rows if row != base.row and row.variant.naive_twin_of is None]
    blocks = [(row, by_block(data, row)) for row in others]
    found = [
        (row, m, paired(values(m, own), middles[m.key], m.better)) for row, own in blocks for m in metrics
    ]
    judged = judge_by_metric(
        [
            (
                m,
                Judgement(
                    estimate=estimate,
                    better=m.better,
                    noise=apart(base.estimates[m.key]),
                    noise_spread=base.estimates[m.key].spread,
                ),
            )
            for _, m, estimate in found
        ]
    )
    return [
        table_row(label(row), m, estimate, word)
        for (row, m, estimate), word in zip(found, judged, strict=True)
    ]
