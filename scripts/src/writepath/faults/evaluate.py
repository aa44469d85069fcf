"""What came of a cell's load? Drain, both reads with the crash of every store between them, audit, trials, verdict."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from writepath.errors import AuditError, LoadError
from writepath.faults.judge import judge
from writepath.faults.trials import fates, trials
from writepath.load import ledger
from writepath.load.plan import encode_id
from writepath.run import audit
from writepath.run import drain as draining
from writepath.run import stored as stored_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from writepath import result
    from writepath.faults.cell_run import CellSpec, Lane
    from writepath.faults.scene import Scene
    from writepath.faults.trials import Struck
    from writepath.load import k6
    from writepath.result.faults import CellStatus, Trial
    from writepath.run.truth import Truth


@dataclass(kw_only=True)
class Found:
    """What is known of a cell under way."""

    struck: list[Struck] = field(default_factory=list)
    load_ended_ms: float = 0.0
    trials: tuple[Trial, ...] = ()
    audit: result.Audit | None = None
    durability: result.Durability | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    capacity_per_s: float | None = None


def status(spec: CellSpec, found: Found, error: str | None) -> tuple[CellStatus, tuple[str, ...]]:
    """A cell that could not be made says nothing of the variant."""
    if error is not None:
        return "unknown", (error,)
    naive = spec.variant.naive_twin_of is not None
    return judge(found.trials, found.audit, wanted=spec.trials, naive=naive)


def evaluate(
    spec: CellSpec, lane: Lane, scene: Scene, truth: Truth, loaded: tuple[str, k6.LoadResult], found: Found
) -> None:
    """Fills in audit and trials; what cannot be read leaves the audit at not-read."""
    run_id, ended = loaded
    taken = _kept_ledger(ended, spec)
    drained = draining.drain(truth, report=lambda _rows, _waiting: None)
    lines = stored_rows.content_hashes(spec.dataset.lines)
    try:
        first = truth.read(run_id, lines)
        stored_rows.save(first, spec.folder / "stored.csv.gz")
        left = truth.pending()
        crash_stores(scene)
        second = truth.read(run_id, lines)
        stored_rows.save(second, spec.folder / "stored-after-crash.csv.gz")
        rows = truth.store.count()
    except AuditError as failure:
        lane.say(f"{spec.variant.name} {spec.fault.key}: {failure}")
        found.audit = audit.not_read()
        return
    in_queue = left.waiting + left.dead
    del drained
    counts = audit.Counts(
        planned=len(taken.records) + (ended.dropped or 0),
        dropped=ended.dropped or 0,
        store_rows=rows,
        left_in_queue=in_queue,
        suppressed_duplicates=None,
    )
    found.audit = audit.compare(
        audit.Attempts.of(taken), first, counts, lambda seq: encode_id(run_id, seq), second=second
    )
    by_class = fates(taken, first, second, in_queue)
    found.trials = trials(taken, by_class, found.struck, spec.rate_per_s, found.load_ended_ms)


def _kept_ledger(ended: k6.LoadResult, spec: CellSpec) -> ledger.Ledger:
    records = ledger.read(ended.ledger)
    if ended.started is not None:
        records = ledger.concluded(records, ended.started)
    ledger.write(records, spec.folder / "ledger.csv.gz")
    ended.ledger.unlink()
    return records


def generator_ended(generator: k6.Generator) -> LoadError:
    """k6 must outlast every trial."""
    with contextlib.suppress(LoadError):
        return LoadError(f"k6 ended before the last fault: {generator.result().meaning}; see k6.log")
    return LoadError("k6 ended before the last fault; see k6.log")
