"""A started, warm path that is loaded again and again, step by step: what kinds with load steps have in common."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

from writepath.analysis import raw
from writepath.analysis.capacity import OVERLOAD_FOLDER, plan_of
from writepath.analysis.evidence import save_facts
from writepath.analysis.steps import derive_step, folder_of, reduce_step, sampled_figures, steady
from writepath.errors import StartError
from writepath.experiments.base import CellRun, Session
from writepath.load import k6
from writepath.load.ledger import WRITE, Ledger
from writepath.load.plan import ArrivalPlan, arrival_plan, new_run_id
from writepath.measure import host, loading
from writepath.measure.loading import Bench, Driven, moment
from writepath.measure.read_back import Auditing, drain
from writepath.records import base
from writepath.records.capacity_run import CapacityFacts, OverloadFacts
from writepath.records.steps import LoadStep, SentFacts, StepDrain, StepFacts, StepKind

ANSWERS_S = 0.5  # in flight: a step that needs more than five times the default SLO fails, dropped or not
SLO_TIMES = 2
GIVEN_UP_S = 20.0  # of waiting for a backlog that grew: the rate is not sustained, whatever the wait shows


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """A constant rate to be measured."""

    kind: StepKind
    rate_per_s: float
    seconds: float
    for_burst: bool = False  # the sustained rate is known


def step_in_words(made: LoadStep) -> str:
    """`step 3, 1,200/s: fail, p99 140 ms; p99 from ... (SLO 100 ms)`."""
    p99 = made.planned_latency_ms.p99
    words = {"noise": "noisy host", "fail": "fail (burst)" if made.burst else "fail"}
    word = words.get(made.verdict, made.verdict)
    latency = "-" if p99 is None else f"{p99:.0f} ms"
    return "; ".join((f"step {made.number}, {made.rate_per_s:,g}/s: {word}, p99 {latency}", *made.reasons))


def sent_facts(run_id: str, driven: Driven, result: k6.LoadResult, taken: Ledger) -> SentFacts:
    """How a load was carried out; result: its own, of two that were sent at the same time."""
    return SentFacts(
        run_id=run_id,
        started_at=moment(driven.began_at),
        dropped=result.dropped,
        exit_code=result.exit_code,
        generator_faults=tuple(loading.generator_faults(result, taken)),
        samples_late=driven.late,
        withheld=None,
        processes=result.processes,
    )


def constant(name: str, rate_per_s: float, seconds: float, slo_ms: float) -> ArrivalPlan:
    """One rate, with as many virtual users as an answer within reach of the SLO keeps busy."""
    plan = arrival_plan([steady(name, rate_per_s, seconds)])
    return dataclasses.replace(plan, answer_s=max(ANSWERS_S, SLO_TIMES * slo_ms / 1000))


def wait_for_quiet(bench: Bench, at_most_s: float = host.LONGEST_S) -> None:
    """Before a step is retried; on a host that stays noisy it is, all the same."""
    if not host.wait_until_quiet(bench.cage.folder, bench.progress, at_most_s):
        bench.progress.say(f"  the host was noisy for {at_most_s:.0f} s; continuing")


class WarmPath:
    """A started stack that is loaded with POSTs of the data set's texts again and again, and the facts so far."""

    request = WRITE

    def __init__(self, run: CellRun, session: Session) -> None:
        """Starts the stack if no cell has."""
        self.run = run
        self.stack, self.truth = session.started(run)
        self.facts = CapacityFacts(
            runtime=run.bench.runtime.name,
            operation=self.request,
            queue_path=self.truth.store is not self.truth.ingress,
            slo_ms=run.params.slo_ms,
            step_seconds=run.params.step_seconds,
            lowest_per_s=run.params.lowest_per_s,
            highest_per_s=run.params.highest_per_s,
        )

    def prepare(self) -> float | None:
        """Leaves a path that is proved to work, and warm. The rate at which the ramp begins; None: the suite's."""
        self.verify()
        self.know(warm_up=self.run.warm_up(self.stack, self.truth))
        return None

    def before_load(self) -> None:
        """An empty store; what waits in a queue is thrown away."""
        self.truth.empty()

    def load_step(self, number: int, step: Step, shown: str) -> StepFacts:
        """One rate into an empty store."""
        with self.run.step("empty"):
            self.before_load()
        with self.run.step("load", f"{shown}, {step.rate_per_s:,g}/s"):
            plan = constant(step.kind, step.rate_per_s, step.seconds, self.facts.slo_ms)
            sent, _ = self.send(self.load(plan, folder_of(self.run.folder, number)))
        return StepFacts(number=number, **vars(step), sent=sent)

    def judged(self, step: StepFacts) -> LoadStep:
        """The figures of a step, whose facts are saved first."""
        self.know(steps=(*self.facts.steps, step))
        tables = reduce_step(folder_of(self.run.folder, step.number), self.facts, step)
        return derive_step(tables, self.facts, step, self.run.bench.host)

    def after_step(self, step: StepFacts) -> StepFacts:
        """The facts of a step that is counted, drained and read. What is left on its way is in no store."""
        run, progress, folder = self.run, self.run.bench.progress, folder_of(self.run.folder, step.number)
        with run.step("drain"):
            cap_s = GIVEN_UP_S if self._backlog_grows(step, folder) else None
            drained = drain(self.truth, report=progress.drain, cap_s=cap_s)
        auditing = Auditing(run_id=step.sent.run_id, dataset=run.dataset, say=progress.say)
        with run.step("audit"):
            auditing.read(self.truth)
            raw.save_stored(tuple(auditing.stored), folder / raw.STORED_FILE)
        return dataclasses.replace(
            step,
            drain=StepDrain(busy_seconds=round(drained.busy_seconds, 3), capped=drained.capped),
            reads=tuple(auditing.readings),
            unread=tuple(auditing.unread),
            suppressed_duplicates=auditing.suppressed_duplicates,
        )

    def _backlog_grows(self, step: StepFacts, folder: Path) -> bool:
        """Whether more and more writes waited in a queue while the load lasted."""
        if not self.facts.waits:
            return False
        tables = reduce_step(folder, self.facts, step)
        waiting = sampled_figures(tables, self.facts, step, self.run.bench.host).backlog
        return waiting is not None and waiting.grows

    def beyond(self, capacity_per_s: float) -> None:
        """Half, twice, half: how the path behaves beyond its capacity, and how it recovers."""
        with self.run.step("empty"):
            self.before_load()
        with self.run.step("overload", f"overload, twice {capacity_per_s:,.0f}/s"):
            sent, _ = self.send(self.load(plan_of(capacity_per_s), self.run.folder / OVERLOAD_FOLDER))
        self.know(overload=OverloadFacts(capacity_per_s=capacity_per_s, sent=sent))

    def send_uncounted(self, name: str, rate_per_s: float, seconds: float) -> None:
        """A load that no figure has."""
        folder, runtime = self.run.folder / name, self.run.bench.runtime
        plan = constant(name, rate_per_s, seconds, self.facts.slo_ms)
        k6.run(self.load(plan, folder), runtime.load_generator(self.stack.network))
        shutil.rmtree(folder)

    def load(self, plan: ArrivalPlan, folder: Path) -> k6.Load:
        """The plan under a run id of its own; plan.json is in the folder."""
        run, run_id = self.run, new_run_id()
        folder.mkdir(parents=True, exist_ok=True)
        loading.save_plan(run_id, plan, run.seed, run.dataset, folder)
        made = loading.load_of(run.suite.load, run.bench, self.stack, plan, run_id, folder)
        return dataclasses.replace(made, operation=self.request)

    def verify(self) -> None:
        """Proved empty, proved to write, and read back."""
        self.run.verify(self.stack, self.truth)
        self.run.require_declared()

    def know(self, **more: Any) -> None:
        """Adds to the facts and saves them."""
        self.facts = dataclasses.replace(self.facts, **more)
        save_facts(base.to_data(self.facts), self.run.folder)

    def send(self, load: k6.Load) -> tuple[SentFacts, Driven]:
        """Carries out the load; ledger and samples are in its folder, stopped or not."""
        driven = loading.carry_out(load, self.run.bench, self.stack, self.truth)
        facts = sent_facts(load.run_id, driven, driven.result, driven.taken)
        return dataclasses.replace(facts, withheld=driven.withheld), driven

    def require_whole(self, when: str) -> None:
        """StartError where a component was lost: what follows is no longer the same path, and not warm."""
        if lost := self.stack.lost_components():
            raise StartError(f"component lost {when}: {'; '.join(lost)}")
