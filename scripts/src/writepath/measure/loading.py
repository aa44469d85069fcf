"""Starts a stack, proves it, warms it and loads it: the steps that all kinds of experiments have in common."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
from typing import TYPE_CHECKING, Any

from writepath.analysis import raw
from writepath.errors import LoadError, StartError
from writepath.load import k6, ledger, recorded
from writepath.load.plan import constant_plan, new_run_id
from writepath.measure import drive, withheld
from writepath.records.load_facts import LoadFacts, OperationFacts, PhaseFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from writepath.analysis.noise import Withheld
    from writepath.config.registry import Scenario, Variant
    from writepath.load.dataset import Dataset
    from writepath.load.ledger import Operation
    from writepath.load.plan import LoadPlan
    from writepath.measure.bench import Bench
    from writepath.measure.drive import Driven
    from writepath.measure.truth import Truth
    from writepath.records.measures import Durability
    from writepath.runtime.base import Runtime, Stack

PLAN_FILE = "plan.json"
SETTINGS_FILE = "settings.json"


@contextlib.contextmanager
def started(
    bench: Bench,
    variant: Variant,
    overrides: Mapping[str, str],
    step: Callable[[str], AbstractContextManager[None]],
    **choices: Any,
) -> Iterator[Stack]:
    """A stack; its start and its stop are steps of their own in the breakdown. choices: further ones of the runtime."""
    with contextlib.ExitStack() as running:
        with step("start"):
            stack = running.enter_context(
                bench.runtime.start(variant, overrides=overrides, say=bench.progress.say, **choices)
            )
        try:
            yield stack
        finally:
            with step("stop"):
                running.close()


def verified(
    runtime: Runtime, variant: Variant, stack: Stack, truth: Truth, dataset: Dataset, folder: Path
) -> tuple[Durability, Mapping[str, str]]:
    """What a 201 guarantees, and the versions of all components.

    Empties the stack, has it write, reads that back; leaves settings.json in the folder. The write stays.
    """
    truth.empty()  # of the write that proved the stack ready, or of an earlier load
    truth.verify_one_write(new_run_id(), dataset.lines[0])
    durability = truth.durability()
    versions = {**runtime.versions(variant), **truth.versions()}
    write_json(folder / SETTINGS_FILE, stack.effective_settings())
    return durability, versions


def require_declared(durability: Durability, variant: Variant) -> None:
    """StartError where a 201 guarantees less than the variant declares."""
    if durability.level > variant.level:
        raise StartError(
            f"a 201 guarantees less than declared: level {durability.level}, not {variant.level};"
            " the figures would be those of a different path"
        )


def warm_up(
    scenario: Scenario, bench: Bench, stack: Stack, folder: Path, *, at_most_s: float = math.inf
) -> None:
    """As many requests as the scenario says; nothing stays of them. folder: where a failure leaves its traces."""
    if scenario.warm_up is None:
        return
    rate = scenario.warm_up.rate_per_s
    plan = constant_plan("warm-up", max(1, int(min(scenario.warm_up.requests, at_most_s * rate))), rate)
    place = folder / "warm-up"
    place.mkdir(exist_ok=True)
    load = load_of(scenario, bench, stack, plan, new_run_id(), place)
    result = k6.run(load, bench.runtime.load_generator())
    acknowledged = ledger.read(result.ledger).by_status().get("201", 0)
    if acknowledged == 0:
        raise LoadError(
            f"no request of the warm-up was acknowledged; k6: {result.meaning}; see warm-up/k6.log"
        )
    shutil.rmtree(place)  # excluded from every figure, so it must not lie beside them


def load_of(
    scenario: Scenario, bench: Bench, stack: Stack, plan: LoadPlan, run_id: str, folder: Path
) -> k6.Load:
    """The plan, sent to the stack."""
    return k6.Load(
        script=bench.root / scenario.script,
        target=stack.base_url,
        run_id=run_id,
        plan=plan,
        content=bench.content,
        folder=folder,
        pid_folder=bench.pids,
    )


def carry_out(load: k6.Load, bench: Bench, stack: Stack, truth: Truth) -> tuple[Driven, Withheld]:
    """The load to its end, and what the machine withheld from it; leaves samples in its folder, stopped or not.

    LoadError where nothing was sent. A load that is stopped or fails keeps its ledger as far as it goes.
    """
    samples: list[raw.Sample] = []
    before = withheld.read()
    try:
        prefix = bench.runtime.load_generator()
        driven = drive.drive(load, prefix, stack, truth, bench.progress.load, samples)
        after = withheld.read()
        require_loaded(driven.result)
    except BaseException:
        rescue_ledger(load.folder)
        raise
    finally:
        if samples:
            raw.save_samples(samples, load.folder / raw.SAMPLES_FILE)
    return driven, withheld.between(before, after)


def require_loaded(result: k6.LoadResult) -> None:
    """LoadError where there is nothing to evaluate."""
    if result.started == 0 or not result.ledger.is_file():
        raise LoadError(f"k6 sent nothing: {result.meaning}; see k6.log in the folder of the run")


def keep_ledger(result: k6.LoadResult, folder: Path, operation: Operation = ledger.WRITE) -> ledger.Ledger:
    """Reads k6's records and replaces its file by a table. operation: of requests that left no record."""
    records = read_ledger(result, operation)
    save_ledger(records, result, folder)
    return records


def read_ledger(result: k6.LoadResult, operation: Operation = ledger.WRITE) -> ledger.Ledger:
    """k6's records, and one for each request that it started and did not record."""
    records = ledger.read(result.ledger)
    return records if result.started is None else ledger.concluded(records, result.started, operation)


def save_ledger(records: ledger.Ledger, result: k6.LoadResult, folder: Path) -> None:
    """Writes the table and removes k6's file."""
    ledger.write(records, folder / ledger.FILE)
    result.ledger.unlink()


def rescue_ledger(folder: Path) -> None:
    """Of a load that was stopped or failed: as far as it goes, and never a second failure."""
    recording = folder / recorded.FILE
    with contextlib.suppress(Exception):
        if recording.is_file():
            ledger.write(ledger.read(recording), folder / ledger.FILE)
            recording.unlink()


def dropped(result: k6.LoadResult, plan: LoadPlan, taken: ledger.Ledger) -> int:
    """By k6's own count; where it could give none, whatever of the plan has no record."""
    if result.dropped is not None or plan.planned is None:
        return result.dropped or 0
    return plan.planned - len(taken.records)


def generator_faults(result: k6.LoadResult, taken: ledger.Ledger) -> Iterator[str]:
    """In words, where k6 did not carry out its plan or its ledger is torn."""
    if not result.complete:
        yield f"did not send the whole schedule: {result.meaning}"
    if taken.malformed or taken.repeated or taken.truncated:
        yield f"its ledger is incomplete: {'; '.join(taken.problems) or 'the end is cut off'}"


def plan_facts(plan: LoadPlan, seed: int, dataset: Dataset) -> dict[str, object]:
    """What plan.json says: enough to compute each scheduled send time and each content again."""
    return {
        "model": "closed" if plan.planned is None else "open",
        "seconds": plan.seconds,
        "phases": [vars(phase) for phase in plan.phases],
        "planned": plan.planned,
        "virtual_users": plan.virtual_users,
        "seed": seed,
        "dataset": {"name": dataset.name, "sha256": dataset.sha256, "lines": len(dataset.lines)},
    }


def facts(load: k6.Load, result: k6.LoadResult, truth: Truth, **own: Any) -> LoadFacts:
    """What is known when a load of writes has ended. own: what the load alone does not say."""
    plan = load.plan
    return LoadFacts(
        run_id=load.run_id,
        model="closed" if plan.planned is None else "open",
        phases=tuple(PhaseFacts(**vars(phase)) for phase in plan.phases),
        virtual_users=plan.virtual_users,
        seconds=plan.seconds,
        operations=(OperationFacts(name=ledger.WRITE.name, served=ledger.WRITE.served),),
        queue_path=truth.store is not truth.ingress,
        dropped=result.dropped,
        exit_code=result.exit_code,
        **own,
    )


def write_json(path: Path, data: object) -> None:
    """For people and for whoever evaluates the folder again."""
    path.write_text(json.dumps(data, ensure_ascii=False, indent=2, default=dict) + "\n", encoding="utf-8")
