"""Load plans: the schedule of an open load as k6 computes it, a closed load, and the ids of requests."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from writepath.config.registry import Phase
from writepath.errors import UsageError

TIME_UNIT_S = 1000  # k6 takes whole rates only; per 1,000 s, a thousandth of a request per second is whole
MEASURED_ANSWER_S = 10.0  # see ArrivalPlan.virtual_users
SPARE_VIRTUAL_USERS = 50
MOST_VIRTUAL_USERS = 2000
CLOCK_RESOLUTION_NS = 10**6  # of a start in what was published before k6 recorded microseconds
NS_PER_S, NS_PER_MS, NS_PER_US = 10**9, 10**6, 10**3
_AT_ONCE = 1 << 20  # of ten million requests, whose every copy would take 80 MB
_ID = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-8([0-9a-f]{3})-([0-9a-f]{12})")


@dataclass(frozen=True, kw_only=True, eq=False)
class ClosedPlan:
    """A closed load: each virtual user sends its next request when the last one is answered. Nothing is scheduled."""

    virtual_users: int
    seconds: float
    phases: tuple[Phase, ...] = ()
    planned: None = None  # as many as the answers let through

    def rate_at(self, seconds: float) -> None:
        """No rate is scheduled."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrivalPlan:
    """An open load: a request is sent at each scheduled send time, whatever the answers do."""

    phases: tuple[Phase, ...]
    starts_ns: NDArray[np.int64]  # by planned request, since the load's start; ascending; as k6 rounds them
    answer_s: float = MEASURED_ANSWER_S  # the longest answer time that is carried without a drop
    most_users: int | None = None  # VIRTUAL_USERS; None: computed

    @property
    def planned(self) -> int:
        """How many requests are to be sent."""
        return len(self.starts_ns)

    @property
    def seconds(self) -> float:
        """Length of all phases."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def peak_per_s(self) -> float:
        """The highest planned rate."""
        return max(max(phase.from_per_s, phase.to_per_s) for phase in self.phases)

    @property
    def virtual_users(self) -> int:
        """How many requests may be in flight at once; k6 drops what is due beyond, and drops count as unserved.

        Little's law: the peak rate times the answer time that is carried without a drop. For a measured load
        that is the proxy's deadline, after which it answers 504, so that a stalled store or application shows
        as 503s and 504s and not as drops, which are the generator's. A virtual user takes 0.3 MB and 1 ms of
        CPU, hence the bound; the in-flight cap of the applications lies far below it.
        """
        if self.most_users is not None:
            return self.most_users
        return min(ceil(self.peak_per_s * self.answer_s) + SPARE_VIRTUAL_USERS, MOST_VIRTUAL_USERS)

    def phase_indices(self) -> NDArray[np.intp]:
        """By planned request, the index of its phase."""
        ends_ns = np.cumsum([round(phase.seconds * NS_PER_S) for phase in self.phases])
        return np.minimum(np.searchsorted(ends_ns, self.starts_ns, side="left"), len(self.phases) - 1)

    def rate_at(self, seconds: float) -> float | None:
        """The planned rate so many seconds after the load's start; 0 outside of it."""
        for phase in self.phases:
            if 0 <= seconds < phase.seconds:
                share = seconds / phase.seconds
                return phase.from_per_s + (phase.to_per_s - phase.from_per_s) * share
            seconds -= phase.seconds
        return 0.0


LoadPlan = ArrivalPlan | ClosedPlan


@dataclass(frozen=True, kw_only=True, eq=False)
class Alignment:
    """Which planned request each started iteration was. Arrays are parallel to the input of `align`."""

    origin_ns: int  # epoch: the load's start; 0 where nothing was started
    slots: NDArray[np.intp]  # index into ArrivalPlan.starts_ns
    started_us: NDArray[np.int64]  # as it was given
    planned_ns: NDArray[np.int64]  # of the plan

    @property
    def origin_us(self) -> int:
        """Epoch: the load's start, to the nearest microsecond."""
        return round(self.origin_ns / NS_PER_US)

    def behind_ns(self, part: slice = slice(None)) -> NDArray[np.int64]:
        """By iteration, start after the scheduled send time; below 0 by at most the clock's resolution."""
        behind: NDArray[np.int64] = self.started_us[part] * NS_PER_US
        behind -= self.planned_ns[self.slots[part]]
        behind -= self.origin_ns
        return behind


def arrival_plan(phases: Sequence[Phase], answer_s: float = MEASURED_ANSWER_S) -> ArrivalPlan:
    """The plan of k6's ramping-arrival-rate executor for these phases.

    The same arithmetic in the same order as k6 1.8.1 (lib/executor/ramping_arrival_rate.go), so that the
    last bit of a sum decides alike whether one more request fits. UsageError where the plan is empty.
    """
    stages = [_stage_ns(phase) for phase in phases]
    starts_ns: list[NDArray[np.int64]] = []
    stage_start_ns = 0
    planned_so_far = 0.0
    request = 1.0  # the next one; a request is due when the area below the rate reaches its number
    for from_per_ns, to_per_ns, stage_ns in stages:
        if from_per_ns != to_per_ns:
            end = planned_so_far + stage_ns * ((to_per_ns - from_per_ns) / 2 + from_per_ns)
        else:
            end = planned_so_far + stage_ns * to_per_ns
        due = np.arange(request, np.floor(end) + 1) - planned_so_far
        starts_ns.append(_offsets_ns(due, from_per_ns, to_per_ns, stage_ns) + stage_start_ns)
        request += len(due)
        del due  # of ten million requests, 80 MB
        planned_so_far = end
        stage_start_ns += int(stage_ns)
    if request == 1.0:
        raise UsageError(f"phases {', '.join(phase.name for phase in phases)}: too short to send one request")
    whole_ns = np.concatenate(starts_ns)
    starts_ns.clear()
    return ArrivalPlan(phases=tuple(phases), answer_s=answer_s, starts_ns=whole_ns)


def _stage_ns(phase: Phase) -> tuple[float, float, float]:
    """k6's from, to (requests per nanosecond) and length of the phase's stage."""
    unit_ns = float(TIME_UNIT_S * NS_PER_S)
    rates = (round(phase.from_per_s * TIME_UNIT_S) / unit_ns, round(phase.to_per_s * TIME_UNIT_S) / unit_ns)
    return (*rates, float(round(phase.seconds * 1000) * NS_PER_MS))


def _offsets_ns(
    due: NDArray[np.float64], from_per_ns: float, to_per_ns: float, stage_ns: float
) -> NDArray[np.int64]:
    """When the area below the stage's line reaches each number in `due`, since the stage's start."""
    if from_per_ns == to_per_ns:
        return (due / to_per_ns).astype(np.int64)
    root = stage_ns * (from_per_ns * from_per_ns * stage_ns + 2 * due * (to_per_ns - from_per_ns))
    falling = from_per_ns * stage_ns - np.sqrt(np.maximum(root, 0.0))
    return (falling / (from_per_ns - to_per_ns)).astype(np.int64)


def constant_plan(name: str, requests: int, rate_per_s: float) -> ArrivalPlan:
    """Exactly so many requests at one rate."""
    seconds = (requests + 0.5) / rate_per_s  # half an interval more: no rounding decides on the last one
    phase = Phase(name=name, seconds=seconds, from_per_s=rate_per_s, to_per_s=rate_per_s)
    return arrival_plan([phase])


def align(
    plan: ArrivalPlan, sequences: NDArray[np.int64], started_us: NDArray[np.int64], processes: int = 1
) -> Alignment:
    """Finds the slot of each started iteration; both arrays ascending by sequence, which may have gaps.

    processes: of k6, which take the planned requests, and the sequence numbers, in turns.

    A dropped request takes no sequence number, so slot = sequence + drops before it. k6 never starts early:
    the slots due at an iteration's start bound that number from above, and so do those of every later
    iteration. The least of these bounds is taken. It gives the true slot wherever k6 was on time then or
    later; else the lateness it gives is too small, never too large.
    """
    last = plan.planned - 1
    if len(sequences) and sequences[-1] > last:
        raise ValueError(f"sequence {sequences[-1]} is beyond the {plan.planned} scheduled requests")
    parts = [slice(begin, begin + _AT_ONCE) for begin in range(0, len(sequences), _AT_ONCE)]
    first_ns = (int((started_us[part] * NS_PER_US - plan.starts_ns[sequences[part]]).min()) for part in parts)
    origin_ns = min(first_ns, default=0)
    slots = np.empty(len(sequences), np.intp)
    for first in range(processes):
        own = slice(None) if processes == 1 else np.flatnonzero(sequences % processes == first)
        found = _slots(
            plan.starts_ns[first::processes], sequences[own] // processes, started_us[own], origin_ns
        )
        slots[own] = found * processes + first
    return Alignment(origin_ns=origin_ns, slots=slots, started_us=started_us, planned_ns=plan.starts_ns)


def _slots(
    starts_ns: NDArray[np.int64],
    sequences: NDArray[np.int64],
    started_us: NDArray[np.int64],
    origin_ns: int,
) -> NDArray[np.intp]:
    """Of one process; see align."""
    slots = np.empty(len(sequences), np.intp)
    least = last = len(starts_ns) - 1  # drops before any later request
    for begin in reversed(range(0, len(sequences), _AT_ONCE)):
        part = slice(begin, begin + _AT_ONCE)
        own, offsets_ns = sequences[part], started_us[part] * NS_PER_US - origin_ns
        due = np.searchsorted(starts_ns, offsets_ns + CLOCK_RESOLUTION_NS, side="right") - 1
        bounds = np.clip(due - own, 0, last - own)
        dropped_before = np.minimum(np.minimum.accumulate(bounds[::-1])[::-1], least)
        least = int(dropped_before[0])
        slots[part] = own + dropped_before
    return slots


def new_run_id() -> str:
    """15 hex digits, random."""
    return f"{secrets.randbits(60):015x}"


def encode_id(run_id: str, sequence: int) -> str:
    """UUIDv8 `rrrrrrrr-rrrr-8rrr-8sss-ssssssssssss`: r = run_id (15 hex digits), s = the sequence in 15."""
    s = f"{sequence:015x}"
    return f"{run_id[:8]}-{run_id[8:12]}-8{run_id[12:]}-8{s[:3]}-{s[3:]}"


def decode_id(text: str) -> tuple[str, int] | None:
    """(run id, sequence) of a canonical id, or None where it is no id of any run."""
    match = _ID.fullmatch(text)
    if match is None:
        return None
    a, b, c, d, e = match.groups()
    return a + b + c, int(d + e, 16)
