"""Checks that every number of a load step's record follows from the values that are published with it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from writepath.analysis import samples as sampled
from writepath.analysis import stats
from writepath.analysis.backlog import backlog
from writepath.analysis.saturation import limited_by
from writepath.analysis.saturation.rules import K6
from writepath.analysis.step_verdict import AUDIT_FAILED, BROKEN, Evidence, judge
from writepath.load.ledger import (
    ACKNOWLEDGED_STATUS,
    REJECTED_STATUSES,
    WRITE,
    WRONG_ACK,
    WRONG_TOTAL,
    error_kind,
)
from writepath.report import hold_values, packed
from writepath.report.hold_values import ACKNOWLEDGED, OTHER, REJECTED, SAW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.analysis.histogram import Histogram
    from writepath.load.ledger import Operation
    from writepath.records import Latency, Requests
    from writepath.records.capacity import Hold, LimitedBy
    from writepath.report.hold_values import HoldData

RANKS = (("median", 0.5), ("p95", 0.95), ("p99", 0.99))
IN_TAIL = ("p99",)  # the longest too, unless more than the tail was not served
DIGITS = 0.001 + 0.0001  # of a histogram's bucket, and of the record's own rounding
FINEST_MS = 0.002  # below 2 ms buckets are whole microseconds
SLOPE_SHARE, SLOPE_FLOOR_PER_S = 0.01, 1.0  # samples keep whole milliseconds
SHARE = 0.0002  # samples keep whole milliseconds, and the record has four digits
PEAK_SHARE = 0.1  # of a window of ten readings, one may lie on its edge
TRIES = 300  # of fractions of milliseconds
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
CPU_S = 0.02
DRAIN_S = 0.0011
ROWS_AT_THE_EDGES = 1.5  # one whose moment is the load's own end, to the microsecond
SOUND = {(ACKNOWLEDGED, 1, 0), (OTHER, 0, 0), (OTHER, 1, 0), (REJECTED, 0, 0)}  # of hold_values.Held.counts


def of_hold(
    hold: Hold, data: HoldData, slo_ms: float, cores: int | None, operation: Operation = WRITE
) -> Iterator[str]:
    """cores: of the host; None where the record does not say."""
    yield from of_requests(hold.requests, data, operation)
    for name, found in (("accept", data.accept), ("planned", data.planned)):
        field = f"{name}_latency_ms"
        yield from of_latency(field, getattr(hold, field), found, tail=hold_values.has_tail(name, hold))
    yield from of_generator(hold, data)
    yield from of_resources(hold, data)
    yield from _of_rows(hold, data)
    if hold.backlog is not None:
        yield from _of_backlog(hold, data)
    if hold.limited_by is not None and hold.kind != "ramp" and cores is not None:
        yield from of_limit(hold, data, cores)
    if hold.verdict != "noise":  # what the machine withheld, only the running system could tell
        yield from _of_verdict(hold, data, slo_ms, writes=operation == WRITE)


def of_requests(requests: Requests, data: HoldData, operation: Operation = WRITE) -> Iterator[str]:
    """The counts of its answers."""
    answers, started = data.answers, sum(data.answers.values())
    served = {
        (status, code) for status, code in answers if status in operation.served and code != WRONG_TOTAL
    }
    acknowledged = sum(count for answer, count in answers.items() if answer in served)
    rejected = sum(count for (status, _), count in answers.items() if status in REJECTED_STATUSES)
    by_status: dict[str, int] = {}
    by_error: dict[str, int] = {}
    for (status, code), count in answers.items():
        by_status[str(status)] = by_status.get(str(status), 0) + count
        if (status, code) not in served or code == WRONG_ACK:
            kind = error_kind(status, code)
            by_error[kind] = by_error.get(kind, 0) + count
    derived = {
        "planned": data.planned.planned,
        "started": started,
        "acknowledged": acknowledged,
        "rejected": rejected,
        "indeterminate": started - acknowledged - rejected,
        "by_status": by_status,
        "by_error": by_error,
    }
    for name, value in derived.items():
        if getattr(requests, name) != value:
            yield f"requests.{name}={getattr(requests, name)} ≠ {value} of the answers"
    if requests.planned != requests.started + requests.dropped:
        yield f"requests.planned={requests.planned} ≠ started + dropped"


def of_latency(name: str, latency: Latency, found: Histogram, *, tail: bool = False) -> Iterator[str]:
    """tail: the histogram has each bucket of the highest values."""
    derived: dict[str, float | None] = {
        rank: None if (value := found.percentile(quantile)) == stats.UNSERVED else value
        for rank, quantile in RANKS
    }  # the record's form of a rank on an unserved request is none
    derived["min"] = found.at(1) if found.served else None
    derived["mean"] = found.mean
    derived["max"] = found.at(found.served) if found.served else None
    for part, value in derived.items():
        recorded = getattr(latency, part)
        if recorded is not None and recorded < 0:  # of a write that was found a slot a little after its own
            recorded = 0.0
        if not near(recorded, value, 1 if tail and part in IN_TAIL else packed.COARSE):
            yield f"{name}.{part}={recorded} ≠ {value} of the histogram"


def near(recorded: float | None, derived: float | None, width: int) -> bool:
    """Whether a time is as its bucket says; none is none. width: buckets that are kept as one."""
    if recorded is None or derived is None:
        return recorded is derived
    return math.isclose(recorded, derived, rel_tol=DIGITS * width, abs_tol=FINEST_MS * width)


def of_generator(hold: Hold, data: HoldData) -> Iterator[str]:
    """How late it was, and what it and others used of the processors."""
    generator, late = hold.generator, data.late
    for name, rank in (("p99", stats.rank(late.served, 0.99)), ("max", late.served)):
        recorded = getattr(generator, f"lateness_ms_{name}")
        derived = late.at(rank) if late.served else None
        if not near(recorded, derived, packed.COARSEST):
            yield f"generator.lateness_ms_{name}={recorded} ≠ {derived} of the histogram"
    readings = data.series.get((K6, "cpu_seconds"))
    if readings is None:
        if generator.samples:
            yield f"generator.samples={generator.samples} ≠ 0 of the samples"
        return
    at_us, value = readings
    if generator.samples != len(value):
        yield f"generator.samples={generator.samples} ≠ {len(value)} of the samples"
    mean, peak = sampled.cpu_shares((at_us / stats.US_PER_S).tolist(), value.tolist())
    for name, derived, share in (("mean", mean, SHARE), ("peak", peak, PEAK_SHARE)):
        recorded = getattr(generator, f"cpu_share_{name}")
        if not math.isclose(recorded, derived, rel_tol=share, abs_tol=SHARE):
            yield f"generator.cpu_share_{name}={recorded} ≠ {derived:.4f} of the samples"
    if hold.kind != "ramp":
        yield from _of_others(hold, data)


def _of_others(hold: Hold, data: HoldData) -> Iterator[str]:
    recorded = hold.noise.foreign_cpu_share
    derived = sampled.foreign_share({key: value for key, (_, value) in data.series.items()})
    if (recorded is None) != (derived is None) or abs((recorded or 0.0) - (derived or 0.0)) > SHARE:
        yield f"noise.foreign_cpu_share={recorded} ≠ {derived} of the samples"


def of_resources(hold: Hold, data: HoldData) -> Iterator[str]:
    """Processor time and bytes written of each component; resident memory is not published."""
    for component, used in hold.resources.items():
        cpu = _grown(data, component, "cpu_seconds")
        if cpu is not None and abs(cpu - used.cpu_seconds) > CPU_S:
            yield f"resources.{component}.cpu_seconds={used.cpu_seconds} ≠ {cpu:.2f} of the samples"
        written = _grown(data, component, "write_bytes")
        if written is not None and used.write_bytes is not None and int(written) != used.write_bytes:
            yield f"resources.{component}.write_bytes={used.write_bytes} ≠ {written:.0f} of the samples"


def _grown(data: HoldData, component: str, metric: str) -> float | None:
    samples = data.series.get((component, metric))
    return None if samples is None else float(stats.accumulated(samples[1])[-1])


def _of_rows(hold: Hold, data: HoldData) -> Iterator[str]:
    """Of the store: how fast it filled, when it was complete, and whether it holds what was acknowledged."""
    if data.stored is not None and hold.stored_per_s is not None:
        derived = round(float(data.stored.sum()) / hold.seconds, 3)
        if abs(derived - hold.stored_per_s) > ROWS_AT_THE_EDGES / hold.seconds:
            yield f"stored_per_s={hold.stored_per_s} ≠ {derived} of the rows"
    if hold.drain_seconds is not None and data.durable_us is not None:
        drained = max(0, data.durable_us - data.answered_us) / stats.US_PER_S
        if abs(drained - hold.drain_seconds) > DRAIN_S:
            yield f"drain_seconds={hold.drain_seconds} ≠ {drained:.3f} of the rows"
    if hold.audit == "PASS":
        yield from (f"audit=PASS ≠ {words}" for words in _unsound(data))


def _unsound(data: HoldData) -> Iterator[str]:
    """Why the rows that were read do not pass."""
    held = data.held
    if held is None:
        yield "no row was read back"
        return
    for (saw, rows, differs), count in held.counts.items():
        if (saw, rows, differs) not in SOUND:
            other = ", with other content" if differs else ""
            yield f"{count} writes {SAW[saw]}, stored {rows} times{other}"
    if held.foreign_rows:
        yield f"{held.foreign_rows} rows of no write of the load"
    acknowledged = sum(count for (saw, *_), count in held.counts.items() if saw == ACKNOWLEDGED)
    answered = sum(count for (status, _), count in data.answers.items() if status == ACKNOWLEDGED_STATUS)
    if acknowledged != answered or not acknowledged:
        yield f"{acknowledged} writes acknowledged, by the answers {answered}"
    if wrong := sum(count for (_, code), count in data.answers.items() if code == WRONG_ACK):
        yield f"{wrong} answers that named another id"


def _of_backlog(hold: Hold, data: HoldData) -> Iterator[str]:
    recorded = hold.backlog
    at_us, depth = sampled.queue_depth(data.within)
    if recorded is None or hold.kind == "ramp":
        return
    try:
        derived = backlog((at_us - data.from_us) / stats.US_PER_S, depth, hold.rate_per_s, hold.stored_per_s)
    except ValueError as error:
        yield f"backlog: {error}"
        return
    margin = max(SLOPE_FLOOR_PER_S, SLOPE_SHARE * abs(recorded.slope_per_s))
    if abs(derived.slope_per_s - recorded.slope_per_s) > margin:
        yield f"backlog.slope_per_s={recorded.slope_per_s:.2f} ≠ {derived.slope_per_s:.2f} of the samples"
    for name in ("at_start", "at_end", "work_seconds", "grows"):
        if getattr(derived, name) != getattr(recorded, name):
            yield f"backlog.{name}={getattr(recorded, name)} ≠ {getattr(derived, name)} of the samples"


def of_limit(hold: Hold, data: HoldData, cores: int) -> Iterator[str]:
    """Which resources were at their limit, in order, with their evidence.

    A window of 5 s begins at a reading or just after it: which, a fraction of a millisecond may decide, that a file of
    samples does not keep. So a record is believed that some such fractions give.
    """
    recorded = hold.limited_by
    if recorded is None:
        return
    found = [*_differing(recorded, limited_by(data.within, cores, hold.generator))]
    nearby = (limited_by(seen, cores, hold.generator) for seen in data.nearby(TRIES if found else 0))
    if all(any(_differing(recorded, derived)) for derived in nearby):
        yield from found


def _differing(recorded: LimitedBy, derived: LimitedBy) -> Iterator[str]:
    nearest = None if recorded.nearest is None else derived.nearest  # older records do not tell it
    mine = [one for one in (derived.first, *derived.others, nearest) if one is not None]
    theirs = [one for one in (recorded.first, *recorded.others, recorded.nearest) if one is not None]
    if [(one.resource, one.component) for one in mine] != [(one.resource, one.component) for one in theirs]:
        names = [", ".join(f"{one.resource} of {one.component}" for one in of) for of in (theirs, mine)]
        yield f"limited_by={names[0] or 'nothing'} ≠ {names[1] or 'nothing'} of the samples"
        return
    for one, other in zip(theirs, mine, strict=True):
        if not alike(one.evidence, other.evidence):
            yield f"limited_by evidence '{one.evidence}' ≠ '{other.evidence}' of the samples"


def alike(one: str, other: str) -> bool:
    """The same words, and numbers that differ by no more than their rounding or a hundredth."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    values = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(math.isclose(a, b, rel_tol=0.01, abs_tol=1.0) for a, b in values)


def _of_verdict(hold: Hold, data: HoldData, slo_ms: float, *, writes: bool) -> Iterator[str]:
    """By the rules, of the record's figures; what broke is believed. Of a ramp's step the host was not kept."""
    ramp = hold.kind == "ramp"
    broken = [reason.removeprefix(BROKEN) for reason in hold.reasons if reason.startswith(BROKEN)]
    derived = judge(
        Evidence(
            kind=hold.kind,
            slo_ms=slo_ms,
            rate_per_s=hold.rate_per_s,
            seconds=hold.seconds,
            requests=hold.requests,
            planned_latency_ms=hold.planned_latency_ms,
            generator=hold.generator,
            backlog=hold.backlog,
            drain_seconds=hold.drain_seconds,
            audit=hold.audit,
            host_busy_share=1.0 if ramp else sampled.host_busy_share(data.within),
            noise_reasons=(),
            broken=tuple(words for words in broken if f"{BROKEN}{words}" != AUDIT_FAILED),
            writes=writes,
        )
    )
    recorded_reasons = hold.reasons[: len(derived.reasons)] if ramp else hold.reasons
    for name, value in (("verdict", derived.verdict), ("burst", derived.burst)):
        if getattr(hold, name) != value:
            yield f"{name}={getattr(hold, name)} ≠ {value} by the rules"
    if recorded_reasons != derived.reasons:
        yield f"reasons={'; '.join(hold.reasons)} ≠ {'; '.join(derived.reasons) or 'none'} by the rules"
    if not ramp and hold.generator_bound != derived.generator_bound:
        yield f"generator_bound={hold.generator_bound} ≠ {derived.generator_bound} by the rules"
