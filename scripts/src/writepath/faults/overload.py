"""How is a path overloaded at twice its capacity, and let go again? By the load's own plan, after a calibration.

Capacity is brought down to what one host can double: few requests in flight (the cell's overrides), and a delay on
the link to the store, by which each of them takes its time (Little's law). What is measured is how the path behaves
beyond its limit, not where the limit of an unbraked one lies.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from writepath.errors import LoadError
from writepath.faults.catalogue import STORES
from writepath.faults.trials import Struck
from writepath.load import k6, ledger
from writepath.load.ledger import Outcome
from writepath.load.plan import align, arrival_plan, new_run_id
from writepath.registry import Phase

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from writepath.faults.scene import Scene
    from writepath.faults.schedule import Moment
    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan

BRAKE_MS = 50
FLOOD_PER_S = 800.0
FLOOD_S = 20.0
SETTLED_S = 14.0  # of the flood, before its rate is counted: a cold path sustains half of what it does later
FACTOR = 2.0
BEFORE_S, AFTER_S = (
    14.0,
    41.0,
)  # steady stretches around it: a good 10 s before; 30 s to recover, and 10 s to show it
ANSWER_S = 1.0  # refusals come at once


def brake(scene: Scene) -> None:
    """Delays every answer of the ingress's own store, for the rest of the cell."""
    store = next(name for name in (STORES["broker"], *STORES.values()) if name in scene.stack.components)
    scene.toxiproxy.add(store, "latency", "downstream", {"latency": BRAKE_MS, "jitter": 0})


def capacity_per_s(load: k6.Load, prefix: Sequence[str], folder: Path) -> float:
    """Acknowledged per second under a flood. load: of which target, content and script are taken."""
    folder.mkdir(exist_ok=True)
    phase = Phase(name="flood", seconds=FLOOD_S, from_per_s=FLOOD_PER_S, to_per_s=FLOOD_PER_S)
    flood = dataclasses.replace(load, run_id=new_run_id(), plan=_brief([phase]), folder=folder)
    taken = ledger.read(k6.run(flood, prefix).ledger)
    acknowledged = np.equal(taken.outcomes(), Outcome.ACKNOWLEDGED)
    answered_ms = taken.records["start_ms"] + taken.records["duration_ms"]
    begin_ms = taken.records["start_ms"].min(initial=np.inf) + SETTLED_S * 1000
    counted = (
        acknowledged & (answered_ms >= begin_ms) & (answered_ms < begin_ms + (FLOOD_S - SETTLED_S) * 1000)
    )
    if not counted.any():
        raise LoadError("overload: no request was acknowledged during calibration; see flood/k6.log")
    return round(float(counted.sum()) / (FLOOD_S - SETTLED_S), 1)


def plan(moments: Sequence[Moment], rate_per_s: float, capacity: float) -> ArrivalPlan:
    """For each trial: steady, twice the capacity, steady."""
    high = float(round(FACTOR * capacity))
    phases = []
    for one in moments:
        before = round(BEFORE_S + one.steady_seconds, 3)
        for name, seconds, rate in (
            ("before", before, rate_per_s),
            ("overload", one.lasts_seconds, high),
            ("after", AFTER_S, rate_per_s),
        ):
            phases.append(Phase(name=f"{name} {one.number}", seconds=seconds, from_per_s=rate, to_per_s=rate))
    return _brief(phases)


def struck(made: ArrivalPlan, taken: Ledger, moments: Sequence[Moment]) -> list[Struck]:
    """When the rate rose and fell, by the ledger's own clock; proved by what was not acknowledged meanwhile."""
    timed = taken.records[~np.isnan(taken.records["start_ms"])]
    origin_ms = align(made, timed["seq"], timed["start_ms"]).origin_ms
    ends_ms = origin_ms + np.cumsum([phase.seconds for phase in made.phases]) * 1000
    found = []
    for index, one in enumerate(moments):
        injected_ms, healed_ms = float(ends_ms[3 * index]), float(ends_ms[3 * index + 1])
        meanwhile = (taken.records["start_ms"] >= injected_ms) & (taken.records["start_ms"] < healed_ms)
        refused = int((meanwhile & ~np.equal(taken.outcomes(), Outcome.ACKNOWLEDGED)).sum())
        words = f"{refused} of {int(meanwhile.sum())} requests at {made.phases[3 * index + 1].from_per_s:g}/s"
        proof = f"{words} were not acknowledged" if refused else ""
        found.append(Struck(moment=one, injected_ms=injected_ms, healed_ms=healed_ms, proof=proof))
    return found


def _brief(phases: Sequence[Phase]) -> ArrivalPlan:
    return dataclasses.replace(arrival_plan(phases), answer_s=ANSWER_S)
