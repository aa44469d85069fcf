"""Writes a suite run of kind `load` around the raw tables of one cell, as the engine leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from writepath.analysis.evidence import save_facts
from writepath.config.registry import Scenario
from writepath.experiments.load.kind import LoadExperiment
from writepath.experiments.load.params import params_of
from writepath.load.ledger import WRITE
from writepath.records.base import to_data
from writepath.records.cell import CellRecord, save_cell
from writepath.records.index import SCHEMA_VERSION, CellEntry, Index, VariantRecord, save_index
from writepath.records.load_facts import DrainFacts, LoadFacts, OperationFacts, PhaseFacts
from writepath.records.measures import Code, DatasetFacts, Durability, Host, Reading
from writepath.selfcheck.planted import RUN_ID

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from writepath.load.plan import ArrivalPlan
    from writepath.records.load import LoadResult
    from writepath.records.measures import Audit

NAME = "planted"
PLACE = f"{NAME}/block-01"  # of the raw tables, relative to the index
MOMENT = "2026-01-01T00:00:00.000Z"
VARIANT = VariantRecord(
    name=NAME, title="Planted", family=NAME, acknowledges="nothing: no system was started", profiles=(), settings={}
)  # fmt: skip
DURABILITY = Durability(level="A", settings={})
HOST = Host(cpu_model="none", cores=1, memory_bytes=1, kernel="none", filesystem="none")
SHARED: dict[str, Any] = {
    "schema_version": SCHEMA_VERSION,
    "kind": LoadExperiment.kind,
    "suite": NAME,
    "title": "Planted",
    "started_at": MOMENT,
    "finished_at": MOMENT,
    "seed": 0,
    "runtime": "docker",
    "settings": {},
    "dataset": DatasetFacts(name=NAME, sha256="0" * 64, lines=1),
    "code": Code(commit="unknown", dirty=True),
}
CELL: dict[str, Any] = {
    "name": NAME, "variant": NAME, "levels": {}, "role": "measured", "block": 1, "position": 1, "outcome": "finished",
}  # fmt: skip


def write(folder: Path, plan: ArrivalPlan, rows: Sequence[int], audit: Audit | None = None) -> None:
    """Facts, record and index. rows: of each read of the store; audit: recorded in place of the derived one."""
    place, kind = folder / PLACE, LoadExperiment()
    save_facts(to_data(_facts(plan, rows)), place)
    found = kind.derive(kind.reduce(place, HOST))
    recorded = to_data(found) | ({} if audit is None else {"audit": to_data(audit)})
    save_cell(_cell(found, recorded), place)
    save_index(_index(plan, found), folder)


def _facts(plan: ArrivalPlan, rows: Sequence[int]) -> LoadFacts:
    nothing = {"queue_ready_left": 0, "queue_unacknowledged_left": 0, "dead_letters": 0}
    return LoadFacts(
        run_id=RUN_ID,
        runtime=SHARED["runtime"],
        declared_level=DURABILITY.level,
        model="open",
        phases=tuple(PhaseFacts(**vars(phase)) for phase in plan.phases),
        virtual_users=plan.virtual_users,
        seconds=plan.seconds,
        operations=(OperationFacts(name=WRITE.name, served=WRITE.served),),
        queue_path=False,
        load_started_at=MOMENT,
        load_finished_at=MOMENT,
        dropped=0,
        exit_code=0,
        generator_faults=(),
        samples_late=0,
        withheld=None,
        drain=DrainFacts(waited_seconds=0.0, busy_seconds=0.0, capped=False, **nothing),
        reads=tuple(Reading(store_rows=number, left_in_queue=0) for number in rows),
        durability=DURABILITY,
    )


def _cell(found: LoadResult, recorded: dict[str, Any]) -> CellRecord:
    return CellRecord(
        **SHARED,
        **CELL,
        run_id=RUN_ID,
        family=VARIANT.family,
        acknowledges=VARIANT.acknowledges,
        error=None,
        verdict=found.verdict,
        durability=DURABILITY,
        host=HOST,
        result=recorded,
    )


def _index(plan: ArrivalPlan, found: LoadResult) -> Index:
    verdict = found.verdict
    entry = CellEntry(
        **CELL, folder=PLACE, verdict=verdict.status, reasons=verdict.reasons, seconds=0.0, exit_code=0
    )
    scenario = Scenario(name="flat", script="none", phases=plan.phases)
    return Index(
        **SHARED,
        stamp="20260101T000000Z",
        status="finished",
        repetitions=1,
        baseline=None,
        variants=(VARIANT,),
        factors=(),
        params=to_data(params_of(scenario)),
        order=((NAME,),),
        cells=(entry,),
    )
