"""A load step passes only where every limit is kept, and each reason says its figure and its limit."""

from dataclasses import replace
from typing import Any

import pytest

import planted_steps
from planted_capacity import GENERATOR, step
from writepath.analysis.step_verdict import judge
from writepath.load.ledger import SEARCH
from writepath.records.measures import Generator, Latency, Requests
from writepath.records.steps import Backlog, LoadStep

RUN = planted_steps.run()
SEARCHES = planted_steps.run(operation=SEARCH)
NOISE = ("the host lost 9 % to others",)
FROM_SCHEDULE = "from the scheduled send time"


def requests(planned: int = 60_000, acknowledged: int | None = None, dropped: int = 0) -> Requests:
    served = planned - dropped if acknowledged is None else acknowledged
    known: dict[str, Any] = {
        "planned": planned,
        "started": planned - dropped,
        "dropped": dropped,
        "acknowledged": served,
    }
    return replace(step(1).requests, **known)


def latency(p99: float | None = 40.0, p95: float | None = 20.0, **changed: Any) -> Latency:
    known: dict[str, Any] = {"p99": p99, "p95": p95, "max": 80.0}
    return replace(step(1).planned_latency_ms, **known | changed)


def generator(cpu: float = 0.4, late_ms: float = 1.0) -> Generator:
    return replace(GENERATOR, cpu_share_peak=cpu, lateness_ms_p99=late_ms)


def backlog(work: float | None = 41.0, *, grows: bool = True) -> Backlog:
    return Backlog(at_start=0.0, at_end=12_300, slope_per_s=200.0, work_seconds=work, grows=grows)


def judged(
    changed: dict[str, Any] | None = None, *, host_full: bool = False, noise: Any = (), broken: Any = ()
) -> LoadStep:
    """A step of 1,000/s for 60 s that passes, if nothing of it is changed."""
    passing = step(1000, seconds=60.0, requests=requests(), planned_latency_ms=latency())
    passing = replace(passing, **changed or {})
    return judge(passing, RUN, host_full=host_full, noise=noise, broken=broken)


def test_a_step_within_every_limit_and_exactly_at_it_passes() -> None:
    found = judged({"backlog": backlog(grows=False)})
    assert (found.verdict, found.burst, found.reasons, found.generator_bound) == ("pass", True, (), False)
    at_limit = {
        "planned_latency_ms": latency(p99=100.0),
        "requests": requests(60_000, 59_940),
        "drain_seconds": 10.0,
        "generator": generator(cpu=0.95, late_ms=60.0),  # what the plan shows as latency anyway
    }
    assert judged(at_limit).verdict == "pass"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"planned_latency_ms": latency(p99=143.2)}, f"p99 {FROM_SCHEDULE} 143 ms (SLO 100 ms)"),
        ({"planned_latency_ms": latency(p99=100.04)}, f"p99 {FROM_SCHEDULE} 100.04 ms (SLO 100 ms)"),
        ({"planned_latency_ms": latency(p99=None)}, f"p99 {FROM_SCHEDULE} is infinite: more than 1 %"),
        ({"requests": requests(800), "rate_per_s": 800 / 60}, "800 scheduled requests are too few for a p99"),
        ({"requests": requests(60_000, dropped=3)}, "3 of 60,000 scheduled requests were dropped (limit 0)"),
        ({"requests": requests(60_000, 59_939)}, "99.898 % of the scheduled requests were acknowledged"),
        ({"requests": requests(59_000)}, "983/s completed of 1,000/s scheduled (limit 99 %)"),
        ({"drain_seconds": 12.34}, "12.3 s until the last row was stored (limit 10 s)"),
        ({"audit": None, "drain_seconds": None}, "nothing was audited"),
        ({"audit": "UNKNOWN"}, "audit UNKNOWN"),
    ],
)
def test_beyond_any_limit_a_step_fails_and_says_by_how_much(changed: dict[str, Any], words: str) -> None:
    found = judged(changed)
    assert found.verdict == "fail"
    assert any(words in reason for reason in found.reasons), found.reasons


@pytest.mark.parametrize(
    ("work", "words"),
    [(41.2, "41 s of work at the rate they are stored"), (None, "none stored during the step")],
)
def test_a_backlog_that_grows_is_unstable_in_words_of_work_and_still_a_burst(
    work: float | None, words: str
) -> None:
    grown = {"backlog": backlog(work), "audit": None, "drain_seconds": None}
    found = judged(grown)
    assert (found.verdict, found.burst, found.generator_bound) == ("fail", True, False)
    assert found.reasons[0] == f"unstable: 12,300 posts waiting after 60 s, {words}"
    assert not judged(grown | {"planned_latency_ms": latency(p99=200.0)}).burst
    assert not judged(grown | {"audit": "UNKNOWN", "drain_seconds": 1.0}).burst  # it could not be read


def test_noise_says_nothing_of_a_path_that_breaks_a_limit_nor_of_a_step_that_is_counted() -> None:
    slow = {"planned_latency_ms": latency(300.0)}
    assert judged({"kind": "ramp"}, noise=NOISE).verdict == "pass"
    assert judged({"kind": "ramp", **slow}, noise=NOISE).verdict == "noise"
    found = judged(slow, noise=NOISE)
    assert (found.verdict, found.burst, found.reasons) == ("noise", False, NOISE)


def test_what_is_broken_is_a_fail_and_said_first_however_noisy_the_host_was() -> None:
    found = judged(SLOW | {"backlog": backlog()}, noise=NOISE, broken=("jpa-writer died",))
    assert (found.verdict, found.burst, found.generator_bound) == ("fail", False, False)
    assert found.reasons[0] == "BROKEN: jpa-writer died"


def test_a_ramp_step_needs_neither_audit_nor_drain() -> None:
    short = {"kind": "ramp", "audit": None, "drain_seconds": None}
    assert judged(short).verdict == "pass"
    assert judged(short | {"backlog": backlog()}).verdict == "fail"


@pytest.mark.parametrize(
    ("planned", "known", "verdict", "words"),
    [
        (400, {"p95": 90.0}, "pass", ""),
        (400, {"p95": 130.0}, "fail", f"p95 {FROM_SCHEDULE} 130 ms (SLO 100 ms)"),
        (400, {"p95": None}, "fail", f"p95 {FROM_SCHEDULE} is infinite (SLO 100 ms)"),
        (30, {"p95": None, "median": 90.0}, "pass", ""),
        (30, {"p95": None, "median": 130.0}, "fail", f"median {FROM_SCHEDULE} 130 ms"),
        (15, {"p95": None, "median": None, "max": 90.0}, "pass", ""),
        (15, {"p95": None, "median": None, "max": 130.0}, "fail", f"maximum {FROM_SCHEDULE} 130 ms"),
    ],
)
def test_a_ramp_step_too_short_for_a_p99_is_judged_by_what_it_carries(
    planned: int, known: dict[str, Any], verdict: str, words: str
) -> None:
    short = {"kind": "ramp", "rate_per_s": planned / 15, "seconds": 15.0, "requests": requests(planned)}
    found = judged(short | {"planned_latency_ms": latency(p99=None, **known), "audit": None})
    assert found.verdict == verdict
    assert words in " ".join(found.reasons)


def test_what_a_plan_cuts_off_at_its_end_is_not_missing() -> None:
    """2.386 a second for 5 s are 11 requests, and not 11.93."""
    few = {"kind": "ramp", "rate_per_s": 2.386, "seconds": 5.0, "requests": requests(11), "audit": None}
    assert judged(few).verdict == "pass"
    assert judged(few | {"rate_per_s": 2.8}).verdict == "fail"


def test_of_searches_nothing_has_to_be_stored() -> None:
    searched = step(1000, seconds=60.0, requests=requests(), audit=None, drain_seconds=None)
    known: dict[str, Any] = {"host_full": False, "noise": (), "broken": ()}
    assert judge(searched, SEARCHES, **known).verdict == "pass"
    few = judge(replace(searched, requests=requests(60_000, 59_000)), SEARCHES, **known)
    assert few.verdict == "fail"
    assert "98.333 % of the scheduled requests were answered (limit 99.9 %)" in few.reasons


SLOW = {"planned_latency_ms": latency(p99=150.0)}
QUICK_DROPS = {"requests": requests(60_000, dropped=9), "planned_latency_ms": latency(p99=50.0)}


@pytest.mark.parametrize(
    ("changed", "host_full", "bound"),
    [
        (SLOW, False, False),
        (SLOW | {"generator": generator(cpu=0.81)}, False, True),
        (SLOW | {"generator": generator(cpu=0.80)}, False, False),
        (SLOW | {"generator": replace(generator(cpu=1.50), processors=2)}, False, False),
        (SLOW | {"generator": generator(late_ms=26.0)}, False, True),
        (SLOW | {"generator": generator(late_ms=25.0)}, False, False),
        (SLOW | {"generator": generator(cpu=0.95)}, True, False),
        (QUICK_DROPS, False, True),
        (QUICK_DROPS | {"planned_latency_ms": latency(p99=None)}, False, False),
        ({"generator": generator(cpu=0.95), "backlog": backlog()}, False, False),
    ],
)
def test_the_generator_is_blamed_only_where_it_could_be_why(
    changed: dict[str, Any], host_full: bool, bound: bool
) -> None:
    found = judged(changed, host_full=host_full)
    assert found.verdict == "fail"
    assert found.generator_bound is bound
    assert any("generator" in reason for reason in found.reasons) is bound
