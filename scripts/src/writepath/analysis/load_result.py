"""Evidence of a load and all its figures: reduce_load() of raw tables, derive_load() of evidence.

Up to ROWS_MAX requests the evidence has a row for each of them, else counts and histograms; derive_load() makes the
first into the second, so that each figure has one implementation.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from writepath.analysis import load_rows, stats
from writepath.analysis.audit import ACKNOWLEDGED, REJECTED, audit_of
from writepath.analysis.climb import climb_of
from writepath.analysis.evidence import Evidence
from writepath.analysis.load_aggregates import ACCEPT, CLOSED_PHASE, DURABLE, LATENESS, SCHEDULED, aggregated
from writepath.analysis.load_rows import Parts, Rows
from writepath.analysis.samples import (
    SAMPLES_SCHEMA,
    Series,
    disk_written,
    foreign_share,
    generator_share,
    needed,
    queue_peak,
    resources,
    series,
)
from writepath.analysis.stats import US_PER_MS, US_PER_S, Bands, Floats, Ints, Marks
from writepath.analysis.times import MEAN_DIGITS, Times, times
from writepath.analysis.verdict import judge
from writepath.errors import LoadError
from writepath.load.ledger import END_OF_FILE, NO_TIME, WRONG_ACK, error_kind
from writepath.load.parquet import column_of, whole
from writepath.records.base import from_data, to_data
from writepath.records.load import LoadPhase, LoadResult
from writepath.records.load_facts import LoadFacts
from writepath.records.measures import Drain, Generator, Host, Order, Requests
from writepath.records.steps import SentFacts

STATUSES = (201, 500, 502, 503, 504)  # with columns of their own
ERRORS = {
    "refused": (1212,),
    "reset": (1220, 1201),
    "closed": (END_OF_FILE,),
    "timed_out": (1050, 1211),
}  # k6's codes


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Arrays are parallel, one entry a kind of answer."""

    status: Ints
    error_code: Ints
    client: Ints  # as in audit_classes
    count: Ints

    @property
    def started(self) -> int:
        """All requests."""
        return int(self.count.sum())

    @property
    def completed(self) -> int:
        """With an answer of any status."""
        return self.of(self.status > 0)

    def of(self, marks: Marks) -> int:
        """Requests of these kinds."""
        return int(self.count[marks].sum())

    def failed(self) -> dict[str, Ints]:
        """Those that were not acknowledged, by column."""
        marks = self.client != ACKNOWLEDGED
        return {name: getattr(self, name)[marks] for name in ("status", "error_code", "count")}

    def requests(self, planned: int, dropped: int) -> Requests:
        """By what became of each."""
        acknowledged, rejected = self.of(self.client == ACKNOWLEDGED), self.of(self.client == REJECTED)
        return Requests(
            planned=planned,
            started=self.started,
            dropped=dropped,
            acknowledged=acknowledged,
            rejected=rejected,
            indeterminate=self.started - acknowledged - rejected,
            by_status={
                str(status): self.of(self.status == status) for status in np.unique(self.status).tolist()
            },
            by_error=self._by_error(),
        )

    def _by_error(self) -> dict[str, int]:
        """By kind in words; of acknowledged ones, only those with a wrong ack are in it."""
        faulty = (self.client != ACKNOWLEDGED) | (self.error_code == WRONG_ACK)
        columns = (self.status, self.error_code, self.count)
        totals: dict[str, int] = {}
        for status, code, count in zip(*(column[faulty].tolist() for column in columns), strict=True):
            kind = error_kind(status, code)
            totals[kind] = totals.get(kind, 0) + count
        return totals

    def by_column(self, planned: int) -> dict[str, int]:
        """Counts that sum to planned."""
        silent = self.status == 0
        statuses = {f"status_{code}": self.status == code for code in STATUSES}
        statuses["status_4xx"] = self.status // 100 == 4  # noqa: PLR2004 - the class of statuses
        errors = {kind: silent & np.isin(self.error_code, codes) for kind, codes in ERRORS.items()}
        marks = {
            **statuses,
            "status_other": ~silent & ~np.any([*statuses.values()], axis=0),
            **errors,
            "no_answer": silent & ~np.any([*errors.values()], axis=0),
        }
        counts = {name: self.of(own) for name, own in marks.items()}
        return counts | {"dropped": planned - self.started}


ROWS_MAX = 100_000  # requests of a cell
REQUESTS, STORED, SAMPLES, VISIBLE, UNEXPECTED = "requests", "stored", "samples", "visible", "unexpected"


def reduce_load(raw: Mapping[str, Parts], facts: LoadFacts) -> Evidence:
    """What is published of a load. raw: by name the parts of a table: requests; stored, samples and visible if any."""
    rows = load_rows.of_raw(raw[REQUESTS], raw.get(STORED), facts.operations, len(facts.reads))
    tables = {UNEXPECTED: rows.unexpected}
    samples = [part.cast(SAMPLES_SCHEMA) for part in raw.get(SAMPLES, ())]
    tables[SAMPLES] = needed(pa.concat_tables([SAMPLES_SCHEMA.empty_table(), *samples]))
    if VISIBLE in raw:
        tables[VISIBLE] = _with_starts(pa.concat_tables(raw[VISIBLE]), rows, facts)
    if len(rows.sequence) <= ROWS_MAX:
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
    return Bands(
        second=np.arange(len(planned), dtype=np.int64),
        median=_ms(table, "median_us"),
        p95=_ms(table, "p95_us"),
        max=_ms(table, "max_us"),
        served=served,
        unserved=planned - served,
    )


def _ms(table: pa.Table, name: str) -> Floats:
    known = column_of(table, name).is_valid().to_numpy()
    return np.where(known, whole(table, name) / US_PER_MS, math.nan)


def _with_starts(table: pa.Table, rows: Rows, facts: LoadFacts) -> pa.Table:
    """With each write's start, null where it was not acknowledged; ascending by sequence."""
    table = table.sort_by("sequence").select(["sequence", "not_before_us", "visible_at_us"])
    places = load_rows.places(rows.sequence, whole(table, "sequence"))
    acknowledged = rows.client([operation.served for operation in facts.operations]) == ACKNOWLEDGED
    start_us = np.append(np.where(acknowledged, rows.start_us, NO_TIME), NO_TIME)[
        places
    ]  # -1: is no request's
    return table.add_column(1, "start_us", pa.array(start_us, mask=start_us == NO_TIME))


LATER_SHARE = 0.01  # of the acknowledged: so many rows durable after their 201 are no rounding
SHARE_DIGITS = 4
P99 = 0.99


@dataclass(frozen=True, kw_only=True, eq=False)
class _Load:
    """Aggregates, and what is read of them more than once."""

    facts: LoadFacts
    tables: Mapping[str, pa.Table]
    scalars: Mapping[str, int]
    answers: Answers
    requests: Requests
    seen: Series

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        """UsageError where the evidence is not of a load."""
        facts = facts_of(evidence)
        tables = aggregates(evidence, facts)
        answers, planned = answers_of(tables), int(whole(tables["phases"], "planned").sum())
        dropped = planned - answers.started if facts.dropped is None else facts.dropped
        return cls(
            facts=facts,
            tables=tables,
            scalars=scalars_of(tables),
            answers=answers,
            requests=answers.requests(planned, dropped),
            seen=series(evidence.tables[SAMPLES]),
        )


def derive_load(evidence: Evidence) -> LoadResult:
    """The result. LoadError where the load did not get as far as figures."""
    load = _Load.of(evidence)
    facts, requests = load.facts, load.requests
    durable = times(load.tables, DURABLE)
    audit = audit_of(load.tables, load.scalars, evidence.tables[UNEXPECTED], facts, requests)
    drain = _drain(load)
    generator = generator_of(load.tables, load.seen, facts, facts.host)
    foreign = foreign_share(load.seen)
    if foreign is None and facts.host:  # what was published of the samples does not say
        foreign = facts.host.foreign_cpu_share
    return LoadResult(
        requests=requests,
        answers=load.answers.by_column(requests.planned),
        completed=load.answers.completed,
        accept_latency_ms=times(load.tables, ACCEPT).latency(requests.planned),
        planned_latency_ms=times(load.tables, SCHEDULED).latency(requests.planned),
        time_to_durable_ms=durable.latency(requests.planned),
        durable_of_acknowledged_ms=durable.latency(requests.acknowledged),
        durable_later=load.scalars.get("durable_later", 0) > LATER_SHARE * requests.acknowledged,
        **_visible(evidence.tables.get(VISIBLE)),
        order=order_of(facts, load.scalars),
        **_rates(load),
        phases=tuple(_phases(load)),
        audit=audit,
        drain=drain,
        resources=resources(load.seen, facts.runtime),
        disk_written_bytes=disk_written(load.seen),
        queue_peak=queue_peak(load.seen),
        generator=generator,
        foreign_cpu_share=None if foreign is None else round(foreign, SHARE_DIGITS),
        verdict=judge(
            facts,
            requests=requests,
            audit=audit,
            drain=drain,
            generator=generator,
            foreign_cpu_share=foreign,
            broken_sums=tuple(_broken_sums(load)),
        ),
        load_started_at=facts.load_started_at,
        load_finished_at=facts.load_finished_at,
        warm_up=facts.warm_up,
        climb=climb_of(
            facts, load.tables, load.scalars["origin_us"], load.answers.failed(), requests.dropped
        ),
    )


def answers_of(tables: Mapping[str, pa.Table]) -> Answers:
    """What requests were answered with, of aggregates."""
    columns = ("status", "error_code", "client", "count")
    return Answers(**{name: whole(tables["answers"], name) for name in columns})


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


def _phases(load: _Load) -> Iterator[LoadPhase]:
    table = load.tables["phases"]
    counts = zip(whole(table, "planned").tolist(), whole(table, "started").tolist(), strict=True)
    names = [(phase.name, phase.seconds) for phase in load.facts.phases]
    for index, (planned, started) in enumerate(counts):
        name, seconds = names[index] if names else (CLOSED_PHASE, load.facts.seconds)
        accept = times(load.tables, ACCEPT, index)
        yield LoadPhase(
            name=name,
            seconds=seconds,
            planned=planned,
            started=started,
            acknowledged=accept.number,
            accept_latency_ms=accept.latency(planned),
            planned_latency_ms=times(load.tables, SCHEDULED, index).latency(planned),
            achieved_per_s=stats.mean_rate_per_s(accept.number, seconds * US_PER_S),
        )


def _rates(load: _Load) -> dict[str, Any]:
    scalars, phases, per_s = load.scalars, load.facts.phases, stats.mean_rate_per_s
    planned_us = US_PER_S * (sum(phase.seconds for phase in phases) or load.facts.seconds)
    # from the load's start to the later of its scheduled end and its last 201
    window_us = max(planned_us, scalars.get("acknowledged_last_us", 0) - scalars["origin_us"])
    durable_us = scalars.get("durable_last_us", scalars["origin_us"]) - scalars["origin_us"]
    return {
        "planned_per_s": per_s(load.requests.planned, planned_us) if phases else None,
        "planned_peak_per_s": max((max(p.from_per_s, p.to_per_s) for p in phases), default=None),
        "achieved_per_s": per_s(load.requests.acknowledged, window_us),
        "achieved_peak_per_s": float(peak) if (peak := scalars["achieved_peak"]) else None,
        "answered_per_s": per_s(load.answers.completed, window_us),
        "durable_per_s": per_s(scalars["durable_rows"], durable_us),
    }


def _visible(table: pa.Table | None) -> dict[str, Any]:
    """Of the samples: until a search found the row, and the interval in which it became visible."""
    names = ("time_to_visible_ms", "visible_samples", "visible_error_ms_median", "visible_error_ms_max")
    if table is None:
        return dict.fromkeys(names)
    start_us, visible_us = whole(table, "start_us"), whole(table, "visible_at_us")
    known = (start_us != NO_TIME) & (visible_us != NO_TIME)
    since_us = np.maximum(whole(table, "not_before_us"), start_us)  # an unknown moment lies before all others
    delays, widths = (np.sort((visible_us - begin)[known]) for begin in (start_us, since_us))
    values, counts = np.unique(delays, return_counts=True)
    some = len(delays) > 0
    found = Times(
        value_us=values,
        count=counts,
        low_us=int(delays[0]) if some else 0,
        high_us=int(delays[-1]) if some else 0,
        sum_us=int(delays.sum()),
    )
    median = round(float(np.median(widths)) / US_PER_MS, MEAN_DIGITS) if some else None
    largest = int(widths[-1]) / US_PER_MS if some else None
    return dict(zip(names, (found.latency(len(table)), len(table), median, largest), strict=True))


def order_of(facts: LoadFacts, scalars: Mapping[str, int]) -> Order | None:
    """Only where another service than the ingress writes to the store does an order come about."""
    if not facts.queue_path:
        return None
    writes = scalars["order_writes"]
    return Order(
        overtaken_share=round(scalars["order_overtaken"] / writes, 6) if writes else 0.0,
        redelivered=facts.redelivered,
    )


def _drain(load: _Load) -> Drain:
    """Seconds count to the last durable row; where no moment is known, to the last change that polling saw."""
    facts, last_us = load.facts.drain, load.scalars.get("durable_last_us")
    if facts is None:
        raise LoadError("the load ended before its drain: it has no figures")
    seconds = facts.busy_seconds
    if last_us is not None:
        seconds = max(0.0, (last_us - load.scalars["answered_last_us"]) / US_PER_S)
    return Drain(
        seconds=round(seconds, 3),
        settle_seconds=round(facts.waited_seconds, 3),
        capped=facts.capped,
        queue_ready_left=facts.queue_ready_left,
        queue_unacknowledged_left=facts.queue_unacknowledged_left,
        dead_letters=facts.dead_letters,
    )


def _broken_sums(load: _Load) -> Iterator[str]:
    """In words; sums of tables that were made separately, so that one of them was cut or edited."""
    acknowledged = load.requests.acknowledged
    served = int(whole(load.tables["seconds"], "served").sum())
    for name, found in (("latencies", times(load.tables, ACCEPT).number), ("201s by second", served)):
        if found != acknowledged:
            yield f"acknowledged {acknowledged:,} ≠ {name} {found:,}"
    classes = int(whole(load.tables["tally"], "count").sum())
    if classes != load.requests.started:
        yield f"started {load.requests.started:,} ≠ requests by class of the audit {classes:,}"
