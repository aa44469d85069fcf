"""What only loads of reads tell: statements, waits for connections and processors; of sessions, their requests."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from writepath.analysis import load_rows
from writepath.analysis.audit import ACKNOWLEDGED
from writepath.analysis.load_aggregates import ACCEPT, aggregated
from writepath.analysis.load_rows import Parts
from writepath.analysis.samples import Series, growth, system_shares
from writepath.analysis.stats import US_PER_S, mean_rate_per_s
from writepath.analysis.times import times
from writepath.load.ledger import LOGIN, READ, TIMED_OUT, error_kind
from writepath.load.parquet import column_of, whole
from writepath.records.load import ReadLoad, SessionLoad
from writepath.records.load_facts import LoadFacts
from writepath.records.measures import Requests

SESSION_REQUESTS = "session_requests"  # raw table, and the begin of the names of what is made of it
OF_SESSION = (LOGIN, READ)
REQUESTS_MOST = 6  # of a session; their sequences are its own times 6, and the place
KEPT = ("answers", "latencies", "latency_sums", "phases", "sessions")
SLOW_US = US_PER_S
DIGITS = 4


def read_load(
    facts: LoadFacts, tables: Mapping[str, pa.Table], seen: Series, requests: Requests, at_proxy: int
) -> ReadLoad | None:
    """Of a load of reads; None of one of writes. at_proxy: requests that failed there."""
    if facts.writes:
        return None
    application, cores = facts.application or "", None if facts.host is None else facts.host.system_cores

    def grown(metric: str) -> float | None:
        return growth(seen, application, metric)

    def mean(total: str, number: str, times: float = 1.0) -> float | None:
        whole, count = grown(total), grown(number)
        return round(whole * times / count, DIGITS) if whole is not None and count else None

    buckets = tables["latencies"].filter(pc.equal(column_of(tables["latencies"], "clock"), ACCEPT))
    slow = whole(buckets, "count")[whole(buckets, "value_us") > SLOW_US]
    return ReadLoad(
        statements_per_request=mean("sql_statements", "read_requests"),
        rows_per_request=mean("sql_rows", "read_requests"),
        wait_ms_mean=mean("pool_acquire_seconds", "pool_acquired", 1000.0),
        held_ms_mean=mean("pool_usage_seconds", "pool_used", 1000.0),
        slow=int(slow.sum()),
        slow_seconds=int((whole(tables["seconds"], "max_us") > SLOW_US).sum()),
        errors_at_application=requests.started - requests.acknowledged - at_proxy,
        cpu_shares={} if cores is None else system_shares(seen, cores),
    )


def reduce_sessions(parts: Parts, facts: LoadFacts) -> dict[str, pa.Table]:
    """Tables of the requests that a load's sessions were made of: as of a closed load, for they have no schedule."""
    own = replace(facts, model="closed", phases=(), slo_ms=None, operations=OF_SESSION)
    rows = load_rows.of_raw(parts, None, OF_SESSION, reads=0)
    begun, ended = (int((rows.sequence % REQUESTS_MOST == place).sum()) for place in (0, REQUESTS_MOST - 1))
    tables = aggregated(rows, own, exact=False) | {"sessions": pa.table({"begun": [begun], "ended": [ended]})}
    return {f"{SESSION_REQUESTS}_{name}": tables[name] for name in KEPT}


def session_load(facts: LoadFacts, evidence: Mapping[str, pa.Table]) -> SessionLoad | None:
    """Of a load of sessions; None of another one."""
    prefix = f"{SESSION_REQUESTS}_"
    tables = {name: evidence[prefix + name] for name in KEPT if prefix + name in evidence}
    if not tables:
        return None
    answers = tables["answers"].to_pylist()
    failed = [one for one in answers if one["client"] != ACKNOWLEDGED]
    by_error = Counter[str]()
    for one in failed:
        by_error[error_kind(one["status"], one["error_code"])] += one["count"]
    number = sum(one["count"] for one in answers)
    logins = sum(one["count"] for one in failed if OF_SESSION[one["operation"]] is LOGIN)
    answered = sum(one["count"] for one in answers if one["status"])
    seconds_us = US_PER_S * (sum(phase.seconds for phase in facts.phases) or facts.seconds)
    return SessionLoad(
        requests=number,
        failed_requests=sum(by_error.values()),
        failed_logins=logins,
        failed_sessions=int((whole(tables["sessions"], "begun") - whole(tables["sessions"], "ended"))[0]),
        timed_out=sum(one["count"] for one in failed if one["error_code"] == TIMED_OUT),
        by_error=dict(by_error),
        requests_per_s=mean_rate_per_s(answered, seconds_us),
        request_latency_ms=times(tables, ACCEPT).latency(number),
        found_rates=facts.found_rates,
        rate_per_s=facts.phases[0].to_per_s if facts.phases else 0.0,
    )
