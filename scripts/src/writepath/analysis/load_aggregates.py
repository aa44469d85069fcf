"""Counts and histograms of a load's requests: small tables from which every figure of the load follows.

The same tables are made of published rows, then every different microsecond has a bucket of its own, and of loads too
large for that, then a bucket is 0.1 % wide (times.py). All work goes part by part: ten million requests fit.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis import stats, times
from writepath.analysis.audit import (
    ACKNOWLEDGED,
    CLASSES,
    COMBINATIONS,
    IN_TIME,
    LATE,
    LATE_US,
    MANY,
    MOMENT_UNKNOWN,
    NAMED,
    OFFENDERS,
    combinations,
    intervals_of,
    known_of,
)
from writepath.analysis.load_rows import Rows
from writepath.analysis.stats import US_PER_MS, US_PER_S, Ints, Marks
from writepath.config.registry import Phase
from writepath.errors import LoadError
from writepath.load.ledger import NO_TIME, WRONG_ACK
from writepath.load.parquet import moments
from writepath.load.plan import NS_PER_MS, NS_PER_S, NS_PER_US, Alignment, align, arrival_plan
from writepath.records.load_facts import LoadFacts

CLOSED_PHASE = "load"


@dataclass(frozen=True, kw_only=True, eq=False)
class Timeline:
    """When the requests that have times were due, ascending by sequence; in a closed load, when they were sent."""

    origin_us: int  # epoch: the load's start by its own clock
    phases: Ints  # requests scheduled, by phase
    seconds: Ints  # by second; one that was dropped counts where it was due
    phase: NDArray[np.int16]  # by request, the index of its phase
    second: NDArray[np.int32]  # by request, the second of the load
    schedule: Alignment | None  # None: a closed load


def timeline(facts: LoadFacts, sequence: Ints, start_us: Ints, untimed: int) -> Timeline:
    """LoadError where no request has times, or where they are not of this schedule. untimed: requests without times."""
    if not len(start_us):
        raise LoadError("no request of the load ended; see k6.log in the folder of the run")
    if facts.model == "closed":
        origin_us, length = int(start_us.min()), max(1, math.ceil(facts.seconds))
        second = np.minimum((start_us - origin_us) // US_PER_S, length - 1).astype(np.int32)
        return Timeline(
            origin_us=origin_us,
            phases=np.array([len(start_us) + untimed]),
            seconds=np.bincount(second, minlength=length),
            phase=np.zeros(len(start_us), np.int16),
            second=second,
            schedule=None,
        )
    plan = arrival_plan([Phase(**vars(phase)) for phase in facts.phases])
    if sequence[-1] >= plan.planned:
        raise LoadError(
            f"{plan.planned} requests are scheduled, but one has sequence {sequence[-1]}:"
            " the phases of facts.json are not those of the load"
        )
    ends_ns = np.cumsum([round(phase.seconds * 1000) * NS_PER_MS for phase in facts.phases])[:-1]
    phase_ends = np.searchsorted(
        plan.starts_ns, ends_ns, side="right"
    )  # one at the edge is of the phase before
    second_ends = np.searchsorted(plan.starts_ns, np.arange(1, math.ceil(plan.seconds)) * NS_PER_S)
    schedule, first_us = align(plan, sequence, start_us, facts.processes), int(start_us.min())
    since_first_ns = schedule.origin_ns - first_us * NS_PER_US  # small: a float of the epoch is not exact
    return Timeline(
        origin_us=first_us + round(since_first_ns / NS_PER_US),
        phases=np.diff(phase_ends, prepend=0, append=plan.planned),
        seconds=np.diff(second_ends, prepend=0, append=plan.planned),
        phase=np.searchsorted(phase_ends, schedule.slots, side="right").astype(np.int16),
        second=np.searchsorted(second_ends, schedule.slots, side="right").astype(np.int32),
        schedule=schedule,
    )


CLOCK_RESOLUTION_US = 1000  # of a ledger's start: less than that after a 201 may be before it


def overtaken(sent_us: Ints, took_us: Ints, durable_at_us: Ints) -> int:
    """Writes that became durable after one that was sent after their 201. Arrays are parallel, in any order.

    Equal moments (one transaction) have no order.
    """
    order = np.argsort(sent_us, kind="stable")
    sent, durable = sent_us[order], durable_at_us[order]
    never = np.iinfo(np.int64).max
    soonest = np.append(np.minimum.accumulate(durable[::-1])[::-1], never)  # of each write and all sent later
    first_after = np.searchsorted(sent, sent_us + took_us + CLOCK_RESOLUTION_US)
    return int((soonest[first_after] < durable_at_us).sum())


LATER_US = 2_000  # a start may be a whole millisecond: one row a little late proves nothing
ACCEPT, SCHEDULED, LATENESS, DURABLE = "accept", "scheduled", "lateness", "durable"
BUCKET = ("clock", "phase", "value_us")
ALL = slice(None)  # parts
SECOND_SHIFT = 40  # bits of a latency; the second is above


def aggregated(rows: Rows, facts: LoadFacts, *, exact: bool) -> dict[str, pa.Table]:
    """Tables by name: answers, latencies, latency_sums, phases, seconds, tally, offenders, scalars.

    LoadError where no request has times. rows: of no more use afterwards.
    """
    classes = combinations_of(rows)
    tally = np.bincount(classes, minlength=COMBINATIONS)
    filled = np.flatnonzero(tally)
    tables = {
        "answers": _answers(rows),
        "tally": pa.table({**known_of(filled), "count": tally[filled]}),
        "offenders": _offenders(rows.sequence, classes),
    }
    del classes
    timed, scalars = rows.timed, _stored(rows)
    acknowledged = (rows.client == ACKNOWLEDGED)[timed]
    rows.keep_times(timed)
    if facts.queue_path:
        known = acknowledged & (rows.durable_at_us != NO_TIME)
        took_us = rows.took_us(ALL)[known]
        scalars["order_writes"] = len(took_us)
        scalars["order_overtaken"] = overtaken(rows.start_us[known], took_us, rows.durable_at_us[known])
    line = timeline(facts, rows.sequence, rows.start_us, untimed=int((~timed).sum()))
    scalars |= {"origin_us": line.origin_us, **_answered(rows, acknowledged, line)}
    started = np.bincount(line.phase, minlength=len(line.phases))
    phases: dict[str, Any] = {"planned": line.phases, "started": started}
    seconds = _seconds(rows, acknowledged, line)
    if facts.slo_ms is not None and line.schedule is not None:
        since_due_us = _us(line.schedule.behind_ns() + rows.took_us(ALL) * NS_PER_US)
        good = acknowledged & (since_due_us <= round(facts.slo_ms * US_PER_MS))
        seconds["within"] = np.bincount(line.second[good], minlength=len(line.seconds))
        durable_last_us = np.full(len(line.phases), NO_TIME)
        np.maximum.at(durable_last_us, line.phase, rows.durable_at_us)
        phases["durable_last_us"] = moments(durable_last_us)
    tables |= {
        "phases": pa.table(phases),
        "seconds": pa.table(seconds),
        "scalars": pa.table({"name": list(scalars), "value": pa.array(scalars.values(), pa.int64())}),
    }
    return tables | _latencies(_clocks(rows, acknowledged, line), exact=exact)


def parts(length: int) -> Iterator[slice]:
    """Of arrays so long."""
    return (slice(begin, begin + stats.AT_ONCE) for begin in range(0, length, stats.AT_ONCE))


def combinations_of(rows: Rows) -> NDArray[np.uint16]:
    """By request, what decides its class."""
    number = np.empty(len(rows.client), np.uint16)
    for part in parts(len(number)):
        known = rows.durable_at_us[part] != NO_TIME
        delay_us = rows.durable_at_us[part] - rows.start_us[part] - rows.took_us(part)
        late = known & (delay_us > LATE_US)
        number[part] = combinations(
            client=rows.client[part],
            wrong_ack=rows.error_code[part] == WRONG_ACK,
            first=np.minimum(rows.copies[0][part], MANY),
            second=np.minimum(rows.copies[-1][part], MANY),
            differs=rows.differs[0][part] | rows.differs[-1][part],
            durable=np.select([late, known], [LATE, IN_TIME], MOMENT_UNKNOWN),
        )
    return number


def _answers(rows: Rows) -> pa.Table:
    """Requests by what they were answered with."""
    names = ["operation", "status", "error_code", "client"]
    answers = pa.table({name: getattr(rows, name) for name in names})
    found = answers.group_by(names).aggregate([([], "count_all")])
    return found.rename_columns([*names, "count"]).sort_by([(name, "ascending") for name in names])


def _offenders(sequence: NDArray[Any], classes: NDArray[np.uint16]) -> pa.Table:
    """By class that has a list, the intervals of its sequences, as many as are named and one more."""
    rows = [
        {"name": name, "first": first, "last": last}
        for name in NAMED
        for first, last in intervals_of(sequence[CLASSES[name][classes]])
    ]
    return pa.Table.from_pylist(rows, OFFENDERS)


def _stored(rows: Rows) -> dict[str, int]:
    """Rows of either read, and until when they became durable."""
    first, *second = (int(copies.sum(dtype=np.int64)) for copies in rows.copies)
    found = {"rows_first": first, "read_again": len(second), "rows_second": sum(second)}
    found["durable_rows"] = int((rows.durable_at_us != NO_TIME).sum())
    if found["durable_rows"]:
        found["durable_last_us"] = int(rows.durable_at_us.max())
    return found


def _answered(rows: Rows, acknowledged: Marks, line: Timeline) -> dict[str, int]:
    """When the last answers came, and the most 201s of a second. rows: with times, all of them."""
    answered_us = rows.start_us + rows.blocked_us
    answered_us += rows.duration_us
    later = acknowledged & (rows.durable_at_us > answered_us + LATER_US)
    found = {"answered_last_us": int(answered_us.max()), "durable_later": int(later.sum())}
    answered_us = answered_us[acknowledged]
    if len(answered_us):
        found["acknowledged_last_us"] = int(answered_us.max())
    answered_us -= line.origin_us
    np.maximum(answered_us, 0, out=answered_us)
    return found | {"achieved_peak": int(np.bincount(answered_us // US_PER_S).max(initial=0))}


def _clocks(rows: Rows, acknowledged: Marks, line: Timeline) -> Iterator[tuple[str, Any, Ints]]:
    """Clock, phases and microseconds, part by part. rows: with times, all of them."""
    for part in parts(len(acknowledged)):
        own, took_us, phase = acknowledged[part], rows.took_us(part), line.phase[part]
        yield ACCEPT, phase[own], took_us[own]
        if line.schedule is not None:
            behind_ns = line.schedule.behind_ns(part)
            yield LATENESS, 0, _us(np.maximum(behind_ns, 0))
            yield SCHEDULED, phase[own], _us(behind_ns[own] + took_us[own] * NS_PER_US)
        durable_at_us = rows.durable_at_us[part]
        dated = own & (durable_at_us != NO_TIME)
        yield DURABLE, phase[dated], (durable_at_us - rows.start_us[part])[dated]


def _us(ns: Ints) -> Ints:
    """To the nearest microsecond."""
    rounded: Ints = (ns + NS_PER_US // 2) // NS_PER_US
    return rounded


COUNTED = {"low_us": "min", "high_us": "max", "sum_us": "sum", "count": "sum"}


def _latencies(clocks: Iterable[tuple[str, Any, Ints]], *, exact: bool) -> dict[str, pa.Table]:
    """By clock and phase, the buckets, and what they cannot say exactly."""
    found = []
    for clock, phase, us in clocks:
        ends_us = us if exact else times.ends_us(us)
        columns = {"phase": np.full_like(us, phase), "value_us": ends_us, "count": np.ones_like(us)}
        own = _grouped(pa.table({**columns, "low_us": us, "high_us": us, "sum_us": us}), BUCKET[1:])
        found.append(own.append_column("clock", pa.array([clock] * len(own), pa.string())))
    buckets = _grouped(pa.concat_tables(found), BUCKET)
    sums = _grouped(buckets, BUCKET[:2])
    return {"latencies": buckets.select([*BUCKET, "count"]), "latency_sums": sums.drop_columns("count")}


def _grouped(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """One row a group, ascending."""
    found = table.group_by(list(keys)).aggregate(list(COUNTED.items()))
    found = found.select([*keys, *(f"{name}_{how}" for name, how in COUNTED.items())])
    return found.rename_columns([*keys, *COUNTED]).sort_by([(key, "ascending") for key in keys])


def _seconds(rows: Rows, acknowledged: Marks, line: Timeline) -> dict[str, Any]:
    """By second of the load: requests scheduled, 201s, and their latency. rows: with times, all of them."""
    keys = line.second[acknowledged].astype(np.int64)  # with the latency of each 201, in one number
    keys <<= SECOND_SHIFT
    keys += rows.blocked_us[acknowledged]
    keys += rows.duration_us[acknowledged]
    keys.sort()
    edges = np.searchsorted(keys, np.arange(len(line.seconds) + 1) << SECOND_SHIFT)
    served = np.diff(edges)
    some = served > 0
    columns: dict[str, Any] = {"planned": line.seconds, "served": served}
    for name, quantile in (("median_us", 0.5), ("p95_us", 0.95), ("max_us", 1.0)):
        ranks = [stats.rank(count, quantile) for count in served[some].tolist()]
        found = np.zeros(len(served), np.int64)
        found[some] = keys[edges[:-1][some] + np.array(ranks, np.int64) - 1] & ((1 << SECOND_SHIFT) - 1)
        columns[name] = pa.array(found, mask=~some)
    return columns
