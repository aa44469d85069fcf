"""Ledgers and read-backs with planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from writepath.faults.schedule import Moment
from writepath.faults.trials import Struck
from writepath.load.ledger import RECORD, Ledger
from writepath.records import Code
from writepath.records.faults import FAULTS_SCHEMA_VERSION, Cell, CellEntry, FaultsResult, Trial

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORIGIN_US = 1_700_000_000_000_000
RATE_PER_S = 50.0
STEP_US = round(1_000_000 / RATE_PER_S)


def ledger(seconds: float, failed: dict[range, int] | None = None) -> Ledger:
    """Requests at a steady rate, each answered 201 after 5 ms but the failed ones: sequences by status."""
    records = np.zeros(int(seconds * RATE_PER_S), RECORD)
    records["seq"] = np.arange(len(records))
    records["start_us"] = ORIGIN_US + records["seq"] * STEP_US
    records["duration_us"] = 5000
    records["status"] = 201
    for sequences, status in (failed or {}).items():
        records["status"][list(sequences)] = status
    return Ledger(records=records)


def lost(*sequences: int) -> dict[str, NDArray[np.int64]]:
    """Classes of which only this one has members."""
    nothing = np.empty(0, np.int64)
    names = ("vanished", "stranded", "corrupted", "duplicated", "recovered")
    return {"lost": np.array(sequences, np.int64), **dict.fromkeys(names, nothing)}


def struck(
    number: int, at_s: float, lasts_s: float = 1.0, proof: str = "replaced by a new process"
) -> Struck:
    moment = Moment(number=number, steady_seconds=1.0, lasts_seconds=lasts_s, choice=0.5)
    injected_us, healed_us = (ORIGIN_US + round(second * 1_000_000) for second in (at_s, at_s + lasts_s))
    return Struck(moment=moment, injected_us=injected_us, healed_us=healed_us, proof=proof)


def at(second: float) -> int:
    """The sequence sent at that second."""
    return int(second * RATE_PER_S)


CODE = Code(commit="0" * 40, dirty=False)
TRIAL = Trial(
    number=1,
    steady_seconds=1.0,
    lasts_seconds=1.0,
    injected_at_ms=0.0,
    healed_at_ms=1000.0,
    effective=True,
    proof="replaced by a new process",
    recovered_after_seconds=2.0,
    exposed=100,
    lost=0,
    vanished=0,
    stranded=0,
    corrupted=0,
    duplicated=0,
    recovered=0,
    errors={},
)
CELL = Cell(
    schema_version=FAULTS_SCHEMA_VERSION,
    run_id="0123456789abcde",
    variant="jpa",
    title="JPA",
    family="jpa",
    naive_twin_of=None,
    acknowledges="committed and flushed in PostgreSQL",
    fault="kill-database",
    fault_words="kill -9 of the database",
    runtime="native",
    seed=1,
    rate_per_s=RATE_PER_S,
    trials_wanted=1,
    side_by_side=1,
    overrides={},
    code=CODE,
    started_at="2026-01-02T03:04:05.000Z",
    finished_at="2026-01-02T03:05:05.000Z",
    outcome="finished",
    error=None,
    status="held",
    reasons=(),
    trials=(TRIAL,),
)
ENTRY = CellEntry(
    variant="jpa",
    fault="kill-database",
    folder="jpa/kill-database",
    outcome="finished",
    status="held",
    seconds=60.0,
)
MATRIX = FaultsResult(
    schema_version=FAULTS_SCHEMA_VERSION,
    stamp="20260102T030405Z",
    status="finished",
    started_at="2026-01-02T03:04:05.000Z",
    finished_at="2026-01-02T03:06:05.000Z",
    seed=1,
    runtime="native",
    rate_per_s=RATE_PER_S,
    overrides={},
    code=CODE,
    wanted=("jpa/kill-database",),
    cells=(ENTRY,),
)
