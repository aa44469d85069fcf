"""When each request was to be sent, in which phase and second: by the schedule; without one, as it was sent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.config.registry import Phase
from writepath.errors import LoadError
from writepath.load.plan import align, arrival_plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from writepath.analysis.stats import Ints
    from writepath.records.load_facts import LoadFacts

US_PER_S = 1_000_000
NS_PER_US, NS_PER_MS = 1000, 1_000_000
CLOSED_PHASE = "load"


@dataclass(frozen=True, kw_only=True, eq=False)
class Timeline:
    """Of the requests that have times, ascending by sequence."""

    origin_us: int  # epoch: the load's start by its own clock
    phases: Ints  # requests scheduled, by phase
    seconds: Ints  # by second; one that was dropped counts where it was due
    slots: Ints | None  # by request, its place in the schedule; None: there is no schedule
    starts_ns: Ints | None  # of the schedule, since the load's start
    origin_ns: int  # the load's start, since the first request's
    start_us: Ints  # epoch
    scheduled: bool

    def behind_ns(self, part: slice) -> Ints:
        """By request, from its scheduled send time to its start; below 0 by at most the clock's resolution."""
        if self.slots is None or self.starts_ns is None:
            return np.zeros(len(self.start_us[part]), np.int64)
        since: Ints = (self.start_us[part] - self._first_us) * NS_PER_US
        since -= self.origin_ns
        since -= self.starts_ns[self.slots[part]]
        return since

    def phase(self, part: slice) -> NDArray[np.int8]:
        """By request, the index of its phase."""
        if self.slots is None:
            return np.zeros(len(self.start_us[part]), np.int8)
        inner = np.cumsum(self.phases)[:-1]
        return np.searchsorted(inner, self.slots[part], side="right").astype(np.int8)

    def second(self, part: slice) -> Ints:
        """By request, the second of the load."""
        if self.slots is None:
            second = (self.start_us[part] - self.origin_us) // US_PER_S
            return np.minimum(second, len(self.seconds) - 1)
        inner = np.cumsum(self.seconds)[:-1]
        return np.searchsorted(inner, self.slots[part], side="right")

    @property
    def _first_us(self) -> int:
        return int(self.start_us.min())


def timeline(facts: LoadFacts, sequence: Ints, start_us: Ints, untimed: int) -> Timeline:
    """LoadError where no request has times, or where they are not of this schedule. untimed: requests without times."""
    if not len(start_us):
        raise LoadError("no request of the load ended; see k6.log in the folder of the run")
    return _closed(facts, start_us, untimed) if facts.model == "closed" else _open(facts, sequence, start_us)


def _closed(facts: LoadFacts, start_us: Ints, untimed: int) -> Timeline:
    origin_us = int(start_us.min())
    seconds = max(1, math.ceil(facts.seconds))
    own = np.minimum((start_us - origin_us) // US_PER_S, seconds - 1)
    return Timeline(
        origin_us=origin_us,
        phases=np.array([len(start_us) + untimed]),
        seconds=np.bincount(own, minlength=seconds),
        slots=None,
        starts_ns=None,
        origin_ns=0,
        start_us=start_us,
        scheduled=False,
    )


def _open(facts: LoadFacts, sequence: Ints, start_us: Ints) -> Timeline:
    plan = arrival_plan([Phase(**vars(phase)) for phase in facts.phases])
    if sequence[-1] >= plan.planned:
        raise LoadError(
            f"{plan.planned} requests are scheduled, but one has sequence {sequence[-1]}:"
            " the phases of facts.json are not those of the load"
        )
    first_us = int(start_us.min())
    aligned = align(plan, sequence, start_us - first_us)
    starts_ns, origin_ns = plan.starts_ns, aligned.origin_ns
    ends_ns = np.cumsum([round(phase.seconds * 1000) * NS_PER_MS for phase in facts.phases])[:-1]
    phases = np.searchsorted(starts_ns, ends_ns, side="right")  # one at the edge is of the phase before
    edges_ns = np.arange(1, math.ceil(plan.seconds)) * US_PER_S * NS_PER_US
    seconds = np.searchsorted(starts_ns, edges_ns)
    return Timeline(
        origin_us=first_us + round(origin_ns / NS_PER_US),
        phases=np.diff(phases, prepend=0, append=plan.planned),
        seconds=np.diff(seconds, prepend=0, append=plan.planned),
        slots=aligned.slots,
        starts_ns=starts_ns,
        origin_ns=origin_ns,
        start_us=start_us,
        scheduled=True,
    )
