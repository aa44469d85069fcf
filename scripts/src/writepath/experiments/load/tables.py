"""The tables of a load suite. Each function leaves out what does not apply: it gives None."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from writepath.analysis import stats
from writepath.analysis.saturation import in_words, unsaturated
from writepath.records.load import Climb, LoadPhase, LoadResult
from writepath.records.measures import Audit, Latency, Order
from writepath.report import load_ranks, rows
from writepath.report.data import CellData, RowKey, SuiteData, published_figures
from writepath.report.model import ABSENT, Cell, Column, Row, Table, Value, cell, number, row_of
from writepath.report.rows import DAGGER, RANKS, Field, Label

Suite = SuiteData[LoadResult]
Own = CellData[LoadResult]
Get = Callable[[LoadResult], Value]
Rank = Callable[[LoadResult, str], float | None]  # of a result, by the name of the rank

ORIGINAL, SLOW = "original", "original-slow-database"  # suites that are compared with the original experiment
REFRESH_INTERVAL = "ELASTICSEARCH_REFRESH_INTERVAL"  # a factor


def field(key: str, title: str, get: Get, unit: str = "", *, exact: bool = False) -> Field[Own]:
    """A column of the result; without a value where there is no result."""
    return rows.field(
        key, title, lambda one: None if one.result is None else get(one.result), unit, exact=exact
    )


def count(key: str, title: str, get: Get) -> Field[Own]:
    """A column of exact counts."""
    return field(key, title, get, exact=True)


def ranks(of: Rank, key: str = "{}_ms", title: str = "{}") -> tuple[Field[Own], ...]:
    """Median, p95 and p99. key, title: with {} in the place of these names."""

    def one(name: str) -> Field[Own]:
        return field(key.format(name), title.format(name), lambda result: of(result, name), "ms")

    return tuple(map(one, RANKS))


def reads(data: Suite) -> bool:
    """Whether its loads only read, even if none got that far: then nothing is acknowledged, stored or audited."""
    known = any(one.result is not None and one.result.read_load for one in data.cells)
    return known or bool(data.index.params.get("reads"))


def legend(data: Suite) -> str:
    """Of figures that may be infinite or absent."""
    return rows.LEGEND.replace("acknowledged", "served") if reads(data) else rows.LEGEND


def label(data: Suite) -> Label:
    """The row's title; a dagger where its 201 comes before the row is in its store."""
    return lambda row: f"{row.title} {DAGGER}" if _later(data, row) else row.title


def _later(data: Suite, row: RowKey) -> bool:
    return any(one.result is not None and one.result.durable_later for one in data.shown(row))


def _table(
    data: Suite,
    key: str,
    title: str,
    caption: str,
    fields: Sequence[Field[Own]],
    *,
    spread: bool = True,
    **more: Any,
) -> Table:
    """A line a row of the suite, a column a field."""
    said = f"{caption} {rows.spread_note(data.index)}" if spread else caption
    return rows.by_row(data, fields, label(data), key=key, title=title, caption=said, **more)


# Times

MEANING: Field[Own] = rows.field("acknowledges", "a 201 guarantees", lambda one: one.record.acknowledges)
LEVEL: Field[Own] = rows.field(
    "durability",
    "durability class",
    lambda one: one.record.durability.level if one.record.durability else "not read",
)
VERDICT: Field[Own] = rows.field("verdict", "verdict", rows.status)
MAIN = (
    LEVEL,
    field(
        "acknowledged_of_planned",
        "acknowledged of scheduled",
        lambda r: f"{r.requests.acknowledged:,} of {r.requests.planned:,}",
    ),
    *ranks(load_ranks.accepted),
    field("to_durable_p99_ms", "time to durable, p99", lambda r: load_ranks.durable(r, "p99"), "ms"),
)
LATENCY = (
    MEANING,
    LEVEL,
    count("planned", "scheduled", lambda r: r.requests.planned),
    count("unserved", "not acknowledged", lambda r: r.requests.planned - r.requests.acknowledged),
    field("min_served_ms", "min", lambda r: r.accept_latency_ms.min, "ms"),
    field("max_served_ms", "max", lambda r: r.accept_latency_ms.max, "ms"),
    field("mean_served_ms", "mean", lambda r: r.accept_latency_ms.mean, "ms"),
    *ranks(load_ranks.accepted),
    *ranks(load_ranks.from_schedule, "planned_{}_ms", "{} from scheduled time"),
)
TO_VISIBLE = ranks(load_ranks.visible, "to_visible_{}_ms", "visible, {}")
CLOCKS = (
    *ranks(load_ranks.accepted, "to_acknowledge_{}_ms", "acknowledged, {}"),
    *ranks(load_ranks.durable, "to_durable_{}_ms", "durable, {}"),
    *TO_VISIBLE,
    count("visible_samples", "visibility samples", lambda r: r.visible_samples),
    field(
        "visible_error_median_ms", "visibility error bound, median", lambda r: r.visible_error_ms_median, "ms"
    ),
    field("visible_error_max_ms", "visibility error bound, max", lambda r: r.visible_error_ms_max, "ms"),
)


def _phase_ranks(key: str, title: str, latency: Callable[[LoadPhase], Latency]) -> Iterator[Field[LoadPhase]]:
    for name in RANKS:
        get = partial(lambda name, one: load_ranks.rank(latency(one), name, one.planned), name)
        yield rows.field(f"{key}_{name}_ms", title.format(name), get, "ms")


PHASES: tuple[Field[LoadPhase], ...] = (
    rows.field("phase_planned", "scheduled", lambda one: one.planned, exact=True),
    rows.field("phase_unserved", "not acknowledged", lambda one: one.planned - one.acknowledged, exact=True),
    rows.field("phase_achieved_per_s", "achieved", lambda one: one.achieved_per_s, "201/s"),
    *_phase_ranks("phase", "{}", lambda one: one.accept_latency_ms),
    rows.field("phase_max_served_ms", "max", lambda one: one.accept_latency_ms.max, "ms"),
    *_phase_ranks("phase_planned", "{} from scheduled time", lambda one: one.planned_latency_ms),
)


def _later_note(data: Suite) -> tuple[str, ...]:
    """Where a row is marked."""
    later = f"{DAGGER} The 201 comes before the row is in its final store."
    return (later,) if any(_later(data, row) for row in data.rows) else ()


def main(data: Suite) -> Table:
    """What a reader meets first."""
    table = _table(
        data,
        "result",
        "Time until the 201",
        "Percentiles of the time from sending the POST to its 201, over all scheduled requests. Durable: until"
        " the row is committed in its final store.",
        MAIN,
    )
    figures = [one.figure for row in table.rows for one in row.cells if one.text is None]
    gaps = any(figure is None or math.isinf(figure.high) for figure in figures)
    return replace(table, notes=(*([rows.LEGEND] if gaps else []), *_later_note(data)))


def _by_hop(climb: Climb) -> str:
    words = (f"{hop} {count:,}" for hop, count in climb.errors_by_hop.items() if count)
    return ", ".join(words) or "none"


def _bottleneck(climb: Climb) -> str | None:
    if (found := climb.limited_by) is None:
        return None
    return in_words(found.first) if found.first else unsaturated(found.nearest)


def _of_climb(key: str, title: str, get: Callable[[Climb], Value], unit: str = "") -> Field[Own]:
    return field(key, title, lambda r: None if r.climb is None else get(r.climb), unit)


def climb(data: Suite) -> Table | None:
    """Latency below each path's limit, the limit, and what is beyond; None of loads without a climb."""
    climbs = [one.result.climb for one in data.cells if one.result is not None and one.result.climb]
    if not climbs:
        return None
    one = climbs[0]
    fields: tuple[Field[Own], ...] = (
        field(
            "before_p99_ms",
            f"p99 at {number(one.before_per_s)}/s",
            lambda r: load_ranks.steady_rank(r, "p99"),
            "ms",
        ),
        field("leaves_slo_per_s", f"p99 leaves {number(one.slo_ms)} ms at", load_ranks.leaves_slo, "req/s"),
        _of_climb("climb_limited_by", "bottleneck", _bottleneck),
        _of_climb("beyond_goodput_per_s", "goodput beyond", lambda climb: climb.goodput_per_s, "1/s"),
        _of_climb("errors_by_hop", "not acknowledged, by hop", _by_hop),
        _of_climb("climb_drained_s", "backlog stored after", lambda climb: climb.drained_seconds, "s"),
    )
    seen = ""
    if any(REFRESH_INTERVAL in dict(row.levels) for row in data.rows):  # the limit is half of what it changes
        fields = (*fields[:2], TO_VISIBLE[0], *fields[2:])
        seen = " Visible: from sending a POST until a search finds it, of a sample before the climb."
    return _table(
        data,
        "climb",
        "The limit of each path",
        f"The rate rises from {number(one.before_per_s)}/s to {number(one.highest_per_s)}/s. A path leaves the SLO at"
        " the rate from which the p99 of every second, from the scheduled send time, is above"
        f" {number(one.slo_ms)} ms. Goodput: requests acknowledged within the SLO, from there to the climb's end."
        f" Backlog: from the climb's end until every row sent before it is in its final store.{seen}",
        fields,
        notes=(
            "generator: not sent, because every virtual user waited for an answer, or interrupted.",
            rows.LEGEND,
        ),
    )


def latency(data: Suite) -> Table:
    """Time until the 201, by both clocks."""
    return _table(
        data,
        "latency",
        "Accept latency",
        "Time from sending the POST to its 201. Times from the scheduled send time include every delay of the"
        " load generator. Min, max and mean cover acknowledged requests. Percentiles cover all scheduled requests;"
        " one that was not acknowledged counts as infinite.",
        LATENCY,
        notes=(rows.LEGEND, *_later_note(data)),
        compared=True,
    )


def phases(data: Suite) -> Table | None:
    """Accept latency by phase of the load; None of closed loads, which have no phases."""
    table = rows.by_part(
        data,
        PHASES,
        label(data),
        Column(key="phase", title="phase"),
        lambda results: [(own[0].name, own) for own in zip(*(one.phases for one in results), strict=False)],
        key="phases",
        title="Accept latency by phase",
        caption=f"A request belongs to the phase of its scheduled send time. {rows.spread_note(data.index)}",
        notes=(rows.LEGEND,),
    )
    return table if table.rows else None


def clocks(data: Suite) -> Table | None:
    """Acknowledged, durable and visible; None for suite runs that did not measure visibility."""
    if not any(one.result is not None and one.result.time_to_visible_ms for one in data.cells):
        return None
    return _table(
        data,
        "clocks",
        "Three clocks: acknowledged, durable, visible",
        "Times from sending the POST. Acknowledged: until its 201. Durable: until its row is committed in its"
        " final store. Visible: until a search in that store finds it. The first two cover all scheduled requests,"
        " the third a sample that was drawn before the load. Requests not acknowledged and rows never found count as"
        " infinite.",
        CLOCKS,
        notes=(rows.LEGEND,),
        compared=True,
    )


# Counts and rates

ANSWERS = {
    "status_201": "201",
    "status_4xx": "4xx",
    "status_500": "500",
    "status_502": "502",
    "status_503": "503",
    "status_504": "504",
    "status_other": "other status",
    "refused": "connection refused",
    "reset": "connection reset",
    "closed": "connection closed",
    "no_answer": "other error",
    "timed_out": "timed out",
    "dropped": "dropped",
}


def _answered(key: str, title: str, prefix: str = "") -> Field[Own]:
    return count(prefix + key, title, lambda r: r.answers.get(key))


def _ordered(key: str, title: str, get: Callable[[Order], float | None], **column: Any) -> Field[Own]:
    return field(key, title, lambda r: None if r.order is None else get(r.order), **column)


def _audited(key: str, title: str, get: Callable[[Audit], int | None]) -> Field[Own]:
    return count(key, title, lambda r: get(r.audit) if r.audit and r.audit.reads else None)


THROUGHPUT = (
    field("planned_per_s", "scheduled mean", lambda r: r.planned_per_s, "req/s"),
    field("planned_peak_per_s", "scheduled peak", lambda r: r.planned_peak_per_s, "req/s"),
    field("achieved_per_s", "achieved mean", lambda r: r.achieved_per_s, "201/s"),
    field("achieved_peak_per_s", "achieved peak", lambda r: r.achieved_peak_per_s, "201/s"),
    *ranks(load_ranks.durable_later, "durable_{}_ms", "time to durable, {}"),
    field("drain_s", "drain", lambda r: None if r.drain is None else r.drain.seconds, "s"),
    field("queue_peak", "highest queue depth", lambda r: r.queue_peak, "posts", exact=True),
)
ORDER = (
    _ordered("overtaken_percent", "overtaken writes", lambda order: 100 * order.overtaken_share, unit="%"),
    _ordered("redelivered", "redelivered", lambda order: order.redelivered, exact=True),
)
AUDITED = (
    count("acknowledged", "acknowledged", lambda r: r.requests.acknowledged),
    _audited("stored", "stored", lambda audit: audit.stored_rows),
    _audited("lost", "lost", lambda audit: audit.lost + audit.stranded),
)
CHANGED = (
    _audited("duplicated", "duplicated", lambda audit: audit.duplicated),
    _audited("corrupted", "corrupted", lambda audit: audit.corrupted),
    _audited("unexpected", "unexpected", lambda audit: audit.unexpected + audit.rejected_present),
)
AUDIT = (
    *AUDITED,
    _audited("vanished", "vanished", lambda audit: audit.vanished),
    *CHANGED,
    _audited("wrong_ack", "wrong ack", lambda audit: audit.wrong_ack),
    _audited("never_read", "never read", lambda audit: audit.never_read),
    _audited("late", "late", lambda audit: audit.late),
    _audited("recovered", "recovered", lambda audit: audit.recovered),
    _audited("suppressed", "suppressed", lambda audit: audit.suppressed_duplicates),
    VERDICT,
)


def answers(data: Suite) -> Table:
    """The result of each scheduled request."""
    served, *others = ANSWERS.items()
    known = [("status_200", "200") if reads(data) else served, *others]
    fields = [_answered(key, title) for key, title in known]
    caption = "Each scheduled request is counted in exactly one column."
    return _table(data, "answers", "Answers", caption, fields, compared=True)


def throughput(data: Suite) -> Table:
    """Rates, and when the rows were durable."""
    return _table(
        data,
        "throughput",
        "Throughput and time to durable",
        "Time to durable: from sending the POST until its row is committed in its final store. It covers"
        " acknowledged requests and is shown only where it is later than the 201.",
        THROUGHPUT,
        notes=(rows.LEGEND,),
        compared=True,
    )


def order(data: Suite) -> Table | None:
    """Only the queue paths have an order to lose; None where there is none of them."""
    names = {one.record.variant for one in data.cells if one.result is not None and one.result.order}
    if not names:
        return None
    return _table(
        data.only(lambda variant: variant.name in names),
        "order",
        "Order on the queue paths",
        "A write is overtaken if another write, sent after its 201, became durable before it. Concurrent requests have"
        " no order.",
        ORDER,
    )


def audit(data: Suite) -> Table | None:
    """Whether what was acknowledged is in the store, and nothing else; None of reads."""
    if reads(data):
        return None
    known = [one.result.audit for one in data.cells if one.result is not None and one.result.audit]
    again = any(len(one.reads) > 1 or one.unread for one in known)
    when = "after the drain and after a kill and restart of every store" if again else "after the drain"
    caption = f"The audit compares every acknowledged id with every id read back from the store, {when}."
    return _table(data, "audit", "Audit", caption, AUDIT)


def weakened(data: Suite) -> Table | None:
    """What weakened controls lose; None where the suite has none."""
    own = data.only(lambda variant: variant.naive_twin_of is not None)
    if not own.index.variants:
        return None
    titles = {variant.name: variant.title for variant in data.index.variants}
    of = {v.name: titles.get(v.naive_twin_of or "", v.naive_twin_of) for v in own.index.variants}
    weakens: Field[Own] = rows.field("twin_of", "weakens", lambda one: of[one.record.variant])
    return _table(
        own,
        "twins",
        "Weakened controls, not ranked",
        "Each has one setting that gives up its guarantee on purpose. Their latency is no advantage: they lose"
        " or duplicate data for it.",
        (weakens, MEANING, *AUDITED, *CHANGED, *ranks(load_ranks.accepted)),
        spread=False,
        notes=(rows.LEGEND,),
    )


def _fsync_ms(one: Own) -> float | None:
    host = one.record.host
    return host.before.fsync_ms_p50 if host and host.before else None


RUNS: tuple[Field[Own], ...] = (
    rows.field("variant", "variant", rows.cell_title),
    rows.field("repetition", "repetition", lambda one: one.record.block, exact=True),
    rows.field("position", "position", lambda one: one.record.position, exact=True),
    rows.field("started_at", "started", lambda one: one.record.started_at),
    rows.field("run_verdict", "verdict", rows.status),
    field("lateness_p99_ms", "generator lateness, p99", lambda r: r.generator.lateness_ms_p99, "ms"),
    field("generator_cpu_share", "generator CPU, peak", lambda r: r.generator.cpu_share_peak, "of one core"),
    rows.field("fsync_p50_ms", "host fsync, median", _fsync_ms, "ms"),
    rows.field(
        "reasons",
        "reasons and notes",
        lambda one: "; ".join([*one.reasons, *one.record.verdict.notes]) or ABSENT,
    ),
)


def runs(data: Suite) -> Table:
    """Each cell by itself, in the order they ran, with its verdict in words."""
    return rows.table(
        "runs",
        "Runs",
        "In the order they ran. The seed determines the order of the variants in each repetition."
        f" {rows.replaced_note(data.index)}".rstrip(),
        RUNS,
        data.cells,
        mark=lambda one: "" if one.counts else rows.status(one),
    )


# The original experiment


BESIDE = "beside_"  # in a column's key, before the figure's name in original.yaml
FIGURES = (
    count("beside_launched", "sent", lambda r: r.requests.planned - r.requests.dropped),
    count("beside_completed", "answered", lambda r: r.completed),
    *(_answered(f"status_{status}", f"{status}", BESIDE) for status in (201, 500, 502, 504)),
    _answered("reset", "reset", BESIDE),
    _answered("timed_out", "timed out", BESIDE),
    field("beside_mean_per_s", "mean rate", lambda r: r.answered_per_s, "1/s"),
    field("beside_min", "min", lambda r: r.accept_latency_ms.min, "ms"),
    field("beside_max", "max", lambda r: r.accept_latency_ms.max, "ms"),
    *ranks(load_ranks.accepted, BESIDE + "{}"),
)


def original(data: Suite) -> Table | None:
    """Each row of the original's figures, then ours that belong to it; None for every other suite."""
    if data.index.suite not in (ORIGINAL, SLOW):
        return None
    published, body = published_figures(), list[Row]()
    same: dict[str, str] = published["same_row"]
    ours_of: dict[str, list[RowKey]] = {}
    for row in data.rows:
        ours_of.setdefault(same.get(row.variant.name, row.variant.name), []).append(row)
    for name, ours in ours_of.items():
        if (theirs := published["variants"].get(name)) is None:
            continue
        figures = (theirs[one.key.removeprefix(BESIDE)] for one in FIGURES)
        own = (Cell(figure=stats.spread([figure]), exact=True) for figure in figures)
        body.append(row_of(ours[0].variant.title, "original", *own))
        for row in ours:
            cells = data.shown(row)
            here = (cell(map(one.get, cells)) for one in FIGURES)
            mark, about = rows.mark(cells), rows.subject_of(row)
            body.append(row_of(label(data)(row), "here", *here, mark=mark, about=about))
    remarks = [published["remarks" if data.index.suite == ORIGINAL else "remarks_slow_database"]]
    if any(row.variant.name in same for row in data.rows):
        remarks.append(published["remarks_same_row"])
    return Table(
        key="original",
        title="Compared with the original experiment",
        caption="Both cover all phases, including the warm-up phase. The original's times cover all answered requests,"
        " including errors; ours are those of the latency table. The mean rate counts answers of any status, as the"
        " original did.",
        columns=(rows.VARIANT, Column(key="measured", title="measured"), *FIGURES),
        rows=tuple(body),
        notes=(rows.LEGEND, *(str(one).strip() for one in remarks)),
        names=2,
    )
