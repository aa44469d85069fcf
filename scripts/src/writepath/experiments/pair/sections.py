"""The report of pairs: each B with its A, and what a pair of the same variant can resolve."""

from collections.abc import Iterator, Sequence

from writepath.analysis.comparison import Estimate, Judged, judge
from writepath.analysis.pairs import FIGURES, SIDES, Figure, ratio, values
from writepath.analysis.stats import spread
from writepath.records.pair import PairResult, PairStep
from writepath.report import rows
from writepath.report.comparison import ratio_cell
from writepath.report.data import CellData, RowKey, SuiteData
from writepath.report.fingerprint import fingerprint, in_one_line
from writepath.report.model import Column, Report, Row, Section, Table, number, plain, row_of
from writepath.report.rows import field

Suite = SuiteData[PairResult]
Step = tuple[CellData[PairResult], PairStep]
Pairs = tuple[RowKey, Sequence[PairResult]]  # the results of a B, block by block
Words = dict[str, Judged]  # by variant

COLUMNS = (
    Column(key="pair_variant", title="B"),
    Column(key="pair_figure", title="figure"),
    Column(key="a_value", title="A", unit="µs, ms, /s"),
    Column(key="b_value", title="B", unit="µs, ms, /s"),
    Column(key="pair_ratio", title="B ÷ A", unit="×"),
    Column(key="pairs", title="pairs", exact=True),
    Column(key="word", title="verdict"),
)
CAPTION = (
    "Both stacks run on one host; one is frozen while the other is loaded. CPU time and p99 at equal rates: median and"
    " range of the steps; B ÷ A: Hodges-Lehmann estimate over the pairs of steps that followed each other. Rate at the"
    " limit: at which half of the steps pass, fitted to all of them. Intervals: 95 %. The A/A control pairs A with"
    " itself: what it shows is noise."
)
STEPS: tuple[rows.Field[Step], ...] = (
    field("pair_variant", "B", lambda one: rows.cell_title(one[0])),
    field("block", "block", lambda one: one[0].record.block, exact=True),
    field("step", "step", lambda one: one[1].number, exact=True),
    field("side", "path", lambda one: one[1].side.upper()),
    field("rate_per_s", "rate", lambda one: one[1].rate_per_s, "/s"),
    field("step_verdict", "result", lambda one: "; ".join((one[1].verdict, *one[1].reasons))),
    field("cpu_us", "CPU per write", lambda one: one[1].cpu_us_per_write, "µs"),
    field("p99_ms", "p99", lambda one: one[1].p99_ms, "ms"),
    field("canary_cpu_ms", "canary", lambda one: one[1].canary_cpu_ms, "ms"),
)


def report(data: Suite) -> Report:
    """One table of ratios, one of every step of each pair, and the fingerprint."""
    found = [(row, [one.result for one in data.shown(row) if one.result]) for row in data.rows]
    judged = {figure: _judged(found, figure) for figure in FIGURES}
    shown = [pairs for pairs in found if pairs[1]]
    against = shown[0][1][0].title if shown else data.index.params["against"]
    load = _load(data)
    table = Table(
        key="pairs",
        title="Pairs",
        caption=f"A is {against}. {CAPTION}",
        columns=COLUMNS,
        rows=tuple(one for row, own in shown for one in _rows(data, row, own, judged)),
        names=2,
    )
    steps = rows.table(
        "pair-steps",
        "Load steps of the pairs",
        "In the order they ran. The canary is a fixed CPU task right before each step: absolute figures hold for a host"
        " of that speed.",
        STEPS,
        [(one, step) for one in data.cells if one.result for step in one.result.steps],
    )
    details = (steps, fingerprint(data, (("load", load),)))
    return Report(
        title=data.index.title,
        answer=tuple(_answer(*pairs, judged) for pairs in shown) or ("No pair has finished.",),
        facts=in_one_line(data, load),
        picture=None,
        table=table,
        details=tuple(Section(key=one.key, title=one.title, tables=(one,)) for one in details),
    )


def _judged(found: Sequence[Pairs], figure: Figure) -> Words:
    """Of each B; corrected for all of them, with the A/A pair as the noise where there is one."""
    estimates = {row.title: ratio(own, figure) for row, own in found}
    same = {row.title for row, own in found if own and own[0].against == row.variant.name}
    a_a = next((estimates[title] for title in same), None)
    others = [title for title in estimates if title not in same]
    words = judge([estimates[title] for title in others], figure.better, a_a)
    checks = judge([estimates[title] for title in same], figure.better)
    return dict(zip((*others, *same), (*words, *checks), strict=True))


def _rows(data: Suite, row: RowKey, own: Sequence[PairResult], judged: dict[Figure, Words]) -> Iterator[Row]:
    mark = rows.mark(data.shown(row))
    title = row.title + (rows.AGAIN if own[0].against == row.variant.name else "")
    for figure in FIGURES:
        found = judged[figure][row.title]
        word = found.in_words(*figure.words) + (f": {found.because}" if found.word == "unresolved" else "")
        a, b = (spread(values(own, figure)[side]) for side in SIDES)
        yield row_of(
            *(title, figure.title, a, b, ratio_cell(found.estimate), found.estimate.pairs, word),
            mark=mark,
            about=rows.subject_of(row),
        )


def _answer(row: RowKey, own: Sequence[PairResult], judged: dict[Figure, Words]) -> str:
    """What a B costs and carries, measured in turns with its A."""
    words = [f"{figure.title} {_in_words(judged[figure][row.title].estimate)}" for figure in FIGURES]
    a, b = (own[0].guarantees.get(side) for side in SIDES)
    less = f" Their 201s guarantee different things: durability class {b}, not {a}." if a != b else ""
    return f"{row.title} ÷ {own[0].title}: {', '.join(words)}.{less}"


def _in_words(found: Estimate) -> str:
    """`1.05 (1.02–1.08)`."""
    if found.ratio is None:
        return "not known"
    if found.low is None or found.high is None:
        return number(found.ratio)
    return f"{number(found.ratio)} ({number(found.low)}–{number(found.high)})"


def _load(data: Suite) -> str:
    params = data.index.params
    shares = " and ".join(f"{share:.0%}" for share in params["shares"])
    return (
        f"{params['limit_steps']} steps of each path towards its limit (p99 at most {plain(params['slo_ms'])} ms), then"
        f" {params['rounds']} rounds of A B B A at {shares} of the lower one, {plain(params['step_seconds'])} s a step"
    )
