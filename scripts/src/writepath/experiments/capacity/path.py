"""A path under measurement: a started stack that is loaded again and again, and the facts of the run so far."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from writepath.analysis.evidence import save_facts
from writepath.analysis.steps import derive_step, folder_of, reduce_step, sampled_figures
from writepath.config.registry import Phase
from writepath.errors import StartError
from writepath.experiments.base import CellRun
from writepath.load import k6
from writepath.load.ledger import Ledger
from writepath.load.plan import ArrivalPlan, arrival_plan, new_run_id
from writepath.measure import host, loading
from writepath.measure.loading import Bench, Driven, moment
from writepath.measure.truth import Truth
from writepath.records import base
from writepath.records.capacity_run import CapacityFacts
from writepath.records.load_facts import OperationFacts
from writepath.records.measures import Canary
from writepath.records.steps import LoadStep, SentFacts, StepFacts
from writepath.runtime.base import Stack

ANSWERS_S = (
    0.5  # in flight: five times the default SLO; a step that needs more fails by its SLO, dropped or not
)
SLO_TIMES = 2


class Operation(Protocol):
    """What the requests of a capacity run do."""

    @property
    def request(self) -> OperationFacts:
        """As the ledger knows it."""

    def prepare(self, run: CellRun, stack: Stack, truth: Truth) -> float | None:
        """Leaves a warm path that is proved to work. Requests/s at which the ramp begins; None: as the suite says."""

    def load(self, load: k6.Load) -> k6.Load:
        """The load of the scenario with the content and the variables of the operation."""

    def before_load(self, path: "WarmPath") -> None:
        """Makes every load begin from the same state."""

    def after_step(self, path: "WarmPath", step: StepFacts) -> StepFacts:
        """The facts of a step that is counted, with what is asked of the store after it."""

    def beyond(self, path: "WarmPath", capacity_per_s: float) -> None:
        """What is measured once the sustained rate is known; adds to the path's facts."""


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
    )


def constant(name: str, rate_per_s: float, seconds: float, slo_ms: float) -> ArrivalPlan:
    """One rate, with as many virtual users as an answer within reach of the SLO keeps busy."""
    plan = arrival_plan([Phase(name=name, seconds=seconds, from_per_s=rate_per_s, to_per_s=rate_per_s)])
    return dataclasses.replace(plan, answer_s=max(ANSWERS_S, SLO_TIMES * slo_ms / 1000))


def wait_for_quiet(bench: Bench) -> None:
    """Before a step is retried; on a host that stays noisy it is, all the same."""
    if not host.wait_until_quiet(bench.cage.folder, bench.progress):
        bench.progress.say(f"  the host was noisy for {host.LONGEST_S:.0f} s; continuing")


def canary(run: CellRun) -> Canary:
    """How fast the host is now."""
    with run.step("canary"):
        return run.bench.cage.measure()


@dataclass(kw_only=True)
class WarmPath:
    """What all loads of a capacity run share."""

    run: CellRun
    stack: Stack
    truth: Truth
    operation: Operation
    facts: CapacityFacts

    def know(self, **more: Any) -> None:
        """Adds to the facts and saves them."""
        self.facts = dataclasses.replace(self.facts, **more)
        save_facts(base.to_data(self.facts), self.run.folder)

    def load(self, plan: ArrivalPlan, folder: Path) -> k6.Load:
        """The plan under a run id of its own; plan.json is in the folder."""
        run, run_id = self.run, new_run_id()
        folder.mkdir(parents=True, exist_ok=True)
        loading.save_plan(run_id, plan, run.seed, run.dataset, folder)
        made = loading.load_of(run.suite.load, run.bench, self.stack, plan, run_id, folder)
        return self.operation.load(dataclasses.replace(made, operation=self.operation.request))

    def send(self, load: k6.Load) -> tuple[SentFacts, Driven]:
        """Carries out the load; ledger and samples are in its folder, stopped or not."""
        driven = loading.carry_out(load, self.run.bench, self.stack, self.truth)
        facts = sent_facts(load.run_id, driven, driven.result, driven.taken)
        return dataclasses.replace(facts, withheld=driven.withheld), driven

    def folder_of(self, step: StepFacts) -> Path:
        """Where its raw files are."""
        return folder_of(self.run.folder, step.number)

    def judged(self, step: StepFacts) -> LoadStep:
        """The figures of a step, as a report derives them."""
        tables = reduce_step(self.folder_of(step), self.facts, step)
        return derive_step(tables, self.facts, step, self.run.bench.host.cores)

    def backlog_grows(self, step: StepFacts) -> bool:
        """Whether more and more writes waited in a queue while the load lasted."""
        if not self.facts.queue_path:
            return False
        tables = reduce_step(self.folder_of(step), self.facts, step)
        waiting = sampled_figures(tables, self.facts, step, self.run.bench.host.cores).backlog
        return waiting is not None and waiting.grows

    def require_whole(self, when: str) -> None:
        """StartError where a component was lost: what follows is no longer the same path, and not warm."""
        if lost := self.stack.lost_components():
            raise StartError(f"component lost {when}: {'; '.join(lost)}")
