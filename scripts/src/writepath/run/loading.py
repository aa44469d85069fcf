"""How is a started stack loaded, for whatever is measured? The steps that runs and searches have in common."""

from __future__ import annotations

import contextlib
import json
import shutil
from typing import TYPE_CHECKING

from writepath.errors import LoadError
from writepath.load import k6, ledger, recorded
from writepath.load.plan import constant_plan, new_run_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from writepath.load.dataset import Dataset
    from writepath.load.plan import ArrivalPlan
    from writepath.registry import Scenario, Variant
    from writepath.run.runner import Bench
    from writepath.runtime.base import Stack

LEDGER_FILE = "ledger.csv.gz"
SAMPLES_FILE = "samples.csv.gz"
PLAN_FILE = "plan.json"
SETTINGS_FILE = "settings.json"


@contextlib.contextmanager
def started(
    bench: Bench,
    variant: Variant,
    overrides: Mapping[str, str],
    step: Callable[[str], AbstractContextManager[None]],
) -> Iterator[Stack]:
    """A stack; its start and its stop are steps of their own in the breakdown."""
    with contextlib.ExitStack() as running:
        with step("start"):
            stack = running.enter_context(
                bench.runtime.start(variant, overrides=overrides, say=bench.progress.say)
            )
        try:
            yield stack
        finally:
            with step("stop"):
                running.close()


def warm_up(scenario: Scenario, bench: Bench, stack: Stack, folder: Path) -> None:
    """As many requests as the scenario says; nothing stays of them. folder: where a failure leaves its traces."""
    if scenario.warm_up is None:
        return
    plan = constant_plan("warm-up", scenario.warm_up.requests, scenario.warm_up.rate_per_s)
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
    scenario: Scenario, bench: Bench, stack: Stack, plan: ArrivalPlan, run_id: str, folder: Path
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


def require_loaded(result: k6.LoadResult) -> None:
    """LoadError where there is nothing to evaluate."""
    if result.started == 0 or not result.ledger.is_file():
        raise LoadError(f"k6 sent nothing: {result.meaning}; see k6.log in the folder of the run")


def keep_ledger(
    result: k6.LoadResult, folder: Path, success: int = ledger.ACKNOWLEDGED_STATUS
) -> ledger.Ledger:
    """Reads k6's records, writes them as a compressed table, removes k6's file."""
    records = ledger.read(result.ledger, success)
    if result.started is not None:
        records = ledger.concluded(records, result.started)
    ledger.write(records, folder / LEDGER_FILE)
    result.ledger.unlink()
    return records


def rescue_ledger(folder: Path) -> None:
    """Of a load that was stopped or failed: as far as it goes, and never a second failure."""
    raw = folder / recorded.FILE
    with contextlib.suppress(Exception):
        if raw.is_file():
            ledger.write(ledger.read(raw), folder / LEDGER_FILE)
            raw.unlink()


def dropped(result: k6.LoadResult, plan: ArrivalPlan, taken: ledger.Ledger) -> int:
    """By k6's own count; where it could give none, whatever has no line."""
    return plan.planned - len(taken.records) if result.dropped is None else result.dropped


def generator_faults(result: k6.LoadResult, taken: ledger.Ledger) -> Iterator[str]:
    """In words, where k6 did not carry out its plan or its ledger is torn."""
    if not result.complete:
        yield f"did not send the whole schedule: {result.meaning}"
    if taken.malformed or taken.repeated or taken.truncated:
        yield f"its ledger is incomplete: {'; '.join(taken.problems) or 'the end is cut off'}"


def plan_facts(plan: ArrivalPlan, seed: int, dataset: Dataset) -> dict[str, object]:
    """What plan.json says: enough to compute each planned moment and each content again."""
    return {
        "phases": [vars(phase) for phase in plan.phases],
        "planned": plan.planned,
        "virtual_users": plan.virtual_users,
        "seed": seed,
        "dataset": {"name": dataset.name, "sha256": dataset.sha256, "lines": len(dataset.lines)},
    }


def write_json(path: Path, data: object) -> None:
    """For people and for whoever evaluates the folder again."""
    path.write_text(json.dumps(data, ensure_ascii=False, indent=2, default=dict) + "\n", encoding="utf-8")
