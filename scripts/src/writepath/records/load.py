"""The result of a cell of kind `load`: what its evidence gives."""

from writepath.records.base import record
from writepath.records.load_facts import FoundRate
from writepath.records.measures import Audit, Drain, Generator, Latency, Order, Requests, Resource, Verdict
from writepath.records.steps import LimitedBy
from writepath.records.warm_up import WarmUpFacts


@record
class LoadPhase:
    """A phase of the scenario; a request belongs to the phase of its scheduled send time."""

    name: str
    seconds: float  # scheduled duration
    planned: int
    started: int
    acknowledged: int
    accept_latency_ms: Latency
    planned_latency_ms: Latency
    achieved_per_s: float | None  # acknowledged ÷ duration of the phase


@record
class Climb:
    """What a climb beyond the path's limit shows; the SLO is a limit of the p99 from the scheduled send time."""

    slo_ms: float
    before: str  # the phase before the climb, at a constant rate
    before_per_s: float
    highest_per_s: float  # where the climb ends
    leaves_slo_per_s: float | None  # p99 stays above the limit from this rate on; null: never
    goodput_per_s: float | None  # acknowledged within the SLO, from there to the climb's end; null: never
    errors_by_hop: dict[str, int]  # proxy, application, store, generator; of all phases
    durable_latency_ms: Latency  # as time_to_durable_ms, of the phase before the climb
    drained_seconds: (
        float | None
    )  # from the climb's end until its rows were in the final store; null: no time
    limited_by: LimitedBy | None = None  # until it had left the SLO; null: it never did, or no sample tells


@record
class ClosedLoad:
    """What only a closed load tells: each user waits for its answer, so the rate is the path's."""

    virtual_users: int
    errors: int  # requests that were not acknowledged
    cpu_share: float | None  # of the system's processors: all components but the load generator
    pool_waiting_mean: float | None  # requests that waited for a connection of the pool, all instances
    pool_waiting_max: float | None  # in one sample
    errors_at_proxy: int  # of errors: answered 500, 502 or 504, or without an answer
    proxy_errors: dict[str, int] | None  # lines of the proxy's error log, by cause; null: not read
    time_wait_mean: float | None  # sockets in TIME_WAIT on the host; null: another runtime than native
    time_wait_max: float | None


@record
class ReadLoad:
    """What only a load of reads tells; shares and means are over the load, all instances together."""

    statements_per_request: float | None  # SQL; null: the application did not tell
    rows_per_request: float | None  # that the statements returned to the application
    wait_ms_mean: float | None  # for a connection of the pool, of all that were asked for; null: none was
    held_ms_mean: (
        float | None
    )  # from getting a connection to giving it back: the time in the query, and a little more
    slow: int  # served after more than a second
    slow_seconds: int  # seconds of the load in which one that was served later took more than a second
    errors_at_application: int  # not served, and not for the proxy: by its answer, or refused by it
    cpu_shares: dict[str, float]  # by component but the load generator, of the system's processors


@record
class SessionLoad:
    """What only a load of sessions tells. The unit of such a load is the session: its times are those of the load."""

    requests: int
    failed_requests: int  # not served, of whatever step
    failed_logins: int  # of these: no token, so the session has failed as a whole
    failed_sessions: int  # ended early: no token, or a request without an answer
    timed_out: int  # requests that had no answer within the client's limit
    by_error: dict[str, int]  # failed requests by what became of them
    requests_per_s: float | None  # answers of any status, over the load's length
    request_latency_ms: Latency  # of single requests; ranks over all that were sent
    found_rates: tuple[FoundRate, ...]  # how the rate was found; empty: it was given
    rate_per_s: float  # of sessions, that this load had


@record
class LoadResult:
    """All figures of one load and of the audit after it."""

    requests: Requests
    answers: dict[str, int]  # by column of the answers table; sums to requests.planned
    completed: int  # requests with an answer of any status
    accept_latency_ms: Latency  # from sending the request to the 201; ranks over scheduled requests
    planned_latency_ms: Latency  # until the 201, from the scheduled send time
    time_to_durable_ms: Latency  # from sending to the row in the final store; ranks over scheduled requests
    durable_of_acknowledged_ms: Latency  # the same, ranks over acknowledged requests
    durable_later: bool  # rows become durable after their 201
    time_to_visible_ms: Latency | None  # from sending to the search that found it; ranks over visible_samples
    visible_samples: int | None  # writes searched for; chosen before the load by schedule and seed
    visible_error_ms_median: float | None  # a write may have been visible earlier by at most this much
    visible_error_ms_max: float | None
    order: Order | None  # only of queue paths
    planned_per_s: float | None
    planned_peak_per_s: float | None
    achieved_per_s: float | None  # 201s ÷ (load start to the later of planned end and last 201)
    achieved_peak_per_s: float | None  # best whole second, by the time of the answer
    answered_per_s: float | None  # answers of any status
    durable_per_s: float | None  # rows in the final store ÷ (load start to last row durable)
    phases: tuple[LoadPhase, ...]
    audit: Audit | None  # null: a load of reads
    drain: Drain | None
    resources: dict[str, Resource]  # by component, "k6" among them
    disk_written_bytes: int | None  # to all disks of the host, during the load
    queue_peak: float | None  # posts ready and unacknowledged in one sample
    generator: Generator
    foreign_cpu_share: float | None  # of all processor time of the load: neither the run's nor the runner's
    verdict: Verdict
    load_started_at: str
    load_finished_at: str
    notes: tuple[str, ...] = ()
    warm_up: WarmUpFacts | None = None
    climb: Climb | None = None  # null: the suite has no SLO
    closed: ClosedLoad | None = None  # null: an open load
    read_load: ReadLoad | None = None  # null: a load of writes
    session_load: SessionLoad | None = None  # null: the unit of the load is the request
