"""Overloads a path at twice its capacity, and lets it go again: by the load's own plan, after a calibration.

Capacity is brought down to what one host can double: few requests in flight (the cell's overrides), and a delay on
the link to the store, by which each of them takes its time (Little's law). What is measured is how the path behaves
beyond its limit, not where the limit of an unbraked one lies.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from writepath.analysis.stats import US_PER_S
from writepath.config.registry import Phase
from writepath.errors import LoadError
from writepath.experiments.faults.catalogue import STORES, Moment
from writepath.experiments.faults.scene import Scene
from writepath.load import k6, ledger
from writepath.load.ledger import Ledger, Outcome
from writepath.load.plan import ArrivalPlan, align, arrival_plan, new_run_id
from writepath.records.faults import Injection

ACTION = "overload"
BRAKE_MS = 50
FLOOD_PER_S = 800.0
FLOOD_S = 20.0
SETTLED_S = 14.0  # of the flood, before its rate is counted: a cold path sustains half of what it does later
FACTOR = 2.0
BEFORE_S, AFTER_S = 14.0, 41.0  # steady around it: a good 10 s before; 30 s to recover, and 10 s to show it
ANSWER_S = 1.0  # refusals come at once


def brake(scene: Scene) -> None:
    """Delays every answer of the ingress's own store, for the rest of the cell."""
    store = next(name for name in (STORES["broker"], *STORES.values()) if name in scene.stack.components)
    scene.toxiproxy.add(store, "latency", "downstream", {"latency": BRAKE_MS, "jitter": 0})


def capacity_per_s(load: k6.Load, prefixes: Sequence[Sequence[str]], folder: Path) -> float:
    """Acknowledged per second under a flood. load: of which target, content and script are taken."""
    folder.mkdir(exist_ok=True)
    made = _brief([steady("flood", FLOOD_S, FLOOD_PER_S)])
    flood = dataclasses.replace(load, run_id=new_run_id(), plan=made, folder=folder)
    taken = ledger.read(k6.run(flood, prefixes).ledger)
    records = taken.records[taken.timed()]
    acknowledged = np.equal(taken.outcomes()[taken.timed()], Outcome.ACKNOWLEDGED)
    answered_us = records["start_us"] + records["duration_us"]
    first_us = int(records["start_us"].min(initial=np.iinfo(np.int64).max))
    since_s = (answered_us - first_us) / US_PER_S
    counted = acknowledged & (since_s >= SETTLED_S) & (since_s < FLOOD_S)
    if not counted.any():
        raise LoadError("overload: no request was acknowledged during calibration; see flood/k6.log")
    return round(float(counted.sum()) / (FLOOD_S - SETTLED_S), 1)


def plan(moments: Sequence[Moment], rate_per_s: float, capacity: float) -> ArrivalPlan:
    """For each trial: steady, twice the capacity, steady."""
    high = float(round(FACTOR * capacity))
    phases = []
    for one in moments:
        phases += [
            steady(f"before {one.number}", round(BEFORE_S + one.steady_seconds, 3), rate_per_s),
            steady(f"overload {one.number}", one.lasts_seconds, high),
            steady(f"after {one.number}", AFTER_S, rate_per_s),
        ]
    return _brief(phases)


def injections(
    made: ArrivalPlan, taken: Ledger, processes: int, moments: Sequence[Moment]
) -> Iterator[Injection]:
    """When the rate rose and fell, by the ledger's own clock; proved by what was not acknowledged meanwhile."""
    timed = taken.records[taken.timed()]
    origin_us = align(made, timed["seq"], timed["start_us"], processes).origin_us
    ends_us = [origin_us + round(end_s * US_PER_S) for end_s in np.cumsum([p.seconds for p in made.phases])]
    for index, one in enumerate(moments):
        injected_us, healed_us = ends_us[3 * index], ends_us[3 * index + 1]
        meanwhile = (taken.records["start_us"] >= injected_us) & (taken.records["start_us"] < healed_us)
        refused = int((meanwhile & ~np.equal(taken.outcomes(), Outcome.ACKNOWLEDGED)).sum())
        words = f"{refused} of {int(meanwhile.sum())} requests at {made.phases[3 * index + 1].from_per_s:g}/s"
        yield Injection(
            **vars(one),
            injected_at_us=injected_us,
            healed_at_us=healed_us,
            destroyed_at_us=None,
            proof=f"{words} were not acknowledged" if refused else "",
        )


def steady(name: str, seconds: float, rate_per_s: float) -> Phase:
    """At one rate."""
    return Phase(name=name, seconds=seconds, from_per_s=rate_per_s, to_per_s=rate_per_s)


def _brief(phases: Sequence[Phase]) -> ArrivalPlan:
    return dataclasses.replace(arrival_plan(phases), answer_s=ANSWER_S)
