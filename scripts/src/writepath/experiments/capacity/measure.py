"""Measures a capacity run: load steps on one warm stack until the limit is known, then what lies beyond it."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from writepath.analysis import raw
from writepath.analysis.capacity import OVERLOAD_FOLDER, plan_of
from writepath.analysis.steps import folder_of
from writepath.experiments.base import CellRun, Session
from writepath.experiments.capacity import during_writes
from writepath.experiments.capacity.path import Operation, WarmPath, canary, constant, wait_for_quiet
from writepath.experiments.capacity.stepper import Step, Stepper
from writepath.load import k6
from writepath.load.corpus import Corpus, write_questions
from writepath.load.ledger import SEARCH, WRITE
from writepath.measure import loading, searchable
from writepath.measure.read_back import Auditing, drain
from writepath.measure.searchable import Client
from writepath.measure.truth import Truth
from writepath.records.capacity_run import CapacityFacts, CapacityResult, OverloadFacts
from writepath.records.search_load import SearchLoadFacts
from writepath.records.steps import Bracket, LoadStep, StepDrain, StepFacts
from writepath.runtime.base import Stack


def step_in_words(made: LoadStep) -> str:
    """`step 3, 1,200/s: fail, p99 140 ms; p99 from ... (SLO 100 ms)`."""
    p99 = made.planned_latency_ms.p99
    word = {"noise": "noisy host"}.get(made.verdict, made.verdict)
    word += " (burst)" if made.burst and made.verdict != "pass" else ""
    line = (
        f"step {made.number}, {made.rate_per_s:,g}/s: {word}, p99 {'-' if p99 is None else f'{p99:.0f} ms'}"
    )
    return "; ".join((line, *made.reasons))


def bracket_in_words(found: Bracket) -> str:
    """With what is not known."""
    low, high = found.highest_passing_per_s, found.lowest_failing_per_s
    if low is None:
        return "unknown: no step was counted" if high is None else f"below {high:,g}/s (it failed there)"
    if high is None:
        return f"at least {low:,g}/s" + ("" if found.lower_bound else " (inconclusive: no failing rate)")
    least = "at least " if found.lower_bound else ""
    return f"{least}{low:,g}/s, fails at {high:,g}/s" + (
        "" if found.conclusive else " (inconclusive: not within 5 %)"
    )


def result_in_words(found: CapacityResult) -> str:
    """`sustained 1,234/s, fails at 1,290/s; 9 load steps`."""
    words = f"sustained {bracket_in_words(found.sustained)}"
    if found.burst != found.sustained:
        words += f"; burst {bracket_in_words(found.burst)}"
    return f"{words}; {max(found.sustained.steps, found.burst.steps)} load steps"


GIVEN_UP_S = 20.0  # of waiting for a backlog that grew: the rate is not sustained, whatever the wait shows


class Writes:
    """POSTs of the data set's texts."""

    request = WRITE

    def prepare(self, run: CellRun, stack: Stack, truth: Truth) -> None:
        """Proved empty, proved to write, read back, and warm."""
        run.verify(stack, truth)
        run.require_declared()
        with run.step("warm-up"):
            loading.warm_up(run.suite.load, run.bench, stack, run.folder)

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
            drained = drain(path.truth, report=progress.drain, cap_s=cap_s)
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


BEGINS = 0.25  # of what one client reached, one search after the other: a path that is idle most of the time
QUESTIONS_FILE = "questions.json"
WARM_UP_S = 20.0  # by one client: a store that is a Java program is as slow to start as an application


class Searches:
    """GETs of a keyword's first page, each compared with the total that it must have."""

    request = SEARCH

    def __init__(self) -> None:
        """What `prepare` fills."""
        self._corpus: Corpus
        self._questions: Path
        self._facts: SearchLoadFacts

    def prepare(self, run: CellRun, stack: Stack, truth: Truth) -> float:
        """Proved to write, filled with posts, each keyword's total known, and warm."""
        progress = run.bench.progress
        self._corpus = Corpus.of(run.dataset, run.params.documents, (), run.seed)
        run.verify(stack, truth)
        run.require_declared()
        with run.step("verify"):
            truth.empty()
        with run.step("load posts"):
            data_set = searchable.filled(self._corpus, truth, progress)
        with Client(stack.base_url) as client:
            with run.step("totals"):
                totals, hits = searchable.totals(self._corpus, data_set.mode, client, progress)
            with run.step("warm-up"):
                one_client_ms = searchable.warm_up(self._corpus, client, WARM_UP_S)
        self._questions = run.folder / QUESTIONS_FILE
        write_questions(self._corpus.drawn, totals, self._questions)
        self._facts = SearchLoadFacts(data_set=data_set, hits=hits)
        progress.say(f"  one client waited {one_client_ms:.1f} ms for a first page on average")
        return BEGINS * 1000 / one_client_ms

    def load(self, load: k6.Load) -> k6.Load:
        """With keywords in the place of posts."""
        return dataclasses.replace(load, content=self._questions, variables={"BENCH_TOTAL": "exactly"})

    def before_load(self, path: WarmPath) -> None:
        """The posts stay."""
        if path.facts.searches is None:
            path.know(searches=self._facts)

    def after_step(self, path: WarmPath, step: StepFacts) -> StepFacts:  # noqa: ARG002 - answers say all
        """Searches leave nothing to look at."""
        return step

    def beyond(self, path: WarmPath, capacity_per_s: float) -> None:
        """Half of the capacity, alone and during writes. Adds posts to the store."""
        with Client(path.stack.base_url) as client:
            measured = during_writes.measure(path, self._corpus, client, capacity_per_s)
        path.know(searches=dataclasses.replace(self._facts, during_writes=measured))


OPERATIONS: Mapping[str, Callable[[], Operation]] = {"write": Writes, "search": Searches}


def measure(run: CellRun, session: Session) -> None:
    """Leaves the raw files of each step, and the facts after each of them."""
    params, stack, truth = run.params, session.stack(run), session.truth(run)
    operation = OPERATIONS[params.operation]()
    begins_per_s = operation.prepare(run, stack, truth)
    facts = CapacityFacts(
        runtime=run.bench.runtime.name,
        operation=operation.request,
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
        path.run.bench.progress.say(f"  {step_in_words(made)}")
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
