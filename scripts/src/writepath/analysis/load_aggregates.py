"""Counts and histograms of a load's requests: small tables from which every figure of the load follows.

The same tables are made of published rows, then every different microsecond has a bucket of its own, and of loads too
large for that, then a bucket is 0.1 % wide (histogram.py). All work goes part by part: ten million requests fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from writepath.analysis import histogram, offenders, stats
from writepath.analysis.audit_classes import (
    ACKNOWLEDGED,
    CLASSES,
    COMBINATIONS,
    IN_TIME,
    LATE,
    MANY,
    MOMENT_UNKNOWN,
    NAMED,
    combinations,
    known_of,
)
from writepath.analysis.load_rows import NO_TIME
from writepath.analysis.order import overtaken
from writepath.analysis.timeline import NS_PER_US, US_PER_S, timeline
from writepath.load.ledger import WRONG_ACK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from writepath.analysis.load_rows import Rows
    from writepath.analysis.stats import Ints, Marks
    from writepath.analysis.timeline import Timeline
    from writepath.records.load_facts import LoadFacts

LATE_US = 5_000_000  # T_late: durable so long after the 201 is late
CLOCK_RESOLUTION_US = (
    1_000  # of a start in what was published first: less than that after a 201 may be before it
)
LATER_US = 2_000  # a start may be a whole millisecond: one row a little late proves nothing
ACCEPT, SCHEDULED, LATENESS, DURABLE = "accept", "scheduled", "lateness", "durable"
TABLES = ("answers", "latencies", "latency_sums", "phases", "seconds", "tally", "offenders", "scalars")
SUMS = ("clock", "phase", "low_us", "high_us", "sum_us")
SUMS_SCHEMA = pa.schema([(name, pa.string() if name == "clock" else pa.int64()) for name in SUMS])
US_PER_MS = 1000.0
_ALL = np.zeros((), np.int8)  # one group
_SHIFT = 44  # bits of a value; the group lies above
_HALF = 1 << (_SHIFT - 1)  # a value may be below 0
_SECOND_SHIFT = 40


@dataclass(kw_only=True)
class _Counter:
    """How many values of each group lie in each bucket."""

    exact: bool
    sums: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # by group: lowest, highest, sum
    _parts: list[tuple[Ints, Ints]] = field(default_factory=list)

    def add(self, values: Ints, groups: NDArray[Any]) -> None:
        """groups: parallel, or one for all."""
        groups = np.broadcast_to(groups, values.shape)
        for group in np.unique(groups).tolist():
            own = values[groups == group]
            low, high, total = int(own.min()), int(own.max()), int(own.sum())
            before = self.sums.get(group, (low, high, 0))
            self.sums[group] = (min(low, before[0]), max(high, before[1]), total + before[2])
        ends = values if self.exact else histogram.ends_us(values)
        keys = (groups.astype(np.int64) << _SHIFT) + ends + _HALF
        self._parts.append(np.unique(keys, return_counts=True))

    def counted(self) -> tuple[Ints, Ints, Ints]:
        """Group, value and count, ascending by group and value."""
        keys = np.concatenate([np.empty(0, np.int64), *(keys for keys, _ in self._parts)])
        counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in self._parts)])
        known, place = np.unique(keys, return_inverse=True)
        totals = np.bincount(place, weights=counts, minlength=len(known)).astype(np.int64)
        groups = known >> _SHIFT
        return groups, known - (groups << _SHIFT) - _HALF, totals


@dataclass(kw_only=True, eq=False)
class _Sums:
    """What the parts add up to."""

    clocks: dict[str, _Counter]
    answered: _Counter  # 201s, by the second of the answer
    started: Ints  # by phase
    bands: Ints  # second and latency of each 201, in one number
    scalars: dict[str, int] = field(default_factory=dict)

    def latest(self, name: str, values: Ints) -> None:
        """Keeps the highest; nothing where there are none."""
        if len(values):
            self.scalars[name] = max(self.scalars.get(name, int(values.max())), int(values.max()))

    def count(self, name: str, number: int) -> None:
        """Adds up."""
        self.scalars[name] = self.scalars.get(name, 0) + number


def aggregated(rows: Rows, facts: LoadFacts, *, exact: bool) -> dict[str, pa.Table]:
    """TABLES, by name. LoadError where no request has times. rows: of no more use afterwards."""
    client = rows.client([operation.served for operation in facts.operations])
    classes = combinations_of(rows, client)
    tally = np.bincount(classes, minlength=COMBINATIONS)
    filled = np.flatnonzero(tally)
    tables = {
        "answers": _answers(rows, client),
        "tally": pa.table({**known_of(filled), "count": tally[filled]}),
        "offenders": _offenders(rows.sequence, classes),
    }
    del classes
    timed, acknowledged = rows.timed, client == ACKNOWLEDGED
    del client
    scalars = _stored(rows)
    rows.keep_times(timed)
    acknowledged = acknowledged[timed]
    if facts.queue_path:
        scalars |= _order(rows, acknowledged)
    line = timeline(facts, rows.sequence, rows.start_us, untimed=int((~timed).sum()))
    sums = _summed(rows, acknowledged, line, exact=exact)
    scalars |= {"origin_us": line.origin_us, **sums.scalars}
    scalars["achieved_peak"] = int(max(sums.answered.counted()[2], default=0))
    tables["phases"] = pa.table({"planned": line.phases, "started": sums.started})
    tables["seconds"] = _seconds(sums.bands, line.seconds)
    tables["scalars"] = pa.table({"name": list(scalars), "value": pa.array(scalars.values(), pa.int64())})
    return tables | _latencies(sums)


def parts(length: int) -> Iterator[slice]:
    """Of arrays so long."""
    return (slice(begin, begin + stats.AT_ONCE) for begin in range(0, length, stats.AT_ONCE))


def combinations_of(rows: Rows, client: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """By request, what decides its class."""
    first = rows.first
    second = first if rows.second is None else rows.second
    number = np.empty(len(client), np.uint16)
    for part in parts(len(client)):
        known = first.durable_at_us[part] != NO_TIME
        delay_us = first.durable_at_us[part] - rows.start_us[part] - rows.took_us(part)
        late = known & (delay_us > LATE_US)
        number[part] = combinations(
            client=client[part],
            wrong_ack=rows.error_code[part] == WRONG_ACK,
            first=np.minimum(first.copies[part], MANY),
            second=np.minimum(second.copies[part], MANY),
            differs=first.differs[part] | second.differs[part],
            durable=np.select([late, known], [LATE, IN_TIME], MOMENT_UNKNOWN),
        )
    return number


def _answers(rows: Rows, client: NDArray[np.uint8]) -> pa.Table:
    """Requests by what they were answered with."""
    known: dict[tuple[int, ...], int] = {}
    for part in parts(len(client)):
        code = rows.error_code[part].astype(np.int64) << 32 | rows.status[part].astype(np.int64) << 16
        code |= rows.operation[part].astype(np.int64) << 8 | client[part]
        for key, count in zip(*map(np.ndarray.tolist, np.unique(code, return_counts=True)), strict=True):
            known[key] = known.get(key, 0) + count
    keys = np.array(sorted(known), np.int64)
    return pa.table(
        {
            "operation": keys >> 8 & 0xFF,
            "status": keys >> 16 & 0xFFFF,
            "error_code": keys >> 32,
            "client": keys & 0xFF,
            "count": np.array([known[key] for key in keys.tolist()], np.int64),
        }
    )


def _offenders(sequence: NDArray[Any], classes: NDArray[np.uint16]) -> pa.Table:
    """By class that has a list, the intervals of its sequences, as many as are named and one more."""
    names, firsts, lasts = [], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for name in NAMED:
        members = sequence[CLASSES[name][classes]].astype(np.int64)
        first, last = (of[: offenders.INTERVALS_MAX + 1] for of in offenders.bounds(members))
        names += [name] * len(first)
        firsts.append(first)
        lasts.append(last)
    return pa.table(
        {
            "name": pa.array(names, pa.string()),
            "first": np.concatenate(firsts),
            "last": np.concatenate(lasts),
        }
    )


def _stored(rows: Rows) -> dict[str, int]:
    """Rows of either read, and until when they became durable."""
    second, moments = rows.second, rows.first.durable_at_us
    found = {
        "rows_first": int(rows.first.copies.sum(dtype=np.int64)),
        "read_again": int(second is not None),
        "rows_second": 0 if second is None else int(second.copies.sum(dtype=np.int64)),
        "durable_rows": int((moments != NO_TIME).sum()),
    }
    if found["durable_rows"]:
        found["durable_last_us"] = int(moments.max())
    return found


def _order(rows: Rows, acknowledged: Marks) -> dict[str, int]:
    """In which order acknowledged writes reached the final store; of one stored twice the first row counts."""
    known = acknowledged & (rows.first.durable_at_us != NO_TIME)
    took = rows.blocked_us[known]
    took += rows.duration_us[known]
    found = overtaken(rows.start_us[known], took, rows.first.durable_at_us[known], CLOCK_RESOLUTION_US)
    return {
        "order_writes": found.writes,
        "order_overtaken": found.overtaken,
        "order_inversions": found.inversions,
    }


def _summed(rows: Rows, acknowledged: Marks, line: Timeline, *, exact: bool) -> _Sums:
    """rows: with times, all of them."""
    clocks = (ACCEPT, SCHEDULED, LATENESS, DURABLE) if line.scheduled else (ACCEPT, DURABLE)
    sums = _Sums(
        clocks={name: _Counter(exact=exact) for name in clocks},
        answered=_Counter(exact=True),
        started=np.zeros(len(line.phases), np.int64),
        bands=np.empty(
            int(acknowledged.sum()), np.int64
        ),  # not of parts: joining them would take twice as much
    )
    end = 0
    for part in parts(len(acknowledged)):
        own, took, phase = acknowledged[part], rows.took_us(part), line.phase(part)
        answered = rows.start_us[part] + took
        sums.started += np.bincount(phase, minlength=len(line.phases))
        sums.clocks[ACCEPT].add(took[own], phase[own])
        if line.scheduled:
            behind = line.behind_ns(part)
            sums.clocks[LATENESS].add(_us(np.maximum(behind, 0)), _ALL)
            sums.clocks[SCHEDULED].add(_us(behind[own] + took[own] * NS_PER_US), phase[own])
        durable = own & (rows.first.durable_at_us[part] != NO_TIME)
        delays = (rows.first.durable_at_us[part] - rows.start_us[part])[durable]
        sums.clocks[DURABLE].add(delays, _ALL)
        sums.count("durable_later", int((delays > took[durable] + LATER_US).sum()))
        sums.latest("answered_last_us", answered)
        sums.latest("acknowledged_last_us", answered[own])
        sums.answered.add((answered[own] - line.origin_us) // US_PER_S, _ALL)
        place = slice(end, end := end + int(own.sum()))
        sums.bands[place] = (line.second(part)[own] << _SECOND_SHIFT) + took[own]
    return sums


def _us(ns: Ints) -> Ints:
    """To the nearest microsecond."""
    rounded: Ints = (ns + NS_PER_US // 2) // NS_PER_US
    return rounded


def _latencies(sums: _Sums) -> dict[str, pa.Table]:
    """By clock and phase, the buckets, and what they cannot say exactly."""
    buckets, exact = [], []
    for name, counter in sums.clocks.items():
        group, value, count = counter.counted()
        columns = {"phase": group, "value_us": value, "count": count}
        buckets.append(pa.table({"clock": _words(name, len(group)), **columns}))
        exact += [(name, phase, *of) for phase, of in sorted(counter.sums.items())]
    sums_of = {name: [row[place] for row in exact] for place, name in enumerate(SUMS)}
    return {"latencies": pa.concat_tables(buckets), "latency_sums": pa.table(sums_of, schema=SUMS_SCHEMA)}


def _words(word: str, length: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(length, np.int32), [word])


def _seconds(keys: Ints, planned: Ints) -> pa.Table:
    """By second of the load: requests scheduled, 201s, and their latency. keys: `bands` of _Sums; they are sorted."""
    keys.sort()
    edges = np.searchsorted(keys, np.arange(len(planned) + 1) << _SECOND_SHIFT)
    served = np.diff(edges)
    some = served > 0
    columns: dict[str, Any] = {"planned": planned, "served": served}
    for name, quantile in (("median_us", 0.5), ("p95_us", 0.95), ("max_us", 1.0)):
        ranks = [stats.rank(count, quantile) for count in served[some].tolist()]
        found = np.zeros(len(planned), np.int64)
        found[some] = keys[edges[:-1][some] + np.array(ranks, np.int64) - 1] & ((1 << _SECOND_SHIFT) - 1)
        columns[name] = pa.array(found, mask=~some)
    return pa.table(columns)
