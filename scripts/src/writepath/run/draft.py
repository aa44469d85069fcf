"""What is known of a run under way? Collected step by step, so that run.json can be written at any moment."""

from __future__ import annotations

import contextlib
import dataclasses
import time
import traceback
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from writepath import result
from writepath.load.plan import new_run_id
from writepath.result import Drain, Generator, Step, Verdict
from writepath.run import loading, sampler
from writepath.run.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from writepath.load import k6
    from writepath.load.dataset import Dataset
    from writepath.progress import Progress
    from writepath.registry import Scenario, Variant
    from writepath.run.audit import Stored
    from writepath.run.drain import Drained
    from writepath.run.drive import Driven
    from writepath.run.figures import Figures, VisibleFigures
    from writepath.run.verdict import Evidence
    from writepath.run.visible import Seen
    from writepath.run.withheld import Withheld

UNEXPECTED_EXIT_CODE = 10
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """One cell of a suite, before it runs."""

    suite: str
    variant: Variant
    scenario: Scenario
    repetition: int
    position: int
    seed: int
    overrides: Mapping[str, str]
    dataset: Dataset
    code: result.Code
    folder: Path
    again: bool = False  # the baseline's second run in its block


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Everything that follows from ledger, store and samples."""

    figures: Figures
    stored: Stored
    audit: result.Audit
    drain: Drain
    generator: Generator
    resources: dict[str, result.Resource]
    evidence: Evidence
    time_to_durable_ms: result.Latency
    durable_per_s: float | None
    visible: VisibleFigures
    order: result.Order | None


@dataclass(kw_only=True)
class Draft:
    """A run under way."""

    spec: RunSpec
    runtime: str
    host: result.Host
    progress: Progress
    run_id: str = field(default_factory=new_run_id)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    outcome: result.Outcome = "aborted"  # until proved otherwise: a killed runner leaves the truth
    error: str | None = None
    exit_code: int = 0
    before: result.Canary | None = None
    after: result.Canary | None = None
    durability: result.Durability | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    driven: Driven | None = None
    withheld: Withheld | None = None
    samples: list[sampler.Sample] = field(default_factory=list)
    load: k6.Load | None = None
    seen: Seen | None = None
    evaluation: Evaluation | None = None
    steps: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Shows the step and adds its wall time."""
        self.progress.phase(name)
        began = time.monotonic()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + time.monotonic() - began

    def loading(self, load: k6.Load) -> None:
        """From here on there is a ledger worth keeping."""
        self.load = load

    def take(self, evaluation: Evaluation) -> None:
        """The figures are there, and the first half of the audit."""
        self.evaluation = evaluation

    def conclude(self, found: result.Audit) -> None:
        """The audit is whole; what comes after (logs, stop) cannot take it away."""
        known = required(self.evaluation)
        evidence = dataclasses.replace(known.evidence, audit=found)
        self.evaluation = dataclasses.replace(known, audit=found, evidence=evidence)
        self.outcome = "finished"

    def finish(self) -> None:
        """Everything stopped in order."""
        self.exit_code = {"valid": 0, "unknown": 3, "invalid": 1}[self.verdict().status]

    def abort(self) -> None:
        """Stopped by the user: keep the ledger as far as it goes."""
        if self.outcome != "finished":
            self.outcome, self.exit_code = "aborted", 130
            loading.rescue_ledger(self.spec.folder)

    def fail(self, error: str, exit_code: int) -> None:
        """The run could not be made, or not be stopped in order."""
        self.outcome, self.error, self.exit_code = "failed", error, exit_code
        loading.rescue_ledger(self.spec.folder)

    def fail_unexpectedly(self, error: Exception) -> None:
        """A fault of Writepath itself; the trace goes beside run.json."""
        (self.spec.folder / "error.log").write_text(
            "".join(traceback.format_exception(error)), encoding="utf-8"
        )
        self.fail(
            f"unexpected {type(error).__name__}: {error}; the trace is in error.log", UNEXPECTED_EXIT_CODE
        )

    def save(self) -> result.Run:
        """Writes run.json; what it says."""
        run = self.run()
        result.save_run(run, self.spec.folder)
        return run

    def verdict(self) -> Verdict:
        """Of the figures; a run without them is unknown where the user stopped it, else invalid."""
        if self.outcome == "aborted":
            return Verdict(status="unknown", reasons=("stopped before its end; not counted",))
        if self.outcome == "failed":
            return Verdict(status="invalid", reasons=(f"failed: {self.error}",))
        # Judged when asked for: the host's second canary comes after the evaluation.
        return judge(dataclasses.replace(required(self.evaluation).evidence, after=self.after))

    def run(self) -> result.Run:
        """As far as it is known now."""
        spec, driven = self.spec, self.driven
        return result.Run(
            schema_version=result.SCHEMA_VERSION,
            run_id=self.run_id,
            suite=spec.suite,
            variant=spec.variant.name,
            title=spec.variant.title,
            family=spec.variant.family,
            acknowledges=spec.variant.acknowledges,
            scenario=spec.scenario.name,
            repetition=spec.repetition,
            position=spec.position,
            runtime=self.runtime,
            seed=spec.seed,
            overrides=dict(spec.overrides),
            dataset=dataset_facts(spec.dataset),
            code=spec.code,
            started_at=moment(self.started_at.timestamp()),
            finished_at=moment(time.time()),
            outcome=self.outcome,
            error=self.error,
            verdict=self.verdict(),
            again=spec.again,
            durability=self.durability,
            load_started_at=moment(driven.began_at) if driven else None,
            load_finished_at=moment(driven.ended_at) if driven else None,
            host=self._host(),
            versions=dict(self.versions),
            timings=tuple(Step(step=name, seconds=round(took, 3)) for name, took in self.steps.items()),
            **self._figures(),
        )

    def _host(self) -> result.Host:
        share = self.evaluation.evidence.foreign_cpu_share if self.evaluation else None
        throttled = self.withheld.throttled_share if self.withheld else None
        return dataclasses.replace(
            self.host,
            before=self.before,
            after=self.after,
            foreign_cpu_share=None if share is None else round(share, 4),
            throttled_share=None if throttled is None else round(throttled, 4),
            swapped_pages=self.withheld.swapped_pages if self.withheld else None,
        )

    def _figures(self) -> dict[str, Any]:
        known = self.evaluation
        if known is None:
            return {}
        figures = known.figures
        return {
            "requests": figures.requests,
            "accept_latency_ms": figures.accept_latency_ms,
            "planned_latency_ms": figures.planned_latency_ms,
            "time_to_durable_ms": known.time_to_durable_ms,
            **vars(known.visible),
            "order": known.order,
            "throughput": figures.throughput,
            "durable_per_s": known.durable_per_s,
            "phases": figures.phases,
            "audit": known.audit,
            "drain": known.drain,
            "resources": known.resources,
            "generator": known.generator,
        }


def dataset_facts(dataset: Dataset) -> result.DatasetFacts:
    """What run.json says of a dataset."""
    return result.DatasetFacts(name=dataset.name, sha256=dataset.sha256, lines=len(dataset.lines))


def drain_result(drained: Drained, stored: Stored, load_ended_ms: float) -> Drain:
    """Seconds count to the last durable row; where no moment is known, to the last change that polling saw."""
    known = stored.durable_at_ms[~np.isnan(stored.durable_at_ms)]
    seconds = max(0.0, (float(known.max()) - load_ended_ms) / 1000) if len(known) else drained.busy_seconds
    pending = drained.pending
    return Drain(
        seconds=round(seconds, 3),
        settle_seconds=round(drained.waited_seconds, 3),
        capped=drained.capped,
        queue_ready_left=pending.ready,
        queue_unacknowledged_left=pending.unacknowledged,
        dead_letters=pending.dead,
    )


def generator_result(driven: Driven, figures: Figures) -> Generator:
    """Whether k6 kept its plan."""
    mean, peak = sampler.cpu_shares(driven.samples, sampler.K6)
    return Generator(
        cpu_share_mean=round(mean, 4),
        cpu_share_peak=round(peak, 4),
        lateness_ms_p99=None if figures.lateness_ms_p99 is None else round(figures.lateness_ms_p99, 3),
        lateness_ms_max=None if figures.lateness_ms_max is None else round(figures.lateness_ms_max, 3),
        exit_code=driven.result.exit_code,
        samples=sum(1 for s in driven.samples if s.component == sampler.K6 and s.metric == "cpu_seconds"),
        samples_late=driven.late,
    )


def moment(epoch_s: float) -> str:
    """ISO-8601 UTC with milliseconds."""
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def required(value: T | None) -> T:
    """The value, which the order of steps guarantees."""
    if value is None:
        raise AssertionError("asked for before its step")
    return value
