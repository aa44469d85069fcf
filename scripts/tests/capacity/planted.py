"""Holds, searches and evidence as they would be measured, without measuring."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from writepath.analysis.step_verdict import Evidence
from writepath.records.capacity import Hold, HoldKind, HoldVerdict, Noise
from writepath.records.measures import Generator, Latency, Requests

if TYPE_CHECKING:
    from writepath.capacity.search import Step


def requests(planned: int = 60_000, acknowledged: int | None = None, dropped: int = 0) -> Requests:
    served = planned - dropped if acknowledged is None else acknowledged
    return Requests(
        planned=planned,
        started=planned - dropped,
        dropped=dropped,
        acknowledged=served,
        rejected=0,
        indeterminate=planned - dropped - served,
        by_status={"201": served},
        by_error={},
    )


def latency(p99: float | None = 40.0, p95: float | None = 20.0) -> Latency:
    return Latency(min=1.0, mean=10.0, median=9.0, p95=p95, p99=p99, max=80.0)


def generator(cpu: float = 0.4, late_ms: float | None = 1.0) -> Generator:
    return Generator(
        cpu_share_mean=cpu / 2,
        cpu_share_peak=cpu,
        lateness_ms_p99=late_ms,
        lateness_ms_max=late_ms,
        exit_code=0,
        samples=60,
        samples_late=0,
    )


def evidence(**changed: object) -> Evidence:
    """A hold of 1,000/s for 60 s that passes."""
    passing = Evidence(
        kind="search",
        slo_ms=100.0,
        rate_per_s=1000.0,
        seconds=60.0,
        requests=requests(),
        planned_latency_ms=latency(),
        generator=generator(),
        backlog=None,
        drain_seconds=0.4,
        audit="PASS",
        host_busy_share=0.6,
        noise_reasons=(),
        broken=(),
    )
    return replace(passing, **changed)  # type: ignore[arg-type]


PASSING = (requests(), latency(), generator())


def hold(
    step: Step | None = None,
    verdict: HoldVerdict = "pass",
    *,
    burst: bool | None = None,
    generator_bound: bool = False,
    number: int = 1,
) -> Hold:
    kind: HoldKind = step.kind if step else "search"
    return Hold(
        number=number,
        kind=kind,
        rate_per_s=step.rate_per_s if step else 1000.0,
        seconds=step.seconds if step else 60.0,
        started_at="2026-11-22T06:00:00.000Z",
        verdict=verdict,
        burst=verdict == "pass" if burst is None else burst,
        reasons=(),
        generator_bound=generator_bound,
        requests=PASSING[0],
        accept_latency_ms=PASSING[1],
        planned_latency_ms=PASSING[1],
        stored_per_s=1000.0,
        drain_seconds=0.4,
        audit="PASS",
        backlog=None,
        resources={},
        generator=PASSING[2],
        noise=Noise(foreign_cpu_share=0.0, steal_share=0.0, throttled_share=None, swapped_pages=0),
        limited_by=None,
    )
