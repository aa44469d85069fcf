"""The report of an open load of reads: times of sessions and of their requests, failures, how the rate was found."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from writepath.analysis.stats import spread
from writepath.experiments.load import sections_closed as closed
from writepath.experiments.load import sections_reads as reads
from writepath.experiments.load import tables
from writepath.experiments.load.tables import Own, Suite, count, field
from writepath.records.load import LoadResult, SessionLoad
from writepath.records.load_facts import FoundRate
from writepath.records.measures import Latency
from writepath.report import load_ranks, rows
from writepath.report.data import RowKey
from writepath.report.fingerprint import repetition_note, slowdown_times
from writepath.report.model import (
    Column,
    Plot,
    Row,
    Table,
    Value,
    cell,
    counted,
    listed,
    number,
    plain,
    row_of,
)
from writepath.report.rows import RANKS, Field

POOL_SIZE = "POOL_SIZE"  # a setting
RATE_DIGITS = 6  # significant: a rate that was multiplied and printed is still that rate


def _session(key: str, title: str, get: Callable[[SessionLoad], Value], unit: str = "") -> Field[Own]:
    """A measured value where it has a unit, else a count."""
    return field(
        key, title, lambda r: None if r.session_load is None else get(r.session_load), unit, exact=not unit
    )


def _failed(result: LoadResult) -> int:
    """Requests that were not served."""
    if result.session_load is not None:
        return result.session_load.failed_requests
    return result.requests.planned - result.requests.acknowledged


FAILED = (
    count("failed_requests", "failed requests", _failed),
    _session("failed_logins", "failed log-ins", lambda one: one.failed_logins),
    _session("failed_sessions", "failed sessions", lambda one: one.failed_sessions),
)
TIMES = (*tables.ranks(load_ranks.accepted, "read_{}_ms"), *FAILED)


def times(data: Suite) -> Table:
    """What a reader meets first."""
    of = (
        "from the beginning of its log-in to its last answer, over all scheduled sessions; one with a failed request"
        " counts as infinite. A session fails if its log-in does, or if a request gets no answer."
        if reads.of_sessions(data)
        else "from sending a request to its answer, over all scheduled requests."
    )
    return rows.by_row(
        data,
        TIMES,
        partial(closed.title_of, data),
        key="read_times",
        title="Times and failures",
        caption=f"Percentiles of the time {of} {rows.spread_note(data.index)}",
        notes=(tables.legend(data),),
        compared=True,
    )


def _pool(one: Own) -> int | None:
    """Connections that an instance may have: as set, else as derived from the processors."""
    size, host = one.record.settings.get(POOL_SIZE), one.record.host
    if size is not None:
        return int(size)
    return None if host is None else 2 * host.system_cores + 1


def _of_request(result: LoadResult) -> Latency | None:
    return None if result.session_load is None else result.session_load.request_latency_ms


def _request_rank(result: LoadResult, name: str) -> float | None:
    load = result.session_load
    return None if load is None else load_ranks.rank(load.request_latency_ms, name, load.requests)


def _served(
    of: Callable[[LoadResult], Latency | None], key: str, title: str, names: Sequence[str]
) -> tuple[Field[Own], ...]:
    """Min, mean or max. key, title: with {} in the place of the name."""

    def one(name: str) -> Field[Own]:
        def get(result: LoadResult) -> Value:
            value: float | None = getattr(of(result), name, None)
            return value

        return field(key.format(name), title.format(name), get, "ms")

    return tuple(map(one, names))


SESSION = "session_"  # in a column's key, before the figure's name in original.yaml
OF_REQUEST, OF_SESSION = (SESSION + "request_{}_ms", "request {}"), (SESSION + "{}_ms", "session {}")
SESSIONS: tuple[Field[Own], ...] = (
    rows.field(SESSION + "pool", "pool", _pool, exact=True),
    _session(SESSION + "rate_per_s", "sessions", lambda one: one.rate_per_s, "1/s"),
    _session(SESSION + "requests_per_s", "requests", lambda one: one.requests_per_s, "1/s"),
    *_served(_of_request, *OF_REQUEST, ("min", "max", "mean")),
    *tables.ranks(_request_rank, *OF_REQUEST),
    *(replace(one, key=SESSION + one.key) for one in FAILED),
    *_served(lambda result: result.accept_latency_ms, *OF_SESSION, ("min", "mean")),
    *tables.ranks(load_ranks.accepted, *OF_SESSION),
    *_served(lambda result: result.accept_latency_ms, *OF_SESSION, ("max",)),
)


def sessions(data: Suite) -> Table | None:
    """Requests and sessions of each row, after the original's at the same levels; None of other loads."""
    if not reads.of_sessions(data):
        return None
    body, known = list[Row](), reads.known_figures(data)
    theirs = {reads.levels_of(one): one for one in known.get("cells", ())}
    names = [one.key.removeprefix(SESSION) for one in SESSIONS]
    for row in data.rows:
        title, cells = closed.title_of(data, row), data.shown(row)
        if (figures := theirs.get(tuple(sorted(row.levels)))) is not None:
            body.append(row_of(title, "original", *reads.quoted(figures, names)))
        ours = (cell(map(each.get, cells)) for each in SESSIONS)
        body.append(row_of(title, "here", *ours, mark=rows.mark(cells), about=rows.subject_of(row)))
    return Table(
        key="sessions",
        title="Requests and sessions",
        caption="Min, max and mean are of what was served; percentiles are over all requests that were sent and over"
        " all scheduled sessions, and one that failed counts as infinite. The original's are over completed requests"
        f" and sessions. {rows.spread_note(data.index)}",
        columns=(rows.VARIANT, reads.MEASURED, *SESSIONS),
        rows=tuple(body),
        notes=(tables.legend(data), *reads.remarks(known)),
        names=2,
        compared=True,
    )


# How the rate was found


RATES = (
    Column(key="found_rate_per_s", title="sessions", unit="1/s"),
    Column(key="found_sessions", title="sessions begun", exact=True),
    Column(key="found_timed_out", title="requests timed out", exact=True),
    Column(key="found_failed", title="failed requests", exact=True),
)


def _steps(data: Suite) -> tuple[FoundRate, ...]:
    """Taken once for all cells."""
    loads = [one.result.session_load for one in data.cells if one.result is not None]
    return next((load.found_rates for load in loads if load is not None and load.found_rates), ())


def found_rates(data: Suite) -> Table | None:
    """The rates that were tried, after the original's; None where the rate was given."""
    steps, names = _steps(data), [column.key.removeprefix("found_") for column in RATES]
    if not steps:
        return None
    theirs = (
        row_of("original", step, *reads.quoted(one, names))
        for step, one in enumerate(reads.known_figures(data).get("rates", ()), 1)
    )
    ours = (
        row_of("here", step, one.rate_per_s, one.sessions, one.timed_out, one.failed)
        for step, one in enumerate(steps, 1)
    )
    return Table(
        key="found_rates",
        title="Rates that were tried",
        caption="In the order they ran, with the settings of the baseline: up on one warm stack; then down from the"
        " highest rate without a failed request, on a new stack each, warmed up as those of the other tables. The"
        " last rate is theirs.",
        columns=(reads.MEASURED, Column(key="found_step", title="step", exact=True), *RATES),
        rows=(*theirs, *ours),
    )


# The answer and its picture


def answer(data: Suite) -> Iterator[str]:
    """The rate that was found, times at it and at others, and failures."""
    known = {closed.title_of(data, row): results for row in data.rows if (results := _counted(data, row))}
    if not known:
        yield "No cell has valid figures; the table of runs has the reasons."
        return
    if steps := _steps(data):
        yield f"Highest rate that was tried without a failed request: {plain(steps[-1].rate_per_s)} sessions/s."
    rates = {title: _rate_per_s(results[0]) for title, results in known.items()}
    ((usual, _),) = Counter(rates.values()).most_common(1)
    at_usual = {title: results for title, results in known.items() if rates[title] == usual}
    times = slowdown_times(data)
    if told := [words for name in RANKS if (words := _range(at_usual, name, times))]:
        yield f"Time of a {reads.unit(data)} at {plain(usual)}/s: {', '.join(told)}."
    yield from _unresolved(data, usual)
    for title, rate in rates.items():
        if rate != usual:
            words = ", ".join(_rank_in_words(known[title], name) for name in RANKS)
            yield f"At {number(rate / usual)} times that rate ({title}): {words}."
    failed = [
        f"{title} {_failures(results)}" for title, results in known.items() if any(map(_failed, results))
    ]
    yield f"Failed requests: {', '.join(failed)}." if failed else "No request failed."
    if note := repetition_note(data, len(known)):
        yield note


def _unresolved(data: Suite, rate_per_s: float) -> Iterator[str]:
    """Where rows of one pool differ more than pools do, a sentence that says so."""
    medians = defaultdict[int, dict[str, float]](dict)
    for row in data.rows:
        results, pool = _counted(data, row), _pool(data.shown(row)[0])
        value = spread(load_ranks.accepted(one, "median") for one in results)
        if value is None or pool is None or math.isinf(value.median):
            continue
        if _rate_per_s(results[0]) == rate_per_s:
            medians[pool][closed.title_of(data, row)] = value.median
    pairs = [sorted(of.items(), key=lambda pair: pair[1]) for of in medians.values() if len(of) > 1]
    if not pairs:
        return
    middles = [statistics.geometric_mean(of.values()) for of in medians.values()]
    within, between = max(of[-1][1] / of[0][1] for of in pairs), max(middles) / min(middles)
    if within >= between:
        named = next(listed((of[0][0], of[-1][0])) for of in pairs if of[-1][1] / of[0][1] == within)
        yield (
            f"Which pool is best is not resolved: {named} have the same pool, and differ by {number(within)} times in"
            f" the median; the pools differ by {number(between)} times."
        )


def _counted(data: Suite, row: RowKey) -> list[LoadResult]:
    return [one.result for one in data.shown(row) if one.counts and one.result is not None]


def _rate_per_s(result: LoadResult) -> float:
    load = result.session_load
    per_s = (result.planned_peak_per_s or 0.0) if load is None else load.rate_per_s
    return float(f"{per_s:.{RATE_DIGITS}g}")


def _range(known: Mapping[str, Sequence[LoadResult]], name: str, times: float) -> str | None:
    """Of one rank over these rows; None where none has enough requests for it."""
    values = {
        title: spread(load_ranks.accepted(one, name) for one in results) for title, results in known.items()
    }
    ranked = [(title, value) for title, value in values.items() if value is not None]
    return load_ranks.range_in_words(name, ranked, times) if ranked else None


def _rank_in_words(results: Sequence[LoadResult], name: str) -> str:
    value = spread(load_ranks.accepted(one, name) for one in results)
    if value is None:
        return f"{name} unknown"
    return f"{name} {number(value.median)}{'' if math.isinf(value.median) else ' ms'}"


def _failures(results: Sequence[LoadResult]) -> str:
    """`277 of 24,646 (12 log-ins)`, of all repetitions."""
    loads = [one.session_load for one in results if one.session_load is not None]
    sent = sum(one.requests for one in loads) or sum(one.requests.planned for one in results)
    logins = sum(one.failed_logins for one in loads)
    of_logins = f" ({counted(logins, 'log-in')})" if logins else ""
    return f"{sum(map(_failed, results)):,} of {sent:,}{of_logins}"


def picture(data: Suite) -> Plot | None:
    """Percentiles of each row; None where nothing was served."""
    from writepath.report import plots  # noqa: PLC0415 - matplotlib takes half a second to load

    unit, drawable = reads.unit(data), []
    for row in data.rows:
        results = [one.result for one in data.shown(row) if one.result is not None]
        if any(one.requests.acknowledged for one in results):
            bars = (
                plots.Bar(
                    name=name, colour=colour, value=spread(load_ranks.accepted(one, name) for one in results)
                )
                for name, colour in zip(RANKS, plots.RANK_COLOURS, strict=True)
            )
            title = closed.title_of(data, row)
            drawable.append(plots.Drawable(title=title, bands=None, bars=tuple(bars)))
    if not drawable:
        return None
    return Plot(
        file=f"{unit}-percentiles.svg",
        alt=f"Percentiles of the time of a {unit}: median, p95 and p99 of each row",
        svg=plots.percentiles(drawable, f"{unit}s", "not served"),
    )
