"""The raw files of a planted hold and overload, and the records that the modules that measure make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from capacity.planted_hold import CREATED, ORIGIN_MS, loaded
from writepath.capacity import overload
from writepath.capacity.hold import Made, evaluate, plan_of
from writepath.capacity.search import Step
from writepath.load import ledger
from writepath.load.ledger import REFUSED_BY_APPLICATION, REFUSED_BY_STORE
from writepath.run import audit, sampler, stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from writepath.capacity.rig import Loaded
    from writepath.load.plan import ArrivalPlan
    from writepath.result.capacity import Hold, Overload

CORES = 2
SLO_MS = 100.0
FIRST_MS, BUSY_MS = 2.0, 400.0  # p99 of an idle and of a full path
SLOWED = 0.9  # of what a store takes, where more comes than it can
LATE_MS = 0.3  # the most that the generator is behind its plan
BEFORE_S, OVER_S, SLOW_S = (
    20.0,
    40.0,
    43.5,
)  # of the overload: until when it is as before, too much, still slow


def measured(
    hold: Hold, folder: Path, sustained_per_s: float, *, queue: bool, success: int = CREATED
) -> Hold:
    """Writes ledger, samples and, of writes, stored rows; the hold with the figures that follow from them."""
    writes = success == CREATED
    step = Step(kind=hold.kind, rate_per_s=hold.rate_per_s, seconds=hold.seconds)
    plan = plan_of(step, SLO_MS)
    taken_per_s = sustained_per_s if hold.rate_per_s <= sustained_per_s else SLOWED * sustained_per_s
    samples = list(_samples(hold, sustained_per_s, taken_per_s, queue=queue))
    sent = records(plan, quick=hold.burst, unserved=hold.requests.indeterminate, success=success)
    load = loaded(plan, sent, samples, success=success)
    save(load, folder)
    rows, drain_seconds = None, None
    if writes and hold.kind != "ramp":
        rows = _rows(load.taken.records, taken_per_s)
        stored.save(rows, folder / "stored.csv.gz")
        drained_ms = float(rows.durable_at_ms.max()) - load.figures.answered_ms
        drain_seconds = round(max(0.0, drained_ms / 1000), 3)
    made = Made(
        step=step,
        number=hold.number,
        slo_ms=SLO_MS,
        cores=CORES,
        queue=queue,
        started_at=ORIGIN_MS / 1000,
        writes=writes,
        loaded=load,
        stored=rows,
        drain_seconds=drain_seconds,
        audit=None if rows is None else "PASS",
    )
    return evaluate(made)


def overloaded(capacity_per_s: float, folder: Path, *, queue: bool) -> Overload:
    """At twice its capacity a path refuses half, drops some and answers the rest late; it needs 3.5 s to come back."""
    plan = overload.plan_of(capacity_per_s)
    sent, offset_s = records(plan), plan.starts_ms / 1000
    during = np.flatnonzero((offset_s > BEFORE_S) & (offset_s <= OVER_S))
    for first, status, code in ((0, 503, REFUSED_BY_APPLICATION), (2, 503, REFUSED_BY_STORE), (4, 502, 1502)):
        refused = during[first::8]
        sent["status"][refused], sent["error_code"][refused] = status, code
    sent["duration_ms"][during[1::8]] = SLO_MS + 20.0
    sent["duration_ms"][(offset_s > OVER_S) & (offset_s <= SLOW_S)] = BUSY_MS
    samples = list(_overload_samples(queue=queue))
    load = loaded(plan, np.delete(sent, during[7::160]), samples)
    save(load, folder)
    return overload.evaluate(capacity_per_s, load, slo_ms=SLO_MS, queue=queue)


def records(
    plan: ArrivalPlan, *, quick: bool = True, unserved: int = 0, success: int = CREATED
) -> NDArray[np.void]:
    """Of each planned request; the last of them are refused."""
    sent = np.zeros(plan.planned, dtype=ledger.RECORD)
    sent["seq"] = np.arange(plan.planned)
    ranks = ((np.arange(plan.planned) * 7919) % plan.planned) / plan.planned
    sent["start_ms"] = np.round(ORIGIN_MS + plan.starts_ms + LATE_MS * ranks, 3)
    sent["blocked_ms"] = 0.04
    sent["duration_ms"] = np.round(1.0 + (FIRST_MS if quick else BUSY_MS) * ranks**4, 3)
    sent["status"] = success
    if unserved:
        failed = slice(plan.planned - unserved, None)
        sent["status"][failed], sent["error_code"][failed] = 503, 1503
    return sent


def save(load: Loaded, folder: Path) -> None:
    """Its ledger and samples."""
    folder.mkdir(parents=True)
    ledger.write(load.taken, folder / "ledger.csv.gz")
    sampler.save(load.driven.samples, folder / "samples.csv.gz")


def _rows(sent: NDArray[np.void], taken_per_s: float) -> audit.Stored:
    """Each acknowledged row, not before its place in a store that takes so many a second."""
    good = sent[sent["status"] == CREATED]
    turn_ms = ORIGIN_MS + np.arange(len(good)) * 1000 / taken_per_s
    return audit.Stored(
        seq=good["seq"],
        content_ok=np.ones(len(good), dtype=bool),
        durable_at_ms=np.round(np.maximum(good["start_ms"] + 2.0, turn_ms), 3),
    )


def _samples(
    hold: Hold, sustained_per_s: float, taken_per_s: float, *, queue: bool
) -> Iterator[sampler.Sample]:
    """Each second, a little beside it: cumulative processor time, the host's, and the queue's depth."""
    share = min(1.0, hold.rate_per_s / sustained_per_s)
    grows = max(0.0, hold.rate_per_s - taken_per_s)
    for second in range(int(hold.seconds) + 2):
        at_ms = ORIGIN_MS - 300.4 + 1000 * second
        for component, metric, value in (
            ("app", "cpu_seconds", round(1.03 + 1.6 * share * second, 2)),
            ("app", "rss_bytes", 1 << 28),
            ("app", "write_bytes", 4096.0 * second),
            ("k6", "cpu_seconds", round(0.21 * second, 2)),
            ("k6", "rss_bytes", 1 << 27),
            ("host", "total_seconds", CORES * (50.0 + second)),
            ("host", "busy_seconds", 40.0 + (1.6 * share + 0.3) * second),
            ("host", "runner_seconds", 2.0 + 0.05 * second),
            ("rabbitmq-consumer", "queue_ready", round(grows * second, 1)),
            ("rabbitmq-consumer", "queue_unacknowledged", 3.0),
            ("rabbitmq-consumer", "consumed", taken_per_s * second),
        ):
            if queue or not component.startswith("rabbitmq"):
                yield sampler.Sample(at_ms=at_ms, component=component, metric=metric, value=float(value))


def _overload_samples(*, queue: bool) -> Iterator[sampler.Sample]:
    """The generator is nearly full while it sends most; the queue is as before 12 s after that."""
    for second in range(101):
        at_ms, over = ORIGIN_MS + 120.3 + 1000 * second, min(max(second - BEFORE_S, 0.0), OVER_S - BEFORE_S)
        used = 0.2 * second + 0.75 * over
        yield sampler.Sample(at_ms=at_ms, component="k6", metric="cpu_seconds", value=round(used, 2))
        yield sampler.Sample(at_ms=at_ms, component="k6", metric="rss_bytes", value=float(1 << 27))
        if queue:
            left = max(0.0, 100.0 * over - 2000.0 / 12.0 * max(0.0, second - OVER_S))
            for metric, value in (("queue_ready", round(left, 1)), ("queue_unacknowledged", 2.0)):
                yield sampler.Sample(at_ms=at_ms, component="rabbitmq-consumer", metric=metric, value=value)
