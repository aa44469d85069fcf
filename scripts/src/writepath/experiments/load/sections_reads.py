"""The report of loads of reads: latency, where a read waits, feeds by strategy, the original's figures next to ours."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from writepath.analysis.stats import Spread, spread
from writepath.config.settings import CONDITION
from writepath.experiments.load import sections_closed as closed
from writepath.experiments.load import tables
from writepath.experiments.load.tables import Own, Suite, count, field
from writepath.records.load import LoadResult, ReadLoad
from writepath.records.measures import Host
from writepath.report import load_ranks, rows
from writepath.report.comparison import by_block
from writepath.report.data import RowKey, published_figures
from writepath.report.model import Cell, Column, Row, Table, Value, listed, number, plain, row_of
from writepath.report.rows import Field

ORIGINAL = "reads"  # in original.yaml: by suite, cells with their levels and figures
MEASURED = Column(key="read_measured", title="measured")
APPLICATION_CPUS, FEED_STRATEGY = "APPLICATION_CPUS", "FEED_STRATEGY"  # settings
BUSY_PERCENT = 90.0  # as of any processor: seconds of 90 % contain moments of 100 %


def _read(key: str, title: str, get: Callable[[ReadLoad], Value], unit: str = "") -> Field[Own]:
    """A measured value where it has a unit, else a count."""
    return field(
        key, title, lambda r: None if r.read_load is None else get(r.read_load), unit, exact=not unit
    )


def of_sessions(data: Suite) -> bool:
    """Whether the unit of its loads is the session."""
    return any(one.result is not None and one.result.session_load for one in data.cells)


def unit(data: Suite) -> str:
    """What is scheduled and timed."""
    return "session" if of_sessions(data) else "request"


def latency(data: Suite) -> Table:
    """Percentiles of reads, by both clocks."""
    one = unit(data)
    fields = [
        replace(each, title="not served") if each.key == "unserved" else each
        for each in tables.LATENCY
        if each not in (tables.MEANING, tables.LEVEL)
    ]
    return rows.by_row(
        data,
        fields,
        partial(closed.title_of, data),
        key="latency",
        title="Latency of reads",
        caption=f"Time of a {one}. Times from the scheduled send time include every delay of the load generator."
        f" Min, max and mean cover {one}s that were served. Percentiles cover all that were scheduled; one that"
        f" was not served counts as infinite. {rows.spread_note(data.index)}",
        notes=(tables.legend(data),),
        compared=True,
    )


# Where a read waits


DATABASE, PROXY = "postgres", "nginx"  # components; the others are the application


def _application_percent(load: ReadLoad) -> float | None:
    own = [share for name, share in load.cpu_shares.items() if name not in (DATABASE, PROXY)]
    return 100 * sum(own) if own else None


def _percent(component: str) -> Callable[[ReadLoad], Value]:
    """Of the system's processors."""

    def get(load: ReadLoad) -> Value:
        share = load.cpu_shares.get(component)
        return None if share is None else 100 * share

    return get


class Bottleneck(NamedTuple):
    """What limits a load of reads, by rule from its figures."""

    resource: str
    why: str

    @property
    def words(self) -> str:
        """`host CPU (97 % used)`."""
        return f"{self.resource} ({self.why})"


def _quota(one: Own) -> float:
    """Processors that the application may use; 0: all."""
    return float(one.record.settings.get(APPLICATION_CPUS) or 0)


def bottleneck(one: Own) -> Bottleneck | None:
    """The application's quota, else the processors, else the pool; None where the use of processors is not known."""
    result, host, quota = one.result, one.record.host, _quota(one)
    load = None if result is None else result.read_load
    if result is None or load is None or host is None or not load.cpu_shares:
        return None
    application, used = _application_percent(load) or 0.0, _used_percent(result, load, host)
    if quota and (of_quota := application * host.system_cores / quota) >= BUSY_PERCENT:
        return Bottleneck("CPU quota of the application", f"{of_quota:.0f} % of it used")
    database = 100 * load.cpu_shares.get(DATABASE, 0.0)
    parts = f"{used:.0f} % used: application {application:.0f} %, database {database:.0f} %"
    if used >= BUSY_PERCENT:
        return Bottleneck("host CPU" if host.split is None else "CPU of the system under test", parts)
    wait_ms, with_ms = load.wait_ms_mean, load.held_ms_mean
    if wait_ms is not None and with_ms is not None and wait_ms > with_ms:
        words = f"a read waits {number(wait_ms)} ms for a connection and has it for {number(with_ms)} ms"
        return Bottleneck("connection pool", words)
    return Bottleneck("none by these rules", f"CPU {parts}")


def _used_percent(result: LoadResult, load: ReadLoad, host: Host) -> float:
    """Of the system's processors, with what the load generator takes of them where it shares them."""
    shared = result.generator.cpu_share_mean / host.cores if host.split is None else 0.0
    return 100 * (sum(load.cpu_shares.values()) + shared)


def _resource(one: Own) -> str | None:
    found = bottleneck(one)
    return None if found is None else found.resource


CONNECTIONS: tuple[Field[Own], ...] = (
    rows.field("read_bottleneck", "bottleneck", _resource),
    _read("read_wait_ms", "wait for a connection", lambda one: one.wait_ms_mean, "ms"),
    _read("read_held_ms", "time with a connection", lambda one: one.held_ms_mean, "ms"),
    _read("read_slow", "slower than 1 s", lambda one: one.slow),
    _read("read_slow_seconds", "seconds with one", lambda one: one.slow_seconds),
    _read("read_application_percent", "CPU, application", _application_percent, "%"),
    _read("read_database_percent", "CPU, database", _percent(DATABASE), "%"),
    _read("read_proxy_percent", "CPU, proxy", _percent(PROXY), "%"),
    count(
        "read_errors_proxy",
        "errors at the proxy",
        lambda r: None if r.closed is None else r.closed.errors_at_proxy,
    ),
    _read("read_errors_application", "errors at the application", lambda one: one.errors_at_application),
)


def connections(data: Suite) -> Table | None:
    """Time for connections and with them, slow requests, processors, errors by place; None of writes."""
    if not tables.reads(data):
        return None
    return closed.by_level(
        data,
        CONNECTIONS,
        key="connections",
        title="Connections and processors",
        caption=f"{closed.over_blocks(data)} Mean wait for a connection of the pool, waits that timed out included,"
        " and mean time from getting one to giving it back: the time in the query, and a little more. CPU: of the"
        " processors of the system under test. Bottleneck, by the first rule that applies: quota of the application or"
        f" processors {BUSY_PERCENT:.0f} % used, the load generator included where it shares them; a longer wait for"
        " a connection than time with it.",
        compared=True,
    )


def bottlenecks(data: Suite) -> Iterator[str]:
    """What limits the highest throughput, other rows, and one with fewer processors. Of a closed load of reads."""
    if not tables.reads(data):
        return
    cells = {closed.title_of(data, row): data.shown(row)[0] for row in data.rows}
    tps = {title: value.median for title, value in closed.tps_of(data)}
    found = {title: one for title in tps if (one := bottleneck(cells[title])) is not None}
    if not found:
        return
    *_, best = found
    yield f"Bottleneck at the highest throughput ({best}): {found[best].words}."
    counts = Counter(one.resource for one in found.values()).most_common()
    if len(counts) > 1:
        told = listed(f"{resource} in {times}" for resource, times in counts)
        yield f"Bottlenecks of the {len(found)} rows without errors: {told}."
    yield from _longest_wait({title: cells[title] for title in found})
    yield from _with_quota(cells, tps, found)


def _longest_wait(cells: Mapping[str, Own]) -> Iterator[str]:
    """Against the time with a connection, of the cell with the longest."""
    waits = []
    for title, one in cells.items():
        load = None if one.result is None else one.result.read_load
        if load is not None and load.wait_ms_mean is not None and load.held_ms_mean is not None:
            waits.append((load.wait_ms_mean, load.held_ms_mean, title))
    if waits:
        wait_ms, held_ms, title = max(waits)
        times = f"{number(wait_ms)} ms, then it is in use for {number(held_ms)} ms"
        yield f"Longest mean wait for a connection: {times} ({title})."


def _with_quota(
    cells: Mapping[str, Own], tps: Mapping[str, float], found: Mapping[str, Bottleneck]
) -> Iterator[str]:
    """The best row next to which one differs from it by a quota alone, and that one."""
    settings = {title: {**one.record.settings, APPLICATION_CPUS: ""} for title, one in cells.items()}
    limited = [title for title, one in cells.items() if _quota(one)]
    for title in sorted(found, key=lambda title: -tps[title]):
        like = next((one for one in limited if settings[one] == settings[title]), None)
        if like is None or title in limited:
            continue
        words = _errors(cells[like])
        if like in found:
            words = f"{number(tps[like])} TPS, bottleneck {found[like].words}"
        quota = f"{plain(_quota(cells[like]))} processors for the application ({like})"
        yield f"With {quota}: {words}; without it {number(tps[title])} TPS, bottleneck {found[title].words}."
        return


def _errors(one: Own) -> str:
    if one.result is None or one.result.closed is None:
        return "no figures"
    known = one.result.closed
    return f"{known.errors:,} requests failed, {known.errors_at_proxy:,} of them at the proxy"


# Feeds by strategy


FEED = (
    closed.FIGURES[0],
    field("read_p99_ms", "p99", lambda r: load_ranks.accepted(r, "p99"), "ms"),
    _read("feed_statements", "statements", lambda one: one.statements_per_request, "per request"),
    _read("feed_rows", "rows", lambda one: one.rows_per_request, "per request"),
    count("tps_errors", "errors", lambda r: r.requests.planned - r.requests.acknowledged),
)
RATIO = Column(key="feed_ratio", title="TPS ratio", unit="× first")


def _ratio(data: Suite, row: RowKey | None, base: RowKey | None) -> Spread | None:
    """TPS ÷ that of another row, by block; None where either is not ranked."""
    if row is None or base is None or any(closed.mark(data.shown(one)) for one in (row, base)):
        return None
    blocks = [by_block(data, one) for one in (row, base)]
    rates = [
        (one.achieved_per_s, other.achieved_per_s)
        for one, other in zip(*blocks, strict=True)
        if one and other
    ]
    value = closed.mean([one / other for one, other in rates if one and other])
    return value if isinstance(value, Spread) else None


def _strategies(data: Suite) -> bool:
    """Whether strategies of the feed are compared."""
    return tables.reads(data) and any(factor.name == FEED_STRATEGY for factor in data.index.factors)


def feed(data: Suite) -> Table | None:
    """Throughput and queries of each strategy; None of other loads."""
    if not _strategies(data):
        return None
    body, (base, *_) = list[Row](), data.rows
    for row in data.rows:
        cells = data.shown(row)
        tps, *others = (closed.mean([each.get(one) for one in cells]) for each in FEED)
        ratio = _ratio(data, row, base)
        values = (closed.title_of(data, row), tps, ratio, *others)
        body.append(row_of(*values, mark=closed.mark(cells), about=rows.subject_of(row)))
    return Table(
        key="feed",
        title="Feed by strategy",
        caption=f"{closed.over_blocks(data)} Ratio: to the first row in the same block. Statements: SQL that the"
        " application sent per answered request; rows: what they returned to it. p99: over all requests that were"
        " sent.",
        columns=(rows.VARIANT, FEED[0], RATIO, *FEED[1:]),
        rows=tuple(body),
        notes=(tables.legend(data),),
        compared=True,
    )


def feed_answer(data: Suite) -> Iterator[str]:
    """Each strategy's throughput with its ratio to the first, then the original's."""
    if not _strategies(data):
        return
    ranked, (base, *_) = dict(closed.tps_of(data)), data.rows
    told = []
    for row in data.rows:
        if (tps := ranked.get(closed.title_of(data, row))) is not None:
            ratio = None if row == base else _ratio(data, row, base)
            times = "" if ratio is None else f" (× {number(ratio.median)})"
            told.append(f"{dict(row.levels)[FEED_STRATEGY]} {number(tps.median)}{times}")
    theirs = [one["tps"] for one in known_figures(data).get("cells", ())]
    quoted = [f"{one:g}" + (f" (× {number(one / theirs[0])})" if at else "") for at, one in enumerate(theirs)]
    if told:
        original_too = f"; the original: {', '.join(quoted)}" if quoted else ""
        yield f"TPS by strategy: {', '.join(told)}{original_too}."


# The original's figures next to ours


def known_figures(data: Suite) -> Mapping[str, Any]:
    """The original's of this suite; nothing where there are none."""
    found: Mapping[str, Any] = published_figures()[ORIGINAL].get(data.index.suite, {})
    return found


def remarks(known: Mapping[str, Any]) -> tuple[str, ...]:
    """What carries over, for the notes of a table."""
    return (str(known["remarks"]).strip(),) if known else ()


def quoted(figures: Mapping[str, Any], names: Sequence[str]) -> Iterator[Cell]:
    """Figures as they were written up, in full."""
    yield from (Cell(figure=spread([figures.get(name)]), exact=True) for name in names)


def levels_of(theirs: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Of a cell of the original, as those of a row sorted by name."""
    return tuple(sorted((name, str(level)) for name, level in theirs.get("levels", {}).items()))


def _why(one: Own) -> str | None:
    found = bottleneck(one)
    return None if found is None else f"bottleneck {found.words}"


THEIRS = "theirs_"
BESIDE = (
    field("theirs_tps", "TPS", lambda r: r.achieved_per_s, "1/s"),
    field("theirs_peak", "TPS peak", lambda r: r.achieved_peak_per_s, "1/s"),
    count("theirs_errors", "errors", lambda r: r.requests.planned - r.requests.acknowledged),
    _read("theirs_application_percent", "CPU, application", _application_percent, "%"),
    _read("theirs_database_percent", "CPU, database", _percent(DATABASE), "%"),
    rows.field("theirs_said", "in words", _why),
)
THEIR_RATIO = Column(key="theirs_ratio", title="TPS ratio", unit="× first")


def original(data: Suite) -> Table | None:
    """The original's closed loads of reads, each with ours at the same levels; None where it has none."""
    known = known_figures(data)
    if not known or of_sessions(data):
        return None
    body, ours = list[Row](), {tuple(sorted(row.levels)): row for row in data.rows if row.levels}
    first, names = known["cells"][0], [one.key.removeprefix(THEIRS) for one in BESIDE[:-1]]
    for theirs in known["cells"]:
        levels = levels_of(theirs)
        named = ", ".join(level if name == CONDITION else f"{name}={level}" for name, level in levels)
        title, row = theirs.get("title") or named, ours.get(levels)
        ratio = theirs["tps"] / first["tps"] if "tps" in theirs else None
        tps, *others = quoted(theirs, names)
        body.append(row_of(title, "original", tps, ratio, *others, theirs.get("said")))
        if row is not None:
            cells = data.shown(row)
            here, *rest = (closed.mean([each.get(one) for one in cells]) for each in BESIDE)
            times = _ratio(data, row, ours.get(levels_of(first)))
            mark, about = closed.mark(cells), rows.subject_of(row)
            body.append(row_of(title, "here", here, times, *rest, mark=mark, about=about))
    return Table(
        key="original_reads",
        title="The original's reads next to ours",
        caption="Both are closed loads, on different hosts and software. Figures that the original lacks are left"
        " out. Ratio: to the first cell of the same source.",
        columns=(rows.VARIANT, MEASURED, BESIDE[0], THEIR_RATIO, *BESIDE[1:]),
        rows=tuple(body),
        notes=remarks(known),
        names=2,
    )
