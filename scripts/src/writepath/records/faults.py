"""Records of kind `faults`: what a suite asks of each cell, facts.json, a row a fault of trials.parquet, the result.

A cell is one variant under one kind of fault: several trials of it in one load, then one audit.
"""

import statistics
from typing import Literal

from writepath.records.base import record
from writepath.records.load_facts import LoadFacts
from writepath.records.measures import Audit, Order, Requests, Verdict

FaultStatus = Literal["held", "destroyed", "broke", "unknown", "loses", "not discriminating"]


@record
class FaultParams:
    """What is asked of the cells."""

    rate_per_s: float  # of the load
    trials: dict[str, int]  # by name of a cell, how often its fault is injected


@record
class Injection:
    """One fault, as the runner saw it."""

    number: int  # from 1
    steady_seconds: float  # of undisturbed load before it, drawn from the seed
    lasts_seconds: float  # from injection to heal, drawn from the seed
    injected_at_us: int  # epoch
    healed_at_us: int  # epoch
    destroyed_at_us: int | None = None  # epoch: when the place of writes that it deletes on purpose was gone
    proof: str  # in words: what shows that it happened; empty: nothing does


@record
class FaultFacts:
    """facts.json: what only the running system knew, and in evidence what its large tables say of the whole load."""

    fault: str  # key, kill-database
    words: str  # kill -9 of the database
    weakened: bool  # the variant gives up its guarantee on purpose
    rate_per_s: float
    capacity_per_s: float | None = None  # measured for `overload`
    trials_asked: int
    parallel: int  # cells that ran at a time: times to recover are upper bounds where it is more than one
    impossible: str = ""  # in words: why this machine cannot do it; then no load was sent
    injections: tuple[Injection, ...] = ()
    load_ended_at_us: int | None = None  # epoch: until when the load's answers are known
    load: LoadFacts | None = None  # null: it did not end
    requests: Requests | None = None  # evidence; planned: what k6 started or dropped until the load was ended
    audit: Audit | None = None  # evidence
    order: Order | None = None  # evidence of the queue paths, over load and all faults


@record
class Trial:
    """What one fault did, from its injection to the next one's. A write belongs to the trial in which it was sent."""

    number: int  # from 1
    effective: bool  # proved to have happened, with acknowledged writes near
    recovered_after_seconds: float | None  # from heal to the first good 10 s; null: not within the bound
    exposed: int  # writes acknowledged within 5 s around the fault
    lost: int  # acknowledged, and not in the store
    vanished: int  # in the store before all stores were killed, and not afterwards
    stranded: int  # acknowledged, and still in the queue or dead-lettered
    corrupted: int  # stored with different content
    duplicated: int  # stored more than once
    recovered: int  # without an answer, but stored
    taken_along: int  # of the lost: in the queue, or on their way to it, when it was deleted
    errors: dict[str, int]  # by kind, from injection to recovery

    @property
    def broken(self) -> int:
        """Writes for which the 201 was not kept, by the path; what was deleted on purpose is not."""
        lost = self.lost - self.taken_along
        return lost + self.vanished + self.stranded + self.corrupted + self.duplicated


@record
class FaultResult:
    """Sums are over effective faults: those that are proved to have happened."""

    fault: str  # key, kill-database
    words: str  # kill -9 of the database
    status: FaultStatus
    reasons: tuple[str, ...]
    trials: int  # faults that were injected
    effective: int
    losing: int  # effective faults with a broken guarantee
    loss_probability_bound: float | None  # upper 95 % bound of the share of such faults that lose data
    deleting: int  # effective faults that took acknowledged writes along with the queue they deleted
    exposed: int  # writes acknowledged within 5 s around a fault
    broken: int  # writes for which the 201 was not kept
    duplicated: int  # of the broken: stored more than once
    recovered: int  # writes without an answer, but stored
    errors: dict[str, int]  # requests by kind, most frequent first
    recovery_seconds: tuple[float | None, ...]  # by fault, effective or not; null: not within the bound
    capacity_per_s: float | None
    requests: Requests | None
    audit: Audit | None
    order: Order | None
    verdict: Verdict

    @property
    def lost_nothing(self) -> bool:
        """Proved by the audit, however late the path recovered."""
        read = self.audit is not None and self.audit.verdict == "PASS"
        return read and self.effective > 0 and not self.losing

    @property
    def recovered_in(self) -> tuple[float, ...]:
        """Seconds of the faults that the path recovered from."""
        return tuple(seconds for seconds in self.recovery_seconds if seconds is not None)

    @property
    def recovery_s_median(self) -> float | None:
        """Of the faults that the path recovered from."""
        return statistics.median(self.recovered_in) if self.recovered_in else None

    @property
    def recovery_s_max(self) -> float | None:
        """None where the path did not recover from one of them."""
        return max(self.recovered_in) if self.recovered_in and len(self.recovered_in) == self.trials else None

    @property
    def failed_requests(self) -> int:
        """Answered with an error, or not at all."""
        return sum(self.errors.values())
