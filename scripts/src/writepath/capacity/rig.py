"""How is a warm stack loaded once more? One plan from its files to its figures, for a hold as for the overload."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from writepath.load.ledger import ACKNOWLEDGED_STATUS
from writepath.load.plan import new_run_id
from writepath.run import drive, loading, sampler, withheld
from writepath.run import figures as measured

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from writepath.capacity.search_run import SearchSpec
    from writepath.load import k6
    from writepath.load.ledger import Ledger
    from writepath.load.plan import ArrivalPlan
    from writepath.run.drive import Driven
    from writepath.run.figures import Figures
    from writepath.run.runner import Bench
    from writepath.run.sampler import Sample
    from writepath.run.truth import Truth
    from writepath.run.withheld import Withheld
    from writepath.runtime.base import Stack


@dataclass(frozen=True, kw_only=True)
class Rig:
    """What all loads of a search share: a stack that is started, warm, and stays."""

    spec: SearchSpec
    bench: Bench
    stack: Stack
    truth: Truth
    success: int = ACKNOWLEDGED_STATUS  # what a request is to be answered with
    variables: Mapping[str, str] = field(default_factory=dict)  # of the scenario's script alone

    @property
    def writes(self) -> bool:
        """Whether requests are writes: from an empty store, and looked up in it afterwards."""
        return self.success == ACKNOWLEDGED_STATUS

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
    def from_ms(self) -> float:
        """The load's start, epoch, by its own clock."""
        return self.figures.started_ms

    @property
    def to_ms(self) -> float:
        """The load's planned end."""
        return self.from_ms + self.plan.seconds * 1000


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
        success=rig.success,
        variables=rig.variables,
        beside=beside,
    )
    samples: list[Sample] = []
    before = withheld.read()
    try:
        prefix = bench.runtime.load_generator()
        driven = drive.drive(asked, prefix, rig.stack, rig.truth, bench.progress.load, samples)
        after = withheld.read()
        loading.require_loaded(driven.result)
        taken = loading.keep_ledger(driven.result, folder, rig.success)
    except BaseException:
        loading.rescue_ledger(folder)
        raise
    finally:
        if samples:
            sampler.save(samples, folder / loading.SAMPLES_FILE)
    dropped = loading.dropped(driven.result, plan, taken)
    return Loaded(
        run_id=run_id,
        plan=plan,
        driven=driven,
        taken=taken,
        dropped=dropped,
        figures=measured.figures(plan, taken, dropped),
        withheld=withheld.between(before, after),
    )
