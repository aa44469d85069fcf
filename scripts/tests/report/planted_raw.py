"""The raw files of a planted hold and overload, and the records that the modules that measure make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from capacity.planted_hold import ORIGIN_US, loaded
from writepath.analysis import audit, raw
from writepath.analysis.raw import Sample
from writepath.capacity import overload
from writepath.capacity.hold import Made, evaluate, plan_of
from writepath.capacity.search import Step
from writepath.load import ledger
from writepath.load.ledger import OPERATIONS, REFUSED_BY_APPLICATION, REFUSED_BY_STORE, WRITE, Operation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from writepath.capacity.rig import Loaded
    from writepath.load.plan import ArrivalPlan
    from writepath.records.capacity import Hold, Overload

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
    hold: Hold, folder: Path, sustained_per_s: float, *, queue: bool, operation: Operation = WRITE
) -> Hold:
    """Writes ledger, samples and, of writes, stored rows; the hold with the figures that follow from them."""
    writes = operation == WRITE
    step = Step(kind=hold.kind, rate_per_s=hold.rate_per_s, seconds=hold.seconds)
    plan = plan_of(step, SLO_MS)
    taken_per_s = sustained_per_s if hold.rate_per_s <= sustained_per_s else SLOWED * sustained_per_s
    samples = list(_samples(hold, sustained_per_s, taken_per_s, queue=queue))
    sent = records(plan, quick=hold.burst, unserved=hold.requests.indeterminate, operation=operation)
    load = loaded(plan, sent, samples)
    save(load, folder)
    rows, drain_seconds = None, None
    if writes and hold.kind != "ramp":
        rows = _rows(load.taken.records, taken_per_s)
        raw.save_stored((rows,), folder / raw.STORED_FILE)
        drained_us = int(rows.durable_at_us.max()) - load.figures.answered_us
        drain_seconds = round(max(0, drained_us) / 1_000_000, 3)
    made = Made(
        step=step,
        number=hold.number,
        slo_ms=SLO_MS,
        cores=CORES,
        queue=queue,
        started_at=ORIGIN_US / 1_000_000,
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
    sent, offset_s = records(plan), plan.starts_ns / 1e9
    during = np.flatnonzero((offset_s > BEFORE_S) & (offset_s <= OVER_S))
    for first, status, code in ((0, 503, REFUSED_BY_APPLICATION), (2, 503, REFUSED_BY_STORE), (4, 502, 1502)):
        refused = during[first::8]
        sent["status"][refused], sent["error_code"][refused] = status, code
    sent["duration_us"][during[1::8]] = (SLO_MS + 20.0) * 1000
    sent["duration_us"][(offset_s > OVER_S) & (offset_s <= SLOW_S)] = BUSY_MS * 1000
    samples = list(_overload_samples(queue=queue))
    load = loaded(plan, np.delete(sent, during[7::160]), samples)
    save(load, folder)
    return overload.evaluate(capacity_per_s, load, slo_ms=SLO_MS, queue=queue)


def records(
    plan: ArrivalPlan, *, quick: bool = True, unserved: int = 0, operation: Operation = WRITE
) -> NDArray[np.void]:
    """Of each planned request; the last of them are refused."""
    sent = np.zeros(plan.planned, dtype=ledger.RECORD)
    sent["seq"] = np.arange(plan.planned)
    ranks = ((np.arange(plan.planned) * 7919) % plan.planned) / plan.planned
    sent["operation"] = OPERATIONS.index(operation)
    sent["start_us"] = ORIGIN_US + np.round(plan.starts_ns / 1000 + LATE_MS * 1000 * ranks)
    sent["blocked_us"] = 40
    sent["duration_us"] = np.round(1000 + (FIRST_MS if quick else BUSY_MS) * 1000 * ranks**4)
    sent["status"] = operation.served[0]
    if unserved:
        failed = slice(plan.planned - unserved, None)
        sent["status"][failed], sent["error_code"][failed] = 503, 1503
    return sent


def save(load: Loaded, folder: Path) -> None:
    """Its ledger and samples."""
    folder.mkdir(parents=True)
    ledger.write(load.taken, folder / ledger.FILE)
    raw.save_samples(load.driven.samples, folder / raw.SAMPLES_FILE)


def _rows(sent: NDArray[np.void], taken_per_s: float) -> audit.Stored:
    """Each acknowledged row, not before its place in a store that takes so many a second."""
    good = sent[sent["status"] == WRITE.served[0]]
    turn_us = ORIGIN_US + np.round(np.arange(len(good)) * 1_000_000 / taken_per_s).astype(np.int64)
    return audit.Stored(
        seq=good["seq"],
        content_ok=np.ones(len(good), dtype=bool),
        durable_at_us=np.maximum(good["start_us"] + 2000, turn_us),
    )


def _samples(hold: Hold, sustained_per_s: float, taken_per_s: float, *, queue: bool) -> Iterator[Sample]:
    """Each second, a little beside it: cumulative processor time, the host's, and the queue's depth."""
    share = min(1.0, hold.rate_per_s / sustained_per_s)
    grows = max(0.0, hold.rate_per_s - taken_per_s)
    for second in range(int(hold.seconds) + 2):
        at_us = ORIGIN_US - 300_000 + 1_000_000 * second
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
                yield Sample(at_us=at_us, component=component, metric=metric, value=float(f"{value:.10g}"))


def _overload_samples(*, queue: bool) -> Iterator[Sample]:
    """The generator is nearly full while it sends most; the queue is as before 12 s after that."""
    for second in range(101):
        at_us, over = (
            ORIGIN_US + 120_000 + 1_000_000 * second,
            min(max(second - BEFORE_S, 0.0), OVER_S - BEFORE_S),
        )
        used = 0.2 * second + 0.75 * over
        yield Sample(at_us=at_us, component="k6", metric="cpu_seconds", value=round(used, 2))
        yield Sample(at_us=at_us, component="k6", metric="rss_bytes", value=float(1 << 27))
        if queue:
            left = max(0.0, 100.0 * over - 2000.0 / 12.0 * max(0.0, second - OVER_S))
            for metric, value in (("queue_ready", round(left, 1)), ("queue_unacknowledged", 2.0)):
                yield Sample(at_us=at_us, component="rabbitmq-consumer", metric=metric, value=value)
