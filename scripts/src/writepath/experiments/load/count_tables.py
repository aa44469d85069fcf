"""Tables of counts and rates: answers, throughput, order, the audit, weakened controls, the cells that ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.experiments.load import figures
from writepath.experiments.load.figures import count, field, ranks
from writepath.experiments.load.latency_tables import MEANING
from writepath.report import load_ranks, rows
from writepath.report.model import ABSENT, Column, Row, Table, cell, text
from writepath.report.rows import Field

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.experiments.load.figures import Cell, Suite
    from writepath.records.load import LoadResult
    from writepath.records.measures import Audit, Order

ANSWERS = (
    ("status_201", "201"),
    ("status_4xx", "4xx"),
    ("status_500", "500"),
    ("status_502", "502"),
    ("status_503", "503"),
    ("status_504", "504"),
    ("status_other", "other status"),
    ("refused", "connection refused"),
    ("reset", "connection reset"),
    ("closed", "connection closed"),
    ("no_answer", "other error"),
    ("timed_out", "timed out"),
    ("dropped", "dropped"),
)


def _answered(key: str, title: str) -> Field[LoadResult]:
    return count(key, title, lambda result: result.answers.get(key))


ANSWER_FIELDS = tuple(_answered(key, title) for key, title in ANSWERS)


def answers(data: Suite) -> Table:
    """The result of each scheduled request."""
    return Table(
        key="answers",
        title="Answers",
        caption=f"Each scheduled request is counted in exactly one column. {rows.spread_note(data.index)}",
        columns=rows.columns(ANSWER_FIELDS),
        rows=rows.by_row(data, ANSWER_FIELDS, figures.label(data)),
        compared=True,
    )


def _rate(key: str, title: str, unit: str) -> Field[LoadResult]:
    def get(result: LoadResult) -> float | None:
        value: float | None = getattr(result, key)
        return value

    return field(Column(key=key, title=title, unit=unit), get)


THROUGHPUT = (
    _rate("planned_per_s", "scheduled mean", "req/s"),
    _rate("planned_peak_per_s", "scheduled peak", "req/s"),
    _rate("achieved_per_s", "achieved mean", "201/s"),
    _rate("achieved_peak_per_s", "achieved peak", "201/s"),
    *ranks(load_ranks.durable_later, "durable_", "time to durable, {}"),
    field(Column(key="drain_s", title="drain", unit="s"), lambda result: result.drain.seconds),
    field(
        Column(key="queue_peak", title="highest queue depth", unit="messages", exact=True),
        lambda result: result.queue_peak,
    ),
)


def throughput(data: Suite) -> Table:
    """Rates, and when the rows were durable."""
    return Table(
        key="throughput",
        title="Throughput and time to durable",
        caption="Time to durable: from sending the POST until its row is committed in its final store. It covers"
        " acknowledged requests and is shown only where it is later than the 201. "
        + rows.spread_note(data.index),
        columns=rows.columns(THROUGHPUT),
        rows=rows.by_row(data, THROUGHPUT, figures.label(data)),
        notes=(rows.LEGEND,),
        compared=True,
    )


def _ordered(get: Callable[[Order], float | None]) -> Callable[[LoadResult], float | None]:
    return lambda result: None if result.order is None else get(result.order)


ORDER = (
    field(Column(key="inversions", title="inversions", exact=True), _ordered(lambda order: order.inversions)),
    field(
        Column(key="overtaken_percent", title="overtaken writes", unit="%"),
        _ordered(lambda order: 100 * order.overtaken_share),
    ),
    field(
        Column(key="redelivered", title="redelivered", exact=True), _ordered(lambda order: order.redelivered)
    ),
)


def order(data: Suite) -> Table | None:
    """Only the queue paths have an order to lose; None where there is none of them."""
    names = {one.record.variant for one in data.cells if one.result is not None and one.result.order}
    if not names:
        return None
    of_queues = data.only(lambda variant: variant.name in names)
    return Table(
        key="order",
        title="Order on the queue paths",
        caption="A write is overtaken if another write, sent after its 201, became durable before it. Each such pair is"
        f" an inversion. Concurrent requests have no order. {rows.spread_note(data.index)}",
        columns=rows.columns(ORDER),
        rows=rows.by_row(of_queues, ORDER, figures.label(data)),
    )


def _audited(key: str, title: str, get: Callable[[Audit], int | None]) -> Field[LoadResult]:
    return count(key, title, lambda result: get(result.audit) if result.audit.reads else None)


VERDICT: Field[LoadResult] = Field(column=Column(key="verdict", title="verdict"), get=rows.status)
AUDITED = (
    count("acknowledged", "acknowledged", lambda result: result.requests.acknowledged),
    _audited("stored", "stored", lambda audit: audit.stored_rows),
    _audited("lost", "lost", lambda audit: audit.lost + audit.stranded),
)
CHANGED = (
    _audited("duplicated", "duplicated", lambda audit: audit.duplicated),
    _audited("corrupted", "corrupted", lambda audit: audit.corrupted),
    _audited("unexpected", "unexpected", lambda audit: audit.unexpected + audit.rejected_present),
)
HARMLESS = (
    _audited("recovered", "recovered", lambda audit: audit.recovered),
    _audited("suppressed", "suppressed", lambda audit: audit.suppressed_duplicates),
    VERDICT,
)
AUDIT = (
    *AUDITED,
    _audited("vanished", "vanished", lambda audit: audit.vanished),
    *CHANGED,
    _audited("wrong_ack", "wrong ack", lambda audit: audit.wrong_ack),
    _audited("never_read", "never read", lambda audit: audit.never_read),
    _audited("late", "late", lambda audit: audit.late),
    *HARMLESS,
)
AUDIT_ONCE = (  # of suites that were published before the store was read a second time
    *AUDITED,
    *CHANGED,
    _audited("wrong_echo", "wrong echo", lambda audit: audit.wrong_ack),
    *HARMLESS,
)


def audit(data: Suite) -> Table:
    """Whether what was acknowledged is in the store, and nothing else."""
    read = [one.result.audit for one in data.cells if one.result is not None and one.result.audit.reads]
    once = bool(read) and all(len(one.reads) == 1 and not one.unread for one in read)
    fields = AUDIT_ONCE if once else AUDIT
    reads = "" if once else ", after the drain and after a kill and restart of every store"
    return Table(
        key="audit",
        title="Audit",
        caption=f"The audit compares every acknowledged id with every id read back from the store{reads}. "
        + rows.spread_note(data.index),
        columns=rows.columns(fields),
        rows=rows.by_row(data, fields, figures.label(data)),
    )


def weakened(data: Suite) -> Table | None:
    """What weakened controls lose; None where the suite has none."""
    own = data.only(lambda variant: variant.naive_twin_of is not None)
    if not own.index.variants:
        return None
    titles = {variant.name: variant.title for variant in data.index.variants}
    of = {v.name: titles.get(v.naive_twin_of or "", v.naive_twin_of) for v in own.index.variants}
    weakens: Field[LoadResult] = Field(
        column=Column(key="twin_of", title="weakens"), get=lambda one: of[one.record.variant]
    )
    fields = (weakens, MEANING, *AUDITED, *CHANGED, *ranks(load_ranks.accepted))
    return Table(
        key="twins",
        title="Weakened controls, not ranked",
        caption="Each has one setting that gives up its guarantee on purpose. Their latency is no advantage: they lose"
        " or duplicate data for it.",
        columns=rows.columns(fields),
        rows=rows.by_row(own, fields, figures.label(data)),
        notes=(rows.LEGEND,),
    )


RUN_COLUMNS = (
    rows.VARIANT,
    Column(key="repetition", title="repetition", exact=True),
    Column(key="position", title="position", exact=True),
    Column(key="started_at", title="started"),
    Column(key="run_verdict", title="verdict"),
    Column(key="lateness_p99_ms", title="generator lateness, p99", unit="ms"),
    Column(key="generator_cpu_share", title="generator CPU, peak", unit="of one core"),
    Column(key="fsync_p50_ms", title="host fsync, median", unit="ms"),
    Column(key="reasons", title="reasons and notes"),
)


def runs(data: Suite) -> Table:
    """Each cell by itself, in the order they ran, with its verdict in words."""
    return Table(
        key="runs",
        title="Runs",
        caption="In the order they ran. The seed determines the order of the variants in each repetition."
        f" {rows.replaced_note(data.index)}".rstrip(),
        columns=RUN_COLUMNS,
        rows=tuple(_run(one) for one in data.cells),
    )


def _run(one: Cell) -> Row:
    record = one.record
    generator = one.result.generator if one.result else None
    canary = record.host.before if record.host else None
    words = [*one.reasons, *record.verdict.notes]
    levels = "".join(f", {name}={level}" for name, level in record.levels.items())
    cells = (
        text(f"{record.title}{levels}{rows.AGAIN if record.role == 'A/A control' else ''}"),
        cell([record.block]),
        cell([record.position]),
        text(record.started_at),
        text(rows.status(one)),
        cell([generator.lateness_ms_p99 if generator else None]),
        cell([generator.cpu_share_peak if generator else None]),
        cell([canary.fsync_ms_p50 if canary else None]),
        text("; ".join(words) if words else ABSENT),
    )
    return Row(cells=cells, mark="" if one.counts else rows.status(one))
