"""facts.json of a cell of kind `load`: what only the running system knew, and no raw table holds."""

from typing import Literal

from writepath.records.base import record
from writepath.records.measures import Durability, Host, Reading
from writepath.records.warm_up import WarmUpFacts

LoadModel = Literal["open", "closed"]  # requests are sent on schedule, or each user waits for its answer


@record
class PhaseFacts:
    """A phase in which the arrival rate is constant or changes linearly."""

    name: str
    seconds: float
    from_per_s: float
    to_per_s: float


@record
class OperationFacts:
    """What a request does, and with which statuses it counts as served."""

    name: str
    served: tuple[int, ...]


@record
class DrainFacts:
    """How the wait for the store ended."""

    waited_seconds: float  # all of it, the quiet stretch too
    busy_seconds: float  # until the last change seen; exact to one poll
    capped: bool
    queue_ready_left: int
    queue_unacknowledged_left: int
    dead_letters: int


@record
class WithheldFacts:
    """What the machine withheld from the load."""

    steal_share: float | None  # of all processor time
    throttled_share: float | None  # of the time, this control group was not let run
    swapped_pages: int | None


@record
class FoundRate:
    """A step on the way to the highest rate of sessions without an error."""

    rate_per_s: float
    sessions: int  # that were begun
    timed_out: int  # requests that had no answer within the client's limit
    failed: int  # requests that were not served, those too


@record
class LoadFacts:
    """Fields from drain on are null or empty where the cell ended before them."""

    run_id: str
    runtime: str
    declared_level: str  # of variants.yaml
    model: LoadModel
    phases: tuple[PhaseFacts, ...]  # empty in a closed load
    virtual_users: int  # most requests in flight
    seconds: float  # scheduled duration
    operations: tuple[OperationFacts, ...]
    queue_path: bool  # another service than the ingress writes to the final store
    load_started_at: str
    load_finished_at: str
    dropped: int | None  # k6's own count; null: it could give none
    exit_code: int
    generator_faults: tuple[str, ...]  # in words, if k6 did not send the whole schedule or its ledger is cut
    samples_late: int
    withheld: WithheldFacts | None
    drain: DrainFacts | None = None
    reads: tuple[Reading, ...] = ()  # as many as were read
    reads_required: int = 2  # 1: no store is killed after this load
    one_crash_per_stack: bool = False  # the stores are killed and read again after the last load on a stack
    unread: tuple[str, ...] = ()  # what could not be read, in words
    suppressed_duplicates: int | None = None
    redelivered: int | None = None
    durability: Durability | None = None
    lost_components: tuple[str, ...] = ()  # each with its reason in words
    audit_seconds: float = 0.0
    slo_ms: float | None = None  # limit of the p99 during a climb beyond the path's limit; null: no such load
    host: Host | None = None  # with what the canaries measured
    proxy_errors: dict[str, int] | None = (
        None  # lines of its log during a closed load, by cause; null: not read
    )
    sockets: dict[str, str] | None = None  # settings of the kernel that decide how long a port stays in use
    writes: bool = True  # false: a load of reads, which has no durability, no drain and no audit
    application: str | None = None  # component that answers the requests of a load of reads
    found_rates: tuple[FoundRate, ...] = ()  # of a suite that finds the rate of its sessions
    processes: int = 1  # of k6, which sent the planned requests in turns
    warm_up: WarmUpFacts | None = None  # null: not asked to become steady
