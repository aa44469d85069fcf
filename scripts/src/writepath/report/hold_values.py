"""What is published of one load step with its record? Counts, histograms and samples that its figures follow from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from writepath.analysis import histogram, raw
from writepath.analysis.stats import US_PER_MS, US_PER_S
from writepath.config.registry import Phase
from writepath.errors import UsageError
from writepath.load import ledger as ledgers
from writepath.load.ledger import Outcome
from writepath.load.plan import NS_PER_MS, NS_PER_US, align, arrival_plan
from writepath.report import packed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from writepath.analysis.audit import Stored
    from writepath.analysis.histogram import Histogram
    from writepath.analysis.samples import Series
    from writepath.analysis.stats import Floats, Ints
    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan
    from writepath.records.capacity import Hold
    from writepath.report.packed import Lines

COSTS = ("cpu_seconds", "write_bytes")  # all that is kept of the ramp's steps, which say nothing else
LEFT_OUT = ("rss_bytes",)  # as large as all others, and no rule reads it
NEVER, ACKNOWLEDGED, REJECTED, OTHER, UNREAD = range(5)  # what the client saw of a sequence
SAW = ("never sent", "acknowledged", "rejected", "without a clear answer", "of an unreadable line")
MS_PER_S = 1000
TAIL = 0.98  # of what was planned: the 99th percentile lies beyond
ROUNDED_US = 500.0
ROUNDED = 5e-10  # of ten digits


@dataclass(frozen=True, kw_only=True)
class Held:
    """What one read of the store had of the load's writes."""

    counts: Mapping[tuple[int, ...], int]  # by what the client saw, rows stored, whether content differs
    foreign_rows: int  # of no sequence of the load


@dataclass(frozen=True, kw_only=True, eq=False)
class HoldData:
    """Of one load step."""

    from_us: int  # epoch: the load's start by its own clock
    seconds: float
    answers: Mapping[tuple[int, ...], int]  # by status and error code
    planned: Histogram  # from the scheduled send time
    accept: Histogram  # from sending
    late: Histogram  # of the generator: from the scheduled send time to sending
    answered_us: int  # of the last answer, whatever it was, since the load's start
    durable_us: int | None  # of the last row; None where none was read, or none says when
    stored: Ints | None  # rows that became durable in each second of the load; None where they were not read
    held: Held | None  # None where it was not measured
    series: Series

    @property
    def within(self) -> Series:
        """What was sampled while the load lasted."""
        return self._within(self.series)

    def nearby(self, times: int) -> Iterator[Series]:
        """The same, so often, each time with other moments and values that are those of the samples when rounded.

        What was sampled at one moment stays together, and a counter that rested rests. The same ones for the same data.
        """
        moments, places = _different([at_us for at_us, _ in self.series.values()])
        generator = np.random.default_rng(len(moments))
        for _ in range(times):
            moved_us = moments + generator.uniform(-ROUNDED_US, ROUNDED_US, len(moments))
            at_us = np.rint(moved_us).astype(np.int64)
            seen = {}
            for (key, (_, value)), place in zip(self.series.items(), places, strict=True):
                values, (own,) = _different([value])
                moved = values * (1 + generator.uniform(-ROUNDED, ROUNDED, len(values)))
                seen[key] = (at_us[place], moved[own])
            yield self._within(seen)

    def _within(self, seen: Series) -> Series:
        to_us = self.from_us + round(self.seconds * US_PER_S)
        found = {}
        for key, (at_us, value) in seen.items():
            inside = (at_us >= self.from_us) & (at_us <= to_us)
            if inside.any():
                found[key] = (at_us[inside], value[inside])
        return found


def _different(arrays: Sequence[Ints | Floats]) -> tuple[Floats, list[NDArray[np.intp]]]:
    """The values of all arrays, each once, ascending; and by array, where its own are among them."""
    values = np.unique(np.concatenate([np.empty(0), *arrays]))
    return values, [np.searchsorted(values, own) for own in arrays]


def folder_of(search: Path, hold: Hold) -> Path:
    """Where a step's raw files are."""
    return search / f"hold-{hold.number:02}"


def has_tail(latency: str, hold: Hold) -> bool:
    """Whether its highest values are kept to three digits: of what the SLO is asked of, in the holds that count."""
    return latency == "planned" and hold.kind != "ramp"


def from_raw(search: Path, hold: Hold) -> HoldData:
    """Of a step's raw files, below its search's folder; UsageError where a file is missing or torn."""
    folder = folder_of(search, hold)
    ledger = read_ledger(folder)
    rate = hold.rate_per_s
    plan = arrival_plan([Phase(name=hold.kind, seconds=hold.seconds, from_per_s=rate, to_per_s=rate)])
    times = times_of(ledger, plan)
    path = folder / raw.STORED_FILE
    rows = raw.read_stored(path) if path.is_file() else None
    return HoldData(
        from_us=times.from_us,
        seconds=hold.seconds,
        answers=answers_of(ledger),
        planned=histogram_of(times.behind_ms, plan.planned, tail=has_tail("planned", hold)),
        accept=histogram_of(times.took_ms, plan.planned, tail=has_tail("accept", hold)),
        late=lateness_of(times),
        answered_us=times.answered_us,
        durable_us=_last_us(rows, times.from_us),
        stored=None if rows is None else _by_second(rows, times.from_us, hold.seconds),
        held=None if rows is None else _held(ledger, rows),
        series={key: samples for key, samples in read_series(folder).items() if _kept(hold, key[1])},
    )


def read_ledger(folder: Path) -> Ledger:
    """Of a load that came to its end; UsageError where there is none, or no request in it came to an end."""
    path = folder / ledgers.FILE
    if not path.is_file():
        raise UsageError(f"{path}: missing; the load's figures cannot be derived without it")
    found = ledgers.read(path)
    if not found.timed().any():
        raise UsageError(f"{path}: no request came to an end; the file was cut or edited")
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Times:
    """Of a load's requests."""

    from_us: int  # epoch: the load's start by its own clock
    behind_ms: Floats  # of those served: from the scheduled send time to the answer
    took_ms: Floats  # of those served: from sending to the answer
    late_ms: Floats  # of all that were sent and came to an end: from the scheduled send time to sending
    answered_us: int  # of the last answer, since the load's start


def times_of(ledger: Ledger, plan: ArrivalPlan) -> Times:
    """Of a ledger of that plan."""
    timed = ledger.timed()
    records, good = ledger.records[timed], (ledger.outcomes() == Outcome.ACKNOWLEDGED)[timed]
    aligned = align(plan, records["seq"], records["start_us"])
    took_us = records["blocked_us"] + records["duration_us"]
    behind_ns = aligned.behind_ns() + took_us * NS_PER_US
    return Times(
        from_us=aligned.origin_us,
        behind_ms=behind_ns[good] / NS_PER_MS,
        took_ms=took_us[good] / US_PER_MS,
        late_ms=aligned.lateness_ns / NS_PER_MS,
        answered_us=int((records["start_us"] + took_us).max()) - aligned.origin_us,
    )


def read_series(folder: Path) -> Series:
    """What was sampled, without readings that came to nothing; empty where nothing was."""
    path = folder / raw.SAMPLES_FILE
    series = raw.read_samples(path) if path.is_file() else {}
    known = {key: ~np.isnan(value) for key, (_, value) in series.items()}
    return {key: (at_us[known[key]], value[known[key]]) for key, (at_us, value) in series.items()}


def to_lines(data: HoldData) -> Iterator[str]:
    """Of one load step."""
    yield f"window {data.from_us} {round(data.seconds * MS_PER_S)}"
    yield f"answers {packed.of_counts(data.answers)}"
    for name in ("planned", "accept", "late"):
        yield f"{name} {packed.of_histogram(getattr(data, name))}"
    ends = [data.answered_us] if data.durable_us is None else [data.answered_us, data.durable_us]
    yield f"ends {' '.join(map(str, ends))}"
    if data.stored is not None:
        yield f"stored {packed.whole(data.stored)}"
    if data.held is not None:
        yield " ".join(("held", str(data.held.foreign_rows), packed.of_counts(data.held.counts)))
    yield from packed.of_series(data.series)


def from_lines(lines: Lines) -> HoldData:
    """What to_lines() gave; LookupError or ValueError where it is anything else."""
    from_us, length_ms = (int(value) for value in lines["window"].split())
    answered_us, *durable_us = (int(value) for value in lines["ends"].split())
    return HoldData(
        from_us=from_us,
        seconds=length_ms / MS_PER_S,
        answers=packed.to_counts(lines["answers"], 2),
        planned=packed.to_histogram(lines["planned"]),
        accept=packed.to_histogram(lines["accept"]),
        late=packed.to_histogram(lines["late"]),
        answered_us=answered_us,
        durable_us=durable_us[0] if durable_us else None,
        stored=packed.to_whole(lines["stored"]) if "stored" in lines else None,
        held=_to_held(lines["held"]) if "held" in lines else None,
        series=packed.to_series(lines),
    )


def _to_held(text: str) -> Held:
    foreign, _, counts = text.partition(" ")
    return Held(counts=packed.to_counts(counts, 3), foreign_rows=int(foreign))


def _kept(hold: Hold, metric: str) -> bool:
    return metric in COSTS if hold.kind == "ramp" else metric not in LEFT_OUT


def histogram_of(served_ms: Floats, planned: int, *, tail: bool = False) -> Histogram:
    """With eight buckets as one; tail: but for the highest values."""
    found = histogram.of(np.maximum(served_ms, 0.0), planned)
    return packed.coarse(found, below=TAIL if tail else 1.0)


def lateness_of(times: Times) -> Histogram:
    """Of the generator."""
    return packed.coarse(histogram.of(times.late_ms, len(times.late_ms)), packed.COARSEST)


def answers_of(ledger: Ledger) -> dict[tuple[int, ...], int]:
    """Requests that were sent, by status and error code."""
    return _counted([ledger.records["status"], ledger.records["error_code"]])


def _counted(columns: Sequence[NDArray[Any]]) -> dict[tuple[int, ...], int]:
    """How often each combination is there."""
    kinds, counts = np.unique(np.stack(columns).astype(np.int64), axis=1, return_counts=True)
    return {tuple(kind): count for kind, count in zip(kinds.T.tolist(), counts.tolist(), strict=True)}


def _last_us(rows: Stored | None, from_us: int) -> int | None:
    dated = raw.known(rows.durable_at_us) if rows is not None else np.empty(0)
    return int(dated.max()) - from_us if len(dated) else None


def _by_second(rows: Stored, from_us: int, seconds: float) -> Ints:
    """Rows that became durable from the load's start to its planned end, that moment included."""
    since = raw.known(rows.durable_at_us) - from_us
    inside = since[(since >= 0) & (since <= round(seconds * US_PER_S))]
    bins = int(np.ceil(seconds))
    index = np.minimum(inside // US_PER_S, bins - 1)
    return np.bincount(index, minlength=bins).astype(np.int64)


def _held(ledger: Ledger, rows: Stored) -> Held:
    """Each sequence that was sent or stored, by what the client saw of it and what the store has."""
    records, outcomes = ledger.records, ledger.outcomes()
    ours = (rows.seq >= 0) & (rows.seq < ledgers.SEQUENCES)
    seq = rows.seq[ours]
    size = 1 + max(int(seq.max(initial=-1)), int(records["seq"].max(initial=-1)))
    saw = np.full(size, NEVER, dtype=np.int64)
    saw[records["seq"]] = OTHER
    saw[records["seq"][outcomes == Outcome.REJECTED]] = REJECTED
    saw[records["seq"][records["error_code"] == ledgers.UNREAD]] = UNREAD
    saw[records["seq"][outcomes == Outcome.ACKNOWLEDGED]] = ACKNOWLEDGED
    stored = np.bincount(seq, minlength=size)
    differs = np.bincount(seq[~rows.content_ok[ours]], minlength=size) > 0
    there = (saw != NEVER) | (stored > 0)
    return Held(
        counts=_counted([saw[there], stored[there], differs[there]]),
        foreign_rows=len(rows.foreign_ids) + int((~ours).sum()),
    )
