"""The parts that the records of several kinds share: verdict, latency, audit, resources, host."""

from typing import Annotated, Literal

from pydantic import Field

from writepath.processors import Split
from writepath.records.base import record

VerdictStatus = Literal["valid", "unknown", "invalid"]
AuditVerdict = Literal["PASS", "FAIL", "UNKNOWN"]


@record
class Verdict:
    """Whether the figures are valid, and if not, why."""

    status: VerdictStatus
    reasons: tuple[str, ...] = ()  # in words; empty when valid
    notes: tuple[str, ...] = ()  # notes without effect on the status
    noise: bool = False  # only a noisy host made it unknown; a suite reruns it
    finding: Literal["failed", "inconclusive"] | None = None  # of valid figures that a test did not pass with

    @property
    def exit_code(self) -> int:
        """0 valid, 1 invalid or failed, 3 unknown or inconclusive."""
        words = self.finding or self.status
        return {"valid": 0, "invalid": 1, "failed": 1}.get(words, 3)


@record
class Durability:
    """What a 201 guarantees, read from the running store or broker."""

    level: Annotated[
        Literal["A", "B", "C"], Field(alias="class")
    ]  # A on disk, B in memory or one copy, C handed over
    settings: dict[str, str]


@record
class Requests:
    """Counts of the load. planned = started + dropped; started = acknowledged + rejected + indeterminate."""

    planned: int
    started: int
    dropped: int  # k6 had no free virtual user at the scheduled send time
    acknowledged: int  # 201
    rejected: int  # 400, 409, 413, 415, 429: refused, must not be stored
    indeterminate: int  # time-out, reset, 5xx: may or may not be stored
    by_status: dict[str, int]  # "201": n; "0" = no answer
    by_error: dict[str, int]  # kind of error in words: n; only of requests not acknowledged


@record
class Latency:
    """Milliseconds. min, mean, max over acknowledged requests; ranks over *scheduled* ones, the others at +infinity.

    A rank is null if it falls on a request that was not acknowledged, or if fewer than 10 requests are beyond it.
    """

    min: float | None
    mean: float | None
    median: float | None
    p95: float | None
    p99: float | None
    max: float | None


@record
class Order:
    """Whether acknowledged writes reached the final store in the order they were sent; only of queue paths."""

    overtaken_share: float  # of the stored: durable after a write that was sent after their 201
    redelivered: int | None  # posts delivered again, in load and drain; null: nobody counts


@record
class Offenders:
    """Which writes belong to a class."""

    count: int
    intervals: str  # sequence numbers, "17..42 90"; cut after 100 intervals with " ..."
    first_ids: tuple[str, ...]  # the first 20


@record
class Reading:
    """What the system reported when the store was read."""

    store_rows: int  # rows, as the store counts them
    left_in_queue: int  # ready + unacknowledged + in flight + dead-lettered


@record
class Audit:
    """The ledger against two reads of the store: after the drain, and after every store was killed and restarted.

    acknowledged = ok + lost + stranded + vanished + duplicated + corrupted (of acknowledged ones). Every sequence is in
    one class; late is a part of ok, and wrong_ack is counted separately. A write is duplicated, corrupted or unexpected
    if it is so in either read; one that is both duplicated and corrupted counts as duplicated.
    """

    verdict: AuditVerdict  # PASS: every acknowledged write accounted for; UNKNOWN: something was not read
    unread: tuple[str, ...]  # what could not be read, in words; empty with PASS
    reads: tuple[Reading, ...]  # after the drain, after the restart; fewer where a read failed
    stored_rows: int  # rows in the store after the drain, of whatever id
    stored_ids: int  # distinct ids of both reads
    acknowledged: int  # answered 201
    ok: int  # acknowledged, stored once in both reads, content as sent
    late: int | None  # of ok: durable more than 5 s after the 201; null if no time is known
    lost: int  # acknowledged, absent after the drain, and in no queue
    stranded: int  # acknowledged, absent, accounted for by posts left in queue or dead-letter queue
    vanished: int | None  # acknowledged or recovered, missing after the restart alone; null: read once
    duplicated: int  # one id more than once
    corrupted: int  # content differs from what was sent
    unexpected: int  # rows with an id that no request sent, or of another run
    recovered: int  # indeterminate, yet stored
    clean_fail: int  # indeterminate and absent
    clean_reject: int  # rejected and absent
    rejected_present: int  # rejected, yet stored
    wrong_ack: int  # 201 with a different id than the request
    never_read: int  # sent, but the answer could not be read
    suppressed_duplicates: int | None  # repeated deliveries that the store refused; null if not counted
    offenders: dict[
        str, Offenders
    ]  # by class that should be empty: absent (lost or stranded), duplicated, ...
    noted: dict[str, Offenders]  # by class that is not a fault: late, recovered
    identities_broken: tuple[str, ...]  # in words; empty if all sums agree
    seconds: float  # duration of reading and comparing, without the restart


@record
class Drain:
    """From the end of the load until the store was complete."""

    seconds: float  # until the last row became durable; 0 where all were when the load ended
    settle_seconds: float  # the wait that confirms it: 5 s without a new row, plus polling
    capped: bool  # the wait ended after 120 s
    queue_ready_left: int
    queue_unacknowledged_left: int
    dead_letters: int


@record
class Resource:
    """One component (all its instances) over the load, without the drain."""

    cpu_seconds: float
    rss_peak_bytes: int
    write_bytes: int | None  # null if the runtime does not report it


@record
class Generator:
    """Whether k6 kept the schedule."""

    cpu_share_mean: float  # of one core, over the load; 1.0 = one core full
    cpu_share_peak: float  # highest mean of 10 s
    lateness_ms_p99: float | None  # from the scheduled send time to the start of the iteration
    lateness_ms_max: float | None
    exit_code: int
    samples: int
    samples_late: int  # samples taken more than half a second late
    processors: int | None = None  # separate ones; null: it shared all with the system

    @property
    def busiest(self) -> float:
        """Share of its processors, of one where it has no separate ones: the highest mean of 10 s."""
        return self.cpu_share_peak / (self.processors or 1)

    @property
    def saturated(self) -> str:
        """In words, what it has used."""
        own = f"its {self.processors} processors" if (self.processors or 1) > 1 else "one core"
        return f"{self.busiest:.0%} of {own} over 10 s"


@record
class Canary:
    """How fast the host itself is: shows whether the host is noisy or the variant is slow."""

    fsync_ms_p50: float  # 4 KiB write + fsync
    fsync_ms_p99: float
    cpu_ms: float  # a fixed CPU task on one core, the fastest of five
    steal_share: float | None  # since the canary before; of all CPU time
    load_average_1m: float
    disk_free_bytes: int


@record
class Host:
    """Facts of the machine; no names, paths or addresses."""

    cpu_model: str
    cores: int
    memory_bytes: int
    kernel: str
    filesystem: str  # of the folder the stores write to
    foreign_cpu_share: float | None = (
        None  # of all processor time of the load: neither the run's nor the runner's
    )
    throttled_share: float | None = None  # share of the load's time in which a CPU quota stopped the runner
    swapped_pages: int | None = None  # in and out, on the whole host, during the load
    before: Canary | None = None
    after: Canary | None = None
    processors: str | None = None  # load generator's/system's, as 1/0; null: they shared them

    @property
    def split(self) -> Split | None:
        """None where load generator and system shared them."""
        return None if self.processors is None else Split.recorded(self.processors)

    @property
    def system_cores(self) -> int:
        """How many the system under test could use."""
        return self.cores if self.split is None else len(self.split.system)


@record
class Code:
    """The version of Writepath itself."""

    commit: str  # "unknown" outside a git checkout
    dirty: bool
    digest: str | None = None  # SHA-256 of the code that measures; RESUME compares it. null: not known


@record
class DatasetFacts:
    """What the content of the writes was drawn from."""

    name: str  # file name or "embedded", never a path
    sha256: str
    lines: int


@record
class Step:
    """A step of the run's lifecycle and its wall time."""

    step: str
    seconds: float
