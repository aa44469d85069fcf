"""The figures of each trial of a load: pure functions over ledger, both reads and the moments of the faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis.stats import US_PER_MS, US_PER_S
from writepath.faults.recovery import Sent, recovered_after_s
from writepath.load.ledger import Outcome, error_kind
from writepath.records.faults import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from writepath.faults.schedule import Moment
    from writepath.load.ledger import Ledger

REACH_US = (
    6_000_000  # a fault can take writes from so long before it: a weakened control flushes every 5 s at most
)
EARLIEST_US, LATEST_US = 0, np.iinfo(np.int64).max  # an interrupted request is before the first
TAKEN_US = 250_000  # acknowledged so shortly before a deletion may still have been in the queue
EXPOSED_US = 5_000_000  # acknowledged so near to the fault that it could have taken them


@dataclass(frozen=True, kw_only=True)
class Struck:
    """One injected fault, as the runner saw it."""

    moment: Moment
    injected_us: int  # epoch
    healed_us: int
    proof: str  # empty: not proved
    destroyed_us: int | None = None  # when what it deletes on purpose was gone


def trials(
    ledger: Ledger,
    classes: Mapping[str, NDArray[np.int64]],
    struck: Sequence[Struck],
    rate_per_s: float,
    end_us: int,
) -> tuple[Trial, ...]:
    """One record a fault.

    classes: by name, their sequences, each a field of Trial; end_us: until when the load's answers are known.
    """
    begins = [one.injected_us - REACH_US for one in struck[1:]]
    stretches = zip([EARLIEST_US, *begins], [*begins, LATEST_US], strict=True)
    sent = Sent.of(ledger)
    found = []
    for one, (begin_us, stretch_end_us) in zip(struck, stretches, strict=True):
        until_us = min(stretch_end_us + REACH_US, end_us)
        recovered = recovered_after_s(sent, one.healed_us, rate_per_s, until_us)
        found.append(_trial(ledger, classes, one, (begin_us, stretch_end_us), recovered))
    return tuple(found)


def _trial(
    ledger: Ledger,
    classes: Mapping[str, NDArray[np.int64]],
    one: Struck,
    stretch_us: tuple[int, int],
    recovered: float | None,
) -> Trial:
    records, outcomes = ledger.records, ledger.outcomes()
    at_us = records["start_us"]
    mine = (at_us >= stretch_us[0]) & (at_us < stretch_us[1])
    seqs = records["seq"][mine]
    acknowledged = np.equal(outcomes, Outcome.ACKNOWLEDGED)
    answered_us = at_us + records["blocked_us"] + records["duration_us"]
    near = (answered_us >= one.injected_us - EXPOSED_US) & (at_us <= one.healed_us + EXPOSED_US)
    well_us = stretch_us[1] if recovered is None else one.healed_us + round(recovered * US_PER_S)
    burst = ~acknowledged & (at_us >= one.injected_us - EXPOSED_US) & (at_us < well_us)
    counts = {name: int(np.isin(seqs, sequences).sum()) for name, sequences in classes.items()}
    return Trial(
        number=one.moment.number,
        steady_seconds=one.moment.steady_seconds,
        lasts_seconds=one.moment.lasts_seconds,
        injected_at_ms=one.injected_us / US_PER_MS,
        healed_at_ms=one.healed_us / US_PER_MS,
        effective=bool(one.proof) and bool((acknowledged & near).any()),
        proof=one.proof or "no proof that it happened",
        recovered_after_seconds=recovered,
        exposed=int((acknowledged & near & mine).sum()),
        errors=_kinds(records[burst & mine]),
        taken_along=_taken_along(one, records["seq"][mine], at_us[mine], answered_us[mine], classes),
        **counts,
    )


def _taken_along(
    one: Struck,
    seqs: NDArray[np.int64],
    sent_us: NDArray[np.int64],
    answered_us: NDArray[np.int64],
    classes: Mapping[str, NDArray[np.int64]],
) -> int:
    """Lost with what was deleted: sent before it was gone, and acknowledged a moment before, or afterwards.

    RabbitMQ confirms what is on its way to a queue while that is deleted: to it, a deleted queue has nothing to nack.
    """
    if one.destroyed_us is None:
        return 0
    inside = (sent_us <= one.destroyed_us) & (answered_us >= one.injected_us - TAKEN_US)
    return int(np.isin(seqs[inside], classes["lost"]).sum())


def _kinds(records: NDArray[np.void]) -> dict[str, int]:
    found: dict[str, int] = {}
    for status, code in zip(records["status"].tolist(), records["error_code"].tolist(), strict=True):
        kind = error_kind(status, code)
        found[kind] = found.get(kind, 0) + 1
    return dict(sorted(found.items(), key=lambda item: -item[1]))
