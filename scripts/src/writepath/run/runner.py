"""How does one run go? Start, prove empty, verify a write, warm up, empty, load, drain, audit, crash, audit, stop."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.errors import WritepathError
from writepath.load import ledger
from writepath.load.plan import arrival_plan, new_run_id
from writepath.run import draft, drive, loading, sampler, visible, withheld
from writepath.run import drain as draining
from writepath.run import figures as measured
from writepath.run import stored as stored_rows
from writepath.run.auditing import Auditing
from writepath.run.draft import Draft, Evaluation, RunSpec
from writepath.run.truth import Truth
from writepath.run.verdict import Evidence

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from writepath.load.plan import ArrivalPlan
    from writepath.progress import Progress
    from writepath.result import Host, Order, Run
    from writepath.run.audit import Stored
    from writepath.run.drain import Drained
    from writepath.run.host import CanaryCage
    from writepath.runtime.base import Runtime, Stack


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every run of a suite shares."""

    runtime: Runtime
    progress: Progress
    cage: CanaryCage
    host: Host
    content: Path  # the dataset as k6 reads it
    pids: Path  # where the next command finds a load generator that outlived its runner
    root: Path


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A run that came to its end, good or bad, and is saved."""

    run: Run
    folder: Path
    exit_code: int


def execute(spec: RunSpec, bench: Bench) -> Finished:
    """One run from start to stop; run.json is there whatever happens. Only KeyboardInterrupt comes out."""
    state = Draft(spec=spec, runtime=bench.runtime.name, host=bench.host, progress=bench.progress)
    spec.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="writer") as writer:
        try:
            with state.step("canary"):
                state.before = bench.cage.measure()
            with (
                loading.started(bench, spec.variant, spec.overrides, state.step) as stack,
                Truth.of(stack, spec.variant) as truth,
            ):
                try:
                    _measure(state, bench, stack, truth, writer)
                finally:
                    _keep_what_there_is(state, stack)
            with state.step("canary"):
                state.after = bench.cage.measure()
            state.finish()
        except KeyboardInterrupt:
            state.abort()
            raise
        except WritepathError as error:
            state.fail(str(error), error.exit_code)
        except Exception as error:  # noqa: BLE001 - one run must not end the suite; the trace is kept
            state.fail_unexpectedly(error)
        finally:
            writer.shutdown(wait=True)
            saved = state.save()
    return Finished(run=saved, folder=spec.folder, exit_code=state.exit_code)


def _measure(state: Draft, bench: Bench, stack: Stack, truth: Truth, writer: ThreadPoolExecutor) -> None:
    spec = state.spec
    with state.step("empty"):
        truth.empty()  # of the write that proved the stack ready
    with state.step("verify"):
        truth.verify_one_write(new_run_id(), spec.dataset.lines[0])
        state.durability = truth.durability()
        state.versions = {**bench.runtime.versions(spec.variant), **truth.versions()}
        loading.write_json(spec.folder / loading.SETTINGS_FILE, stack.effective_settings())
    if spec.scenario.warm_up is not None:
        with state.step("warm-up"):
            loading.warm_up(spec.scenario, bench, stack, spec.folder)
    with state.step("empty"):
        truth.empty()
    with state.step("load"):
        plan = arrival_plan(spec.scenario.phases)
        facts = loading.plan_facts(plan, spec.seed, spec.dataset)
        loading.write_json(spec.folder / loading.PLAN_FILE, facts)
        load = loading.load_of(spec.scenario, bench, stack, plan, state.run_id, spec.folder)
        state.loading(load)
        prefix, show = bench.runtime.load_generator(), bench.progress.load
        with visible.Prober.of(truth.store, plan, state.run_id, spec.seed) as prober:
            first = withheld.read()
            state.driven = driven = drive.drive(load, prefix, stack, truth, show, state.samples)
            state.withheld = withheld.between(first, withheld.read())
            loading.require_loaded(driven.result)
            records = writer.submit(loading.keep_ledger, driven.result, spec.folder)
            prober.settle(_acknowledged(records))
        state.seen = prober.seen()
    with state.step("drain"):
        drained = draining.drain(truth, report=bench.progress.drain)
    with state.step("audit"):
        taken = records.result()
        auditing = Auditing(run_id=state.run_id, dataset=spec.dataset, say=bench.progress.say)
        evaluation = _evaluate(state, stack, truth, drained, plan, taken, auditing)
        state.take(evaluation)
        state.save()
    if evaluation.audit.reads:
        writer.submit(stored_rows.save, evaluation.stored, spec.folder / stored_rows.FIRST_FILE)
    if state.seen is not None:
        writer.submit(visible.save, state.seen, spec.folder / "visible.csv.gz")
    with state.step("crash"):
        auditing.crash(stack, truth)
    with state.step("audit"):
        if (second := auditing.read_again(truth)) is not None:
            writer.submit(stored_rows.save, second, spec.folder / stored_rows.SECOND_FILE)
        state.conclude(auditing.audit())
        state.save()


def _evaluate(
    state: Draft,
    stack: Stack,
    truth: Truth,
    drained: Drained,
    plan: ArrivalPlan,
    taken: ledger.Ledger,
    auditing: Auditing,
) -> Evaluation:
    driven = draft.required(state.driven)
    dropped = loading.dropped(driven.result, plan, taken)
    figures = measured.figures(plan, taken, dropped)
    stored = auditing.read(truth, taken, planned=plan.planned, dropped=dropped)
    found = auditing.audit()
    drain = draft.drain_result(drained, stored, figures.answered_ms)
    generator = draft.generator_result(driven, figures)
    evidence = Evidence(
        requests=figures.requests,
        audit=found,
        drain=drain,
        generator=generator,
        durability=state.durability,
        declared_level=state.spec.variant.level,
        lost_components=tuple(stack.lost_components()),
        generator_faults=tuple(loading.generator_faults(driven.result, taken)),
        before=state.before,
        foreign_cpu_share=sampler.foreign_share(driven.samples),
        withheld=state.withheld,
    )
    return Evaluation(
        figures=figures,
        stored=stored,
        audit=found,
        drain=drain,
        generator=generator,
        resources=sampler.resources(driven.samples),
        evidence=evidence,
        time_to_durable_ms=measured.time_to_durable(taken, stored, plan.planned),
        durable_per_s=measured.durable_per_s(stored, figures.started_ms),
        visible=measured.time_to_visible(taken, state.seen),
        order=_order(state, truth, taken, stored),
    )


def _acknowledged(records: Future[ledger.Ledger]) -> NDArray[np.int64]:
    taken = records.result()
    acknowledged: NDArray[np.int64] = taken.records["seq"][taken.outcomes() == ledger.Outcome.ACKNOWLEDGED]
    return acknowledged


def _order(state: Draft, truth: Truth, taken: ledger.Ledger, stored: Stored) -> Order | None:
    """Only where another service than the ingress writes to the store does an order come about."""
    if truth.store is truth.ingress:
        return None
    again = sampler.counted(state.samples, truth.store.service, "redelivered", truth.store.gauges())
    return measured.order(taken, stored, again)


def _keep_what_there_is(state: Draft, stack: Stack) -> None:
    """Logs and samples, before the stack goes; on the way out of a failure too."""
    with state.step("save"):
        with contextlib.suppress(OSError, WritepathError):
            stack.save_logs(state.spec.folder / "logs")
        if state.samples:
            sampler.save(state.samples, state.spec.folder / loading.SAMPLES_FILE)
