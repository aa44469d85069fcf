"""Figures of loads of reads: those that were planted; nothing is asked of a store that nothing was written to."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from planted_tables import FACTS, GAP_US, HALVES, HOST, ORIGIN_US, SAMPLES, SECONDS, WRITES, Planted
from writepath.analysis.load_reads import SESSION_REQUESTS
from writepath.analysis.load_result import derive_load, reduce_load
from writepath.load.ledger import LOGIN_FAILED, READ, SCHEMA, SESSION, TIMED_OUT
from writepath.records.load import LoadResult
from writepath.records.load_facts import FoundRate, LoadFacts

MS, S = 1000, 1_000_000
OF_READS = replace(
    FACTS,
    model="closed",
    phases=(),
    virtual_users=5,
    operations=(READ,),
    writes=False,
    application="app",
    drain=None,
    durability=None,
    host=HOST,
)
COUNTERS = {  # growth over the ten seconds between the first and the last sample
    "sql_statements": 6000.0,
    "sql_rows": 55000.0,
    "read_requests": 1000.0,
    "pool_acquired": 6000.0,
    "pool_acquire_seconds": 12.0,
    "pool_used": 5000.0,
    "pool_usage_seconds": 25.0,
}
TWICE = range(130, 150)  # sessions
STEPS = (FoundRate(rate_per_s=60.0, sessions=600, timed_out=0, failed=0),)


def derived(facts: LoadFacts = OF_READS, **changed: Any) -> LoadResult:
    grown = {
        ("app", name): np.linspace(7.0, 7.0 + growth, SECONDS + 1).tolist()
        for name, growth in COUNTERS.items()
    }
    of_postgres = {("postgres", name): SAMPLES["k6", name] for name in ("cpu_seconds", "rss_bytes")}
    planted = Planted(
        facts=facts,
        operation=facts.operations[0].name,
        samples={**SAMPLES, **grown, **of_postgres},
        status=changed.pop("status", np.full(WRITES, 200)),
        copies=(np.zeros(WRITES, int),) * 2,
        **changed,
    )
    raw: dict[str, Any] = planted.raw()
    del raw["stored"]
    if facts.operations == (SESSION,):
        raw[SESSION_REQUESTS] = [requests_of_sessions()]
    return derive_load(reduce_load(raw, facts))


def requests_of_sessions() -> pa.Table:
    """Of 1,000 sessions: 100 got no token, 50 waited for a list in vain, 20 of them after another was refused."""
    rows = []
    for session in range(WRITES):
        at_us = ORIGIN_US + GAP_US * session
        refused, vain = session < 100, 100 <= session < 150
        row: dict[str, Any] = {"start_us": at_us, "blocked_us": 0, "duration_us": 2 * MS, "error_code": 0}
        rows.append({**row, "sequence": 6 * session, "operation": "login", "status": 503 if refused else 201})
        places = 1 if refused else 3 if session in TWICE else 2 if vain else 6
        for place in range(1, places):
            own: dict[str, Any] = {"sequence": 6 * session + place, "operation": "read", "status": 200}
            if place < places - 1 and session in TWICE:
                own |= {"status": 500, "error_code": 1500}
            elif vain:
                own |= {"status": 0, "error_code": TIMED_OUT, "duration_us": 10 * S}
            rows.append({**row, **own})
    schema = pa.schema([SCHEMA.field(name).remove_metadata() for name in SCHEMA.names if name != "operation"])
    return pa.Table.from_pylist(rows, schema.append(pa.field("operation", pa.string())))


def test_a_load_of_reads_has_no_audit_no_drain_and_no_promise_and_is_valid_without() -> None:
    found = derived()
    assert (found.audit, found.drain, found.order) == (None, None, None)
    assert found.verdict.status == "valid"
    assert found.answers["status_200"] == WRITES
    assert "status_201" not in found.answers


def test_a_read_tells_its_statements_rows_and_the_time_for_its_connection() -> None:
    found = derived().read_load
    assert found is not None
    assert (found.statements_per_request, found.rows_per_request) == (6.0, 55.0)
    assert (found.wait_ms_mean, found.held_ms_mean) == (2.0, 5.0)
    assert found.cpu_shares == {"app": 0.1, "postgres": 0.05}  # of two processors
    assert Planted().facts.writes
    assert derive_load(Planted().evidence()).read_load is None


def test_slow_reads_are_counted_with_the_seconds_in_which_they_were_sent() -> None:
    took_us = Planted().duration_us
    took_us[[5, 6, 950]] = 2 * S
    found = derived(duration_us=took_us).read_load
    assert found is not None
    assert (found.slow, found.slow_seconds) == (3, 2)


def test_errors_of_the_proxy_are_told_from_those_of_the_application() -> None:
    status = np.full(WRITES, 200)
    status[:5] = [503, 503, 504, 500, 502]
    codes = np.where(status == 200, 0, 1000 + status)
    facts = replace(OF_READS, proxy_errors={"full": 3})
    found = derived(facts, status=status, error_code=codes)
    assert found.closed is not None
    assert found.read_load is not None
    assert (found.closed.errors_at_proxy, found.read_load.errors_at_application) == (3, 2)


def test_failed_log_ins_and_requests_of_sessions_are_told_apart() -> None:
    status = np.full(WRITES, 200)
    status[:100], status[100:150] = 503, 0
    codes = np.zeros(WRITES, int)
    codes[:100], codes[100:150] = LOGIN_FAILED, TIMED_OUT
    open_load = replace(OF_READS, model="open", phases=HALVES, operations=(SESSION,), found_rates=STEPS)
    found = derived(open_load, status=status, error_code=codes)
    own = found.session_load
    assert own is not None
    assert own.requests == WRITES + 850 * 5 + 50 + 20
    assert (own.failed_logins, own.failed_sessions) == (100, 150)
    assert (own.failed_requests, own.timed_out) == (170, 50)
    assert own.by_error == {"HTTP 503": 100, "request timed out": 50, "HTTP 500": 20}
    assert own.requests_per_s == (own.requests - 50) / 10
    assert (own.request_latency_ms.median, own.request_latency_ms.max) == (2.0, 2.0)
    assert (own.found_rates, own.rate_per_s) == (STEPS, 100.0)
    assert (found.requests.acknowledged, found.requests.planned) == (850, WRITES)
