"""The report of a load suite: its sentences, pictures, tables, and the metrics by which its cells are compared."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from writepath.analysis import load_result
from writepath.analysis.comparison import FEWEST_PAIRS
from writepath.analysis.stats import Spread, spread
from writepath.experiments.load import sections_closed as closed
from writepath.experiments.load import sections_reads as reads
from writepath.experiments.load import sections_sessions as of_sessions
from writepath.experiments.load import tables
from writepath.experiments.load.tables import Suite
from writepath.records.load import LoadResult
from writepath.records.load_facts import LoadFacts
from writepath.report import load_ranks, rows, warm_up
from writepath.report.comparison import reference, with_baseline
from writepath.report.data import Metric, RowKey
from writepath.report.fingerprint import fingerprint, hosts, in_one_line, repetition_note, slowdown_times
from writepath.report.model import Column, Plot, Report, Section, Table, number, plain, short, texts
from writepath.report.rows import RANKS, Field

MIB = 1 << 20
ALL, GENERATOR = "all but k6", "k6"
COMPONENT = Column(key="component", title="component")
WRITTEN = (
    f"Written: bytes to disk. Where the runtime cannot count them per component, the row '{ALL}' shows the bytes that"
    " all disks of the host took during the load, including the file system's journal and the load generator's ledger."
)
NOTES = (f"{ALL}: the sum of the variant's components; its peak memory is the sum of their peaks.", WRITTEN)


Used = Mapping[str, float | None]  # of some components together, by column
RESOURCES: tuple[Field[Used], ...] = (
    rows.field("cpu_s", "CPU", itemgetter("cpu_s"), "s"),
    rows.field("rss_peak_mib", "peak memory", itemgetter("rss_peak_mib"), "MiB"),
    rows.field("written_mib", "written", itemgetter("written_mib"), "MiB"),
    rows.field("cpu_s_per_1000", "CPU per 1,000 writes", itemgetter("cpu_s_per_1000"), "s"),
    rows.field("written_mib_per_1000", "written per 1,000 writes", itemgetter("written_mib_per_1000"), "MiB"),
)


def used(result: LoadResult, members: Sequence[str]) -> Used:
    """What these components used, per 1,000 rows stored or requests served too; None where one of them is unknown.

    Where the runtime cannot tell by component what was written, all disks of the host tell it of all components.
    """
    known = [result.resources[name] for name in members if name in result.resources]
    written = _sum(one.write_bytes for one in known)
    if written is None and result.resources.keys() - {GENERATOR} == set(members):
        written = result.disk_written_bytes
    found = {
        "cpu_s": _sum(one.cpu_seconds for one in known),
        "rss_peak_mib": _scaled(_sum(one.rss_peak_bytes for one in known), 1 / MIB),
        "written_mib": _scaled(written, 1 / MIB),
    }
    done = _done(result)
    each = 1000 / done if done else None
    return found | {f"{name}_per_1000": _scaled(found[name], each) for name in ("cpu_s", "written_mib")}


def _done(result: LoadResult) -> int:
    """Rows stored; of a load of reads, requests served."""
    if result.audit is not None:
        return result.audit.stored_rows if result.audit.reads else 0
    if (sessions := result.session_load) is not None:
        return sessions.requests - sessions.failed_requests
    return result.requests.acknowledged


def _sum(values: Iterable[float | None]) -> float | None:
    found = [*values]
    return None if not found or None in found else sum(value for value in found if value is not None)


def _scaled(value: float | None, factor: float | None) -> float | None:
    return None if value is None or factor is None else value * factor


def cpu_s_per_1000(result: LoadResult) -> float | None:
    """Processor time of all components but the generator, per 1,000 rows stored."""
    return used(result, [name for name in result.resources if name != GENERATOR])["cpu_s_per_1000"]


def resources(data: Suite) -> Table:
    """What each component used while the load ran, and all but the load generator together."""
    fields, during = RESOURCES, "during the load, without the drain"
    done = (
        "Writes are rows stored. Short runs measure a JVM that is still compiling, so CPU per write is higher here than"
        " in the capacity suite."
    )
    if tables.reads(data):
        fields = tuple(replace(one, title=one.title.replace("writes", "requests")) for one in RESOURCES)
        during, done = "during the load", "Requests are those that were served."
    return rows.by_part(
        data,
        fields,
        tables.label(data),
        COMPONENT,
        _groups,
        key="resources",
        title="Resources",
        caption=f"Sampled every second {during}. A component is all its instances and child processes. {done}"
        f" {rows.spread_note(data.index)}",
        notes=NOTES,
        compared=True,
    )


def _groups(results: Sequence[LoadResult]) -> list[tuple[str, list[Used]]]:
    """Names of lines, each with its components; the load generator last."""
    own = [result for result in results if result.resources]
    names = dict.fromkeys(name for result in own for name in result.resources)
    components = [name for name in names if name != GENERATOR]
    groups = {ALL: components} if components else {}
    groups |= {name: [name] for name in (*components, *(name for name in names if name == GENERATOR))}
    return [(name, [used(result, members) for result in own]) for name, members in groups.items()]


DATABASE_DELAY_MS, REFRESH_INTERVAL = "DATABASE_DELAY_MS", "ELASTICSEARCH_REFRESH_INTERVAL"  # factors
Known = tuple[str, Spread]  # title of a row and its value of a rank


def answer(data: Suite) -> tuple[str, ...]:
    """How long the 201 takes, and whether anything acknowledged was lost. data: without controls."""
    slowdown = slowdown_times(data)
    told = [
        load_ranks.range_in_words(name, rows, slowdown)
        for name in ("median", "p99")
        if (rows := _known(data, name))
    ]
    if not told:
        times = "No cell has valid figures; the table of runs has the reasons."
    else:
        results = [one.result for one in data.cells if one.counts and one.result is not None]
        peaks = {one.climb.before_per_s if one.climb else one.planned_peak_per_s for one in results}
        peak = peaks.pop() if len(peaks) == 1 else None
        rate = "" if peak is None else f" at up to {number(peak)}/s"
        times = (
            f"Time until the 201{rate}: {', '.join(told)}. {repetition_note(data, len(data.rows))}".rstrip()
        )
    own = (*_limits(data), *_against_baseline(data), *_searchable(data), *_delayed(data))
    return (times, *own, _losses(data))


def _limits(data: Suite) -> Iterator[str]:
    """Where each path leaves the SLO: by refresh interval, or the highest rate first and no limit last."""
    found, slo_ms = [], 0.0
    for row in data.rows:
        if climbs := [one.climb for one in _counted(data, row) if one.climb]:
            slo_ms = climbs[0].slo_ms
            left = statistics.median(one.leaves_slo_per_s or math.inf for one in climbs)
            at = f"above {number(climbs[0].highest_per_s)}" if math.isinf(left) else number(left)
            found.append(((math.isinf(left), -left), row, f"{at}/s"))
    if found:
        told = _by_level(REFRESH_INTERVAL, "{} at {}", [(row, at) for _, row, at in found])
        ranked = (f"{row.title} {at}" for _, row, at in sorted(found, key=itemgetter(0)))
        yield f"The p99 leaves {number(slo_ms)} ms at: {told or ', '.join(ranked)}."


def _counted(data: Suite, row: RowKey) -> list[LoadResult]:
    return [one.result for one in data.of(row) if one.counts and one.result]


def _against_baseline(data: Suite) -> Iterator[str]:
    """What each variant needs of what the baseline needs; nothing where too few blocks decide nothing."""
    base = reference(data)
    if base is None or data.index.repetitions < FEWEST_PAIRS:
        return
    for metric in (one for one in METRICS if one.key in TOLD):
        table = with_baseline(data, [metric])
        lines = [texts(table, row) for row in table.rows] if table else []
        told = [f"{line[0]} {line[2]}, {line[4]}" for line in lines if not line[0].endswith(rows.AGAIN)]
        if told:
            yield f"{metric.title} ÷ that of {base.title} in the same block: {'; '.join(told)}."


def _searchable(data: Suite) -> Iterator[str]:
    """How long until a search finds a post, by refresh interval of the index."""
    known = [
        (row, "∞" if math.isinf(value.median) else f"{short(value.median)} ms")
        for row in data.rows
        if (value := spread(load_ranks.visible(one, "median") for one in _counted(data, row)))
    ]
    if told := _by_level(REFRESH_INTERVAL, "{} at {}", known):
        yield f"A post is searchable after (median): {told}."


def _delayed(data: Suite) -> Iterator[str]:
    """What each variant acknowledged by delay of its database, and how long a queue took to store it all."""
    shares, drained = list[tuple[RowKey, str]](), defaultdict[str, float](float)
    for row in data.rows:
        results = [one.result for one in data.of(row) if one.result]
        if DATABASE_DELAY_MS not in dict(row.levels) or not results:
            continue
        share = statistics.median(one.requests.acknowledged / one.requests.planned for one in results)
        shares.append((row, f"{100 * share:.3g} %"))
        if any(one.durable_later for one in results):
            title = row.variant.title
            drained[title] = max(drained[title], *(one.drain.seconds for one in results if one.drain))
    if told := _by_level(DATABASE_DELAY_MS, "{} at {} ms", shares):
        yield f"Acknowledged by delay of the database: {told}."
    for title, seconds in drained.items():
        yield f"{title} stored its last row at most {number(seconds)} s after the load."


def _by_level(factor: str, words: str, values: Iterable[tuple[RowKey, str]]) -> str:
    """`JPA 100 % at 0 ms, 31 % at 40 ms; …`: of variants with several levels. words: for a value and its level."""
    found = defaultdict[str, list[str]](list)
    for row, value in values:
        if (level := dict(row.levels).get(factor)) is not None:
            found[row.variant.title].append(words.format(value, level))
    return "; ".join(f"{title} {', '.join(own)}" for title, own in found.items() if len(own) > 1)


def _known(data: Suite, name: str) -> list[Known]:
    found = (
        (row.title, spread(load_ranks.usual(one, name) for one in _counted(data, row))) for row in data.rows
    )
    return [(title, value) for title, value in found if value is not None]


def _losses(data: Suite) -> str:
    """Acknowledged writes that the audit did not find, over all cells: a cell with losses does not count."""
    found = [(one.record.title, one.result) for one in data.cells if one.result is not None]
    audits = [(title, result.audit) for title, result in found if result.audit is not None]
    lost = Counter[str]()
    for title, audit in audits:
        lost[title] += audit.lost + audit.stranded + (audit.vanished or 0)
    unread = len(data.cells) - sum(1 for _, audit in audits if audit.reads)
    words = [f"{count:,} acknowledged writes were lost ({title})" for title, count in lost.items() if count]
    if unread:
        words.append(f"in {unread} of {len(data.cells)} cells the store was not read back")
    text = "; ".join(words) or "no acknowledged write was lost"
    return f"{text[0].upper()}{text[1:]}."


def pictures(data: Suite) -> tuple[Plot | None, Plot | None]:
    """Percentiles and course of the rows that have served a request; None where there is nothing to draw."""
    from writepath.report import plots  # noqa: PLC0415 - matplotlib takes half a second to load, and 30 MB

    def bars(results: Sequence[LoadResult]) -> Iterator[plots.Bar]:
        for name, colour in zip(RANKS, plots.RANK_COLOURS, strict=True):
            value = spread(load_ranks.accepted(one, name) for one in results)
            yield plots.Bar(name=f"{name} until the 201", colour=colour, value=value)
        if later := [load_ranks.durable_later(one, "p99") for one in results if one.durable_later]:
            yield plots.Bar(name="p99 until durable", colour=plots.ORANGE, value=spread(later))

    drawable, phases = [], set()
    for row in data.rows:
        cells = [one for one in data.shown(row) if one.result is not None]
        results = [one.result for one in cells if one.result is not None]
        if any(one.requests.acknowledged for one in results):
            evidence = cells[0].evidence  # of several repetitions the first that counts is drawn over time
            own = None if evidence is None else load_result.bands(evidence)
            drawable.append(plots.Drawable(title=row.title, bands=own, bars=tuple(bars(results))))
            phases |= {tuple((phase.name, phase.seconds) for phase in one.phases) for one in results}
    if not drawable:
        return None, None
    first = Plot(
        file="latency-percentiles.svg",
        alt="Percentiles of accept latency: median, p95 and p99 of each variant",
        svg=plots.percentiles(drawable),
    )
    if not any(one.bands for one in drawable):
        return first, None
    climbs = any(one.result is not None and one.result.climb for one in data.cells)
    alt = "Accept latency over time, per second: median, p95 and maximum of each variant"
    alt += "; next to it scheduled and acknowledged requests per second" if climbs else ""
    shared = phases.pop() if len(phases) == 1 else ()
    svg = plots.over_time(drawable, shared, rates=climbs)
    return first, Plot(file="latency-over-time.svg", alt=alt, svg=svg)


def _faster(key: str, title: str, rank: tables.Rank, name: str) -> Metric[LoadResult]:
    return Metric(key=key, title=title, better="lower", get=lambda result: rank(result, name))


METRICS: tuple[Metric[LoadResult], ...] = (
    *(_faster(f"{name}_ms", name, load_ranks.accepted, name) for name in RANKS),
    _faster("planned_p99_ms", "p99 from scheduled time", load_ranks.from_schedule, "p99"),
    Metric(key="achieved_per_s", title="throughput", better="higher", get=lambda one: one.achieved_per_s),
    _faster("to_durable_p95_ms", "time to durable, p95", load_ranks.durable, "p95"),
    Metric(
        key="cpu_s_per_1000",
        title="CPU per 1,000 writes",
        better="lower",
        get=cpu_s_per_1000,
        words=("cheaper", "more expensive"),
    ),
)
OF_WRITES = ("to_durable_p95_ms", "cpu_s_per_1000")
TOLD = ("p99_ms", "cpu_s_per_1000")  # in the page's first sentences


def _with_baseline(data: Suite) -> Table | None:
    metrics = [one for one in METRICS if not (tables.reads(data) and one.key in OF_WRITES)]
    return with_baseline(data, metrics, tables.label(data))


def report(data: Suite) -> Report:
    """The page."""
    if closed.is_closed(data):
        return _closed_report(data)
    if tables.reads(data):
        return _reads_report(data)
    ranked, load = data.ranked, load_in_words(data)
    percentiles, over_time = pictures(ranked)
    climb = tables.climb(ranked)
    ranking = (
        climb or tables.main(ranked),  # beyond its limit a path acknowledges too few for percentiles of all
        tables.latency(ranked),
        _with_baseline(data),
        tables.original(ranked),
        tables.phases(ranked),
        tables.answers(ranked),
        tables.throughput(ranked),
        tables.clocks(ranked),
        tables.order(ranked),
        resources(ranked),
        tables.audit(ranked),
        tables.weakened(data),
    )
    first, *others = rows.mixed((table for table in ranking if table is not None), hosts(data))
    of_kind = (("load", load), ("warm-up before the load", warm_up.in_words(data.index.params)))
    first_picture, second = (over_time or percentiles, None) if climb else (percentiles, over_time)
    plots = {"latency": (second,) if second else ()}

    def section(table: Table) -> Section:
        return Section(key=table.key, title=table.title, tables=(table,), plots=plots.get(table.key, ()))

    return Report(
        title=data.index.title,
        answer=answer(ranked),
        facts=in_one_line(data, load),
        picture=first_picture,
        table=first,
        details=(
            *map(section, others),
            *warm_up.section(ranked),
            *map(section, (tables.runs(data), fingerprint(data, of_kind))),
        ),
    )


def _closed_report(data: Suite) -> Report:
    """Of a load whose users wait for their answers: throughput is what is measured."""
    ranked = data.ranked
    known = closed.known_effects(ranked)
    found = (
        reads.feed(ranked),
        closed.main(ranked),
        reads.connections(ranked),
        closed.conditions(ranked),
        closed.causes(ranked),
        closed.effects(ranked, known),
        closed.original(ranked),
        reads.original(ranked),
        closed.counts(ranked),
        None if known else _with_baseline(data),
        _latency(ranked),
        tables.answers(ranked),
        tables.order(ranked),
        resources(ranked),
        tables.audit(ranked),
        tables.weakened(data),
    )
    said = (
        *reads.feed_answer(ranked),
        *closed.answer(ranked, known),
        *reads.bottlenecks(ranked),
        *(() if tables.reads(ranked) else (_losses(ranked),)),
    )
    return _page(data, said, closed.picture(ranked), found, closed.sockets(ranked))


def _reads_report(data: Suite) -> Report:
    """Of an open load of reads: times and failures are what is measured."""
    ranked = data.ranked
    found = (
        of_sessions.times(ranked),
        of_sessions.sessions(ranked),
        of_sessions.found_rates(ranked),
        closed.conditions(ranked),
        closed.causes(ranked),
        reads.connections(ranked),
        _with_baseline(data),
        _latency(ranked),
        resources(ranked),
    )
    return _page(data, tuple(of_sessions.answer(ranked)), of_sessions.picture(ranked), found)


def _latency(data: Suite) -> Table:
    return reads.latency(data) if tables.reads(data) else tables.latency(data)


def _page(
    data: Suite,
    said: tuple[str, ...],
    picture: Plot | None,
    found: Iterable[Table | None],
    more: Iterable[tuple[str, str]] = (),
) -> Report:
    """A page of these tables, its warm-up and its runs. more: facts of the load, for the fingerprint."""
    load = load_in_words(data)
    first, *others = rows.mixed((table for table in found if table is not None), hosts(data))
    of_kind = (("load", load), ("warm-up before the load", warm_up.in_words(data.index.params)), *more)

    def section(table: Table) -> Section:
        return Section(key=table.key, title=table.title, tables=(table,))

    return Report(
        title=data.index.title,
        answer=said,
        facts=in_one_line(data, load),
        picture=picture,
        table=first,
        details=(
            *map(section, others),
            *warm_up.section(data.ranked),
            *map(section, (tables.runs(data), fingerprint(data, of_kind))),
        ),
    )


def load_in_words(data: Suite) -> str:
    """The phases: `ramp-up 20 s, 3 to 100/s; sustained 60 s, 100/s`; of closed loads their users."""
    found = [load_result.facts_of(one.evidence) for one in data.cells if one.evidence is not None]
    said, users = dict[str, None](), dict[float, set[int]]()
    for facts in found:
        if facts.model == "closed":
            users.setdefault(facts.seconds, set()).add(facts.virtual_users)
        else:
            said[_phases(facts)] = None
    for seconds, levels in users.items():
        counts = ", ".join(map(str, sorted(levels)))
        said[f"{counts} virtual users for {plain(seconds)} s, each waits for its answer"] = None
    return " | ".join(said) or "unknown"


def _phases(facts: LoadFacts) -> str:
    words = []
    for phase in facts.phases:
        rates = dict.fromkeys(plain(rate) for rate in (phase.from_per_s, phase.to_per_s))
        words.append(f"{phase.name} {plain(phase.seconds)} s, {' to '.join(rates)}/s")
    return "; ".join(words)
