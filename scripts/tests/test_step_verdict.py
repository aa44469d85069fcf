"""A load step passes only where every limit is kept, and each reason says its figure and its limit."""

import math
from dataclasses import replace
from typing import Any

import pytest

from writepath.analysis.step_verdict import Evidence, judge
from writepath.records.measures import Generator, Latency, Requests
from writepath.records.steps import Backlog


def requests(planned: int = 60_000, acknowledged: int | None = None, dropped: int = 0) -> Requests:
    served = planned - dropped if acknowledged is None else acknowledged
    return Requests(
        planned=planned,
        started=planned - dropped,
        dropped=dropped,
        acknowledged=served,
        rejected=0,
        indeterminate=planned - dropped - served,
        by_status={"201": served},
        by_error={},
    )


def latency(p99: float | None = 40.0, p95: float | None = 20.0) -> Latency:
    return Latency(min=1.0, mean=10.0, median=9.0, p95=p95, p99=p99, max=80.0)


def generator(cpu: float = 0.4, late_ms: float | None = 1.0) -> Generator:
    return Generator(
        cpu_share_mean=cpu / 2,
        cpu_share_peak=cpu,
        lateness_ms_p99=late_ms,
        lateness_ms_max=late_ms,
        exit_code=0,
        samples=60,
        samples_late=0,
    )


def evidence(**changed: object) -> Evidence:
    """A step of 1,000/s for 60 s that passes."""
    passing = Evidence(
        kind="bisection",
        slo_ms=100.0,
        rate_per_s=1000.0,
        seconds=60.0,
        requests=requests(),
        planned_latency_ms=latency(),
        generator=generator(),
        backlog=None,
        drain_seconds=0.4,
        audit="PASS",
        host_full=False,
        noise_reasons=(),
        broken=(),
    )
    return replace(passing, **changed)  # type: ignore[arg-type]


def backlog(at_end: float = 12_300, work: float | None = 41.0, *, grows: bool = True) -> Backlog:
    return Backlog(at_start=0.0, at_end=at_end, slope_per_s=200.0, work_seconds=work, grows=grows)


def test_a_step_within_every_limit_passes() -> None:
    judged = judge(evidence(backlog=backlog(grows=False)))
    assert (judged.verdict, judged.burst, judged.reasons, judged.generator_bound) == ("pass", True, (), False)


def test_a_step_exactly_at_its_limits_passes() -> None:
    at_limit = evidence(
        planned_latency_ms=latency(p99=100.0),
        requests=requests(60_000, 59_940),
        drain_seconds=10.0,
        generator=generator(cpu=0.95, late_ms=60.0),  # what the plan shows as latency anyway
    )
    assert judge(at_limit).verdict == "pass"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"planned_latency_ms": latency(p99=143.2)}, "p99 from the scheduled send time 143 ms (SLO 100 ms)"),
        (
            {"planned_latency_ms": latency(p99=100.04)},
            "p99 from the scheduled send time 100.04 ms (SLO 100 ms)",
        ),
        ({"planned_latency_ms": latency(p99=math.inf)}, "p99 from the scheduled send time is infinite"),
        ({"planned_latency_ms": latency(p99=None)}, "p99 from the scheduled send time is infinite"),
        (
            {"planned_latency_ms": latency(p99=None), "requests": requests(800), "rate_per_s": 800 / 60},
            "800 scheduled requests are too few for a p99",
        ),
        ({"requests": requests(60_000, dropped=3)}, "3 of 60,000 scheduled requests were dropped (limit 0)"),
        (
            {"requests": requests(60_000, 59_939)},
            "99.898 % of the scheduled requests were acknowledged (limit 99.9 %)",
        ),
        ({"requests": requests(59_000)}, "983/s completed of 1,000/s scheduled (limit 99 %)"),
        ({"drain_seconds": 12.34}, "12.3 s until the last row was stored (limit 10 s)"),
        ({"audit": None}, "nothing was audited"),
        ({"audit": "UNKNOWN", "drain_seconds": None}, "nothing was audited"),
        ({"audit": "UNKNOWN"}, "audit UNKNOWN"),
        ({"audit": "FAIL"}, "BROKEN: the store does not match the acknowledged writes"),
        ({"broken": ("jpa-writer died",)}, "BROKEN: jpa-writer died"),
    ],
)
def test_beyond_any_limit_a_step_fails_and_says_by_how_much(changed: dict[str, Any], words: str) -> None:
    judged = judge(evidence(**changed))
    assert judged.verdict == "fail"
    assert any(words in reason for reason in judged.reasons), judged.reasons


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (41.2, "unstable: 12,300 messages waiting after 60 s, 41 s of work at the rate they are stored"),
        (59.4, "59 s of work"),
        (61.0, "unstable: 12,300 messages waiting after 60 s, 1 minute of work at the rate they are stored"),
        (150.0, "2 minutes of work"),
        (3700.0, "unstable: 12,300 messages waiting after 60 s, 1 hour of work at the rate they are stored"),
        (9000.0, "unstable: 12,300 messages waiting after 60 s, 2 hours of work at the rate they are stored"),
        (None, "unstable: 12,300 messages waiting after 60 s, none stored during the step"),
    ],
)
def test_a_backlog_that_grows_is_unstable_in_words_of_work_and_still_a_burst(
    work: float | None, words: str
) -> None:
    judged = judge(evidence(backlog=backlog(work=work), audit=None, drain_seconds=None))
    assert (judged.verdict, judged.burst, judged.generator_bound) == ("fail", True, False)
    assert judged.reasons[0].startswith(words) or words in judged.reasons[0]


def test_what_was_not_audited_because_it_is_still_on_its_way_is_a_burst_and_what_could_not_be_read_is_none() -> (
    None
):
    on_its_way = evidence(backlog=backlog(), audit="UNKNOWN", drain_seconds=None)
    assert judge(on_its_way).burst
    assert not judge(replace(on_its_way, drain_seconds=1.0)).burst


def test_a_slow_hold_is_no_burst_either() -> None:
    assert not judge(evidence(backlog=backlog(), planned_latency_ms=latency(p99=200.0))).burst


def test_a_step_of_the_ramp_that_passes_in_spite_of_noise_passes() -> None:
    noise = ("the host lost 9 % to others",)
    assert judge(evidence(kind="ramp", noise_reasons=noise)).verdict == "pass"
    assert (
        judge(evidence(kind="ramp", noise_reasons=noise, planned_latency_ms=latency(300.0))).verdict
        == "noise"
    )
    assert judge(evidence(kind="bisection", noise_reasons=noise)).verdict == "noise"


def test_noise_says_nothing_of_the_path() -> None:
    judged = judge(
        evidence(noise_reasons=("the host lost 9 % to others",), planned_latency_ms=latency(300.0))
    )
    assert (judged.verdict, judged.burst, judged.reasons) == (
        "noise",
        False,
        ("the host lost 9 % to others",),
    )


def test_a_lost_write_is_a_fail_and_said_first_however_noisy_the_host_was() -> None:
    judged = judge(
        evidence(noise_reasons=("noise",), audit="FAIL", planned_latency_ms=latency(300.0), backlog=backlog())
    )
    assert (judged.verdict, judged.burst, judged.generator_bound) == ("fail", False, False)
    assert judged.reasons[0].startswith("BROKEN")


def test_a_ramp_step_needs_neither_audit_nor_drain() -> None:
    short = evidence(kind="ramp", audit=None, drain_seconds=None)
    assert judge(short).verdict == "pass"
    assert judge(replace(short, drain_seconds=60.0, audit="UNKNOWN")).verdict == "pass"
    assert judge(replace(short, backlog=backlog())).verdict == "fail"


@pytest.mark.parametrize(
    ("planned", "known", "verdict", "words"),
    [
        (400, {"p95": 90.0}, "pass", ""),
        (400, {"p95": 130.0}, "fail", "p95 from the scheduled send time 130 ms (SLO 100 ms)"),
        (400, {"p95": None}, "fail", "p95 from the scheduled send time is infinite (SLO 100 ms)"),
        (30, {"p95": None, "median": 90.0}, "pass", ""),
        (30, {"p95": None, "median": 130.0}, "fail", "median from the scheduled send time 130 ms"),
        (15, {"p95": None, "median": None, "max": 90.0}, "pass", ""),
        (
            15,
            {"p95": None, "median": None, "max": 130.0},
            "fail",
            "maximum from the scheduled send time 130 ms",
        ),
    ],
)
def test_a_ramp_step_too_short_for_a_p99_is_judged_by_what_it_carries(
    planned: int, known: dict[str, Any], verdict: str, words: str
) -> None:
    short = evidence(
        kind="ramp",
        rate_per_s=planned / 15,
        seconds=15.0,
        requests=requests(planned),
        planned_latency_ms=replace(latency(p99=None), **known),
        audit=None,
    )
    judged = judge(short)
    assert judged.verdict == verdict
    assert words in " ".join(judged.reasons)


def test_what_a_plan_cuts_off_at_its_end_is_not_missing() -> None:
    """2.386 a second for 5 s are 11 requests, and not 11.93."""
    few = evidence(
        kind="ramp",
        rate_per_s=2.386,
        seconds=5.0,
        requests=requests(11),
        planned_latency_ms=replace(latency(p99=None), p95=None, median=None),
        audit=None,
    )
    assert judge(few).verdict == "pass"
    assert judge(replace(few, rate_per_s=2.8)).verdict == "fail"


def test_of_searches_nothing_has_to_be_stored() -> None:
    searches = evidence(writes=False, audit=None, drain_seconds=None)
    assert judge(searches).verdict == "pass"
    few = judge(replace(searches, requests=requests(60_000, 59_000)))
    assert few.verdict == "fail"
    assert "98.333 % of the scheduled requests were answered (limit 99.9 %)" in few.reasons
    wrong = judge(replace(searches, broken=("2 searches were answered with a wrong total",)))
    assert wrong.reasons[0] == "BROKEN: 2 searches were answered with a wrong total"


SLOW = {"planned_latency_ms": latency(p99=150.0)}
QUICK_DROPS = {"requests": requests(60_000, dropped=9), "planned_latency_ms": latency(p99=50.0)}


@pytest.mark.parametrize(
    ("changed", "bound"),
    [
        (SLOW, False),
        (SLOW | {"generator": generator(cpu=0.81)}, True),
        (SLOW | {"generator": generator(cpu=0.80)}, False),
        (SLOW | {"generator": generator(late_ms=26.0)}, True),
        (SLOW | {"generator": generator(late_ms=25.0)}, False),
        (SLOW | {"generator": generator(cpu=0.95), "host_full": True}, False),
        (QUICK_DROPS, True),
        (QUICK_DROPS | {"planned_latency_ms": latency(p99=None)}, False),
        ({"generator": generator(cpu=0.95), "backlog": backlog()}, False),
        (SLOW | {"generator": generator(cpu=0.95), "broken": ("nginx died",)}, False),
    ],
)
def test_the_generator_is_blamed_only_where_it_could_be_why(changed: dict[str, Any], bound: bool) -> None:
    judged = judge(evidence(**changed))
    assert judged.verdict == "fail"
    assert judged.generator_bound is bound
    assert any("generator" in reason for reason in judged.reasons) is bound
