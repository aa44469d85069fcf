"""What did each trial of a load cost? Pure functions over ledger, both read-backs and the moments of the faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.faults.recovery import Sent, recovered_after_s
from writepath.load.ledger import Outcome, error_kind
from writepath.result.faults import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from writepath.faults.schedule import Moment
    from writepath.load.ledger import Ledger

REACH_MS = (
    6000.0  # a fault can take writes from so long before it: a weakened control flushes every 5 s at most
)
TAKEN_MS = 250.0  # acknowledged so shortly before a deletion may still have been in the queue
EXPOSED_MS = 5000.0  # acknowledged so near to the fault that it could have taken them


@dataclass(frozen=True, kw_only=True)
class Struck:
    """One injected fault, as the runner saw it."""

    moment: Moment
    injected_ms: float  # epoch
    healed_ms: float
    proof: str  # empty: not proved
    destroyed_ms: float | None = None  # when what it deletes on purpose was gone


def trials(
    ledger: Ledger,
    classes: Mapping[str, NDArray[np.int64]],
    struck: Sequence[Struck],
    rate_per_s: float,
    end_ms: float,
) -> tuple[Trial, ...]:
    """One record a fault.

    classes: by name, their sequences, each a field of Trial; end_ms: until when the load's answers are known.
    """
    begins = [one.injected_ms - REACH_MS for one in struck[1:]]
    stretches = zip([-np.inf, *begins], [*begins, np.inf], strict=True)
    sent = Sent.of(ledger)
    found = []
    for one, (begin_ms, stretch_end_ms) in zip(struck, stretches, strict=True):
        until_ms = min(stretch_end_ms + REACH_MS, end_ms)
        recovered = recovered_after_s(sent, one.healed_ms, rate_per_s, until_ms)
        found.append(_trial(ledger, classes, one, (begin_ms, stretch_end_ms), recovered))
    return tuple(found)


def _trial(
    ledger: Ledger,
    classes: Mapping[str, NDArray[np.int64]],
    one: Struck,
    stretch_ms: tuple[float, float],
    recovered: float | None,
) -> Trial:
    records, outcomes = ledger.records, ledger.outcomes()
    at_ms = records["start_ms"]
    mine = (at_ms >= stretch_ms[0]) & (at_ms < stretch_ms[1])
    seqs = records["seq"][mine]
    acknowledged = np.equal(outcomes, Outcome.ACKNOWLEDGED)
    answered_ms = at_ms + records["blocked_ms"] + records["duration_ms"]
    near = (answered_ms >= one.injected_ms - EXPOSED_MS) & (at_ms <= one.healed_ms + EXPOSED_MS)
    well_ms = stretch_ms[1] if recovered is None else one.healed_ms + recovered * 1000
    burst = ~acknowledged & (at_ms >= one.injected_ms - EXPOSED_MS) & (at_ms < well_ms)
    counts = {name: int(np.isin(seqs, sequences).sum()) for name, sequences in classes.items()}
    return Trial(
        number=one.moment.number,
        steady_seconds=one.moment.steady_seconds,
        lasts_seconds=one.moment.lasts_seconds,
        injected_at_ms=round(one.injected_ms, 3),
        healed_at_ms=round(one.healed_ms, 3),
        effective=bool(one.proof) and bool((acknowledged & near).any()),
        proof=one.proof or "no proof that it happened",
        recovered_after_seconds=recovered,
        exposed=int((acknowledged & near & mine).sum()),
        errors=_kinds(records[burst & mine]),
        taken_along=_taken_along(one, records["seq"][mine], at_ms[mine], answered_ms[mine], classes),
        **counts,
    )


def _taken_along(
    one: Struck,
    seqs: NDArray[np.int64],
    sent_ms: NDArray[np.float64],
    answered_ms: NDArray[np.float64],
    classes: Mapping[str, NDArray[np.int64]],
) -> int:
    """Lost with what was deleted: sent before it was gone, and acknowledged a moment before, or afterwards.

    RabbitMQ confirms what is on its way to a queue while that is deleted: to it, a deleted queue has nothing to nack.
    """
    if one.destroyed_ms is None:
        return 0
    inside = (sent_ms <= one.destroyed_ms) & (answered_ms >= one.injected_ms - TAKEN_MS)
    return int(np.isin(seqs[inside], classes["lost"]).sum())


def _kinds(records: NDArray[np.void]) -> dict[str, int]:
    found: dict[str, int] = {}
    for status, code in zip(records["status"].tolist(), records["error_code"].tolist(), strict=True):
        kind = error_kind(status, code)
        found[kind] = found.get(kind, 0) + 1
    return dict(sorted(found.items(), key=lambda item: -item[1]))
