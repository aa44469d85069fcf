"""Evaluates a cell's load: drain, both reads with the crash of every store between them, audit, trials, verdict."""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import figures, raw, stats
from writepath.analysis.reads import audited
from writepath.errors import LoadError
from writepath.faults.judge import judge
from writepath.faults.trials import trials
from writepath.measure import loading
from writepath.measure.auditing import Auditing
from writepath.measure.drain import drain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from writepath import records as result
    from writepath.faults.cell_run import CellSpec, Lane
    from writepath.faults.scene import Scene
    from writepath.faults.trials import Struck
    from writepath.load import k6
    from writepath.measure.truth import Truth
    from writepath.records.faults import CellStatus, Trial


@dataclass(kw_only=True)
class Found:
    """What is known of a cell under way."""

    struck: list[Struck] = field(default_factory=list)
    load_ended_us: int = 0
    trials: tuple[Trial, ...] = ()
    requests: result.Requests | None = None
    audit: result.Audit | None = None
    order: result.Order | None = None
    gauges: list[Mapping[str, float]] = field(
        default_factory=list
    )  # of the final store's service, now and then
    durability: result.Durability | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    capacity_per_s: float | None = None


def status(spec: CellSpec, lane: Lane, found: Found, error: str | None) -> tuple[CellStatus, tuple[str, ...]]:
    """A cell that could not be made says nothing of the variant."""
    if error is not None:
        return "unknown", (error,)
    naive = spec.variant.naive_twin_of is not None
    alone = lane.side_by_side == 1
    return judge(found.trials, found.audit, wanted=spec.trials, naive=naive, alone=alone)


def evaluate(
    spec: CellSpec, lane: Lane, scene: Scene, truth: Truth, loaded: tuple[str, k6.LoadResult], found: Found
) -> None:
    """Fills in audit and trials; what cannot be read leaves the audit's verdict at UNKNOWN."""
    run_id, ended = loaded
    taken = loading.keep_ledger(ended, spec.folder)
    dropped = ended.dropped or 0
    scene.all_ready()
    drain(truth, report=lambda _rows, _waiting: None)
    auditing = Auditing(run_id=run_id, dataset=spec.dataset, say=lane.say)
    found.requests = figures.requests(len(taken.records) + dropped, taken, dropped)
    auditing.read(truth)
    first = auditing.first
    raw.save_stored((first,), spec.folder / raw.STORED_FILE)
    if truth.store is not truth.ingress:  # only a queue in between can change the order
        found.gauges.append(truth.store.gauges())
        found.order = figures.order(taken, first, redelivered(found.gauges))
    auditing.crash(scene.stack, truth)
    auditing.read_again(truth)
    raw.save_stored(auditing.stored, spec.folder / raw.STORED_FILE)
    counts = auditing.counts(planned=found.requests.planned, dropped=dropped)
    comparison = audited(taken, auditing.stored, counts, run_id)
    found.audit = dataclasses.replace(comparison.audit, seconds=round(auditing.seconds, 3))
    found.trials = trials(
        taken, by_trial(found.audit, comparison.members), found.struck, spec.rate_per_s, found.load_ended_us
    )


def redelivered(gauges: Sequence[Mapping[str, float]]) -> int | None:
    """Growth between readings, each instance by itself, which begins again from 0 when restarted; None: not counted."""
    names = {name for reading in gauges for name in reading if name.startswith("redelivered@")}
    counts = [[reading[name] for reading in gauges if name in reading] for name in names]
    return int(sum(stats.accumulated(values)[-1] for values in counts)) if counts else None


def by_trial(audit: result.Audit, members: Mapping[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """The classes that trials count.

    Which of the absent the queue holds is not known: all of them are stranded where it holds as many, else lost.
    """
    nothing = np.empty(0, np.int64)
    absent = members.get("absent", nothing)
    stranded = audit.stranded > 0 and audit.lost == 0
    found = {
        name: members.get(name, nothing) for name in ("vanished", "corrupted", "duplicated", "recovered")
    }
    return {**found, "lost": nothing if stranded else absent, "stranded": absent if stranded else nothing}


def generator_ended(generator: k6.Generator) -> LoadError:
    """k6 must outlast every trial."""
    with contextlib.suppress(LoadError):
        return LoadError(f"k6 ended before the last fault: {generator.result().meaning}; see k6.log")
    return LoadError("k6 ended before the last fault; see k6.log")
