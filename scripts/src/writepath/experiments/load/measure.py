"""Measures one cell of kind `load`: from a clean store to its second read, and leaves raw files and facts."""

from __future__ import annotations

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from writepath.analysis import raw
from writepath.analysis.evidence import save_facts
from writepath.load.ledger import WRITE
from writepath.measure import drain as draining
from writepath.measure import loading, plans, sampler, visible
from writepath.measure.auditing import Auditing
from writepath.measure.facts import moment
from writepath.records import base
from writepath.records.load_facts import DrainFacts, LoadFacts, OperationFacts, PhaseFacts, WithheldFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from typing import Any

    from writepath.analysis.noise import Withheld
    from writepath.experiments.base import CellRun, Session
    from writepath.load.ledger import Ledger
    from writepath.load.plan import LoadPlan
    from writepath.measure.drive import Driven
    from writepath.measure.truth import Truth
    from writepath.runtime.base import Stack

SHORT_WARM_UP_S = 5.0  # on a stack that an earlier cell has warmed: only its stores were restarted since


def measure(run: CellRun, session: Session) -> None:
    """One load. What is known so far is saved at every moment."""
    plan = plans.plan_of(run.suite.scenario, run.settings)
    stack, truth = session.stack(run), session.truth(run)
    _prepare(run, stack, truth, at_most_s=SHORT_WARM_UP_S if session.warm else math.inf)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="writer") as pool:
        cell = _Cell(run=run, stack=stack, truth=truth, plan=plan, pool=pool)
        with run.step("load"):
            cell.load()
        with run.step("drain"):
            cell.drain()
        cell.audit()
        with run.step("save"):
            cell.require_saved()


def _prepare(run: CellRun, stack: Stack, truth: Truth, *, at_most_s: float) -> None:
    """Proves the store empty and the stack able to write, and warms it up; the store is empty afterwards."""
    bench, variant, scenario = run.bench, run.cell.variant, run.suite.scenario
    with run.step("verify"):
        run.durability, run.versions = loading.verified(
            bench.runtime, variant, stack, truth, run.dataset, run.folder
        )
    if scenario.warm_up is not None:
        with run.step("warm-up"):
            loading.warm_up(scenario, bench, stack, run.folder, at_most_s=at_most_s)
    with run.step("empty"):
        truth.empty()


@dataclass(kw_only=True)
class _Cell:
    """A load under way. Files are written by a thread while the store drains and restarts."""

    run: CellRun
    stack: Stack
    truth: Truth
    plan: LoadPlan
    pool: ThreadPoolExecutor
    facts: LoadFacts | None = None
    samples: Sequence[raw.Sample] = ()
    saves: list[Future[None]] = field(default_factory=list)

    def load(self) -> None:
        """Load, samples and the search for writes, until all that were acknowledged are visible."""
        run, plan = self.run, self.plan
        facts = {"run_id": run.run_id, **loading.plan_facts(plan, run.seed, run.dataset)}
        loading.write_json(run.folder / loading.PLAN_FILE, facts)
        load = loading.load_of(run.suite.scenario, run.bench, self.stack, plan, run.run_id, run.folder)
        with visible.Prober.of(self.truth.store, load, run.seed) as prober:
            driven, withheld = loading.carry_out(load, run.bench, self.stack, self.truth)
            taken = loading.read_ledger(driven.result)
            self._submit(loading.save_ledger, taken, driven.result, run.folder)
            self._know(_facts(self, driven, taken, withheld))
            self.samples = driven.samples
            prober.settle(taken)
        if (seen := prober.seen()) is not None:
            self._submit(raw.save_visible, seen, run.folder / raw.VISIBLE_FILE)

    def drain(self) -> None:
        """Until no row comes any more."""
        drained = draining.drain(self.truth, report=self.run.bench.progress.drain)
        pending = drained.pending
        self._know(
            drain=DrainFacts(
                waited_seconds=round(drained.waited_seconds, 3),
                busy_seconds=round(drained.busy_seconds, 3),
                capped=drained.capped,
                queue_ready_left=pending.ready,
                queue_unacknowledged_left=pending.unacknowledged,
                dead_letters=pending.dead,
            ),
            lost_components=tuple(self.stack.lost_components()),
        )

    def audit(self) -> None:
        """Both reads, with the death and restart of every store between them."""
        run, truth = self.run, self.truth
        auditing = Auditing(run_id=run.run_id, dataset=run.dataset, say=run.bench.progress.say)
        with run.step("audit"):
            auditing.read(truth)
            self._keep(auditing, redelivered=self._redelivered())
        with run.step("crash"):
            auditing.crash(self.stack, truth)
        with run.step("audit"):
            auditing.read_again(truth)
            self._keep(auditing)

    def require_saved(self) -> None:
        """Waits for all files; raises what kept one from being written."""
        for save in self.saves:
            save.result()

    def _keep(self, auditing: Auditing, **more: Any) -> None:
        """What was read so far."""
        self._submit(raw.save_stored, tuple(auditing.stored), self.run.folder / raw.STORED_FILE)
        self._know(
            reads=tuple(auditing.readings),
            unread=tuple(auditing.unread),
            suppressed_duplicates=auditing.suppressed_duplicates,
            audit_seconds=round(auditing.seconds, 3),
            **more,
        )

    def _redelivered(self) -> int | None:
        """Only where another service than the ingress writes to the store is anything delivered."""
        store = self.truth.store
        if store is self.truth.ingress:
            return None
        return sampler.counted(self.samples, store.service, "redelivered", store.gauges())

    def _know(self, first: LoadFacts | None = None, **more: Any) -> None:
        """Saves the facts, now and with what comes to be known."""
        known = first or self.facts
        if known is None:
            raise AssertionError("a load comes before its drain and its audit")
        self.facts = dataclasses.replace(known, **more)
        save_facts(base.to_data(self.facts), self.run.folder)

    def _submit(self, save: Callable[..., None], *args: object) -> None:
        self.saves.append(self.pool.submit(save, *args))


def _facts(cell: _Cell, driven: Driven, taken: Ledger, withheld: Withheld) -> LoadFacts:
    """What is known when the load has ended."""
    run, plan, result = cell.run, cell.plan, driven.result
    return LoadFacts(
        run_id=run.run_id,
        runtime=run.bench.runtime.name,
        declared_level=run.cell.variant.level,
        model="closed" if plan.planned is None else "open",
        phases=tuple(PhaseFacts(**vars(phase)) for phase in plan.phases),
        virtual_users=plan.virtual_users,
        seconds=plan.seconds,
        operations=(OperationFacts(name=WRITE.name, served=WRITE.served),),
        queue_path=cell.truth.store is not cell.truth.ingress,
        load_started_at=moment(driven.began_at),
        load_finished_at=moment(driven.ended_at),
        dropped=result.dropped,
        exit_code=result.exit_code,
        generator_faults=tuple(loading.generator_faults(result, taken)),
        samples_late=driven.late,
        withheld=WithheldFacts(**vars(withheld)),
        durability=run.durability,
    )
