"""Does a hold say what its ledger, samples and store say, and does each flaw come to the judge?"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from capacity.planted_hold import ORIGIN_US, QUIET, answers, loaded, sampled
from writepath.analysis.audit import Stored
from writepath.analysis.samples import host_busy_share
from writepath.analysis.step_verdict import judge
from writepath.capacity import hold as holding
from writepath.capacity import observed
from writepath.capacity.hold import Made, evaluate, plan_of
from writepath.capacity.search import Step
from writepath.records import Canary

if TYPE_CHECKING:
    from writepath.analysis.step_verdict import Evidence, Judgement

STEP = Step(kind="search", rate_per_s=200.0, seconds=10.0)
PLAN = plan_of(STEP, 100.0)
CANARY = Canary(
    fsync_ms_p50=0.5,
    fsync_ms_p99=1.0,
    cpu_ms=60.0,
    steal_share=0.0,
    load_average_1m=1.0,
    disk_free_bytes=1 << 40,
)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[Evidence]:
    """All that came before the judge."""
    said: list[Evidence] = []

    def hearing(evidence: Evidence) -> Judgement:
        said.append(evidence)
        return judge(evidence)

    monkeypatch.setattr(holding, "judge", hearing)
    return said


def stored(until_s: float = 10.0) -> Stored:
    """All rows, durable one after the other."""
    moments = ORIGIN_US + np.linspace(1000, until_s * 1_000_000, PLAN.planned).astype(np.int64)
    return Stored(
        seq=np.arange(PLAN.planned), content_ok=np.ones(PLAN.planned, np.bool_), durable_at_us=moments
    )


def made(**changed: Any) -> Made:
    """A hold without a flaw, but for what is changed."""
    whole = Made(
        step=STEP,
        number=3,
        slo_ms=100.0,
        cores=2,
        queue=False,
        started_at=ORIGIN_US / 1_000_000,
        loaded=loaded(PLAN, answers(PLAN), host(0.5)),
        stored=stored(),
        drain_seconds=0.0,
        audit="PASS",
        before=CANARY,
        after=CANARY,
    )
    return dataclasses.replace(whole, **changed)


def host(busy: float, foreign: float = 0.0) -> list[Any]:
    """Two processors for the load's 10 s, and a path that used what others did not."""
    return [
        *sampled("host", "total_seconds", {0.5: 100.0, 9.5: 118.0}),
        *sampled("host", "busy_seconds", {0.5: 50.0, 9.5: 50.0 + 18 * busy}),
        *sampled("host", "runner_seconds", {0.5: 1.0, 9.5: 1.0}),
        *sampled("app", "cpu_seconds", {0.5: 0.0, 9.5: 18 * (busy - foreign)}),
        *sampled("app", "rss_bytes", {0.5: 1.0, 9.5: 1.0}),
    ]


def test_a_hold_without_a_flaw_passes_with_its_own_figures(heard: list[Evidence]) -> None:
    found = evaluate(made())
    (evidence,) = heard
    assert (found.verdict, found.number, found.kind, found.rate_per_s) == ("pass", 3, "search", 200.0)
    assert (found.requests.planned, found.requests.acknowledged) == (2000, 2000)
    assert found.planned_latency_ms.p99 == 5.0
    assert (found.stored_per_s, found.drain_seconds, found.audit, found.backlog) == (200.0, 0.0, "PASS", None)
    assert evidence.host_busy_share == pytest.approx(0.5)
    assert (evidence.noise_reasons, evidence.broken) == ((), ())
    assert (evidence.slo_ms, evidence.seconds) == (100.0, 10.0)
    assert found.noise.before == found.noise.after == CANARY
    assert set(found.resources) == {"app"}


def test_rows_that_became_durable_after_the_load_are_not_stored_meanwhile() -> None:
    found = evaluate(made(stored=stored(until_s=20.0)))
    assert found.stored_per_s == pytest.approx(100.0, abs=0.2)


def test_of_a_ramp_nothing_is_known_but_its_load() -> None:
    ramp = made(stored=None, drain_seconds=None, audit=None, before=None, after=None)
    found = evaluate(dataclasses.replace(ramp, step=dataclasses.replace(STEP, kind="ramp")))
    assert (found.stored_per_s, found.drain_seconds, found.audit) == (None, None, None)
    assert (found.noise.before, found.noise.after) == (None, None)


def test_the_backlog_is_read_off_the_queues_gauges_within_the_load(heard: list[Evidence]) -> None:
    depth = {-2.0: 9999.0, **{float(second): 100.0 * second for second in range(1, 10)}, 12.0: 0.0}
    samples = [*host(0.5), *sampled("producer", "queue_ready", depth)]
    found = evaluate(made(queue=True, loaded=loaded(PLAN, answers(PLAN), samples)))
    assert found.backlog is not None
    assert found.backlog.grows
    assert found.backlog.slope_per_s == pytest.approx(100.0)
    assert found.backlog.work_seconds == pytest.approx(800.0 / 200.0)
    assert heard[0].backlog == found.backlog
    assert found.verdict == "fail"
    assert evaluate(made(queue=False, loaded=loaded(PLAN, answers(PLAN), samples))).backlog is None


def test_a_queue_whose_depth_was_not_sampled_is_no_empty_queue(heard: list[Evidence]) -> None:
    samples = [*host(0.5), *sampled("producer", "queue_ready", {1.0: 0.0, 2.0: 0.0})]
    found = evaluate(made(queue=True, loaded=loaded(PLAN, answers(PLAN), samples)))
    assert (found.verdict, found.backlog) == ("noise", None)
    assert heard[0].noise_reasons == (
        "noisy host: the queue depth was sampled fewer than 3 times during the load",
    )


def test_every_flaw_of_path_and_generator_is_named(heard: list[Evidence]) -> None:
    flawed = made(
        loaded=loaded(PLAN, answers(PLAN), host(0.5), complete=False),
        lost_components=("app: ended with 137",),
        audit="FAIL",
        offences=("2 writes are stored more than once",),
    )
    assert evaluate(flawed).verdict != "pass"
    assert heard[0].broken == (
        "component lost: app: ended with 137",
        "k6: did not send the whole schedule: stopped by a signal",
        "2 writes are stored more than once",
    )


def test_what_the_host_did_beside_it_makes_it_noise(heard: list[Evidence]) -> None:
    noisy = made(
        loaded=loaded(
            PLAN,
            answers(PLAN),
            host(0.9, foreign=0.5),
            withheld=dataclasses.replace(QUIET, steal_share=0.25, swapped_pages=100_000),
        ),
        after=dataclasses.replace(CANARY, cpu_ms=600.0),
    )
    found = evaluate(noisy)
    assert found.verdict == "noise"
    assert (found.noise.foreign_cpu_share, found.noise.steal_share) == (0.5, 0.25)
    words = " ".join(heard[0].noise_reasons)
    for cause in ("stolen", "swapped", "other programs used 50%", "a fixed CPU task took"):
        assert cause in words


def test_series_hold_only_what_was_sampled_within_the_load() -> None:
    samples = [*sampled("app", "x", {-1.0: 1.0, 0.0: 2.0, 10.0: 3.0, 10.1: 4.0})]
    seen = observed.series(samples, ORIGIN_US, ORIGIN_US + 10_000_000)
    at_us, values = seen["app", "x"]
    assert (at_us.tolist(), values.tolist()) == ([ORIGIN_US, ORIGIN_US + 10_000_000], [2.0, 3.0])


def test_without_two_samples_of_the_host_its_share_is_not_known() -> None:
    seen = observed.series(
        list(sampled("host", "busy_seconds", {1.0: 5.0})), ORIGIN_US, ORIGIN_US + 10_000_000
    )
    assert host_busy_share(seen) is None


def test_virtual_users_are_for_answers_within_reach_of_the_slo() -> None:
    assert plan_of(STEP, 100.0).virtual_users == 150
    assert plan_of(STEP, 1000.0).virtual_users == 450
