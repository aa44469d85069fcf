"""Counts and histograms of a load's requests: small tables from which every figure of the load follows.

The same tables are made of published rows, then every different microsecond has a bucket of its own, and of loads too
large for that, then a bucket is 0.1 % wide (times.py). All work goes part by part: ten million requests fit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis import audit, stats, times
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
    combinations,
    known_of,
)
from writepath.analysis.load_rows import Rows
from writepath.analysis.stats import AT_ONCE, US_PER_S, Ints, Marks
from writepath.config.registry import Phase
from writepath.errors import LoadError
from writepath.load.ledger import NO_TIME, WRONG_ACK
from writepath.load.plan import align, arrival_plan
from writepath.records.load_facts import LoadFacts

NS_PER_US, NS_PER_MS = 1000, 1_000_000
CLOSED_PHASE = "load"


@dataclass(frozen=True, kw_only=True, eq=False)
class Timeline:
    """Of the requests that have times, ascending by sequence."""

    origin_us: int  # epoch: the load's start by its own clock
    phases: Ints  # requests scheduled, by phase
    seconds: Ints  # by second; one that was dropped counts where it was due
    slots: Ints | None  # by request, its place in the schedule; None: there is no schedule
    starts_ns: Ints | None  # of the schedule, since the load's start
    origin_ns: int  # the load's start, since the first request's
    start_us: Ints  # epoch
    scheduled: bool

    def behind_ns(self, part: slice) -> Ints:
        """By request, from its scheduled send time to its start; below 0 by at most the clock's resolution."""
        if self.slots is None or self.starts_ns is None:
            return np.zeros(len(self.start_us[part]), np.int64)
        since: Ints = (self.start_us[part] - self._first_us) * NS_PER_US
        since -= self.origin_ns
        since -= self.starts_ns[self.slots[part]]
        return since

    def phase(self, part: slice) -> NDArray[np.int8]:
        """By request, the index of its phase."""
        if self.slots is None:
            return np.zeros(len(self.start_us[part]), np.int8)
        inner = np.cumsum(self.phases)[:-1]
        return np.searchsorted(inner, self.slots[part], side="right").astype(np.int8)

    def second(self, part: slice) -> Ints:
        """By request, the second of the load."""
        if self.slots is None:
            second = (self.start_us[part] - self.origin_us) // US_PER_S
            return np.minimum(second, len(self.seconds) - 1)
        inner = np.cumsum(self.seconds)[:-1]
        return np.searchsorted(inner, self.slots[part], side="right")

    @property
    def _first_us(self) -> int:
        return int(self.start_us.min())


def timeline(facts: LoadFacts, sequence: Ints, start_us: Ints, untimed: int) -> Timeline:
    """LoadError where no request has times, or where they are not of this schedule. untimed: requests without times."""
    if not len(start_us):
        raise LoadError("no request of the load ended; see k6.log in the folder of the run")
    return _closed(facts, start_us, untimed) if facts.model == "closed" else _open(facts, sequence, start_us)


def _closed(facts: LoadFacts, start_us: Ints, untimed: int) -> Timeline:
    origin_us = int(start_us.min())
    seconds = max(1, math.ceil(facts.seconds))
    own = np.minimum((start_us - origin_us) // US_PER_S, seconds - 1)
    return Timeline(
        origin_us=origin_us,
        phases=np.array([len(start_us) + untimed]),
        seconds=np.bincount(own, minlength=seconds),
        slots=None,
        starts_ns=None,
        origin_ns=0,
        start_us=start_us,
        scheduled=False,
    )


def _open(facts: LoadFacts, sequence: Ints, start_us: Ints) -> Timeline:
    plan = arrival_plan([Phase(**vars(phase)) for phase in facts.phases])
    if sequence[-1] >= plan.planned:
        raise LoadError(
            f"{plan.planned} requests are scheduled, but one has sequence {sequence[-1]}:"
            " the phases of facts.json are not those of the load"
        )
    first_us = int(start_us.min())
    aligned = align(plan, sequence, start_us - first_us)
    starts_ns, origin_ns = plan.starts_ns, aligned.origin_ns
    ends_ns = np.cumsum([round(phase.seconds * 1000) * NS_PER_MS for phase in facts.phases])[:-1]
    phases = np.searchsorted(starts_ns, ends_ns, side="right")  # one at the edge is of the phase before
    edges_ns = np.arange(1, math.ceil(plan.seconds)) * US_PER_S * NS_PER_US
    seconds = np.searchsorted(starts_ns, edges_ns)
    return Timeline(
        origin_us=first_us + round(origin_ns / NS_PER_US),
        phases=np.diff(phases, prepend=0, append=plan.planned),
        seconds=np.diff(seconds, prepend=0, append=plan.planned),
        slots=aligned.slots,
        starts_ns=starts_ns,
        origin_ns=origin_ns,
        start_us=start_us,
        scheduled=True,
    )


CLOCK_RESOLUTION_US = 1000  # of a ledger's start: less than that after a 201 may be before it


@dataclass(frozen=True, kw_only=True)
class Overtaking:
    """Of acknowledged writes with a known durable moment."""

    writes: int
    overtaken: int  # writes that some write sent after their 201 came before
    inversions: int  # pairs of such writes


def overtaken(
    sent: NDArray[Any], took: NDArray[Any], durable_at: NDArray[Any], resolution: float
) -> Overtaking:
    """Arrays are parallel, one entry a write, in any order; all in one unit.

    A pair (earlier, later) is inverted where the later one was sent after the earlier one's 201 and is durable
    before it. Equal moments (one transaction) are no inversion. O(n log n), and part by part: of ten million writes
    each array takes 80 MB.
    """
    if not len(sent):
        return Overtaking(writes=0, overtaken=0, inversions=0)
    order = np.argsort(sent, kind="stable").astype(np.int32)
    after = _first_after(sent, took, order, resolution)
    durable = durable_at[order]
    del order, durable_at
    # Most writes are in order. Only those that an earlier or a later one passed need to be counted.
    soonest = np.minimum.accumulate(durable[::-1])[::-1]  # from each index on
    parts = [slice(begin, begin + AT_ONCE) for begin in range(0, len(after), AT_ONCE)]
    last = len(durable) - 1
    passed = [
        part.start
        + np.flatnonzero((after[part] <= last) & (soonest[np.minimum(after[part], last)] < durable[part]))
        for part in parts
    ]
    late = np.concatenate(passed)
    del soonest
    latest = np.full(len(durable), durable.min())
    np.maximum.at(latest, after[late], durable[late])
    passing = np.flatnonzero(durable < np.maximum.accumulate(latest, out=latest))
    del latest
    ranks = np.unique(np.concatenate([durable[passing], durable[late]]), return_inverse=True)[1]
    first = np.searchsorted(passing, after[late])
    earlier = _lower_from(ranks[: len(passing)], first, ranks[len(passing) :])
    return Overtaking(writes=len(sent), overtaken=len(late), inversions=int(earlier.sum(dtype=np.int64)))


def _first_after(
    sent: NDArray[Any], took: NDArray[Any], order: NDArray[np.int32], resolution: float
) -> NDArray[np.int32]:
    """By write in the order they were sent, the index of the first one that was sent after its 201."""
    ascending = sent[order]
    after = np.empty(len(order), np.int32)
    for begin in range(0, len(order), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        answered = ascending[part] + took[order[part]] + resolution
        after[part] = np.searchsorted(ascending, answered.astype(ascending.dtype), side="left")
    return after


def _lower_from(ranks: Ints, first: Ints, own: Ints) -> Ints:
    """By entry of `own`, how many entries of `ranks` at index `first` or later are lower; both arrays are parallel.

    A wavelet tree, all entries at once: level by level the ranks are parted by one bit, which keeps each range of
    indices a range on either side; where the own bit is 1, those of the range with a 0 are all lower.
    """
    found = np.zeros(len(own), dtype=np.int64)
    left, right = first, np.full(len(own), len(ranks), dtype=np.int64)
    level = ranks
    for bit in reversed(range((len(ranks) + len(own)).bit_length())):
        ones = (level >> bit) & 1
        zeros_before = np.concatenate(([0], np.cumsum(1 - ones)))
        left_zeros, right_zeros, zeros = zeros_before[left], zeros_before[right], zeros_before[-1]
        high = ((own >> bit) & 1).astype(np.bool_)
        found += np.where(high, right_zeros - left_zeros, 0)
        left = np.where(high, zeros + left - left_zeros, left_zeros)
        right = np.where(high, zeros + right - right_zeros, right_zeros)
        level = np.concatenate((level[ones == 0], level[ones == 1]))
    return found


LATER_US = 2_000  # a start may be a whole millisecond: one row a little late proves nothing
ACCEPT, SCHEDULED, LATENESS, DURABLE = "accept", "scheduled", "lateness", "durable"
TABLES = ("answers", "latencies", "latency_sums", "phases", "seconds", "tally", "offenders", "scalars")
SUMS = ("clock", "phase", "low_us", "high_us", "sum_us")
SUMS_SCHEMA = pa.schema([(name, pa.string() if name == "clock" else pa.int64()) for name in SUMS])
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
        ends = values if self.exact else times.ends_us(values)
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
        first, last = (of[: audit.INTERVALS_MAX + 1] for of in audit.bounds(members))
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
