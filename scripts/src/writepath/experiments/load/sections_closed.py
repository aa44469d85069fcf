"""The report of a closed load: throughput by level of the factors, what each factor changes, the original's figures."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from writepath.analysis import effects as model
from writepath.analysis import load_result
from writepath.analysis.effects import Contrast, Effect, Effects, Observation
from writepath.analysis.stats import Spread
from writepath.config.settings import CONDITION
from writepath.experiments.load import tables
from writepath.experiments.load.tables import Own, Suite, count, field
from writepath.records.load import LoadResult
from writepath.report import load_ranks, rows
from writepath.report.comparison import by_block, reference
from writepath.report.data import RowKey, published_figures
from writepath.report.fingerprint import repetition_note
from writepath.report.model import Cell, Column, Plot, Row, Table, Value, listed, number, row_of
from writepath.report.rows import Field

Get = Callable[[LoadResult], float | None]
ERRORS = "errors"  # the mark of a row that is not ranked
TPS = "TPS"
METRICS: tuple[tuple[str, Get], ...] = (
    (TPS, lambda result: result.achieved_per_s),
    ("mean time", lambda result: result.accept_latency_ms.mean),
)


def is_closed(data: Suite) -> bool:
    """Whether its load is closed."""
    return any(one.result is not None and one.result.closed for one in data.cells)


def _closed(key: str, title: str, name: str, unit: str = "", *, times: float = 1.0) -> Field[Own]:
    def get(result: LoadResult) -> Value:
        value = None if result.closed is None else getattr(result.closed, name)
        return None if value is None else value * times

    return field(key, title, get, unit)


FIGURES = (
    field("tps_mean", "TPS", lambda r: r.achieved_per_s, "1/s"),
    field("tps_peak", "TPS peak", lambda r: r.achieved_peak_per_s, "1/s"),
    field("tps_time_ms", "mean time", lambda r: r.accept_latency_ms.mean, "ms"),
    count("tps_errors", "errors", lambda r: r.requests.planned - r.requests.acknowledged),
    _closed("tps_cpu_percent", "CPU", "cpu_share", "%", times=100.0),
    _closed("tps_pending", "pending connections", "pool_waiting_mean", "mean"),
)
COUNTS = (
    count("tps_executed", "executed", lambda r: r.requests.planned),
    count("tps_ok", "ok", lambda r: r.requests.acknowledged),
    count("tps_not_ok", "errors", lambda r: r.requests.planned - r.requests.acknowledged),
    _closed("tps_pending_max", "pending connections, max", "pool_waiting_max", "in one sample"),
    field("tps_p99_ms", "p99", lambda r: load_ranks.accepted(r, "p99"), "ms"),
    _closed("tps_time_wait_max", "TIME_WAIT, max", "time_wait_max", "sockets"),
)


def title_of(data: Suite, row: RowKey) -> str:
    """Levels alone where the suite has one variant, and conditions by their names."""
    levels = ", ".join(level if name == CONDITION else f"{name}={level}" for name, level in row.levels)
    return levels if levels and len(data.index.variants) == 1 else tables.label(data)(row)


def mark(cells: Sequence[Own]) -> str:
    """Of a row that no cell counts of, or that had errors: TPS counts only with 0 errors."""
    failed = any(one.result is not None and one.result.closed and one.result.closed.errors for one in cells)
    return rows.mark(cells) or (ERRORS if failed else "")


def by_level(data: Suite, fields: Sequence[Field[Own]], **more: Any) -> Table:
    """A line a row of the suite; figures are means of the blocks with their interval."""
    body = []
    for row in data.rows:
        cells = data.shown(row)
        values = (mean([each.get(one) for one in cells]) for each in fields)
        body.append(row_of(title_of(data, row), *values, mark=mark(cells), about=rows.subject_of(row)))
    return Table(columns=(rows.VARIANT, *fields), rows=tuple(body), **more)


def mean(values: Sequence[Value]) -> Value:
    """Of the blocks, with its interval; of texts each once."""
    if texts := [value for value in values if isinstance(value, str)]:
        return " or ".join(dict.fromkeys(texts))
    figures = [float(value) for value in values if isinstance(value, int | float)]
    return model.interval(figures) if figures else None


def over_blocks(data: Suite) -> str:
    """What the figures of by_level() are."""
    blocks = data.index.repetitions
    if blocks == model.PAIR:
        return "Means of two blocks, and both values."
    return f"Means of {blocks} blocks and their 95 % interval." if blocks > 1 else "One block."


def main(data: Suite) -> Table:
    """What a reader meets first."""
    counted = "requests served" if tables.reads(data) else "acknowledged writes"
    return by_level(
        data,
        FIGURES,
        key="tps",
        title="Throughput of a closed load",
        caption=f"{over_blocks(data)} TPS: {counted} per second, and the best second. CPU: of the processors of the"
        " system under test, without the load generator. Pending: requests that waited for a connection of the pool,"
        " mean of all seconds.",
        notes=(f"({ERRORS}): TPS counts only with 0 errors; the row is not ranked and is in no effect.",),
        compared=True,
    )


def counts(data: Suite) -> Table:
    """Executed, ok and errors."""
    ok = "served" if tables.reads(data) else "acknowledged"
    return by_level(
        data,
        COUNTS,
        key="tps_counts",
        title="Requests of a closed load",
        caption=f"Per load, mean of the blocks. Executed: requests that were sent. Ok: {ok}. p99: over all that"
        " were sent. TIME_WAIT: sockets of the host that wait until their pair of ports may be used again.",
        notes=(tables.legend(data),),
    )


CAUSE = (Column(key="cause_seen_by", title="seen by"), Column(key="cause", title="cause"))
CAUSE_COUNT = Column(key="cause_count", title="count", unit="per load")


def causes(data: Suite) -> Table | None:
    """Errors of each row as the client saw them and as the proxy's log names them; None where there were none."""
    body = []
    for row in data.rows:
        results = [one.result for one in data.shown(row) if one.result is not None]
        seen = (
            ("client", [_by_error(one) for one in results]),
            ("log of the proxy", [(one.closed and one.closed.proxy_errors) or {} for one in results]),
        )
        for who, counted in seen:
            for cause in dict.fromkeys(itertools.chain.from_iterable(counted)):
                count = model.interval([one.get(cause, 0) for one in counted])
                about = rows.subject_of(row)
                body.append(row_of(title_of(data, row), who, cause, count, about=about))
    if not body:
        return None
    return Table(
        key="causes",
        title="Errors by cause",
        caption=f"Requests that were not {'served' if tables.reads(data) else 'acknowledged'}, as the client saw them,"
        " and lines of the proxy's error log during the load. The two do not add up: one full limit can fail many"
        " requests or none, and a connection that is not accepted waits. A 503 is of the application, not of the"
        " proxy.",
        columns=(rows.VARIANT, *CAUSE, CAUSE_COUNT),
        rows=tuple(body),
        names=3,
    )


def _by_error(result: LoadResult) -> Mapping[str, int]:
    return (result.session_load or result.requests).by_error


def conditions(data: Suite) -> Table | None:
    """What each condition sets; None of a suite without conditions."""
    if all(factor.name != CONDITION for factor in data.index.factors):
        return None
    said, common = dict[str, str](), data.index.settings
    known = published_figures()[ORIGINAL].get(data.index.suite)
    for row in data.rows:
        levels, (first, *_) = dict(row.levels), data.shown(row)
        own = {name: value for name, value in first.record.settings.items() if common.get(name) != value}
        words = ", ".join(f"{name}={value}" for name, value in own.items() if name not in levels)
        said.setdefault(levels[CONDITION], words or "none: the starting point")
    start = ", ".join(f"{name}={value}" for name, value in common.items())
    return Table(
        key="conditions",
        title="Conditions",
        caption=f"What each condition changes. All cells: {start or 'the defaults'}.",
        columns=(rows.VARIANT, Column(key="condition_settings", title="changed")),
        rows=tuple(row_of(condition, words) for condition, words in said.items()),
        notes=(str(known["remarks"]).strip(),) if known is not None else (),
    )


def sockets(data: Suite) -> Iterator[tuple[str, str]]:
    """Settings of the kernel, as the cells read them."""
    facts = [
        load_result.facts_of(one.evidence).sockets or {} for one in data.cells if one.evidence is not None
    ]
    for name in dict.fromkeys(itertools.chain.from_iterable(facts)):
        yield f"net.ipv4.{name}", ", ".join(dict.fromkeys(one[name] for one in facts if name in one))


# Effects


def known_effects(data: Suite) -> dict[str, Effects]:
    """By metric; none where the suite has no factors, or too few blocks."""
    factors = {factor.name: factor.levels for factor in data.index.factors}
    if len(data.index.variants) > 1:
        factors = {"variant": tuple(one.name for one in data.index.variants), **factors}
    if not factors:
        return {}
    found = {}
    for title, get in METRICS:
        seen = [
            Observation(
                block=one.record.block,
                levels={"variant": one.record.variant, **one.record.levels},
                value=get(one.result),
            )
            for one in data.cells
            if one.record.role == "measured" and one.counts and one.result is not None and not mark([one])
        ]
        if all(factors.keys() <= one.levels.keys() for one in seen):
            own = model.effects(seen, factors, _apart(data, get))
            if own is not None:
                found[title] = own
    return found


def _apart(data: Suite, get: Get) -> float | None:
    """By what two runs of the baseline's cell differ."""
    base = reference(data)
    if base is None:
        return None
    first, again = (by_block(data, base, control=control) for control in (False, True))
    return model.apart(*([None if one is None else get(one) for one in side] for side in (first, again)))


def percent(share: float) -> str:
    """`+3.1 %`, `-12 %`."""
    value = 100 * share
    digits = 0 if abs(value) >= 10 else 1  # noqa: PLR2004 - where two digits end
    return f"{value:+.{digits}f} %"


def control_in_words(found: Effects) -> str:
    """`A/A ±4.0 %`."""
    return "A/A unknown" if found.same is None else f"A/A ±{percent(found.same)[1:]}"


def _contrast(one: Contrast) -> str:
    return f"{one.level} {percent(one.share)} ({percent(one.low)} … {percent(one.high)})"


def in_words(one: Effect, found: Effects, first: str) -> str:
    """What an effect is, with its interval. first: the level that the others are compared with."""
    control = control_in_words(found)
    if not one.contrasts:
        if one.measurable:
            return f"interaction: up to {percent(one.largest)[1:]} beyond the product of both ({control})"
        return f"no measurable interaction (up to {percent(one.largest)[1:]}, {control})"
    if one.measurable:
        return f"{'; '.join(map(_contrast, one.contrasts))}; against {first} ({control})"
    low, high = min(each.low for each in one.contrasts), max(each.high for each in one.contrasts)
    return f"no measurable effect ({percent(low)} … {percent(high)}, {control})"


def _first_level(data: Suite, name: str) -> str:
    levels = [factor.levels[0] for factor in data.index.factors if factor.name == name]
    return levels[0] if levels else data.index.variants[0].name


def effects(data: Suite, known: Mapping[str, Effects]) -> Table | None:
    """Main effects and interactions; None where there are none to tell."""
    if not known:
        return None
    body = [
        row_of(
            title,
            " × ".join(one.factors),
            in_words(one, found, _first_level(data, one.factors[0])),
            "< 0.001" if one.p < 0.001 else f"{one.p:.3f}",  # noqa: PLR2004 - as p is usually given
        )
        for title, found in known.items()
        for one in found.effects
    ]
    notes = dict.fromkeys(found.without for found in known.values() if found.without)
    return Table(
        key="effects",
        title="Effects of the factors",
        caption="A linear model of the logarithms, with block as a factor and all pairs of factors: each level against"
        " the first, over all levels of the others, with a 95 % interval. Measurable: p below 0.05 in the analysis of"
        " variance, after Holm's correction, and larger than what two runs of one cell differed by (A/A) and 1 %.",
        columns=(
            Column(key="effect_metric", title="metric"),
            Column(key="effect_factors", title="factors"),
            Column(key="effect_words", title="effect"),
            Column(key="effect_p", title="p"),
        ),
        rows=tuple(body),
        notes=tuple(f"{words[0].upper()}{words[1:]}." for words in notes),
        names=2,
    )


# The original's figures

ORIGINAL = "closed"  # in original.yaml: by suite, cells with their levels and figures
BESIDE = (
    field("theirs_tps", "TPS", lambda r: r.achieved_per_s, "1/s"),
    field("theirs_peak", "TPS peak", lambda r: r.achieved_peak_per_s, "1/s"),
    field("theirs_mean_ms", "mean time", lambda r: r.accept_latency_ms.mean, "ms"),
    count("theirs_executed", "executed", lambda r: r.requests.planned),
    count("theirs_ok", "ok", lambda r: r.requests.acknowledged),
    count("theirs_errors", "errors", lambda r: r.requests.planned - r.requests.acknowledged),
    _closed("theirs_cpu_percent", "CPU", "cpu_share", "%", times=100.0),
)


def original(data: Suite) -> Table | None:
    """The original's cells, each with ours at the same levels; None for a suite that it has no figures of."""
    known = published_figures()[ORIGINAL].get(data.index.suite)
    if known is None or not known["cells"]:
        return None
    body = list[Row]()
    ours = {tuple(sorted(row.levels)): row for row in data.rows}
    for theirs in known["cells"]:
        levels = {name: str(level) for name, level in theirs["levels"].items()}
        title = theirs.get("title") or ", ".join(f"{name}={level}" for name, level in levels.items())
        figures = (theirs.get(one.key.removeprefix("theirs_")) for one in BESIDE)
        quoted = (Cell(figure=None if one is None else model.interval([one]), exact=True) for one in figures)
        body.append(row_of(title, "original", *quoted))
        if (row := ours.get(tuple(sorted(levels.items())))) is not None:
            cells = data.shown(row)
            values = (mean([each.get(one) for one in cells]) for each in BESIDE)
            body.append(row_of(title, "here", *values, mark=mark(cells), about=rows.subject_of(row)))
    return Table(
        key="original_cells",
        title="The original's cells next to ours",
        caption="Both are closed loads. The two rows of a cell were measured on different hosts and software.",
        columns=(rows.VARIANT, Column(key="theirs_or_ours", title="measured"), *BESIDE),
        rows=tuple(body),
        notes=(str(known["remarks"]).strip(),),
        names=2,
    )


# The answer and its picture


def answer(data: Suite, known: Mapping[str, Effects]) -> Iterator[str]:
    """The highest and the lowest throughput, then what each factor changes."""
    ranked = tps_of(data)
    if not ranked:
        yield _errors(data) or "No cell has valid figures; the table of runs has the reasons."
        return
    (low, lowest), (high, highest) = ranked[0], ranked[-1]
    words = f"Highest throughput: {number(highest.median)} TPS ({high})"
    if len(ranked) > 1:
        words += f"; lowest: {number(lowest.median)} TPS ({low})"
    yield f"{words}. {repetition_note(data, len(ranked))}".rstrip()
    if (found := known.get(TPS)) is not None:
        told = [
            f"{one.factors[0]}: {in_words(one, found, _first_level(data, one.factors[0]))}"
            for one in found.effects
            if one.contrasts
        ]
        together = [" × ".join(one.factors) for one in found.effects if not one.contrasts and one.measurable]
        yield f"Effect on TPS: {'. '.join(told)}."
        if together:
            yield f"Not independent of each other: {listed(together)}."
    if failed := [title_of(data, row) for row in data.rows if mark(data.shown(row)) == ERRORS]:
        yield f"Not ranked, because of errors: {listed(failed)}."


def _errors(data: Suite) -> str:
    """Where no row is ranked, the errors of each, a load, and what most of them were; empty: none is valid."""
    told = []
    for row in data.rows:
        cells = data.shown(row)
        if mark(cells) == ERRORS:
            seen = [_by_error(one.result) for one in cells if one.result is not None]
            counted = sum((Counter(one) for one in seen), Counter[str]())
            mean_of = f"{counted.total() / len(seen):,.0f}"
            told.append(f"{title_of(data, row)} {mean_of} ({counted.most_common(1)[0][0]})")
    return f"No row is without errors, so none is ranked. Errors of a load: {listed(told)}." if told else ""


def tps_of(data: Suite) -> list[tuple[str, Spread]]:
    """Titles and TPS of rows without errors, ascending."""
    found = []
    for row in data.rows:
        cells = data.shown(row)
        value = mean([FIGURES[0].get(one) for one in cells])
        if isinstance(value, Spread) and not mark(cells):
            found.append((title_of(data, row), value))
    return sorted(found, key=lambda pair: pair[1].median)


def picture(data: Suite) -> Plot | None:
    """A heat map of the first two factors, a panel each level of the others; bars of one factor."""
    from writepath.report import levels  # noqa: PLC0415 - matplotlib takes half a second to load

    varied = [factor for factor in data.index.factors if len(factor.levels) > 1]
    if len(varied) < 2 or len(data.index.variants) > 1:  # noqa: PLR2004 - the axes of a heat map
        drawn = [
            (title_of(data, row), value if isinstance(value, Spread) else None, mark(cells))
            for row in data.rows
            for cells in [data.shown(row)]
            for value in [mean([FIGURES[0].get(one) for one in cells])]
        ]
        alt = "Throughput of each row, with its interval"
        return Plot(file="throughput.svg", alt=alt, svg=levels.bars(drawn, "TPS (1/s)")) if drawn else None
    across, down, *others = sorted(varied[:2], key=lambda one: one.name == CONDITION) + varied[2:]
    panels = [
        _panel(data, (across.name, down.name), dict(zip([one.name for one in others], chosen, strict=True)))
        for chosen in itertools.product(*(one.levels for one in others))
    ]
    axes = ((across.name, across.levels), (down.name, down.levels))
    alt = f"Heat map of throughput by {across.name} and {down.name}"
    return Plot(file="throughput.svg", alt=alt, svg=levels.heat_maps(panels, *axes))


def _panel(data: Suite, axes: tuple[str, str], chosen: Mapping[str, str]) -> Any:
    """The heat map of the rows at these levels of the other factors."""
    from writepath.report import levels  # noqa: PLC0415 - as above

    values, words = dict[tuple[str, str], float | None](), dict[tuple[str, str], str]()
    for row in data.rows:
        own = dict(row.levels)
        if any(own.get(name) != level for name, level in chosen.items()) or not own.keys() >= {*axes}:
            continue
        at, cells = (own[axes[0]], own[axes[1]]), data.shown(row)
        value = mean([FIGURES[0].get(one) for one in cells])
        known = value.median if isinstance(value, Spread) and math.isfinite(value.median) else None
        words[at] = mark(cells)
        values[at] = None if words[at] else known
    title = ", ".join(["TPS", *(f"{name}={level}" for name, level in chosen.items())])
    return levels.Panel(title=title, values=values, words=words)
