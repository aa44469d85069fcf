"""Measures one cell of kind `faults`: one stack under steady load; fault, heal, recovery, as often as asked for."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from writepath.analysis.evidence import save_facts
from writepath.analysis.faults import recovered_after_s
from writepath.analysis.stats import US_PER_S
from writepath.errors import LoadError
from writepath.experiments.base import CellRun, ReadBack, Session
from writepath.experiments.faults import catalogue, overload
from writepath.experiments.faults.actions import action
from writepath.experiments.faults.catalogue import FACTOR, Fault, Moment, schedule
from writepath.experiments.faults.scene import FaultError, Scene, Toxiproxy
from writepath.load import k6, ledger
from writepath.load.ledger import Outcome
from writepath.load.plan import arrival_plan
from writepath.measure import loading, sampler
from writepath.measure.truth import Truth
from writepath.records import base
from writepath.records.faults import FaultFacts, Injection
from writepath.runtime import deadman, delay, topology
from writepath.runtime.delay import API_PORT, TOXIPROXY

FIRST_GOOD_S = 120.0  # from the load's start, cold, perhaps while others start
RECOVERY_BOUND_S = 90.0  # three times the goal
TRIAL_BOUND_S = RECOVERY_BOUND_S + 60.0
LONGEST_FAULT_S = 60.0  # then it heals by itself, whatever this process does
TICK_S = 0.5
ANSWER_S = 0.5  # what a window's last requests are given to be answered, and to reach the ledger
PASSWORD = "RABBITMQ_PASSWORD"  # noqa: S105 - the variable's name
THROUGH_TOXIPROXY = {
    **delay.THROUGH_TOXIPROXY,
    "RABBITMQ_ADDRESS": f"{TOXIPROXY}:5672",
    "ELASTICSEARCH_ADDRESS": f"{TOXIPROXY}:9200",
}


def measure(run: CellRun, session: Session) -> None:
    """With Toxiproxy in between, whatever the fault: the control runs on the same path."""
    fault = catalogue.fault(run.cell.levels[FACTOR])
    given = {name: value for name, value in run.settings.items() if name != FACTOR}
    run.settings = {**given, **THROUGH_TOXIPROXY, **dict(fault.overrides)}
    stack = session.stack(run, profiles=(TOXIPROXY,), small_disks=fault.small_disks)
    truth = session.truth(run)
    toxiproxy = Toxiproxy(stack.address(TOXIPROXY, API_PORT))
    scene = Scene(
        variant=run.cell.variant,
        stack=stack,
        toxiproxy=toxiproxy,
        broker_password=topology.value(run.bench.root, PASSWORD, run.settings) or "writepath",
        stopped=run.bench.stopped,
    )
    facts = FaultFacts(
        fault=fault.key,
        words=fault.words,
        weakened=run.cell.variant.naive_twin_of is not None,
        rate_per_s=run.params.rate_per_s,
        capacity_per_s=None,
        trials_asked=int(run.params.trials[run.cell.name]),
        parallel=run.parallel,
        injections=(),
        load_ended_at_us=None,
        load=None,
    )
    cell = _Cell(run=run, scene=scene, truth=truth, fault=fault, facts=facts)
    end = ReadBack(
        run=run,
        stack=stack,
        truth=truth,
        keep=lambda load: save_facts(base.to_data(dataclasses.replace(cell.facts, load=load)), run.folder),
    )
    with contextlib.closing(toxiproxy):
        run.verify(stack, truth)
        with run.step("verify"):
            truth.empty()
        with run.step("load"):
            cell.load(end)
        scene.ready()
        end.drain()
        end.audit(cell.redelivered)


@dataclass(kw_only=True)
class _Cell:
    """A cell under way."""

    run: CellRun
    scene: Scene
    truth: Truth
    fault: Fault
    facts: FaultFacts  # all that is known so far
    gauges: list[Mapping[str, float]] = field(default_factory=list)  # of the final store's service

    def _know(self, **facts: Any) -> None:
        self.facts = dataclasses.replace(self.facts, **facts)

    def load(self, end: ReadBack) -> None:
        """The load with all its faults, to its end."""
        began = time.time()
        load, result = self._overload() if self.fault.action == overload.ACTION else self._struck_repeatedly()
        loading.keep_ledger(result)
        # It is stopped before its schedule ends: that is no fault of the generator.
        end.loaded(load, result, began, time.time(), generator_faults=(), samples_late=0, withheld=None)

    def _overload(self) -> tuple[k6.Load, k6.LoadResult]:
        """The plan holds all trials; their moments are read off the ledger afterwards."""
        run = self.run
        prefixes = run.bench.runtime.load_generator(self.scene.stack.network)
        overload.brake(self.scene)
        load = self._steady()
        capacity_per_s = overload.capacity_per_s(load, prefixes, run.folder / "flood")
        self._know(capacity_per_s=capacity_per_s)
        self.truth.empty()
        moments = schedule(run.seed, self.fault, self.facts.trials_asked)
        made = overload.plan(moments, self.facts.rate_per_s, capacity_per_s)
        self._say(
            f"capacity {capacity_per_s:g}/s with {overload.BRAKE_MS} ms of added delay,"
            f" load of {made.seconds:.0f} s"
        )
        load = dataclasses.replace(load, plan=made)
        with k6.Generator(load, prefixes) as generator:
            while generator.running():
                self.scene.wait(TICK_S)
            self._know(load_ended_at_us=_now_us())
            result = generator.result()
        found = overload.injections(made, ledger.read(result.ledger), result.processes, moments)
        self._know(injections=tuple(found))
        return load, result

    def _struck_repeatedly(self) -> tuple[k6.Load, k6.LoadResult]:
        load = self._steady()
        with k6.Generator(load, self.run.bench.runtime.load_generator(self.scene.stack.network)) as generator:
            if not self._await_well(generator, _now_us(), FIRST_GOOD_S):
                raise FaultError(
                    f"no 10 s of normal service within {FIRST_GOOD_S:.0f} s of load: no fault was injected"
                )
            for one in schedule(self.run.seed, self.fault, self.facts.trials_asked):
                self.scene.ready()
                self.gauges.append(self.truth.store.gauges())
                struck = self._strike(one)
                self._know(injections=(*self.facts.injections, struck))
                if not self._await_well(generator, struck.healed_at_us, RECOVERY_BOUND_S):
                    self._say(f"not recovered after {RECOVERY_BOUND_S:.0f} s")
                    break
            self.scene.wait(ANSWER_S)
            self._know(load_ended_at_us=_now_us())
            generator.stop()
            return load, generator.result()

    def _strike(self, one: Moment) -> Injection:
        """One fault and its heal."""
        act = action(self.fault, self.scene, one.number)
        self.scene.wait(one.steady_seconds)
        with deadman.armed(act.remedies, LONGEST_FAULT_S, self.run.folder):
            began, injected_us = time.monotonic(), _now_us()
            with act.struck as proof:
                done_us = _now_us()
                self.scene.wait(one.lasts_seconds - (time.monotonic() - began))
                healed_us = _now_us()
        proved = proof()
        lasted = f"healed after {(healed_us - injected_us) / US_PER_S:.1f} s"
        self._say(f"{one.number}/{self.facts.trials_asked}: {proved or 'NO PROOF'}; {lasted}")
        return Injection(
            **vars(one),
            injected_at_us=injected_us,
            healed_at_us=healed_us,
            destroyed_at_us=done_us if self.fault.destroys else None,
            proof=proved,
        )

    def _await_well(self, generator: k6.Generator, since_us: int, bound_s: float) -> bool:
        """Until a good 10 s have passed since the moment, of the epoch; False where the bound passes first."""
        while generator.running():
            if well_since(since_us, generator.ledger, self.facts.rate_per_s):
                return True
            if _now_us() > since_us + bound_s * US_PER_S:
                return False
            self.scene.wait(TICK_S)
        raise LoadError(f"k6 ended before the last fault: {generator.result().meaning}; see k6.log")

    def _steady(self) -> k6.Load:
        """Longer than all trials can take: it is stopped after the last one."""
        run = self.run
        seconds = FIRST_GOOD_S + self.facts.trials_asked * TRIAL_BOUND_S
        plan = arrival_plan([overload.steady("steady", seconds, self.facts.rate_per_s)])
        return loading.load_of(run.suite.load, run.bench, self.scene.stack, plan, run.run_id, run.folder)

    def redelivered(self) -> int | None:
        """Over load and drain."""
        readings = [*self.gauges, self.truth.store.gauges()]
        return sampler.redelivered(pair for reading in readings for pair in reading.items())

    def _say(self, words: str) -> None:
        self.run.bench.progress.say(f"{self.run.cell.variant.name} {self.fault.key}: {words}")


def well_since(moment_us: int, path: Path, rate_per_s: float, clock: Callable[[], float] = time.time) -> bool:
    """Whether a good 10 s have passed that began at the moment or later, by the definition that the result has.

    path: k6's ledger, which may not exist yet. A request without an answer yet is not in it, and so counts as missing.
    """
    if not path.exists():
        return False
    until_us = round((clock() - ANSWER_S) * US_PER_S)
    taken = ledger.read(path)
    acknowledged = np.equal(taken.outcomes(), Outcome.ACKNOWLEDGED)
    return (
        recovered_after_s(taken.records["start_us"], acknowledged, moment_us, rate_per_s, until_us)
        is not None
    )


def _now_us() -> int:
    return round(time.time() * US_PER_S)
