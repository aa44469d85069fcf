"""Evidence of a load and all its figures: reduce_load() of raw tables, derive_load() of evidence.

Up to ROWS_MAX requests (CLOSED_ROWS_MAX of a closed load) the evidence has a row for each of them, else counts and
histograms; derive_load() makes the first into the second, so that each figure has one implementation.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis import load_rows, stats
from writepath.analysis.audit import ACKNOWLEDGED, REJECTED, audit_of
from writepath.analysis.climb import P99, climb_of
from writepath.analysis.evidence import Evidence
from writepath.analysis.load_aggregates import ACCEPT, CLOSED_PHASE, DURABLE, LATENESS, SCHEDULED, aggregated
from writepath.analysis.load_reads import SESSION_REQUESTS, read_load, reduce_sessions, session_load
from writepath.analysis.load_rows import Parts, Rows
from writepath.analysis.samples import (
    SAMPLES_SCHEMA,
    Series,
    disk_written,
    foreign_share,
    generator_share,
    needed,
    pool_waiting,
    queue_peak,
    resources,
    series,
    system_share,
    time_wait,
)
from writepath.analysis.saturation import read_by_rules
from writepath.analysis.stats import US_PER_MS, US_PER_S, Bands
from writepath.analysis.times import MEAN_DIGITS, Times, times
from writepath.analysis.verdict import judge
from writepath.errors import LoadError
from writepath.load.ledger import (
    END_OF_FILE,
    INTERRUPTED,
    NO_TIME,
    REFUSED_BY_STORE,
    UNREAD,
    WRONG_ACK,
    error_kind,
)
from writepath.load.parquet import column_of, moments, whole
from writepath.records.base import from_data, to_data
from writepath.records.load import ClosedLoad, LoadPhase, LoadResult
from writepath.records.load_facts import LoadFacts
from writepath.records.measures import Drain, Generator, Host, Order, Requests
from writepath.records.steps import SentFacts

STATUSES = (201, 500, 502, 503, 504)  # with columns of their own
ERRORS = {  # k6's codes
    1050: "timed_out",
    1201: "reset",
    1211: "timed_out",
    1212: "refused",
    1220: "reset",
    END_OF_FILE: "closed",
}
COLUMNS = (
    *(f"status_{status}" for status in STATUSES),
    *("status_4xx", "status_other", "refused", "reset", "closed", "timed_out", "no_answer"),
)


class Answered(NamedTuple):
    """Requests with the same answer."""

    status: int  # 0: none
    error_code: int
    client: int  # what the client saw, as in audit.py
    number: int


def answers_of(tables: Mapping[str, pa.Table]) -> list[Answered]:
    """What requests were answered with, of aggregates."""
    names = ("status", "error_code", "client", "count")
    columns = (whole(tables["answers"], name).tolist() for name in names)
    return [Answered(*row) for row in zip(*columns, strict=True)]


def counted(answers: Sequence[Answered], planned: int, dropped: int | None) -> Requests:
    """Requests by what became of each. dropped: by k6's own count, if any."""
    by_client, by_status, by_error = Counter[int](), Counter[str](), Counter[str]()
    for one in answers:
        by_client[one.client] += one.number
        by_status[str(one.status)] += one.number
        if one.client != ACKNOWLEDGED or one.error_code == WRONG_ACK:
            by_error[error_kind(one.status, one.error_code)] += one.number
    started, acknowledged, rejected = by_client.total(), by_client[ACKNOWLEDGED], by_client[REJECTED]
    return Requests(
        planned=planned,
        started=started,
        dropped=planned - started if dropped is None else dropped,
        acknowledged=acknowledged,
        rejected=rejected,
        indeterminate=started - acknowledged - rejected,
        by_status=dict(by_status),
        by_error=dict(by_error),
    )


def _by_column(answers: Sequence[Answered], planned: int, served: int) -> dict[str, int]:
    """Counts that sum to planned. served: the status that a request is to have."""
    names = {"status_201": f"status_{served}"}
    counts = dict.fromkeys((names.get(name, name) for name in COLUMNS), 0)
    for one in answers:
        name = f"status_{served}" if one.status == served else _column(one.status, one.error_code)
        counts[name if name in counts else "status_other"] += one.number
    return counts | {"dropped": planned - sum(counts.values())}


def _column(status: int, error_code: int) -> str:
    if not status:
        return ERRORS.get(error_code, "no_answer")
    if status // 100 == 4:  # noqa: PLR2004 - the class of statuses
        return "status_4xx"
    return f"status_{status}" if status in STATUSES else "status_other"


ROWS_MAX = 100_000  # requests of a cell
CLOSED_ROWS_MAX = 10_000  # a suite of closed loads has dozens of cells
REQUESTS, STORED, SAMPLES, VISIBLE, UNEXPECTED = "requests", "stored", "samples", "visible", "unexpected"


def reduce_load(raw: Mapping[str, Parts], facts: LoadFacts) -> Evidence:
    """What is published of a load. raw: by name the parts of a table: requests; stored, samples and visible if any."""
    rows = load_rows.of_raw(raw[REQUESTS], raw.get(STORED), facts.operations, len(facts.reads))
    samples = pa.concat_tables([SAMPLES_SCHEMA.empty_table(), *raw.get(SAMPLES, ())])
    climbs = facts.slo_ms is not None
    needs = needed(samples, lambda metric: climbs and read_by_rules(metric))
    tables = {UNEXPECTED: rows.unexpected, SAMPLES: needs}
    if VISIBLE in raw:
        tables[VISIBLE] = _with_starts(pa.concat_tables(raw[VISIBLE]), rows)
    if SESSION_REQUESTS in raw:
        tables |= reduce_sessions(raw[SESSION_REQUESTS], facts)
    if len(rows.sequence) <= (ROWS_MAX if facts.model == "open" else CLOSED_ROWS_MAX):
        tables[REQUESTS] = load_rows.published(rows, facts.operations)
    else:
        tables |= aggregated(rows, facts, exact=False)
    return Evidence(tables=tables, facts=to_data(facts))


def facts_of(evidence: Evidence) -> LoadFacts:
    """The facts; UsageError where they are not of a load."""
    return from_data(LoadFacts, dict(evidence.facts), "facts.json")


def aggregates(evidence: Evidence, facts: LoadFacts) -> Mapping[str, pa.Table]:
    """The tables of load_aggregates.py, of requests that the evidence has rows of, or has summed up."""
    if REQUESTS not in evidence.tables:
        return evidence.tables
    rows = load_rows.of_published(evidence.tables[REQUESTS], evidence.tables[UNEXPECTED], facts.operations)
    return aggregated(rows, facts, exact=True)


def bands(evidence: Evidence) -> Bands:
    """By second of the scheduled send time, of a closed load by second of the start: latency of the 201s."""
    table = aggregates(evidence, facts_of(evidence))["seconds"]
    planned, served = whole(table, "planned"), whole(table, "served")
    ms = {
        name: column_of(table, f"{name}_us").cast(pa.float64()).fill_null(math.nan).to_numpy() / US_PER_MS
        for name in ("median", "p95", "max")
    }
    return Bands(served=served, unserved=planned - served, **ms)


def _with_starts(table: pa.Table, rows: Rows) -> pa.Table:
    """With each write's start, null where it was not acknowledged; ascending by sequence."""
    table = table.sort_by("sequence").select(["sequence", "not_before_us", "visible_at_us"])
    places = load_rows.places(rows.sequence, whole(table, "sequence"))
    start_us = np.append(np.where(rows.client == ACKNOWLEDGED, rows.start_us, NO_TIME), NO_TIME)
    start_us = start_us[places]  # the last one of a write that is no request's: its place is -1
    return table.add_column(1, "start_us", moments(start_us))


LATER_SHARE = 0.01  # of the acknowledged: so many rows durable after their 201 are no rounding
SHARE_DIGITS = 4


def derive_load(evidence: Evidence) -> LoadResult:
    """The result. LoadError where the load did not get as far as figures."""
    facts = facts_of(evidence)
    tables = aggregates(evidence, facts)
    scalars, answers, seen = scalars_of(tables), answers_of(tables), series(evidence.tables[SAMPLES])
    requests = counted(answers, int(whole(tables["phases"], "planned").sum()), facts.dropped)
    completed = sum(one.number for one in answers if one.status)
    at_proxy = _failed_at_proxy(answers)
    durable = times(tables, DURABLE)
    foreign = foreign_share(seen)
    if foreign is None and facts.host:  # what was published of the samples does not say
        foreign = facts.host.foreign_cpu_share
    written = facts.writes
    judged: dict[str, Any] = {
        "audit": audit_of(tables, scalars, evidence.tables[UNEXPECTED], facts, requests) if written else None,
        "drain": _drain(facts, scalars) if written else None,
        "generator": generator_of(tables, seen, facts, facts.host),
    }
    return LoadResult(
        requests=requests,
        answers=_by_column(answers, requests.planned, facts.operations[0].served[0]),
        completed=completed,
        accept_latency_ms=times(tables, ACCEPT).latency(requests.planned),
        planned_latency_ms=times(tables, SCHEDULED).latency(requests.planned),
        time_to_durable_ms=durable.latency(requests.planned),
        durable_of_acknowledged_ms=durable.latency(requests.acknowledged),
        durable_later=scalars.get("durable_later", 0) > LATER_SHARE * requests.acknowledged,
        **_visible(evidence.tables.get(VISIBLE)),
        order=order_of(facts, scalars),
        **_rates(facts, scalars, requests, completed),
        phases=tuple(_phases(facts, tables)),
        **judged,
        resources=resources(seen),
        disk_written_bytes=disk_written(seen),
        queue_peak=queue_peak(seen),
        foreign_cpu_share=None if foreign is None else round(foreign, SHARE_DIGITS),
        verdict=judge(facts, requests=requests, foreign_cpu_share=foreign, at_proxy=at_proxy, **judged),
        load_started_at=facts.load_started_at,
        load_finished_at=facts.load_finished_at,
        warm_up=facts.warm_up,
        climb=climb_of(
            facts, tables, scalars["origin_us"], seen, _by_hop(answers, requests.dropped), judged["generator"]
        ),
        closed=_closed(facts, requests, seen, at_proxy),
        read_load=read_load(facts, tables, seen, requests, at_proxy),
        session_load=session_load(facts, evidence.tables),
    )


def _failed_at_proxy(answers: Sequence[Answered]) -> int:
    """Requests that the proxy answered with an error of its own, or that got no answer; not what k6 interrupted."""
    return sum(
        one.number
        for one in answers
        if one.client != ACKNOWLEDGED
        and one.status in (NO_ANSWER, *FAILED_STATUSES)
        and one.error_code not in (INTERRUPTED, UNREAD)
    )


def _closed(facts: LoadFacts, requests: Requests, seen: Series, at_proxy: int) -> ClosedLoad | None:
    """Of a load whose users wait for their answers; None of an open one."""
    if facts.model == "open":
        return None
    share = None if facts.host is None else system_share(seen, facts.host.system_cores)
    waiting, in_time_wait = pool_waiting(seen), time_wait(seen, facts.runtime)
    return ClosedLoad(
        virtual_users=facts.virtual_users,
        errors=requests.planned - requests.acknowledged,
        cpu_share=None if share is None else round(share, SHARE_DIGITS),
        pool_waiting_mean=round(float(waiting.mean()), 3) if waiting.size else None,
        pool_waiting_max=float(waiting.max()) if waiting.size else None,
        errors_at_proxy=at_proxy,
        proxy_errors=facts.proxy_errors,
        time_wait_mean=round(float(in_time_wait.mean()), 1) if in_time_wait.size else None,
        time_wait_max=float(in_time_wait.max()) if in_time_wait.size else None,
    )


def scalars_of(tables: Mapping[str, pa.Table]) -> dict[str, int]:
    """Single numbers by name, of aggregates."""
    names, values = column_of(tables["scalars"], "name").to_pylist(), whole(tables["scalars"], "value")
    return dict(zip(names, values.tolist(), strict=True))


def generator_of(
    tables: Mapping[str, pa.Table], seen: Series, sent: LoadFacts | SentFacts, host: Host | None
) -> Generator:
    """Whether k6 kept its schedule; a closed load has none."""
    split = None if host is None else host.split
    mean, peak, samples = generator_share(seen)
    late = times(tables, LATENESS)
    return Generator(
        cpu_share_mean=round(mean, SHARE_DIGITS),
        cpu_share_peak=round(peak, SHARE_DIGITS),
        lateness_ms_p99=late.at(stats.rank(late.number, P99)) if late.number else None,
        lateness_ms_max=late.high_us / US_PER_MS if late.number else None,
        exit_code=sent.exit_code,
        samples=samples,
        samples_late=sent.samples_late,
        processors=None if split is None else len(split.generator),
    )


def _phases(facts: LoadFacts, tables: Mapping[str, pa.Table]) -> Iterator[LoadPhase]:
    phases = [(phase.name, phase.seconds) for phase in facts.phases] or [(CLOSED_PHASE, facts.seconds)]
    counts = (whole(tables["phases"], name).tolist() for name in ("planned", "started"))
    for index, ((name, seconds), planned, started) in enumerate(zip(phases, *counts, strict=True)):
        accept = times(tables, ACCEPT, index)
        yield LoadPhase(
            name=name,
            seconds=seconds,
            planned=planned,
            started=started,
            acknowledged=accept.number,
            accept_latency_ms=accept.latency(planned),
            planned_latency_ms=times(tables, SCHEDULED, index).latency(planned),
            achieved_per_s=stats.mean_rate_per_s(accept.number, seconds * US_PER_S),
        )


def _rates(
    facts: LoadFacts, scalars: Mapping[str, int], requests: Requests, completed: int
) -> dict[str, Any]:
    phases, per_s, origin_us = facts.phases, stats.mean_rate_per_s, scalars["origin_us"]
    planned_us = US_PER_S * (sum(phase.seconds for phase in phases) or facts.seconds)
    # from the load's start to the later of its scheduled end and its last 201
    window_us = max(planned_us, scalars.get("acknowledged_last_us", 0) - origin_us)
    durable_us = scalars.get("durable_last_us", origin_us) - origin_us
    return {
        "planned_per_s": per_s(requests.planned, planned_us) if phases else None,
        "planned_peak_per_s": max((max(p.from_per_s, p.to_per_s) for p in phases), default=None),
        "achieved_per_s": per_s(requests.acknowledged, window_us),
        "achieved_peak_per_s": float(scalars["achieved_peak"]) or None,
        "answered_per_s": per_s(completed, window_us),
        "durable_per_s": per_s(scalars["durable_rows"], durable_us),
    }


def _visible(table: pa.Table | None) -> dict[str, Any]:
    """Of the samples: until a search found the row, and the interval in which it became visible."""
    names = ("time_to_visible_ms", "visible_samples", "visible_error_ms_median", "visible_error_ms_max")
    if table is None:
        return dict.fromkeys(names)
    start_us, visible_us = whole(table, "start_us"), whole(table, "visible_at_us")
    known = (start_us != NO_TIME) & (visible_us != NO_TIME)
    since_us = np.maximum(whole(table, "not_before_us"), start_us)  # an unknown moment is before all others
    delays, widths = ((visible_us - begin)[known] for begin in (start_us, since_us))
    median, largest = None, None
    if len(widths):
        median = round(float(np.median(widths)) / US_PER_MS, MEAN_DIGITS)
        largest = int(widths.max()) / US_PER_MS
    latency = Times.of(delays).latency(len(table))
    return dict(zip(names, (latency, len(table), median, largest), strict=True))


def order_of(facts: LoadFacts, scalars: Mapping[str, int]) -> Order | None:
    """Only where another service than the ingress writes to the store does an order come about."""
    if not facts.queue_path:
        return None
    writes = scalars["order_writes"]
    return Order(
        overtaken_share=round(scalars["order_overtaken"] / writes, 6) if writes else 0.0,
        redelivered=facts.redelivered,
    )


def _drain(facts: LoadFacts, scalars: Mapping[str, int]) -> Drain:
    """Seconds count to the last durable row; where no moment is known, to the last change that polling saw."""
    if (drain := facts.drain) is None:
        raise LoadError("the load ended before its drain: it has no figures")
    seconds = drain.busy_seconds
    if "durable_last_us" in scalars:
        seconds = max(0.0, (scalars["durable_last_us"] - scalars["answered_last_us"]) / US_PER_S)
    return Drain(
        seconds=round(seconds, 3),
        settle_seconds=round(drain.waited_seconds, 3),
        capped=drain.capped,
        queue_ready_left=drain.queue_ready_left,
        queue_unacknowledged_left=drain.queue_unacknowledged_left,
        dead_letters=drain.dead_letters,
    )


HOP_NAMES = ("proxy", "application", "store", "generator")
PROXY_STATUSES = (502, 504)
FAILED_STATUSES = (500, *PROXY_STATUSES)  # 500: too many connections or files, in nginx.conf.template
NO_ANSWER = 0


def hops(status: NDArray[Any], error_code: NDArray[Any]) -> NDArray[np.int8]:
    """Of requests that were not acknowledged: where each of them failed, as an index into HOP_NAMES.

    Without an answer it was the proxy's connection, as the client has no other; a 503 says itself whose it is.
    """
    found = np.full(len(status), HOP_NAMES.index("application"), np.int8)
    found[error_code == REFUSED_BY_STORE] = HOP_NAMES.index("store")
    found[np.isin(status, PROXY_STATUSES) | (status == NO_ANSWER)] = HOP_NAMES.index("proxy")
    found[np.isin(error_code, (INTERRUPTED, UNREAD))] = HOP_NAMES.index("generator")
    return found


def _by_hop(answers: Sequence[Answered], dropped: int) -> dict[str, int]:
    status, code, client, number = np.array(answers, np.int64).T
    failed = client != ACKNOWLEDGED
    counts = np.bincount(hops(status, code)[failed], weights=number[failed], minlength=len(HOP_NAMES))
    found = dict(zip(HOP_NAMES, counts.astype(int).tolist(), strict=True))
    return found | {"generator": found["generator"] + dropped}
