"""Measures a capacity run: load steps on one warm stack until the limit is known, then what lies beyond it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath.analysis.step_evidence import folder_of
from writepath.experiments.capacity import words
from writepath.experiments.capacity.path import WarmPath, canary, constant, wait_for_quiet
from writepath.experiments.capacity.searches import Searches
from writepath.experiments.capacity.stepper import Stepper
from writepath.experiments.capacity.writes import Writes
from writepath.records.capacity_run import CapacityFacts
from writepath.records.load_facts import OperationFacts
from writepath.records.steps import StepFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from writepath.experiments.base import CellRun, Session
    from writepath.experiments.capacity.path import Operation
    from writepath.experiments.capacity.stepper import Step

OPERATIONS: Mapping[str, Callable[[], Operation]] = {"write": Writes, "search": Searches}


def measure(run: CellRun, session: Session) -> None:
    """Leaves the raw files of each step, and the facts after each of them."""
    params, stack, truth = run.params, session.stack(run), session.truth(run)
    operation = OPERATIONS[params.operation]()
    begins_per_s = operation.prepare(run, stack, truth)
    facts = CapacityFacts(
        runtime=run.bench.runtime.name,
        operation=OperationFacts(name=operation.request.name, served=operation.request.served),
        queue_path=truth.store is not truth.ingress,
        slo_ms=params.slo_ms,
        step_seconds=params.step_seconds,
        lowest_per_s=params.lowest_per_s,
        highest_per_s=params.highest_per_s,
    )
    path = WarmPath(run=run, stack=stack, truth=truth, operation=operation, facts=facts)
    stepper = Stepper(
        lowest_per_s=params.lowest_per_s,
        highest_per_s=params.highest_per_s,
        step_seconds=params.step_seconds,
        queue=facts.queue_path and params.operation == "write",
        start_per_s=begins_per_s or params.begins_per_s,
    )
    take_steps(stepper, path)
    path.know(ended=stepper.ended)
    capacity_per_s = stepper.sustained().highest_passing_per_s
    if capacity_per_s is not None:
        operation.beyond(path, capacity_per_s)
        path.require_whole(f"in what followed the capacity of {capacity_per_s:,.0f}/s")


def take_steps(stepper: Stepper, path: WarmPath) -> None:
    """Until the stepper has ended; each is saved and said before the next begins."""
    while (step := stepper.next()) is not None:
        facts = take(step, len(path.facts.steps) + 1, path)
        path.know(steps=(*path.facts.steps, facts))
        made = path.judged(facts)
        stepper.told(step, made)
        path.run.bench.progress.say(f"  {words.step(made)}")
        path.require_whole(f"in step {made.number}, at {made.rate_per_s:,g}/s")
        if made.verdict == "noise" and stepper.next() is not None:
            wait_for_quiet(path.run.bench)


def take(step: Step, number: int, path: WarmPath) -> StepFacts:
    """One rate. A ramp step is as short as can be: no canary, no drain, no read."""
    run, counted = path.run, step.kind != "ramp"
    with run.step("empty"):
        path.operation.before_load(path)
    before = canary(run) if counted else None
    with run.step("load", f"step {number}, {step.rate_per_s:,g}/s"):
        folder = folder_of(run.folder, number)
        sent, _ = path.send(
            path.load(constant(step.kind, step.rate_per_s, step.seconds, path.facts.slo_ms), folder)
        )
    facts = StepFacts(number=number, **vars(step), sent=sent)
    if counted:
        facts = path.operation.after_step(path, facts)
    after = canary(run) if counted else None
    lost = tuple(path.stack.lost_components())
    return dataclasses.replace(facts, before=before, after=after, lost_components=lost)
