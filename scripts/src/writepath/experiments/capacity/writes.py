"""Capacity runs of writes: every load from an empty store, drained and read back; then twice the capacity."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath.analysis import raw
from writepath.analysis.capacity_evidence import OVERLOAD_FOLDER
from writepath.analysis.capacity_overload import plan_of
from writepath.load.ledger import WRITE
from writepath.measure import drain, loading
from writepath.measure.auditing import Auditing
from writepath.records.capacity_run import OverloadFacts
from writepath.records.steps import StepDrain

if TYPE_CHECKING:
    from writepath.experiments.base import CellRun
    from writepath.experiments.capacity.path import WarmPath
    from writepath.load import k6
    from writepath.measure.truth import Truth
    from writepath.records.steps import StepFacts
    from writepath.runtime.base import Stack

GIVEN_UP_S = 20.0  # of waiting for a backlog that grew: the rate is not sustained, whatever the wait shows


class Writes:
    """POSTs of the data set's texts."""

    request = WRITE

    def prepare(self, run: CellRun, stack: Stack, truth: Truth) -> None:
        """Proved empty, proved to write, read back, and warm."""
        bench, variant = run.bench, run.cell.variant
        with run.step("verify"):
            run.durability, run.versions = loading.verified(
                bench.runtime, variant, stack, truth, run.dataset, run.folder
            )
            loading.require_declared(run.durability, variant)
        with run.step("warm-up"):
            loading.warm_up(run.suite.load, bench, stack, run.folder)

    def load(self, load: k6.Load) -> k6.Load:
        """As it is."""
        return load

    def before_load(self, path: WarmPath) -> None:
        """An empty store; what waits in a queue is thrown away."""
        path.truth.purge()

    def after_step(self, path: WarmPath, step: StepFacts) -> StepFacts:
        """Drained and read. What is left on its way is in no store."""
        run, progress = path.run, path.run.bench.progress
        with run.step("drain"):
            cap_s = GIVEN_UP_S if path.backlog_grows(step) else None
            drained = drain.drain(path.truth, report=progress.drain, cap_s=cap_s)
        auditing = Auditing(run_id=step.sent.run_id, dataset=run.dataset, say=progress.say)
        with run.step("audit"):
            auditing.read(path.truth)
            raw.save_stored(tuple(auditing.stored), path.folder_of(step) / raw.STORED_FILE)
        return dataclasses.replace(
            step,
            drain=StepDrain(busy_seconds=round(drained.busy_seconds, 3), capped=drained.capped),
            reads=tuple(auditing.readings),
            unread=tuple(auditing.unread),
            suppressed_duplicates=auditing.suppressed_duplicates,
        )

    def beyond(self, path: WarmPath, capacity_per_s: float) -> None:
        """Half, twice, half: how the path behaves beyond its capacity, and how it recovers."""
        with path.run.step("empty"):
            self.before_load(path)
        with path.run.step("overload", f"overload, twice {capacity_per_s:,.0f}/s"):
            sent, _ = path.send(path.load(plan_of(capacity_per_s), path.run.folder / OVERLOAD_FOLDER))
        path.know(overload=OverloadFacts(capacity_per_s=capacity_per_s, sent=sent))
