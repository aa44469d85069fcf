"""Measures a capacity run: load steps on one warm stack until the limit is known, then what lies beyond it."""

import dataclasses
import time

from writepath.analysis import limit
from writepath.analysis.steps import derive_step, folder_of, reduce_step
from writepath.experiments.capacity.stepper import BETWEEN_S, Step, Stepper
from writepath.experiments.warm_path import WarmPath, canary, constant, step_in_words
from writepath.measure import host
from writepath.measure.loading import Bench
from writepath.records.steps import StepFacts

AFTER_S = 110.0  # what comes after the steps: overload and recovery, or searches during writes


def wait_for_quiet(bench: Bench, at_most_s: float = host.LONGEST_S) -> None:
    """Before a step is retried; on a host that stays noisy it is, all the same."""
    if not host.wait_until_quiet(bench.cage.folder, bench.progress, at_most_s):
        bench.progress.say(f"  the host was noisy for {at_most_s:.0f} s; continuing")


def measure(path: WarmPath) -> None:
    """Leaves the raw files of each step, and the facts after each of them."""
    params, began_s = path.run.params, time.monotonic() - sum(path.run.steps.values())
    path.know(at_most_seconds=params.at_most_seconds)

    def left_s() -> float:
        return float(params.at_most_seconds) - AFTER_S - (time.monotonic() - began_s)

    start_per_s = path.prepare() or params.begins_per_s
    stepper = Stepper(
        lowest_per_s=params.lowest_per_s,
        highest_per_s=params.highest_per_s,
        step_seconds=params.step_seconds,
        queue=path.facts.waits,
        start_per_s=start_per_s,
        warm_per_s=limit.carried_per_s(path.facts.warm_up),
        left_s=left_s,
    )
    while (step := stepper.next()) is not None:
        facts = take(step, path)
        path.know(steps=(*path.facts.steps, facts))
        tables = reduce_step(folder_of(path.run.folder, facts.number), path.facts, facts)
        made = derive_step(tables, path.facts, facts, path.run.bench.host)
        stepper.told(made)
        path.run.bench.progress.say(f"  {step_in_words(made)}")
        path.require_whole(f"in step {made.number}, at {made.rate_per_s:,g}/s")
        if made.verdict == "noise" and (again := stepper.next()) is not None:
            spare_s = left_s() - again.seconds - BETWEEN_S
            wait_for_quiet(path.run.bench, max(0.0, min(spare_s, host.LONGEST_S)))
    path.know(ended=stepper.ended)
    capacity_per_s = stepper.sustained().highest_passing_per_s
    if capacity_per_s is not None:
        path.beyond(capacity_per_s)
        path.require_whole(f"in what followed the capacity of {capacity_per_s:,.0f}/s")


def take(step: Step, path: WarmPath) -> StepFacts:
    """One rate. A ramp step is as short as can be: no canary, no drain, no read."""
    run, number, counted = path.run, len(path.facts.steps) + 1, step.kind != "ramp"
    with run.step("empty"):
        path.before_load()
    before = canary(run) if counted else None
    with run.step("load", f"step {number}, {step.rate_per_s:,g}/s"):
        plan = constant(step.kind, step.rate_per_s, step.seconds, path.facts.slo_ms)
        sent, _ = path.send(path.load(plan, folder_of(run.folder, number)))
    facts = StepFacts(number=number, **vars(step), sent=sent)
    if counted:
        facts = path.after_step(facts)
    after = canary(run) if counted else None
    lost = tuple(path.stack.lost_components())
    return dataclasses.replace(facts, before=before, after=after, lost_components=lost)
