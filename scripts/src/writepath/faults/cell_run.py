"""Runs one cell: one stack under steady load; fault, heal, recovery, as often as asked for; then the audit."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from writepath.analysis.stats import US_PER_MS, US_PER_S
from writepath.config.registry import Phase
from writepath.errors import WritepathError
from writepath.faults import choose, evaluate, overload
from writepath.faults.catalogue import STORES
from writepath.faults.deadman import Deadman
from writepath.faults.scene import FaultError, Scene, StoppedError
from writepath.faults.schedule import schedule
from writepath.faults.toxiproxy import API_PORT, SERVICE, Toxiproxy
from writepath.faults.trials import Struck
from writepath.faults.watch import ANSWER_S, TICK_S, Watch
from writepath.load import k6, ledger
from writepath.load.plan import arrival_plan, new_run_id
from writepath.measure import loading
from writepath.measure.facts import moment
from writepath.measure.truth import Truth
from writepath.records.faults import FAULTS_SCHEMA_VERSION, Cell, CellOutcome, save_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from writepath.config.registry import Variant
    from writepath.faults.catalogue import Fault
    from writepath.faults.schedule import Moment
    from writepath.load.dataset import Dataset
    from writepath.records import Code
    from writepath.runtime.base import Runtime, Stack

SCRIPT = "k6/scenarios/ramp.js"
FIRST_GOOD_S = 120.0  # from the load's start, cold, perhaps while others start
RECOVERY_BOUND_S = 90.0  # three times the goal
TRIAL_BOUND_S = RECOVERY_BOUND_S + 60.0
SMALL_DISK_BYTES = {"postgres": 192 << 20, "rabbitmq": 256 << 20, "elasticsearch": 128 << 20}
THROUGH_TOXIPROXY = {
    "POSTGRES_ADDRESS": f"{SERVICE}:5432",
    "RABBITMQ_ADDRESS": f"{SERVICE}:5672",
    "ELASTICSEARCH_ADDRESS": f"{SERVICE}:9200",
}


@dataclass(frozen=True, kw_only=True)
class CellSpec:
    """What is asked of one cell."""

    variant: Variant
    fault: Fault
    trials: int
    seed: int
    rate_per_s: float
    overrides: Mapping[str, str]
    dataset: Dataset
    code: Code
    folder: Path


@dataclass(frozen=True, kw_only=True)
class Lane:
    """What the cells of one lane share."""

    runtime: Runtime
    say: Callable[[str], None]
    content: Path  # the dataset as k6 reads it
    pids: Path
    root: Path
    broker_password: str
    side_by_side: int = 1  # cells at a time
    stopped: threading.Event = field(default_factory=threading.Event)


def run(spec: CellSpec, lane: Lane) -> Cell:
    """One cell from start to stop; cell.json is there whatever happens. Only StoppedError comes out."""
    spec.folder.mkdir(parents=True, exist_ok=True)
    began, run_id = datetime.now(UTC), new_run_id()
    found = evaluate.Found()
    outcome: CellOutcome = "aborted"
    error: str | None = None
    try:
        with _started(spec, lane) as scene, Truth.of(scene.stack, spec.variant) as truth:
            try:
                _measure(spec, lane, scene, truth, run_id, found)
            finally:
                with contextlib.suppress(OSError, WritepathError):
                    scene.stack.save_logs(spec.folder / "logs")
        outcome = "finished"
    except StoppedError:
        error = "stopped before it finished"
        raise
    except WritepathError as failure:
        outcome, error = "failed", str(failure)
    finally:
        cell = _cell(spec, lane, run_id, began, found, outcome, error)
        save_cell(cell, spec.folder)
    return cell


@contextlib.contextmanager
def _started(spec: CellSpec, lane: Lane) -> Iterator[Scene]:
    """With Toxiproxy in between, whatever the fault: the control runs on the same path."""
    overrides = {**spec.overrides, **THROUGH_TOXIPROXY, **dict(spec.fault.overrides)}
    disks = small_disks(spec.fault)
    with contextlib.ExitStack() as held:
        stack = held.enter_context(
            lane.runtime.start(
                spec.variant, overrides=overrides, say=lane.say, profiles=(SERVICE,), small_disks=disks
            )
        )
        toxiproxy = Toxiproxy(stack.address(SERVICE, API_PORT))
        held.callback(toxiproxy.close)
        deadman = held.enter_context(Deadman(spec.folder))
        yield Scene(
            variant=spec.variant, stack=stack, toxiproxy=toxiproxy, deadman=deadman, stopped=lane.stopped
        )


def small_disks(fault: Fault) -> dict[str, int]:
    """The struck store alone is put on one; bytes by compose service."""
    if not fault.small_disk or fault.role is None:
        return {}
    store = STORES[fault.role]
    return {store: SMALL_DISK_BYTES[store]}


def _measure(
    spec: CellSpec, lane: Lane, scene: Scene, truth: Truth, run_id: str, found: evaluate.Found
) -> None:
    found.durability, found.versions = loading.verified(
        lane.runtime, spec.variant, scene.stack, truth, spec.dataset, spec.folder
    )
    truth.empty()
    load = _load(spec, lane, scene.stack, run_id)
    if spec.fault.action == "overload":
        loaded = _overload(spec, lane, scene, truth, load, found)
    else:
        loaded = _struck_repeatedly(spec, lane, scene, (load, truth), found)
    evaluate.evaluate(spec, lane, scene, truth, (run_id, loaded), found)


def _overload(
    spec: CellSpec, lane: Lane, scene: Scene, truth: Truth, load: k6.Load, found: evaluate.Found
) -> k6.LoadResult:
    """The plan holds all trials; their moments are read off the ledger afterwards."""
    prefix = lane.runtime.load_generator()
    overload.brake(scene)
    found.capacity_per_s = overload.capacity_per_s(load, prefix, spec.folder / "flood")
    truth.empty()
    moments = schedule(spec.seed, spec.fault, spec.trials)
    made = overload.plan(moments, spec.rate_per_s, found.capacity_per_s)
    lane.say(
        f"{spec.variant.name} overload: capacity {found.capacity_per_s:g}/s with {overload.BRAKE_MS} ms of added delay,"
        f" load of {made.seconds:.0f} s"
    )
    with k6.start(dataclasses.replace(load, plan=made), prefix) as generator:
        while generator.running():
            scene.wait(TICK_S)
        found.load_ended_us = _now_us()
        loaded = generator.result()
    found.struck = overload.struck(made, ledger.read(loaded.ledger), moments)
    _save_timeline(spec, found.struck)
    return loaded


def _struck_repeatedly(
    spec: CellSpec, lane: Lane, scene: Scene, through: tuple[k6.Load, Truth], found: evaluate.Found
) -> k6.LoadResult:
    load, truth = through
    with k6.start(load, lane.runtime.load_generator()) as generator:
        watch = Watch(generator.ledger, spec.rate_per_s)
        if not _await_well(scene, generator, watch, time.time(), FIRST_GOOD_S):
            raise FaultError(
                f"no 10 s of normal service within {FIRST_GOOD_S:.0f} s of load: no fault was injected"
            )
        for number in schedule(spec.seed, spec.fault, spec.trials):
            scene.all_ready()
            found.gauges.append(truth.store.gauges())
            struck = _strike(spec, lane, scene, number)
            found.struck.append(struck)
            _save_timeline(spec, found.struck)
            if not _await_well(scene, generator, watch, struck.healed_us / US_PER_S, RECOVERY_BOUND_S):
                lane.say(
                    f"{spec.variant.name} {spec.fault.key}: not recovered after {RECOVERY_BOUND_S:.0f} s"
                )
                break
        scene.wait(ANSWER_S)
        found.load_ended_us = _now_us()
        generator.stop()
        return generator.result()


def _strike(spec: CellSpec, lane: Lane, scene: Scene, number: Moment) -> Struck:
    """One fault and its heal. The part is mended even where the fault could only be half done."""
    act = choose.action(spec.fault, scene, number.number, lane.broker_password)
    scene.wait(number.steady_seconds)
    began, injected_us = time.monotonic(), _now_us()
    done_us: int | None = None
    try:
        act.inject()
        done_us = _now_us()
        scene.wait(number.lasts_seconds - (time.monotonic() - began))
    finally:
        healed_us = _now_us()
        act.heal()
    proof = act.proof()
    words = f"{spec.variant.name} {spec.fault.key} {number.number}/{spec.trials}"
    lane.say(f"{words}: {proof or 'NO PROOF'}; healed after {(healed_us - injected_us) / US_PER_S:.1f} s")
    return Struck(
        moment=number,
        injected_us=injected_us,
        healed_us=healed_us,
        proof=proof,
        destroyed_us=done_us if spec.fault.destroys else None,
    )


def _now_us() -> int:
    return round(time.time() * US_PER_S)


def _await_well(scene: Scene, generator: k6.Generator, watch: Watch, since_s: float, bound_s: float) -> bool:
    """Until a good 10 s have passed since the moment, of the epoch; False where the bound passes first."""
    while generator.running():
        if watch.well_since(round(since_s * US_PER_S)):
            return True
        if time.time() > since_s + bound_s:
            return False
        scene.wait(TICK_S)
    raise evaluate.generator_ended(generator)


def _load(spec: CellSpec, lane: Lane, stack: Stack, run_id: str) -> k6.Load:
    """Steady, and longer than all trials can take: it is stopped after the last one."""
    seconds = FIRST_GOOD_S + spec.trials * TRIAL_BOUND_S
    rate = spec.rate_per_s
    phase = Phase(name="steady", seconds=seconds, from_per_s=rate, to_per_s=rate)
    return k6.Load(
        script=lane.root / SCRIPT,
        target=stack.base_url,
        run_id=run_id,
        plan=arrival_plan([phase]),
        content=lane.content,
        folder=spec.folder,
        pid_folder=lane.pids,
    )


def _save_timeline(spec: CellSpec, struck: list[Struck]) -> None:
    """Next to the ledger, for later audits of these files."""
    events = [
        {
            "at_ms": one.injected_us / US_PER_MS,
            "until_ms": one.healed_us / US_PER_MS,
            "what": spec.fault.words,
        }
        for one in struck
    ]
    (spec.folder / "timeline.json").write_text(json.dumps(events, indent=1) + "\n", encoding="utf-8")


def _cell(
    spec: CellSpec,
    lane: Lane,
    run_id: str,
    began: datetime,
    found: evaluate.Found,
    outcome: CellOutcome,
    error: str | None,
) -> Cell:
    status, reasons = evaluate.status(spec, lane, found, error)
    return Cell(
        schema_version=FAULTS_SCHEMA_VERSION,
        run_id=run_id,
        variant=spec.variant.name,
        title=spec.variant.title,
        family=spec.variant.family,
        naive_twin_of=spec.variant.naive_twin_of,
        acknowledges=spec.variant.acknowledges,
        fault=spec.fault.key,
        fault_words=spec.fault.words,
        runtime=lane.runtime.name,
        seed=spec.seed,
        rate_per_s=spec.rate_per_s,
        trials_wanted=spec.trials,
        side_by_side=lane.side_by_side,
        overrides=dict(spec.overrides),
        code=spec.code,
        started_at=moment(began.timestamp()),
        finished_at=moment(time.time()),
        outcome=outcome,
        error=error,
        status=status,
        reasons=reasons,
        trials=found.trials,
        requests=found.requests,
        audit=found.audit,
        order=found.order,
        durability=found.durability,
        capacity_per_s=found.capacity_per_s,
        versions=dict(found.versions),
    )
