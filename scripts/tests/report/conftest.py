"""Synthetic suite runs with known answers, written through the same modules that write real ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from report import planted_documents, planted_queries
from report.planted_capacity import Planted
from report.planted_paths import PATHS
from writepath import result
from writepath.load import ledger, plan
from writepath.registry import Phase
from writepath.report import publish
from writepath.run import audit, sampler, stored, visible

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

STAMP = "20260102T030405Z"
STARTED = "2026-01-02T03:04:05.000Z"
EPOCH_MS = 1_767_323_045_000.0
PHASES = (
    Phase(name="ramp-up", seconds=10, from_per_s=20, to_per_s=20),
    Phase(name="sustained", seconds=10, from_per_s=100, to_per_s=100),
)
PLANNED = 1200
RUN_ID = "0123456789abcde"


def latencies() -> np.ndarray:
    """1,200 latencies, 0.1 to 120.0 ms, in an order that mixes them: the one of rank r is r / 10."""
    return ((np.arange(PLANNED) * 7) % PLANNED + 1) / 10.0


@dataclass(kw_only=True)
class RunSpec:
    """One run. status 0 is no answer; delay_ms is from sending until durable (NaN: no moment known)."""

    variant: str = "jpa"
    repetition: int = 1
    latency_ms: np.ndarray = field(default_factory=latencies)
    status: np.ndarray = field(default_factory=lambda: np.full(PLANNED, 201))
    error_code: np.ndarray = field(default_factory=lambda: np.zeros(PLANNED, dtype=int))
    delay_ms: np.ndarray | None = None
    dropped: int = 0  # the last so many of the plan
    absent: tuple[int, ...] = ()  # acknowledged, and not in the store
    verdict: result.Verdict = field(default_factory=lambda: result.Verdict(status="valid"))
    title: str | None = None
    failed: str | None = None
    queue_ready: tuple[float, ...] = ()
    visible_ms: np.ndarray | None = None  # from sending until a search finds it, of every request; NaN: never
    order: result.Order | None = None
    naive_twin_of: str | None = None
    control_of: str | None = None
    again: bool = False  # the baseline's second run in its block
    cpu_model: str = "Testor 3000"


@dataclass(kw_only=True)
class SuiteSpec:
    """A suite run below root/results."""

    root: Path
    suite: str = "default"
    runs: list[RunSpec] = field(default_factory=lambda: [RunSpec()])
    repetitions: int = 1
    status: result.SuiteStatus = "finished"
    title: str = "A suite"
    stamp: str = STAMP
    seed: int = 1
    commit: str = "0" * 40
    baseline: str | None = None

    def write(self) -> Path:
        """Writes the folder; its path."""
        folder = self.root / "results" / self.suite / self.stamp
        for position, spec in enumerate(self.runs, 1):
            self._run(spec, position, folder / self._name(spec))
        names = dict.fromkeys(spec.variant for spec in self.runs)
        result.save_suite(
            result.SuiteResult(
                schema_version=result.SCHEMA_VERSION,
                suite=self.suite,
                title=self.title,
                stamp=self.stamp,
                status=self.status,
                started_at=STARTED,
                finished_at=STARTED,
                seed=self.seed,
                repetitions=self.repetitions,
                runtime="native",
                scenario="flat",
                phases=tuple(result.SuitePhase(**vars(phase)) for phase in PHASES),
                warm_up_requests=100,
                warm_up_per_s=50,
                variants=tuple(self._variant(name) for name in names),
                overrides={},
                dataset=self._dataset(),
                code=result.Code(commit=self.commit, dirty=False),
                blocks=(self._block(names),) * self.repetitions,
                baseline=self.baseline,
                runs=tuple(self._entry(spec, position) for position, spec in enumerate(self.runs, 1)),
            ),
            folder,
        )
        return folder

    def _block(self, names: Iterable[str]) -> tuple[str, ...]:
        twice = dict.fromkeys(spec.variant for spec in self.runs if spec.again)
        return (*names, *(result.cell_name(name, again=True) for name in twice))

    def _name(self, spec: RunSpec) -> str:
        return f"{result.cell_name(spec.variant, again=spec.again)}/flat/rep-{spec.repetition:02}"

    def _variant(self, name: str) -> result.SuiteVariant:
        title = next((spec.title for spec in self.runs if spec.variant == name and spec.title), name.upper())
        twin = next((spec.naive_twin_of for spec in self.runs if spec.variant == name), None)
        return result.SuiteVariant(
            name=name,
            title=title,
            family=name,
            acknowledges="flushed",
            profiles=(name,),
            settings={},
            naive_twin_of=twin,
            control_of=next((spec.control_of for spec in self.runs if spec.variant == name), None),
        )

    def _dataset(self) -> result.DatasetFacts:
        return result.DatasetFacts(name="embedded", sha256="f" * 64, lines=1000)

    def _entry(self, spec: RunSpec, position: int) -> result.SuiteRun:
        return result.SuiteRun(
            variant=spec.variant,
            scenario="flat",
            repetition=spec.repetition,
            position=position,
            folder=self._name(spec),
            outcome="failed" if spec.failed else "finished",
            verdict=spec.verdict.status,
            reasons=spec.verdict.reasons,
            seconds=30,
            exit_code=0,
            again=spec.again,
        )

    def _run(self, spec: RunSpec, position: int, folder: Path) -> None:
        folder.mkdir(parents=True)
        run = result.Run(
            schema_version=result.SCHEMA_VERSION,
            run_id=RUN_ID,
            suite=self.suite,
            variant=spec.variant,
            title=spec.title or spec.variant.upper(),
            family=spec.variant,
            acknowledges="flushed",
            scenario="flat",
            repetition=spec.repetition,
            position=position,
            again=spec.again,
            runtime="native",
            seed=self.seed,
            overrides={},
            dataset=self._dataset(),
            code=result.Code(commit=self.commit, dirty=False),
            started_at=STARTED,
            finished_at=STARTED,
            outcome="failed" if spec.failed else "finished",
            error=spec.failed,
            verdict=spec.verdict,
        )
        if not spec.failed:
            run = self._measured(spec, run, folder)
        result.save_run(run, folder)

    def _measured(self, spec: RunSpec, run: result.Run, folder: Path) -> result.Run:
        records = records_of(spec)
        ledger.write(ledger.Ledger(records=records), folder / "ledger.csv.gz")
        rows = stored_of(spec, records)
        stored.save(rows, folder / "stored.csv.gz")
        if spec.visible_ms is not None:
            at_ms = records["start_ms"] + spec.visible_ms[: len(records)]
            seen = visible.Seen(seq=records["seq"], not_before_ms=at_ms - 50.0, visible_at_ms=at_ms)
            visible.save(seen, folder / "visible.csv.gz")
        samples = samples_of(spec)
        sampler.save(samples, folder / "samples.csv.gz")
        acknowledged = int((records["status"] == 201).sum())
        rejected = int(np.isin(records["status"], ledger.REJECTED_STATUSES).sum())
        return replace(
            run,
            durability=result.Durability(level="A", settings={"fsync": "on"}),
            requests=result.Requests(
                planned=PLANNED,
                started=len(records),
                dropped=spec.dropped,
                acknowledged=acknowledged,
                rejected=rejected,
                indeterminate=len(records) - acknowledged - rejected,
                by_status={},
                by_error={},
            ),
            audit=audit_of(spec, len(rows.seq)),
            drain=result.Drain(
                seconds=0.25, settle_seconds=5, capped=False, queue_ready_left=0,
                queue_unacknowledged_left=0, dead_letters=0,
            ),
            resources=sampler.resources(samples),
            host=result.Host(
                cpu_model=spec.cpu_model, cores=2, memory_bytes=8 << 30, kernel="6.1", filesystem="ext4"
            ),
            versions={"postgresql": "18.6"},
            order=spec.order,
        )  # fmt: skip


def records_of(spec: RunSpec) -> np.ndarray:
    """The ledger of a run: every request on time, the dropped ones missing at the end."""
    schedule = plan.arrival_plan(PHASES)
    assert schedule.planned == PLANNED
    started = PLANNED - spec.dropped
    records = np.zeros(started, dtype=ledger.RECORD)
    records["seq"] = np.arange(started)
    records["start_ms"] = np.round(EPOCH_MS + schedule.starts_ms[:started], 3)
    records["blocked_ms"] = 0.04
    records["duration_ms"] = np.round(spec.latency_ms[:started] - 0.04, 3)
    records["status"] = spec.status[:started]
    records["error_code"] = spec.error_code[:started]
    return records


def stored_of(spec: RunSpec, records: np.ndarray) -> audit.Stored:
    """The rows of the acknowledged, but for the absent ones, durable 10 us before their answer or as given."""
    delays = spec.latency_ms - 0.01 if spec.delay_ms is None else spec.delay_ms
    kept = (records["status"] == 201) & ~np.isin(records["seq"], spec.absent)
    return audit.Stored(
        seq=records["seq"][kept],
        content_ok=np.ones(int(kept.sum()), dtype=bool),
        durable_at_ms=(records["start_ms"] + delays[: len(records)])[kept],
    )


DISK_WRITTEN = 24 << 20  # bytes, to all disks
USED = {  # by component: CPU seconds, peak memory, bytes written
    "jpa-writer": (6.0, 512 << 20, 0),
    "postgres": (3.0, 256 << 20, 12 << 20),
    "k6": (1.5, 128 << 20, None),
}


def samples_of(spec: RunSpec) -> list[sampler.Sample]:
    """What the components used, and the queue's depth."""
    series: list[tuple[str, str, tuple[float, ...]]] = [
        ("rabbitmq-consumer", "queue_ready", spec.queue_ready),
        ("rabbitmq-consumer", "queue_unacknowledged", (1.0,) * len(spec.queue_ready)),
    ]
    for component, (cpu, memory, written) in USED.items():
        series.append((component, "cpu_seconds", (1.0, 1.5, 1.0 + cpu)))
        series.append((component, "rss_bytes", (memory / 2, memory, memory / 4)))
        if written is not None:
            series.append((component, "write_bytes", (7.0, 7.0, 7.0 + written)))
    series.append((sampler.HOST, "disk_write_bytes", (9.0, 9.0, 9.0 + DISK_WRITTEN)))
    return [
        sampler.Sample(at_ms=EPOCH_MS + 1000 * second, component=component, metric=metric, value=value)
        for component, metric, values in series
        for second, value in enumerate(values)
    ]


def audit_of(spec: RunSpec, rows: int) -> result.Audit:
    """As the audit would find it."""
    reading = result.Reading(store_rows=rows, left_in_queue=0)
    return replace(
        audit.not_read(),
        verdict="FAIL" if spec.absent else "PASS",
        unread=(),
        reads=(reading, reading),
        stored_rows=rows,
        stored_ids=rows,
        ok=rows,
        late=0,
        lost=len(spec.absent),
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """An empty checkout: its documents, and nothing published."""
    planted_documents.write(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def published_capacity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a raw run of a search for two paths' capacity, and what is published of it; not to be changed."""
    root = tmp_path_factory.mktemp("capacity")
    planted_documents.write(root)
    publish.publish(root, Planted(root=root, paths=PATHS[:2], blocks=1, scale=0.2, raw=True).write())
    return root


@pytest.fixture(scope="session")
def published_queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Likewise of a suite of searches: two variants, and the A/A twin."""
    root = tmp_path_factory.mktemp("queries")
    planted_documents.write(root)
    chosen = (planted_queries.VARIANTS[0], planted_queries.VARIANTS[2])
    planted = planted_queries.Planted(root=root, variants=chosen, blocks=1, scale=0.2, raw=True)
    publish.publish(root, planted.write())
    return root


@pytest.fixture
def suite(checkout: Path) -> SuiteSpec:
    """A suite of one valid run; tests change it and write it."""
    return SuiteSpec(root=checkout)


@pytest.fixture
def run_spec() -> type[RunSpec]:
    """Makes runs."""
    return RunSpec
