"""What would a suite run of one load leave behind whose every percentile we know? Raw files of any size."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from writepath import result
from writepath.load.ledger import HEADER
from writepath.load.plan import constant_plan
from writepath.run import sampler, visible
from writepath.run.audit import not_read
from writepath.run.stored import FILE_HEADER, FIRST_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from writepath.load.plan import ArrivalPlan

RATE_PER_S = 8000.0
VARIANT, SCENARIO = "planted", "flat"
PLACE = f"{VARIANT}/{SCENARIO}/rep-01"
STARTED_MS = 1_763_683_200_000.0
MOMENT = "2026-01-01T00:00:00.000Z"
FASTEST_US, SPREAD_US = 1000, 100_000
WAITED_US = 125  # of the latency: for a connection
DURABLE_MS = 5.0
UNSERVED_EACH = 1000  # one in so many is refused
STRIDE = 7  # has no divisor with a power of ten in common: each rank is there once
VISIBLE_EACH = 400  # twenty a second
CHUNK = 1 << 18
COMPONENTS = ("jpa-writer", "postgres", "nginx", "k6")


@dataclass(frozen=True, kw_only=True, eq=False)
class Planted:
    """A load of so many requests."""

    requests: int
    plan: ArrivalPlan

    @property
    def unserved(self) -> int:
        """How many, and those would have been the slowest."""
        return self.requests // UNSERVED_EACH

    def latency_us(self, rank: int) -> int:
        """Of the request of that rank, from 1."""
        return FASTEST_US + (rank - 1) * SPREAD_US // self.requests

    def latencies_us(self) -> NDArray[np.int64]:
        """By sequence."""
        return FASTEST_US + self._ranks() * SPREAD_US // self.requests

    def served(self) -> NDArray[np.bool_]:
        """By sequence."""
        return self._ranks() < self.requests - self.unserved

    def _ranks(self) -> NDArray[np.int64]:
        """From 0."""
        return np.arange(self.requests, dtype=np.int64) * STRIDE % self.requests


def plant(requests: int) -> Planted:
    """On time, at one rate."""
    return Planted(requests=requests, plan=constant_plan("flat", requests, RATE_PER_S))


def write(planted: Planted, folder: Path) -> None:
    """As the runner leaves it: suite.json, and the folder of its one run."""
    place = folder / PLACE
    place.mkdir(parents=True)
    _save(place / "ledger.csv.gz", HEADER, _ledger(planted))
    _save(place / FIRST_FILE, FILE_HEADER, _rows(planted))
    samples = _samples(planted)
    sampler.save(samples, place / "samples.csv.gz")
    seq = np.arange(0, planted.requests, VISIBLE_EACH)
    at_ms = STARTED_MS + planted.plan.starts_ms[seq] + 2 * DURABLE_MS
    seen = visible.Seen(seq=seq, not_before_ms=at_ms - DURABLE_MS, visible_at_ms=at_ms)
    visible.save(seen, place / "visible.csv.gz")
    result.save_run(_run(planted, sampler.resources(samples)), place)
    result.save_suite(_suite(planted), folder)


def _save(path: Path, header: str, chunks: Iterator[str]) -> None:
    with gzip.open(path, "wt", compresslevel=1, encoding="ascii", newline="") as file:
        file.write(f"{header}\n")
        file.writelines(chunks)


def _chunks(planted: Planted) -> Iterator[tuple[int, ...]]:
    """Sequence, latency in us, whether it is served, and start in us since that of the load."""
    starts_us = np.rint(planted.plan.starts_ms * 1000).astype(np.int64)
    latencies, served = planted.latencies_us(), planted.served()
    for first in range(0, planted.requests, CHUNK):
        part = slice(first, first + CHUNK)
        yield from zip(
            range(first, first + len(latencies[part])),
            latencies[part].tolist(),
            served[part].tolist(),
            starts_us[part].tolist(),
            strict=True,
        )


def _ledger(planted: Planted) -> Iterator[str]:
    for seq, latency, served, start in _chunks(planted):
        ending = "201,0" if served else "503,1503"
        sent = STARTED_MS + start / 1000
        yield f"{seq},{sent:.3f},{WAITED_US / 1000:.3f},{(latency - WAITED_US) / 1000:.3f},{ending}\n"


def _rows(planted: Planted) -> Iterator[str]:
    for seq, _, served, start in _chunks(planted):
        if served:
            yield f"{seq},1,{STARTED_MS + start / 1000 + DURABLE_MS:.3f},\n"


def _samples(planted: Planted) -> list[sampler.Sample]:
    return [
        sampler.Sample(
            at_ms=STARTED_MS + 1000 * second, component=component, metric=metric, value=value * (second + 1)
        )
        for second in range(int(planted.plan.seconds) + 1)
        for component in COMPONENTS
        for metric, value in (("cpu_seconds", 0.25), ("rss_bytes", 4096.0))
    ]


def _run(planted: Planted, resources: dict[str, result.Resource]) -> result.Run:
    stored = planted.requests - planted.unserved
    reading = result.Reading(store_rows=stored, left_in_queue=0)
    return result.Run(
        schema_version=result.SCHEMA_VERSION,
        run_id="0123456789abcde",
        suite="planted",
        variant=VARIANT,
        title="Planted",
        family=VARIANT,
        acknowledges="nothing: no system was started",
        scenario=SCENARIO,
        repetition=1,
        position=1,
        runtime="none",
        seed=0,
        overrides={},
        dataset=_dataset(),
        code=result.Code(commit="unknown", dirty=True),
        started_at=MOMENT,
        finished_at=MOMENT,
        outcome="finished",
        error=None,
        verdict=result.Verdict(status="valid"),
        requests=result.Requests(
            planned=planted.requests, started=planted.requests, dropped=0, acknowledged=stored, rejected=0,
            indeterminate=planted.unserved, by_status={}, by_error={},
        ),
        audit=replace(
            not_read(), verdict="PASS", unread=(), reads=(reading, reading), stored_rows=stored, stored_ids=stored,
            acknowledged=stored, ok=stored, clean_fail=planted.unserved,
        ),
        resources=resources,
    )  # fmt: skip


def _suite(planted: Planted) -> result.SuiteResult:
    variant = result.SuiteVariant(
        name=VARIANT, title="Planted", family=VARIANT, acknowledges="nothing", profiles=(), settings={}
    )
    line = result.SuiteRun(
        variant=VARIANT, scenario=SCENARIO, repetition=1, position=1, folder=PLACE, outcome="finished",
        verdict="valid", reasons=(), seconds=0.0, exit_code=0,
    )  # fmt: skip
    return result.SuiteResult(
        schema_version=result.SCHEMA_VERSION,
        suite="planted",
        title="Planted",
        stamp="20260101T000000Z",
        status="finished",
        started_at=MOMENT,
        finished_at=MOMENT,
        seed=0,
        repetitions=1,
        runtime="none",
        scenario=SCENARIO,
        phases=tuple(result.SuitePhase(**vars(phase)) for phase in planted.plan.phases),
        warm_up_requests=0,
        warm_up_per_s=0.0,
        variants=(variant,),
        overrides={},
        dataset=_dataset(),
        code=result.Code(commit="unknown", dirty=True),
        blocks=((VARIANT,),),
        runs=(line,),
    )


def _dataset() -> result.DatasetFacts:
    return result.DatasetFacts(name="planted", sha256="0" * 64, lines=1)
