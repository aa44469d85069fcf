"""Does each rule decide on its own, with its reason in words?"""

from dataclasses import replace
from typing import Any

import pytest

from planted_load import GENERATOR
from planted_tables import CANARY, FACTS, HOST
from writepath.analysis import audit
from writepath.analysis.verdict import judge
from writepath.records.load_facts import WithheldFacts
from writepath.records.measures import Drain, Durability, Offenders, Requests, Verdict

REQUESTS = Requests(
    planned=100,
    started=100,
    dropped=0,
    acknowledged=100,
    rejected=0,
    indeterminate=0,
    by_status={"201": 100},
    by_error={},
)
AUDIT = replace(audit.not_read(), verdict="PASS", unread=(), ok=100, stored_rows=100, stored_ids=100)
DRAIN = Drain(
    seconds=0.1,
    settle_seconds=5.1,
    capped=False,
    queue_ready_left=0,
    queue_unacknowledged_left=0,
    dead_letters=0,
)
NOTHING = WithheldFacts(steal_share=0.001, throttled_share=None, swapped_pages=0)
SEEN = replace(FACTS, withheld=NOTHING)
GOOD: dict[str, Any] = {"requests": REQUESTS, "audit": AUDIT, "drain": DRAIN, "generator": GENERATOR}
OFFENDERS = {"absent": Offenders(count=3, intervals="17..19", first_ids=())}


def judged(**changed: Any) -> Verdict:
    """Of a good run with these differences, of its facts or of what follows from its tables."""
    given = {name: changed.pop(name) for name in (*GOOD, "foreign_cpu_share", "at_proxy") if name in changed}
    return judge(replace(SEEN, **changed), **GOOD | given)


def test_a_run_without_a_fault_is_valid() -> None:
    verdict = judged()
    assert (verdict.status, verdict.reasons, verdict.notes) == ("valid", (), ())


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"audit": replace(AUDIT, lost=3, offenders=OFFENDERS)},
            "3 acknowledged writes are not in the store (sequence 17..19)",
        ),
        ({"audit": replace(AUDIT, stranded=2)}, "2 acknowledged writes are still in the queue"),
        ({"audit": replace(AUDIT, duplicated=1)}, "1 writes are stored more than once"),
        ({"audit": replace(AUDIT, corrupted=1)}, "stored with different content"),
        ({"audit": replace(AUDIT, unexpected=1)}, "that no request sent"),
        ({"audit": replace(AUDIT, rejected_present=1)}, "refused writes are stored"),
        ({"audit": replace(AUDIT, wrong_ack=1)}, "named a different id"),
        ({"audit": replace(AUDIT, identities_broken=("a = b",))}, "sums do not agree: a = b"),
        ({"requests": replace(REQUESTS, acknowledged=0, indeterminate=100)}, "no request was acknowledged"),
        ({"requests": replace(REQUESTS, dropped=1)}, "k6 dropped 1 of 100"),
        ({"generator": replace(GENERATOR, cpu_share_peak=0.81)}, "k6 was saturated: 81%"),
        ({"generator": replace(GENERATOR, lateness_ms_p99=251.0)}, "k6 was late"),
        ({"generator_faults": ("script error",)}, "k6: script error"),
        ({"lost_components": ("postgres: ended with 137",)}, "component lost: postgres: ended with 137"),
        (
            {"drain": replace(DRAIN, capped=True, settle_seconds=120.0, queue_ready_left=5)},
            "120 s after the load: 5",
        ),
        ({"durability": Durability(level="B", settings={})}, "level B, not A"),
        (
            {"durability": Durability(level="C", settings={}), "declared_level": "B"},
            "level C, not B",
        ),
    ],
)
def test_a_fault_makes_a_run_invalid_and_says_why(changed: dict[str, Any], reason: str) -> None:
    verdict = judged(**changed)
    assert verdict.status == "invalid"
    assert any(reason in words for words in verdict.reasons), verdict.reasons


def test_a_variant_that_declares_less_is_held_to_its_own_word() -> None:
    assert judged(durability=Durability(level="C", settings={}), declared_level="C").status == "valid"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"audit": audit.not_read()}, "could not be read back"),
        ({"durability": None}, "what a 201 guarantees"),
        ({"generator": replace(GENERATOR, samples=0)}, "could not be sampled"),
        ({"host": replace(HOST, after=replace(CANARY, steal_share=0.05))}, "noisy host: 5.0%"),
        ({"foreign_cpu_share": 0.3}, "other programs used 30%"),
        (
            {"withheld": replace(NOTHING, steal_share=0.03)},
            "3.0% of the CPU time was stolen during the load",
        ),
        (
            {"withheld": replace(NOTHING, throttled_share=0.02)},
            "the CPU quota stopped the run for 2.0% of the load",
        ),
        ({"withheld": replace(NOTHING, swapped_pages=1000)}, "1000 pages swapped"),
        ({"host": replace(HOST, after=replace(CANARY, cpu_ms=80.0))}, "noisy host: a fixed CPU task"),
        (
            {"host": replace(HOST, after=replace(CANARY, fsync_ms_p50=9.0))},
            "noisy host: an fsync took 9.0 ms",
        ),
    ],
)
def test_what_was_not_seen_makes_a_run_unknown_never_valid(changed: dict[str, Any], reason: str) -> None:
    verdict = judged(**changed)
    assert verdict.status == "unknown"
    assert any(reason in words for words in verdict.reasons), verdict.reasons


@pytest.mark.parametrize(
    ("changed", "status", "noise"),
    [
        ({}, "valid", False),
        ({"foreign_cpu_share": 0.3}, "unknown", True),
        ({"foreign_cpu_share": 0.3, "durability": None}, "unknown", False),
        ({"foreign_cpu_share": 0.3, "requests": replace(REQUESTS, dropped=1)}, "invalid", False),
        ({"durability": None}, "unknown", False),
    ],
)
def test_only_where_noise_is_all_that_speaks_against_a_run_may_it_be_made_again(
    changed: dict[str, Any], status: str, noise: bool
) -> None:
    verdict = judged(**changed)
    assert (verdict.status, verdict.noise) == (status, noise)


def test_requests_that_were_not_acknowledged_are_a_note_not_a_fault() -> None:
    requests = replace(REQUESTS, acknowledged=98, indeterminate=2, by_error={"HTTP 503": 2})
    verdict = judged(requests=requests, audit=replace(AUDIT, ok=98, recovered=1))
    assert verdict.status == "valid"
    assert "2 of 100 scheduled requests were not acknowledged (2 HTTP 503)" in verdict.notes[0]


def test_an_invalid_run_also_names_what_was_not_seen() -> None:
    verdict = judged(durability=None, requests=replace(REQUESTS, dropped=1))
    assert (verdict.status, len(verdict.reasons)) == ("invalid", 2)


def test_errors_at_the_proxy_may_be_the_result_where_its_log_names_their_cause() -> None:
    assert judged(at_proxy=5, proxy_errors={"worker_connections are not enough": 1}).status == "valid"
    assert judged(at_proxy=5).status == "valid"  # its log was not read: an open load
    verdict = judged(at_proxy=5, proxy_errors={})
    assert verdict.reasons == ("5 requests failed at the proxy, and its log names no cause",)
    assert (verdict.status, verdict.noise) == ("unknown", False)
