"""Figures of each fault of a load, from the moments of the faults, the requests and their classes in the audit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from writepath.analysis.stats import US_PER_S
from writepath.load.ledger import error_kind
from writepath.records.faults import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from writepath.analysis.stats import Ints, Marks
    from writepath.records.faults import Injection

WINDOW_S = 10.0
SUCCESS_MIN = 0.999  # of the requests sent in the window
RATE_MIN = 0.95  # acknowledged, of the scheduled
STEP_US = 100_000
REACH_US = (
    6_000_000  # a fault can take writes from so long before it: a weakened control flushes every 5 s at most
)
TAKEN_US = 250_000  # acknowledged so shortly before a deletion may still have been in the queue
EXPOSED_US = 5_000_000  # acknowledged so near to the fault that it could have taken them
EARLIEST_US, LATEST_US = 0, np.iinfo(np.int64).max  # an interrupted request has no time, and is in no trial


@dataclass(frozen=True, kw_only=True, eq=False)
class Sent:
    """The requests of a load. Arrays are parallel."""

    at_us: Ints  # epoch; below 0: interrupted with k6
    answered_us: Ints
    acknowledged: Marks
    status: NDArray[Any]
    error_code: NDArray[Any]
    classes: Mapping[str, Marks]  # of the audit, each a field of Trial


def recovered_after_s(
    at_us: Ints, acknowledged: Marks, healed_us: int, rate_per_s: float, until_us: int
) -> float | None:
    """Seconds from the heal to the start of the first good 10 s window; None where none ends before until_us.

    Good: at least 99.9 % of what was sent in it is acknowledged, and at least 95 % of what was scheduled. Windows
    begin every 0.1 s from the heal on. A window is complete only when all its requests have their answer, so
    until_us is the last moment whose answers are known.
    """
    window_us = round(WINDOW_S * US_PER_S)
    begins = np.arange(healed_us, until_us - window_us + STEP_US // 2, STEP_US)
    if not len(begins):
        return None
    order = np.argsort(at_us, kind="stable")
    sent_us = at_us[order]
    first, last = np.searchsorted(sent_us, begins), np.searchsorted(sent_us, begins + window_us)
    so_far = np.concatenate(([0], np.cumsum(acknowledged[order])))
    served, count = so_far[last] - so_far[first], last - first
    good = (served >= SUCCESS_MIN * count) & (served >= RATE_MIN * rate_per_s * WINDOW_S)
    found = np.flatnonzero(good)
    return round(int(begins[found[0]] - healed_us) / US_PER_S, 3) if len(found) else None


def trials(sent: Sent, injections: Sequence[Injection], rate_per_s: float, end_us: int) -> tuple[Trial, ...]:
    """One record a fault. end_us: until when the load's answers are known."""
    edges = [EARLIEST_US, *(one.injected_at_us - REACH_US for one in injections[1:]), LATEST_US]
    found = []
    for one, begin_us, stretch_end_us in zip(injections, edges, edges[1:], strict=False):
        until_us = min(stretch_end_us + REACH_US, end_us)
        recovered = recovered_after_s(sent.at_us, sent.acknowledged, one.healed_at_us, rate_per_s, until_us)
        found.append(_trial(sent, one, (begin_us, stretch_end_us), recovered))
    return tuple(found)


def _trial(sent: Sent, one: Injection, stretch_us: tuple[int, int], recovered: float | None) -> Trial:
    at_us, answered_us, acknowledged = sent.at_us, sent.answered_us, sent.acknowledged
    mine = (at_us >= stretch_us[0]) & (at_us < stretch_us[1])
    near = (answered_us >= one.injected_at_us - EXPOSED_US) & (at_us <= one.healed_at_us + EXPOSED_US)
    well_us = stretch_us[1] if recovered is None else one.healed_at_us + round(recovered * US_PER_S)
    burst = mine & ~acknowledged & (at_us >= one.injected_at_us - EXPOSED_US) & (at_us < well_us)
    answers = zip(sent.status[burst].tolist(), sent.error_code[burst].tolist(), strict=True)
    return Trial(
        number=one.number,
        effective=bool(one.proof) and bool((acknowledged & near).any()),
        recovered_after_seconds=recovered,
        exposed=int((acknowledged & near & mine).sum()),
        errors=dict(Counter(error_kind(*answer) for answer in answers).most_common()),
        taken_along=_taken_along(sent, one, mine),
        **{name: int((mine & members).sum()) for name, members in sent.classes.items()},
    )


def _taken_along(sent: Sent, one: Injection, mine: Marks) -> int:
    """Lost with what was deleted: sent before it was gone, and acknowledged a moment before, or afterwards.

    RabbitMQ confirms what is on its way to a queue while that is deleted: to it, a deleted queue has nothing to nack.
    """
    if one.destroyed_at_us is None:
        return 0
    inside = (sent.at_us <= one.destroyed_at_us) & (sent.answered_us >= one.injected_at_us - TAKEN_US)
    return int((mine & inside & sent.classes["lost"]).sum())
