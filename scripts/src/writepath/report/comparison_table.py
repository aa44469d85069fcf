"""Which differences from the baseline are real? Block by block, with the host's resolution from the A/A pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.comparison import FEWEST_PAIRS, SAME_PERCENT, Judgement, apart, judge, middle, paired
from writepath.report import cost_tables, rows
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, number, text
from writepath.stats import Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.comparison import Better, Estimate, Judged
    from writepath.report.figures import Figures, SuiteFigures
    from writepath.result import SuiteVariant
    from writepath.stats import Distribution

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


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A value of a run by which runs are compared."""

    key: str
    title: str
    better: Better
    get: Callable[[Figures], float | None]
    words: tuple[str, str] = ("faster", "slower")


def _rank(of: str, name: str) -> Callable[[Figures], float | None]:
    def get(figures: Figures) -> float | None:
        distribution: Distribution | None = getattr(figures, of)
        return None if distribution is None else getattr(distribution, name)

    return get


METRICS = (
    Metric(key="median_ms", title="median", better="lower", get=_rank("accept", "median")),
    Metric(key="p95_ms", title="p95", better="lower", get=_rank("accept", "p95")),
    Metric(key="p99_ms", title="p99", better="lower", get=_rank("accept", "p99")),
    Metric(
        key="planned_p99_ms",
        title="p99 from scheduled time",
        better="lower",
        get=_rank("accept_from_planned", "p99"),
    ),
    Metric(
        key="achieved_per_s", title="throughput", better="higher", get=lambda figures: figures.achieved_per_s
    ),
    Metric(
        key="to_durable_p95_ms",
        title="time to durable, p95",
        better="lower",
        get=_rank("durable_of_planned", "p95"),
    ),
    Metric(
        key="cpu_s_per_1000",
        title="CPU per 1,000 writes",
        better="lower",
        get=cost_tables.cpu_s_per_1000,
        words=("cheaper", "more expensive"),
    ),
)


def comparison(figures: SuiteFigures) -> Table | None:
    """None where the suite has no baseline, or too few blocks for an interval."""
    suite = figures.suite
    baseline = next((variant for variant in suite.variants if variant.name == suite.baseline), None)
    if baseline is None or suite.repetitions < FEWEST_BLOCKS:
        return None
    others = [v for v in suite.variants if v is not baseline and v.naive_twin_of is None]
    pair = a_a(figures)
    body = _rows(figures, baseline.name, others, pair)
    check = judge_by_metric([(m, Judgement(estimate=pair[m.key], better=m.better)) for m in METRICS])
    title = f"{baseline.title}{rows.AGAIN}"
    for metric, judged in zip(METRICS, check, strict=True):
        body.append(_row(title, metric, pair[metric.key], judged, different=("different", "different")))
    return Table(
        key="comparison",
        title="Compared with the baseline",
        caption=_caption(figures, baseline, check),
        columns=COLUMNS,
        rows=tuple(body),
        notes=(WORDS, *_few(suite.repetitions)),
    )


def a_a(figures: SuiteFigures) -> dict[str, Estimate]:
    """By metric, the baseline's second runs by its first; empty without a baseline."""
    name = figures.suite.baseline
    if name is None:
        return {}
    base, twin = by_block(figures, name), by_block(figures, name, again=True)
    return {metric.key: _estimate(metric, twin, base) for metric in METRICS}


def by_block(figures: SuiteFigures, variant: str, *, again: bool = False) -> list[Figures | None]:
    """The variant's run of each block; None where it does not count."""
    runs = {run.run.repetition: run for run in figures.of(variant, again=again) if run.counts}
    return [runs.get(block) for block in range(1, figures.suite.repetitions + 1)]


def values(metric: Metric, runs: Sequence[Figures | None]) -> list[float | None]:
    """None where there is no such value."""
    return [None if run is None else metric.get(run) for run in runs]


def judge_by_metric(waiting: Sequence[tuple[Metric, Judgement]]) -> list[Judged]:
    """In the given order. A metric is a question of its own: the correction runs over all that are compared in it."""
    found: dict[int, Judged] = {}
    for key in dict.fromkeys(metric.key for metric, _ in waiting):
        own = [index for index, (metric, _) in enumerate(waiting) if metric.key == key]
        found |= dict(zip(own, judge([waiting[index][1] for index in own]), strict=True))
    return [found[index] for index in range(len(waiting))]


def worded(metric: Metric, judged: Judged, *, different: tuple[str, str] | None = None) -> str:
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


def _estimate(metric: Metric, runs: Sequence[Figures | None], base: Sequence[Figures | None]) -> Estimate:
    return paired(values(metric, runs), values(metric, base), metric.better)


def _rows(
    figures: SuiteFigures,
    baseline: str,
    others: Sequence[SuiteVariant],
    pair: dict[str, Estimate],
) -> list[Row]:
    """One a variant and metric."""
    first, again = by_block(figures, baseline), by_block(figures, baseline, again=True)
    base = {m.key: middle(values(m, first), values(m, again)) for m in METRICS}
    found = [
        (
            variant,
            metric,
            paired(values(metric, by_block(figures, variant.name)), base[metric.key], metric.better),
        )
        for variant in others
        for metric in METRICS
    ]
    judged = judge_by_metric(
        [
            (
                metric,
                Judgement(
                    estimate=estimate,
                    better=metric.better,
                    noise=apart(pair[metric.key]),
                    noise_spread=pair[metric.key].spread,
                ),
            )
            for _, metric, estimate in found
        ]
    )
    return [
        _row(rows.label(figures, variant), metric, estimate, word)
        for (variant, metric, estimate), word in zip(found, judged, strict=True)
    ]


def _row(
    title: str,
    metric: Metric,
    estimate: Estimate,
    judged: Judged,
    *,
    different: tuple[str, str] | None = None,
) -> Row:
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


def _caption(figures: SuiteFigures, baseline: SuiteVariant, check: Sequence[Judged]) -> str:
    told = [
        f"{metric.title} {number(judged.resolution_percent)} %"
        for metric, judged in zip(METRICS, check, strict=True)
        if judged.resolution_percent is not None
    ]
    blocks = figures.suite.repetitions
    resolution = (
        f"Smallest differences that {blocks} blocks detect on this host in four of five suites, by the A/A control: "
        + ", ".join(told)
        if told
        else f"Without a valid A/A control the smallest detectable difference is unknown ({ABSENT})"
    )
    title = baseline.title
    return (
        f"Each variant's value ÷ that of {title} in the same block: geometric mean of {blocks} blocks and its 95 %"
        f" confidence interval. {title} runs twice in each block; the second run is the A/A control. The other variants"
        f" are compared with the geometric mean of both. {resolution}."
    )


def _few(blocks: int) -> tuple[str, ...]:
    if blocks >= FEWEST_PAIRS:
        return ()
    return (
        f"With {blocks} blocks no difference can be significant in a rank test: {FEWEST_PAIRS} blocks are needed.",
    )
