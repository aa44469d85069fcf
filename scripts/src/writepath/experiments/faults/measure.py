"""Measures one cell of kind `faults`: one stack under steady load; fault, heal, recovery, as often as asked for.

An overload is no fault that is injected: the load's own plan has the trials, each at twice the path's capacity. That
is measured first, and brought down to what one host can double: few requests in flight (the cell's overrides), and a
delay on the link to the store, by which each of them takes its time (Little's law). What is measured is how the path
behaves beyond its limit, not where the limit of an unbraked one lies.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from writepath.analysis.evidence import save_facts
from writepath.analysis.faults import recovered_after_s
from writepath.analysis.stats import US_PER_S
from writepath.analysis.steps import steady
from writepath.errors import LoadError
from writepath.experiments.base import CellRun, Session, loaded, read_back
from writepath.experiments.faults import catalogue
from writepath.experiments.faults.actions import FaultError, Scene, Toxiproxy, remedies, struck
from writepath.experiments.faults.catalogue import FACTOR, STORES, Fault, Moment, schedule
from writepath.load import k6, ledger
from writepath.load.ledger import Ledger
from writepath.load.plan import ArrivalPlan, align, arrival_plan, new_run_id
from writepath.measure import loading, sampler
from writepath.measure.truth import Truth
from writepath.records import base
from writepath.records.faults import FaultFacts, Injection
from writepath.records.load_facts import LoadFacts
from writepath.runtime import deadman, delay
from writepath.runtime.base import READY_S
from writepath.runtime.delay import API_PORT, TOXIPROXY

FIRST_GOOD_S = 120.0  # from the load's start, cold, perhaps while others start
RECOVERY_BOUND_S = 180.0  # six times the goal: on a slow host Elasticsearch served 100 s after its kill
TRIAL_BOUND_S = READY_S + RECOVERY_BOUND_S + 60.0
LONGEST_FAULT_S = 60.0  # then it heals by itself, whatever this process does
TICK_S = 0.5
ANSWER_S = 0.5  # what a window's last requests are given to be answered, and to reach the ledger
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
    facts = FaultFacts(
        fault=fault.key,
        words=fault.words,
        weakened=run.cell.variant.naive_twin_of is not None,
        rate_per_s=run.params.rate_per_s,
        trials_asked=run.params.trials[run.cell.name],
        parallel=run.parallel,
    )
    cuts, store = fault.action in catalogue.POWER_CUTS, STORES.get(fault.role, "")
    if cuts and (reason := run.bench.runtime.why_no_power_cut()):
        save_facts(base.to_data(dataclasses.replace(facts, impossible=reason)), run.folder)
        return
    full = fault.action == "fill-disk"
    disks = {store: catalogue.SMALL_DISK_BYTES[store] if full else None} if full or cuts else {}
    stack, truth = session.started(run, profiles=(TOXIPROXY,), disks=disks)
    scene = Scene(run=run, stack=stack, toxiproxy=Toxiproxy(stack.address(TOXIPROXY, API_PORT)))
    cell = _Cell(run=run, scene=scene, truth=truth, fault=fault, facts=facts)
    with contextlib.closing(scene.toxiproxy):
        run.verify(stack, truth)
        with run.step("verify"):
            truth.empty()
            if cuts:
                stack.flush_disk(store)  # what a weakened control is set back to must be whole
        with run.step("load"):
            load_facts = cell.load()
        scene.ready()
        read_back(run, stack, truth, load_facts, cell.keep, cell.redelivered)


@dataclass(kw_only=True)
class _Cell:
    run: CellRun
    scene: Scene
    truth: Truth
    fault: Fault
    facts: FaultFacts  # all that is known so far
    gauges: list[Mapping[str, float]] = field(default_factory=list)  # of the final store's service

    def _know(self, **facts: Any) -> None:
        self.facts = dataclasses.replace(self.facts, **facts)

    def keep(self, load: LoadFacts) -> None:
        save_facts(base.to_data(dataclasses.replace(self.facts, load=load)), self.run.folder)

    def load(self) -> LoadFacts:
        began = time.time()
        load, result = (
            self._overload() if self.fault.action == catalogue.OVERLOAD else self._struck_repeatedly()
        )
        loading.keep_ledger(result)
        # It is stopped before its schedule ends: that is no fault of the generator.
        times, own = (began, time.time()), {"generator_faults": (), "samples_late": 0, "withheld": None}
        facts = loaded(self.run, self.truth, load, result, times, **own)
        self.keep(facts)
        return facts

    def _overload(self) -> tuple[k6.Load, k6.LoadResult]:
        """The plan holds all trials; their moments are read off the ledger afterwards."""
        run = self.run
        prefixes = run.bench.runtime.load_generator(self.scene.stack.network)
        # Every answer of the ingress's own store is delayed, for the rest of the cell.
        store = next(
            name for name in (STORES["broker"], *STORES.values()) if name in self.scene.stack.components
        )
        self.scene.toxiproxy.add(store, "latency", "downstream", {"latency": BRAKE_MS, "jitter": 0})
        load = self._steady()
        capacity_per_s = _capacity_per_s(load, prefixes, run.folder / "flood")
        self._know(capacity_per_s=capacity_per_s)
        self.truth.empty()
        moments = schedule(run.seed, self.fault, self.facts.trials_asked)
        made = _plan(moments, self.facts.rate_per_s, capacity_per_s)
        braked = f"capacity {capacity_per_s:g}/s with {BRAKE_MS} ms of added delay"
        self._say(f"{braked}, load of {made.seconds:.0f} s")
        load = dataclasses.replace(load, plan=made)
        with k6.Generator(load, prefixes) as generator:
            while generator.running():
                self.scene.wait(TICK_S)
            self._know(load_ended_at_us=_now_us())
            result = generator.result()
        taken = ledger.read(result.ledger)
        self._know(injections=tuple(_overloads(made, taken, result.processes, moments)))
        return load, result

    def _struck_repeatedly(self) -> tuple[k6.Load, k6.LoadResult]:
        load = self._steady()
        with k6.Generator(load, self.run.bench.runtime.load_generator(self.scene.stack.network)) as generator:
            if not self._await_well(generator, _now_us(), FIRST_GOOD_S):
                words = f"no 10 s of normal service within {FIRST_GOOD_S:.0f} s of load"
                raise FaultError(f"{words}: no fault was injected")
            for one in schedule(self.run.seed, self.fault, self.facts.trials_asked):
                self.scene.ready()
                self.gauges.append(self.truth.store.gauges())
                injection = self._strike(one)
                self._know(injections=(*self.facts.injections, injection))
                if not self._await_well(generator, injection.healed_at_us, RECOVERY_BOUND_S):
                    self._say(f"not recovered after {RECOVERY_BOUND_S:.0f} s")
                    break
            self.scene.wait(ANSWER_S)
            self._know(load_ended_at_us=_now_us())
            generator.stop()
            return load, generator.result()

    def _strike(self, one: Moment) -> Injection:
        heals = remedies(self.fault, self.scene)
        self.scene.wait(one.steady_seconds)
        with deadman.armed(heals, LONGEST_FAULT_S, self.run.folder):
            began, injected_us = time.monotonic(), _now_us()
            with struck(self.fault, self.scene, one.number) as proof:
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
            destroyed_at_us=done_us if self.fault.action == "delete-queue" else None,
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
        plan = arrival_plan([steady("steady", self.facts.rate_per_s, seconds)])
        return loading.load_of(run.suite.load, run.bench, self.scene.stack, plan, run.run_id, run.folder)

    def redelivered(self) -> int | None:
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
    start_us, acknowledged = taken.records["start_us"], taken.acknowledged()
    return recovered_after_s(start_us, acknowledged, moment_us, rate_per_s, until_us) is not None


def _now_us() -> int:
    return round(time.time() * US_PER_S)


BRAKE_MS = 50
FLOOD_PER_S = 400.0  # 16 in flight for 50 ms each are at most 320/s; more would only delay the warm-up
FLOOD_S = 60.0
SETTLED_S = 50.0  # before the rate counts: a cold path sustains a third of what it does later
TIMES = 2.0  # the capacity
BEFORE_S, AFTER_S = 14.0, 41.0  # steady around it: a good 10 s before; 30 s to recover, and 10 s to show it
REFUSAL_S = 1.0  # refusals come at once


def _capacity_per_s(load: k6.Load, prefixes: Sequence[Sequence[str]], folder: Path) -> float:
    """Acknowledged per second under a flood. load: of which target, content and script are taken."""
    folder.mkdir(exist_ok=True)
    made = arrival_plan([steady("flood", FLOOD_PER_S, FLOOD_S)], REFUSAL_S)
    flood = dataclasses.replace(load, run_id=new_run_id(), plan=made, folder=folder)
    taken = ledger.read(k6.run(flood, prefixes).ledger)
    first_us = taken.records["start_us"].min(initial=np.iinfo(np.int64).max)
    served = taken.records[taken.acknowledged()]
    since_s = (served["start_us"] + served["duration_us"] - first_us) / US_PER_S
    counted = int(((since_s >= SETTLED_S) & (since_s < FLOOD_S)).sum())
    if not counted:
        raise LoadError("overload: no request was acknowledged during calibration; see flood/k6.log")
    return round(counted / (FLOOD_S - SETTLED_S), 1)


def _plan(moments: Sequence[Moment], rate_per_s: float, capacity: float) -> ArrivalPlan:
    """For each trial: steady, twice the capacity, steady."""
    high = float(round(TIMES * capacity))
    phases = []
    for one in moments:
        phases += [
            steady(f"before {one.number}", rate_per_s, round(BEFORE_S + one.steady_seconds, 3)),
            steady(f"overload {one.number}", high, one.lasts_seconds),
            steady(f"after {one.number}", rate_per_s, AFTER_S),
        ]
    return arrival_plan(phases, REFUSAL_S)


def _overloads(
    made: ArrivalPlan, taken: Ledger, processes: int, moments: Sequence[Moment]
) -> Iterator[Injection]:
    """When the rate rose and fell, by the ledger's own clock; proved by what was not acknowledged meanwhile."""
    start_us = taken.records["start_us"]
    origin_us = align(made, taken.records["seq"], start_us, processes).origin_us
    ends_us = [origin_us + round(end_s * US_PER_S) for end_s in np.cumsum([p.seconds for p in made.phases])]
    for index, one in enumerate(moments):
        injected_us, healed_us = ends_us[3 * index], ends_us[3 * index + 1]
        meanwhile = (start_us >= injected_us) & (start_us < healed_us)
        refused = int((meanwhile & ~taken.acknowledged()).sum())
        words = f"{refused} of {int(meanwhile.sum())} requests at {made.phases[3 * index + 1].from_per_s:g}/s"
        yield Injection(
            **vars(one),
            injected_at_us=injected_us,
            healed_at_us=healed_us,
            proof=f"{words} were not acknowledged" if refused else "",
        )
