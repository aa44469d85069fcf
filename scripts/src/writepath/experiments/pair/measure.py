"""Measures a pair: both stacks started and warm, one frozen while the other takes a short load step."""

import contextlib
import dataclasses
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from writepath.analysis.evidence import save_facts
from writepath.analysis.lines import K6
from writepath.analysis.pairs import SIDES, limit_of, next_rate
from writepath.analysis.steps import derive_step, folder_of, reduce_step, rounded
from writepath.config import registry
from writepath.config.registry import Variant
from writepath.experiments.base import SETTINGS_FILE, CellRun, Session
from writepath.experiments.warm_path import WarmPath, canary, constant, step_in_words
from writepath.records import base
from writepath.records.base import write_json
from writepath.records.pair import Aim, PairFacts, Side
from writepath.records.steps import LoadStep, StepFacts, StepKind
from writepath.runtime.base import Stack

SETTLE_S = 1.5  # of load before each step, after the thaw: caches and connections are as they were, and nothing counts


@contextlib.contextmanager
def frozen(stack: Stack) -> Iterator[list[float]]:
    """All of a stack stands still; the list has the CPU seconds that it used meanwhile, once the block has ended.

    Shorter than any heartbeat: RabbitMQ closes a connection after 60 s (heartbeat), Elasticsearch removes a node
    after 3 checks of 10 s, Hikari asks a connection that was idle whether it lives.
    """
    used: list[float] = []
    try:
        for component in stack.components:
            stack.pause(component)
        before = _cpu_seconds(stack)
        yield used
        used.append(_cpu_seconds(stack) - before)
    finally:
        for component in stack.components:
            stack.resume(component)


def _cpu_seconds(stack: Stack) -> float:
    return sum(one.cpu_seconds for name, one in stack.usage().items() if name != K6)


def measure(run: CellRun, session: Session) -> None:
    """Leaves the raw files of each step below a/ and b/, and the facts after each pair of steps."""
    against = registry.load(run.bench.root).variant(run.params.against)
    with Session(run.bench) as second:
        paths: dict[Side, WarmPath] = {
            "a": WarmPath(_part(run, "a", against), second),
            "b": WarmPath(_part(run, "b", run.cell.variant), session),
        }
        for path in paths.values():
            path.prepare()
        runs = [path.run for path in paths.values()]
        run.durability, run.versions = runs[1].durability, {**runs[0].versions, **runs[1].versions}
        settings: dict[str, Any] = {side: path.stack.effective_settings() for side, path in paths.items()}
        write_json(settings, run.folder / SETTINGS_FILE)
        guarantees: dict[str, str] = {
            side: one.durability.level for side, one in zip(SIDES, runs, strict=True) if one.durability
        }
        facts = PairFacts(against=against.name, title=against.title, guarantees=guarantees)
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
        own, other = self.paths[side], self.paths["b" if side == "a" else "a"]
        run, number = own.run, len(self.facts.frozen_cpu_seconds) + 1
        before, folder = canary(run), folder_of(run.folder, number)
        name, seconds = f"{side.upper()} {run.cell.variant.name}", run.params.step_seconds
        with frozen(other.stack) as used:
            with run.step("settle"):
                own.send_uncounted("settle", rate_per_s, SETTLE_S)
            with run.step("empty"):
                own.before_load()
            with run.step("load", f"{name}, step {number}, {rate_per_s:,g}/s"):
                plan = constant(kind, rate_per_s, seconds, own.facts.slo_ms)
                sent, _ = own.send(own.load(plan, folder))
        lost = [one for path in self.paths.values() for one in path.stack.lost_components()]
        facts = StepFacts(
            number=number,
            kind=kind,
            rate_per_s=rate_per_s,
            seconds=seconds,
            for_burst=False,
            sent=sent,
            before=before,
            lost_components=tuple(lost),
        )
        if kind == "confirmation":
            facts = own.after_step(facts)
        own.know(steps=(*own.facts.steps, facts))
        self._know(frozen_cpu_seconds=(*self.facts.frozen_cpu_seconds, round(used[0], 3)))
        made = derive_step(reduce_step(folder, own.facts, facts), own.facts, facts, run.bench.host)
        run.bench.progress.say(f"  {name}: {step_in_words(made)}")
        own.require_whole(f"in step {number}, {name} at {rate_per_s:,g}/s")
        return made

    def _know(self, **more: Any) -> None:
        self.facts = dataclasses.replace(self.facts, **more)
        save_facts(base.to_data(self.facts), self.run.folder)
