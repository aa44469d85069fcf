"""Which figures of a run's record do its raw values not give again? One sentence for each, with both values.

Everything that the ledger, the rows read back, the samples and the moments of visibility can carry is computed once
more, by the functions that computed it after the run. A raw folder must give every figure to its last digit. What is
published keeps times to 10 microseconds, so its figures may differ by the sum of a few such roundings, no more; counts
are exact in both.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from writepath.load import plan as plans
from writepath.load.ledger import WRONG_ACK, Outcome
from writepath.run import figures as measured
from writepath.run import sampler
from writepath.run.audit import LATE_MS, Stored
from writepath.run.visible import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan
    from writepath.registry import Phase
    from writepath.report.raw import RunData, Series
    from writepath.result import Run

USED_ROUNDING = 1e-6  # of a cumulative counter with ten digits
BYTES_ROUNDING = 1e-9  # of a value with ten digits
SHARE_ROUNDING = 0.0002  # the samples' file keeps whole milliseconds, the record four digits
PEAK_ROUNDING = 0.1  # relative: of a window of ten readings, one may lie on its edge
MS_PER_S = 1000


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """By how much a figure may differ from the record."""

    ms: float  # of times
    per_s: float  # of rates
    answers: int  # in the best whole second: an answer may fall to the other side of its edge


RAW = Bounds(ms=0.0011, per_s=0.0, answers=0)  # moments of visibility are kept to the microsecond
COMPACT = Bounds(
    ms=0.021, per_s=0.0011, answers=1
)  # start, its origin, waiting, answering: each is off by 5 us


def problems(data: RunData, phases: Sequence[Phase], bounds: Bounds) -> list[str]:
    """In words; empty where the record says what the raw values give."""
    run, ledger = data.run, data.ledger
    if run.requests is None or ledger is None:
        return []  # did not get as far as figures: nothing is claimed
    schedule = plans.arrival_plan(list(phases))
    if len(ledger.records) > schedule.planned:
        return [
            f"requests.planned: {schedule.planned} scheduled, but the ledger has {len(ledger.records)} lines"
        ]
    found: list[str] = []
    for name, derived in _derived(data, ledger, schedule).items():
        found += _differing(name, _plain(getattr(run, name)), _plain(derived), bounds)
    return found


def _derived(data: RunData, ledger: Ledger, schedule: ArrivalPlan) -> dict[str, Any]:
    """By the record's field, dotted: its value, or a dict of those of its fields that can be derived."""
    figures = measured.figures(schedule, ledger, schedule.planned - len(ledger.records))
    found: dict[str, Any] = {
        "requests": figures.requests,
        "accept_latency_ms": figures.accept_latency_ms,
        "planned_latency_ms": figures.planned_latency_ms,
        "throughput": figures.throughput,
        "phases": figures.phases,
        "generator": _generator(data, figures),
        "resources": _resources(data.run, data.series),
    }
    if data.stored is not None and data.run.audit is not None and data.run.audit.reads:
        stored = Stored(
            seq=data.stored.seq,
            content_ok=data.stored.content_ok,
            durable_at_ms=data.stored.durable_at_ms,
        )
        found["audit"] = _audited(data.run, ledger, stored, data.stored.foreign_rows)
        found["time_to_durable_ms"] = measured.time_to_durable(ledger, stored, schedule.planned)
        found["durable_per_s"] = measured.durable_per_s(stored, figures.started_ms)
        found |= _ended(data.run, ledger, stored, figures.answered_ms)
    if data.visible is not None and data.run.visible_samples is not None:
        seen = Seen(**vars(data.visible))
        found |= vars(measured.time_to_visible(ledger, seen))
    return found


def _ended(run: Run, ledger: Ledger, stored: Stored, answered_ms: float) -> dict[str, Any]:
    found: dict[str, Any] = {}
    known = stored.durable_at_ms[~np.isnan(stored.durable_at_ms)]
    if run.drain is not None and len(known):
        seconds = max(0.0, (float(known.max()) - answered_ms) / MS_PER_S)
        found["drain"] = {"seconds": round(seconds, 3)}
    if run.order is not None:
        order = measured.order(ledger, stored, None)
        found["order"] = {"inversions": order.inversions, "overtaken_share": order.overtaken_share}
    return found


def _generator(data: RunData, figures: measured.Figures) -> dict[str, Any]:
    """Nothing of the processor where the samples do not hold the generator."""
    found = {
        name: None if value is None else round(value, 3)
        for name, value in (
            ("lateness_ms_p99", figures.lateness_ms_p99),
            ("lateness_ms_max", figures.lateness_ms_max),
        )
    }
    readings = data.series.get((sampler.K6, "cpu_seconds"))
    if readings is None:
        return dict(found)
    samples = [
        sampler.Sample(at_ms=at, component=sampler.K6, metric="cpu_seconds", value=value)
        for at, value in zip(readings.at_ms.tolist(), readings.value.tolist(), strict=True)
    ]
    mean, peak = sampler.cpu_shares(samples, sampler.K6)
    shares = {"cpu_share_mean": round(mean, 4), "cpu_share_peak": round(peak, 4)}
    return {**found, **shares, "samples": len(samples)}


def _resources(run: Run, series: Series) -> dict[str, Any]:
    samples = [
        sampler.Sample(at_ms=at, component=component, metric=metric, value=value)
        for (component, metric), of in series.items()
        for at, value in zip(of.at_ms.tolist(), of.value.tolist(), strict=True)
    ]
    used = sampler.resources(samples)
    return {name: used.get(name) for name in run.resources}


def _audited(run: Run, ledger: Ledger, stored: Stored, foreign: int) -> dict[str, Any]:
    """The classes that one read decides; what the second read adds is in the raw folder alone."""
    audit = run.audit
    assert audit is not None  # noqa: S101 - the caller looked
    records, outcomes = ledger.records, ledger.outcomes()
    present = np.isin(records["seq"], stored.seq)
    acknowledged = outcomes == Outcome.ACKNOWLEDGED
    absent = int((acknowledged & ~present).sum())
    found = {
        "acknowledged": int(acknowledged.sum()),
        "stored_rows": len(stored.seq) + foreign,
        "lost": absent - audit.stranded,
        "wrong_ack": int((records["error_code"][acknowledged] == WRONG_ACK).sum()),
    }
    if not (audit.vanished or audit.duplicated or audit.corrupted or audit.never_read):
        found["ok"] = int((acknowledged & present).sum())
        found["clean_reject"] = int((outcomes == Outcome.REJECTED).sum()) - audit.rejected_present
        found["clean_fail"] = int((outcomes == Outcome.INDETERMINATE).sum()) - audit.recovered
    if audit.late is not None:
        answered = records["start_ms"] + records["blocked_ms"] + records["duration_ms"]
        durable = np.full(len(records), np.nan)
        at = np.searchsorted(records["seq"], stored.seq).clip(max=len(records) - 1)
        ours = records["seq"][at] == stored.seq
        durable[at[ours]] = stored.durable_at_ms[ours]
        found["late"] = int((acknowledged & (durable - answered > LATE_MS)).sum())
    return found


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value


def _differing(name: str, recorded: Any, derived: Any, bounds: Bounds) -> Iterator[str]:
    """Only what was derived is compared."""
    if isinstance(derived, dict) and isinstance(recorded, dict):
        for key, value in derived.items():
            yield from _differing(f"{name}.{key}", recorded.get(key), value, bounds)
        if name.endswith((".by_status", ".by_error")):
            yield from (
                f"{name}.{key}: {recorded[key]}, recomputed none" for key in recorded.keys() - derived.keys()
            )
    elif isinstance(derived, list) and isinstance(recorded, list) and len(derived) == len(recorded):
        for number, (left, right) in enumerate(zip(recorded, derived, strict=True), 1):
            yield from _differing(f"{name}.{number}", left, right, bounds)
    elif not _agree(name, recorded, derived, bounds):
        yield f"{name}: {recorded}, recomputed {derived}"


def _agree(name: str, recorded: Any, derived: Any, bounds: Bounds) -> bool:
    if not isinstance(recorded, int | float) or not isinstance(derived, int | float):
        return bool(recorded == derived)
    return abs(recorded - derived) <= _allowed(name, float(derived), bounds) + 1e-9


def _allowed(name: str, value: float, bounds: Bounds) -> float:
    part = name.rsplit(".", 1)[-1]
    by_name = {
        "peak_per_s": float(bounds.answers),
        "cpu_seconds": max(abs(value), 1.0) * USED_ROUNDING,
        "cpu_share_mean": SHARE_ROUNDING,
        "cpu_share_peak": SHARE_ROUNDING + abs(value) * PEAK_ROUNDING,
        "write_bytes": abs(value) * BYTES_ROUNDING,
        "rss_peak_bytes": abs(value) * BYTES_ROUNDING,
        "overtaken_share": SHARE_ROUNDING if bounds.answers else 0.0,
        "seconds": bounds.per_s,  # of the drain: whole milliseconds, too
    }
    if part in by_name:
        return by_name[part]
    if part.endswith("_per_s"):
        return bounds.per_s
    return bounds.ms if "_ms" in name else 0.0
