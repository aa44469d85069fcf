"""Loads a warm stack: one plan from its files to its figures, for a load step as for the overload."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from writepath.analysis import figures as measured
from writepath.analysis.stats import US_PER_S
from writepath.load.ledger import WRITE
from writepath.load.plan import new_run_id
from writepath.measure import loading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from writepath.analysis.figures import Figures
    from writepath.analysis.noise import Withheld
    from writepath.capacity.search_run import SearchSpec
    from writepath.load import k6
    from writepath.load.ledger import Ledger, Operation
    from writepath.load.plan import ArrivalPlan
    from writepath.measure.bench import Bench
    from writepath.measure.drive import Driven
    from writepath.measure.truth import Truth
    from writepath.runtime.base import Stack


@dataclass(frozen=True, kw_only=True)
class Rig:
    """What all loads of a search share: a stack that is started, warm, and stays."""

    spec: SearchSpec
    bench: Bench
    stack: Stack
    truth: Truth
    operation: Operation = WRITE
    variables: Mapping[str, str] = field(default_factory=dict)  # of the scenario's script alone

    @property
    def writes(self) -> bool:
        """Whether requests are writes: from an empty store, and looked up in it afterwards."""
        return self.operation == WRITE

    @property
    def queue(self) -> bool:
        """Whether a queue lies between the 201 and the store."""
        return self.truth.store is not self.truth.ingress


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A load that came to its end, and what is known of it without asking the store."""

    run_id: str
    plan: ArrivalPlan
    driven: Driven
    taken: Ledger
    dropped: int
    figures: Figures
    withheld: Withheld

    @property
    def from_us(self) -> int:
        """The load's start, epoch, by its own clock."""
        return self.figures.started_us

    @property
    def to_us(self) -> int:
        """The load's planned end."""
        return self.from_us + round(self.plan.seconds * US_PER_S)


def load(rig: Rig, plan: ArrivalPlan, folder: Path, beside: k6.Load | None = None) -> Loaded:
    """Sends the plan under a run id of its own; leaves plan, ledger and samples in the folder, stopped or not.

    beside: writes that the scenario's script sends at the same time; their records stay as k6 made them.
    """
    spec, bench, run_id = rig.spec, rig.bench, new_run_id()
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"run_id": run_id, **loading.plan_facts(plan, spec.seed, spec.dataset)}
    loading.write_json(folder / loading.PLAN_FILE, facts)
    asked = dataclasses.replace(
        loading.load_of(spec.scenario, bench, rig.stack, plan, run_id, folder),
        operation=rig.operation,
        variables=rig.variables,
        beside=beside,
    )
    driven, held_back = loading.carry_out(asked, bench, rig.stack, rig.truth)
    try:
        taken = loading.keep_ledger(driven.result, folder, rig.operation)
    except BaseException:
        loading.rescue_ledger(folder)
        raise
    dropped = loading.dropped(driven.result, plan, taken)
    return Loaded(
        run_id=run_id,
        plan=plan,
        driven=driven,
        taken=taken,
        dropped=dropped,
        figures=measured.figures(plan, taken, dropped),
        withheld=held_back,
    )
