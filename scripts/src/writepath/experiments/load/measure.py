"""Measures one cell of kind `load`: from a clean store to its second read, and leaves raw files and facts."""

import math
from collections.abc import Sequence

from writepath.analysis import raw
from writepath.analysis.evidence import save_facts
from writepath.experiments.base import CellRun, Session
from writepath.load.plan import LoadPlan
from writepath.measure import loading, sampler, visible
from writepath.measure.loading import moment
from writepath.measure.read_back import ReadBack
from writepath.measure.truth import Truth
from writepath.records import base
from writepath.runtime.base import Stack

SHORT_WARM_UP_S = 5.0  # on a stack that an earlier cell has warmed: only its stores were restarted since


def measure(run: CellRun, session: Session) -> None:
    """One load. What is known so far is saved at every moment."""
    plan = loading.plan_of(run.suite.load, run.settings)
    stack, truth = session.stack(run), session.truth(run)
    _prepare(run, stack, truth, at_most_s=SHORT_WARM_UP_S if session.warm else math.inf)
    end = ReadBack(
        folder=run.folder,
        run_id=run.run_id,
        dataset=run.dataset,
        stack=stack,
        truth=truth,
        progress=run.bench.progress,
        step=run.step,
        keep=lambda facts: save_facts(base.to_data(facts), run.folder),
    )
    with run.step("load"):
        samples = _load(run, plan, end)
    end.drain()
    store = truth.store
    seen = [(one.metric, one.value) for one in samples if one.component == store.service]
    end.audit(lambda: sampler.redelivered((*seen, *store.gauges().items())))


def _prepare(run: CellRun, stack: Stack, truth: Truth, *, at_most_s: float) -> None:
    """Proves the store empty and the stack able to write, and warms it up; the store is empty afterwards."""
    run.verify(stack, truth)
    if run.suite.load.warm_up is not None:
        with run.step("warm-up"):
            loading.warm_up(run.suite.load, run.bench, stack, run.folder, at_most_s=at_most_s)
    with run.step("empty"):
        truth.empty()


def _load(run: CellRun, plan: LoadPlan, end: ReadBack) -> Sequence[raw.Sample]:
    """Load, samples and the search for writes, until all that were acknowledged are visible."""
    loading.save_plan(run.run_id, plan, run.seed, run.dataset, run.folder)
    load = loading.load_of(run.suite.load, run.bench, end.stack, plan, run.run_id, run.folder)
    with visible.Prober.of(end.truth.store, load, run.seed) as prober:
        driven = loading.carry_out(load, run.bench, end.stack, end.truth)
        end.know(
            loading.facts(
                load,
                driven.result,
                end.truth,
                runtime=run.bench.runtime.name,
                declared_level=run.cell.variant.level,
                load_started_at=moment(driven.began_at),
                load_finished_at=moment(driven.ended_at),
                generator_faults=tuple(loading.generator_faults(driven.result, driven.taken)),
                samples_late=driven.late,
                withheld=driven.withheld,
                durability=run.durability,
            )
        )
        prober.settle(driven.taken)
    if (seen := prober.seen()) is not None:
        raw.save_visible(seen, run.folder / raw.VISIBLE_FILE)
    return driven.samples
