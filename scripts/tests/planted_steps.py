"""Load steps and overloads as they never went: raw files of a plan, what became of each request, and samples."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from writepath.analysis import raw
from writepath.analysis.raw import Sample, Stored
from writepath.config.registry import Phase
from writepath.load import ledger
from writepath.load.ledger import RECORD, WRITE, Ledger
from writepath.load.plan import ArrivalPlan, arrival_plan
from writepath.records.capacity_run import CapacityFacts
from writepath.records.load_facts import WithheldFacts
from writepath.records.measures import Canary, Host, Reading
from writepath.records.steps import LoadStep, SentFacts, StepDrain, StepFacts

ORIGIN_US = 1_790_000_000_000_000
RATE, SECONDS = 200.0, 20.0
QUIET = WithheldFacts(steal_share=0.0, throttled_share=None, swapped_pages=0)
CANARY = Canary(
    fsync_ms_p50=0.3,
    fsync_ms_p99=1.0,
    cpu_ms=50.0,
    steal_share=0.0,
    load_average_1m=0.5,
    disk_free_bytes=10**10,
)
HOST = Host(cpu_model="Testor 3000", cores=2, memory_bytes=8 << 30, kernel="6.1", filesystem="ext4")


def plan(rate_per_s: float = RATE, seconds: float = SECONDS) -> ArrivalPlan:
    return arrival_plan([Phase(name="step", seconds=seconds, from_per_s=rate_per_s, to_per_s=rate_per_s)])


def answers(scheduled: ArrivalPlan, took_us: int = 5000, status: int = 201) -> NDArray[np.void]:
    """A record for each scheduled request, sent on time and served; to be spoilt by the test."""
    records = np.zeros(scheduled.planned, RECORD)
    records["seq"] = np.arange(scheduled.planned)
    records["start_us"] = ORIGIN_US + (scheduled.starts_ns + 500) // 1000
    records["duration_us"] = took_us
    records["status"] = status
    return records


def stored(records: NDArray[np.void], *, later_us: int = 1000) -> Stored:
    """A row for each write, durable a little after its answer."""
    return Stored(
        seq=records["seq"].astype(np.int64),
        content_ok=np.ones(len(records), np.bool_),
        durable_at_us=records["start_us"] + records["duration_us"] + later_us,
        foreign_ids=(),
    )


def save(
    folder: Path, records: NDArray[np.void], samples: Sequence[Sample] = (), rows: Stored | None = None
) -> Path:
    """Records that the test left out were dropped: k6 numbers those that it started."""
    folder.mkdir(parents=True)
    numbered = records.copy()
    numbered["seq"] = np.arange(len(records))
    ledger.write(Ledger(records=numbered), folder / ledger.FILE)
    raw.save_samples(samples, folder / raw.SAMPLES_FILE)
    if rows is not None:
        raw.save_stored((rows,), folder / raw.STORED_FILE)
    return folder


def sent(**changed: Any) -> SentFacts:
    known: dict[str, Any] = {
        "run_id": "0" * 15,
        "started_at": "2026-11-22T06:00:00.000Z",
        "dropped": 0,
        "exit_code": 0,
        "generator_faults": (),
        "samples_late": 0,
        "withheld": QUIET,
    }
    return SentFacts(**known | changed)


def step(rows: int | None = None, **changed: Any) -> StepFacts:
    """A bisection step on a quiet host; rows: that the store counted after the drain."""
    known: dict[str, Any] = {
        "number": 1,
        "kind": "bisection",
        "rate_per_s": RATE,
        "seconds": SECONDS,
        "for_burst": False,
        "sent": sent(),
        "before": CANARY,
        "after": CANARY,
    }
    if rows is not None:
        drained = StepDrain(busy_seconds=0.5, capped=False)
        known |= {"drain": drained, "reads": (Reading(store_rows=rows, left_in_queue=0),)}
    return StepFacts(**known | changed)


def strict(step: LoadStep, *_: object, broken: tuple[str, ...], **__: object) -> LoadStep:
    """In the place of judge(): whatever is broken fails; nothing else does, however small and slow this machine."""
    failed = bool(broken) or step.audit not in {None, "PASS"}
    return replace(step, verdict="fail" if failed else "pass", burst=failed, reasons=broken)


def run(*steps: StepFacts, **changed: Any) -> CapacityFacts:
    known: dict[str, Any] = {
        "runtime": "docker",
        "operation": WRITE,
        "queue_path": False,
        "slo_ms": 100.0,
        "step_seconds": SECONDS,
        "lowest_per_s": 20.0,
        "highest_per_s": 6000.0,
    }
    return CapacityFacts(steps=steps, **known | changed)


def sampled(component: str, metric: str, by_second: Mapping[float, float]) -> Iterator[Sample]:
    """Values by the second since the load's start."""
    for at_s, value in by_second.items():
        at_us = ORIGIN_US + round(at_s * 1_000_000)
        yield raw.Sample(at_us=at_us, component=component, metric=metric, value=value)


def by_second(component: str, metric: str, per_s: float, seconds: int = int(SECONDS)) -> Iterator[Sample]:
    """A counter that grows evenly."""
    return sampled(component, metric, {float(second): per_s * second for second in range(seconds + 1)})
