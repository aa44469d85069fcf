"""How does one run go? Start, prove empty, verify a write, warm up, empty, load, drain, audit, save, stop."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.errors import AuditError, LoadError, WritepathError
from writepath.load import k6, ledger
from writepath.load.plan import arrival_plan, constant_plan, encode_id, new_run_id
from writepath.run import audit, draft, drive, sampler
from writepath.run import drain as draining
from writepath.run import figures as measured
from writepath.run import stored as stored_rows
from writepath.run.draft import Draft, Evaluation, RunSpec
from writepath.run.truth import Truth
from writepath.run.verdict import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from writepath.load.plan import ArrivalPlan
    from writepath.progress import Progress
    from writepath.result import Audit, Host, Run
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
            with _stack(state, bench) as stack, Truth.of(stack, spec.variant) as truth:
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


@contextlib.contextmanager
def _stack(state: Draft, bench: Bench) -> Iterator[Stack]:
    """Start and stop are steps of their own in the breakdown."""
    with contextlib.ExitStack() as started:
        with state.step("start"):
            stack = started.enter_context(
                bench.runtime.start(
                    state.spec.variant, overrides=state.spec.overrides, say=bench.progress.say
                )
            )
        try:
            yield stack
        finally:
            with state.step("stop"):
                started.close()


def _measure(state: Draft, bench: Bench, stack: Stack, truth: Truth, writer: ThreadPoolExecutor) -> None:
    spec = state.spec
    with state.step("empty"):
        truth.empty()  # of the write that proved the stack ready
    with state.step("verify"):
        truth.verify_one_write(new_run_id(), spec.dataset.lines[0])
        state.durability = truth.durability()
        state.versions = {**bench.runtime.versions(spec.variant), **truth.versions()}
        _write_json(spec.folder / "settings.json", stack.effective_settings())
    if spec.scenario.warm_up is not None:
        with state.step("warm-up"):
            _warm_up(spec, bench, stack)
    with state.step("empty"):
        truth.empty()
    with state.step("load"):
        plan = arrival_plan(spec.scenario.phases)
        _write_json(spec.folder / "plan.json", _plan_facts(spec, plan))
        load = _load(spec, bench, stack, plan, state.run_id, spec.folder)
        state.loading(load)
        prefix, show = bench.runtime.load_generator(), bench.progress.load
        state.driven = driven = drive.drive(load, prefix, stack, truth, show, state.samples)
        _require_loaded(driven.result)
    records = writer.submit(_keep_ledger, driven.result, spec.folder)
    with state.step("drain"):
        drained = draining.drain(truth, report=bench.progress.drain)
    with state.step("audit"):
        evaluation = _evaluate(state, stack, truth, drained, plan, records)
        state.take(evaluation)
        state.save()
    writer.submit(stored_rows.save, evaluation.stored, spec.folder / "stored.csv.gz")


def _warm_up(spec: RunSpec, bench: Bench, stack: Stack) -> None:
    warm_up = spec.scenario.warm_up
    if warm_up is None:
        return
    plan = constant_plan("warm-up", warm_up.requests, warm_up.rate_per_s)
    folder = spec.folder / "warm-up"
    folder.mkdir(exist_ok=True)
    result = k6.run(_load(spec, bench, stack, plan, new_run_id(), folder), bench.runtime.load_generator())
    acknowledged = ledger.read(result.ledger).by_status().get("201", 0)
    if acknowledged == 0:
        raise LoadError(
            f"no request of the warm-up was acknowledged; k6: {result.meaning}; see warm-up/k6.log"
        )
    shutil.rmtree(folder)  # excluded from every figure, so it must not lie beside them


def _load(spec: RunSpec, bench: Bench, stack: Stack, plan: ArrivalPlan, run_id: str, folder: Path) -> k6.Load:
    return k6.Load(
        script=bench.root / spec.scenario.script,
        target=stack.base_url,
        run_id=run_id,
        plan=plan,
        content=bench.content,
        folder=folder,
        pid_folder=bench.pids,
    )


def _require_loaded(result: k6.LoadResult) -> None:
    if result.started == 0 or not result.ledger.is_file():
        raise LoadError(f"k6 sent nothing: {result.meaning}; see k6.log in the run's folder")


def _keep_ledger(result: k6.LoadResult, folder: Path) -> ledger.Ledger:
    """Runs while the store drains: reads k6's plain file, writes the compressed one, removes the plain one."""
    records = ledger.read(result.ledger)
    if result.started is not None:
        records = ledger.concluded(records, result.started)
    ledger.write(records, folder / "ledger.csv.gz")
    result.ledger.unlink()
    return records


def _evaluate(
    state: Draft,
    stack: Stack,
    truth: Truth,
    drained: Drained,
    plan: ArrivalPlan,
    records: Future[ledger.Ledger],
) -> Evaluation:
    began = time.monotonic()
    taken, driven = records.result(), draft.required(state.driven)
    dropped = (
        driven.result.dropped if driven.result.dropped is not None else plan.planned - len(taken.records)
    )
    figures = measured.figures(plan, taken, dropped)
    stored, found = _read_back(state, truth, plan, taken, dropped)
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
        generator_faults=tuple(_generator_faults(driven.result, taken)),
        before=state.before,
        foreign_cpu_share=sampler.foreign_share(driven.samples),
    )
    return Evaluation(
        figures=figures,
        stored=stored,
        audit=draft.timed(found, time.monotonic() - began),
        drain=drain,
        generator=generator,
        resources=sampler.resources(driven.samples),
        evidence=evidence,
        time_to_durable_ms=measured.time_to_durable(taken, stored, plan.planned),
        durable_per_s=measured.durable_per_s(stored, figures.started_ms),
    )


def _generator_faults(result: k6.LoadResult, taken: ledger.Ledger) -> Iterator[str]:
    if not result.complete:
        yield f"did not carry out the whole plan: {result.meaning}"
    if taken.malformed or taken.repeated or taken.truncated:
        yield f"its ledger is not whole: {'; '.join(taken.problems) or 'the last line is torn'}"


def _read_back(
    state: Draft, truth: Truth, plan: ArrivalPlan, taken: ledger.Ledger, dropped: int
) -> tuple[Stored, Audit]:
    """An audit that could not be read is a result too: unknown, never a pass."""
    lines = stored_rows.content_hashes(state.spec.dataset.lines)
    try:
        stored = truth.read(state.run_id, lines)
        pending, gauges = truth.pending(), truth.store.gauges()
        counts = audit.Counts(
            planned=plan.planned,
            dropped=dropped,
            store_rows=truth.store.count(),
            left_in_queue=pending.waiting + pending.dead,
            suppressed_duplicates=int(gauges["suppressed_duplicates"])
            if "suppressed_duplicates" in gauges
            else None,
        )
    except AuditError as error:
        state.progress.say(f"    {error}")
        return stored_rows.nothing(), audit.not_read()
    attempts = audit.Attempts.of(taken)
    return stored, audit.compare(attempts, stored, counts, lambda seq: encode_id(state.run_id, seq))


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _keep_what_there_is(state: Draft, stack: Stack) -> None:
    """Logs and samples, before the stack goes; on the way out of a failure too."""
    with state.step("save"):
        with contextlib.suppress(OSError, WritepathError):
            stack.save_logs(state.spec.folder / "logs")
        if state.samples:
            sampler.save(state.samples, state.spec.folder / "samples.csv.gz")


def _plan_facts(spec: RunSpec, plan: ArrivalPlan) -> object:
    return {
        "phases": [vars(phase) for phase in plan.phases],
        "planned": plan.planned,
        "virtual_users": plan.virtual_users,
        "seed": spec.seed,
        "dataset": {
            "name": spec.dataset.name,
            "sha256": spec.dataset.sha256,
            "lines": len(spec.dataset.lines),
        },
    }


def _write_json(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=2, default=dict) + "\n", encoding="utf-8")
