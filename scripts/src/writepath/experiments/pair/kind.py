"""Kind `pair`: both stacks started and warm, one frozen while the other takes a short load step."""

import contextlib
import dataclasses
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from writepath.analysis.audit import Said, worst_said
from writepath.analysis.evidence import save_facts
from writepath.analysis.pairs import FIGURES, SIDES, derive_pair, limit_of, next_rate, ratio, reduce_pair
from writepath.analysis.steps import rounded
from writepath.config import registry
from writepath.config.registry import Registry, Suite, Variant
from writepath.config.settings import OF_LOAD
from writepath.experiments.base import SETTINGS_FILE, CellRun, Experiment, Plan, Session
from writepath.experiments.pair import sections
from writepath.experiments.warm_path import Step, WarmPath, step_in_words
from writepath.measure.loading import RATE_SCALE
from writepath.measure.warming import cpu_seconds
from writepath.options import Asked
from writepath.records.base import to_data, write_json
from writepath.records.pair import Aim, PairFacts, PairParams, PairResult, Side
from writepath.records.steps import LoadStep, StepKind
from writepath.report.model import number
from writepath.runtime.base import Stack

SETTLE_S = 1.5  # of load before each step, after the thaw: caches and connections are as they were, and nothing counts
AROUND_S = 5.0  # canary, freeze, settling, emptying: of each step


@contextlib.contextmanager
def frozen(stack: Stack) -> Iterator[None]:
    """All of a stack stands still.

    Shorter than any heartbeat: RabbitMQ closes a connection after 60 s (heartbeat), Elasticsearch removes a node
    after 3 checks of 10 s, Hikari asks a connection that was idle whether it lives.
    """
    try:
        for component in stack.components:
            stack.pause(component)
        yield
    finally:
        for component in stack.components:
            stack.resume(component)


def measure(run: CellRun, session: Session) -> None:
    """Leaves the raw files of each step below a/ and b/, and the facts after each pair of steps."""
    against = registry.load(run.bench.root).variant(run.params.against)
    with Session(run.bench) as second:
        a = WarmPath(_part(run, "a", against), second)
        b = WarmPath(_part(run, "b", run.cell.variant), session)
        paths: dict[Side, WarmPath] = {"a": a, "b": b}
        for path in paths.values():
            path.prepare()
        run.durability, run.versions = b.run.durability, {**a.run.versions, **b.run.versions}
        settings: dict[str, Any] = {side: path.stack.effective_settings() for side, path in paths.items()}
        write_json(settings, run.folder / SETTINGS_FILE)
        levels: dict[str, str] = {
            side: path.run.durability.level for side, path in paths.items() if path.run.durability
        }
        facts = PairFacts(against=against.name, title=against.title, guarantees=levels)
        _Pair(run=run, paths=paths, facts=facts).measure()


def _part(run: CellRun, side: Side, variant: Variant) -> CellRun:
    """The cell for one of its two paths."""
    folder = run.folder / side
    folder.mkdir()
    return dataclasses.replace(run, cell=dataclasses.replace(run.cell, variant=variant), folder=folder)


@dataclass(kw_only=True)
class _Pair:
    """A pair under way."""

    run: CellRun
    paths: Mapping[Side, WarmPath]
    facts: PairFacts
    made: dict[Side, list[LoadStep]] = field(default_factory=lambda: {"a": [], "b": []})

    def measure(self) -> None:
        """Each towards its limit, then A B B A at equal rates that the weaker one carries; the last step is audited."""
        params, cell = self.run.params, self.run.cell
        drawn = random.Random(f"writepath:pair:{self.run.seed}:{cell.block}")  # noqa: S311 - an order, not a secret
        first: tuple[Side, ...] = drawn.choice((SIDES, SIDES[::-1]))
        orders = itertools.cycle((first, first[::-1], first[::-1], first))
        for _ in range(params.limit_steps):
            rates_per_s = {side: next_rate(made, self.paths[side].facts) for side, made in self.made.items()}
            self._take("limit", next(orders), rates_per_s)
        limits = [limit_of(made, self.paths[side].facts).limit for side, made in self.made.items()]
        shares = [share for _ in range(params.rounds) for share in params.shares[::-1] for _ in "AB"]
        *rates, last = [rounded(share * min(limits)) for share in shares]
        for rate in rates:
            self._take("equal", next(orders), dict.fromkeys(SIDES, rate))
        self._take("equal", next(orders), dict.fromkeys(SIDES, last), "confirmation")

    def _take(
        self, aim: Aim, order: tuple[Side, ...], rates: Mapping[Side, float], kind: StepKind = "ramp"
    ) -> None:
        """One step of each path, one right after the other."""
        for side in order:
            self.made[side].append(self._step(side, rates[side], kind))
        pair = (self.made["a"][-1].number, self.made["b"][-1].number)
        self._know(**{aim: (*getattr(self.facts, aim), pair)})

    def _step(self, side: Side, rate_per_s: float, kind: StepKind) -> LoadStep:
        """The other path is frozen while this one settles and is measured; between two steps both run."""
        own, other = self.paths[side], self.paths["b" if side == "a" else "a"].stack
        run, step_number = own.run, len(self.facts.frozen_cpu_seconds) + 1
        before, name = run.canary(), f"{side.upper()} {run.cell.variant.name}"
        step = Step(kind=kind, rate_per_s=rate_per_s, seconds=run.params.step_seconds)
        with frozen(other):
            used_s = cpu_seconds(other)
            with run.step("settle"):
                own.send_uncounted("settle", rate_per_s, SETTLE_S)
            facts = own.load_step(step_number, step, f"{name}, step {step_number}")
            used_s = cpu_seconds(other) - used_s
        lost = [one for path in self.paths.values() for one in path.stack.lost_components()]
        facts = dataclasses.replace(facts, before=before, lost_components=tuple(lost))
        if kind == "confirmation":
            facts = own.after_step(facts)
        self._know(frozen_cpu_seconds=(*self.facts.frozen_cpu_seconds, round(used_s, 3)))
        made = own.judged(facts)
        run.bench.progress.say(f"  {name}: {step_in_words(made)}")
        own.require_whole(f"in step {step_number}, {name} at {rate_per_s:,g}/s")
        return made

    def _know(self, **more: Any) -> None:
        self.facts = dataclasses.replace(self.facts, **more)
        save_facts(to_data(self.facts), self.run.folder)


class PairExperiment(Experiment[PairResult]):
    """Two stacks at a time, in short steps that take turns while the other stack is frozen."""

    kind = "pair"
    params = PairParams
    result = PairResult
    options = (("A", "against"), ("SLO_MS", "slo_ms"), ("ROUNDS", "rounds"))
    unused = OF_LOAD - {RATE_SCALE}

    measure = staticmethod(measure)
    reduce = staticmethod(reduce_pair)
    derive = staticmethod(derive_pair)
    report = staticmethod(sections.report)

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> PairParams:
        """The part `pair:` of the suite, with what the user asked for."""
        part, times = suite.checked_params(PairParams), suite.rate_scale
        scaled = {name: getattr(part, name) * times for name in ("lowest_per_s", "highest_per_s")}
        return dataclasses.replace(part, **scaled, **options)

    def designed(self, plan: Plan, known: Registry, asked: Asked) -> Plan:  # noqa: ARG002
        """With variant A, of which each cell starts a stack too."""
        return dataclasses.replace(plan, second=known.variant(plan.params.against))

    def load_seconds(self, params: PairParams) -> float:
        """Of one cell."""
        steps = 2 * (2 * params.rounds * len(params.shares) + params.limit_steps)
        return steps * (params.step_seconds + SETTLE_S + AROUND_S)

    def audit(self, result: PairResult) -> Said | None:
        """Of the last step of each path."""
        return worst_said((f"step {one.number}, {one.side.upper()}", one.audit) for one in result.steps)

    def line(self, result: PairResult) -> str:
        """`÷ jpa: CPU per write 1.05, p99 1.2, rate at the limit 0.96`."""
        found = [(figure.title, ratio([result], figure).ratio) for figure in FIGURES]
        return f"÷ {result.against}: " + ", ".join(
            f"{title} {'-' if value is None else number(value)}" for title, value in found
        )
