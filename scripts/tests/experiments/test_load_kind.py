"""What the engine is told of kind `load`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from experiments.planted_cell import CLOSED
from lifecycle import fakes
from writepath.analysis.audit import not_read
from writepath.experiments.load import LoadExperiment
from writepath.experiments.load.params import LoadParams
from writepath.records import base
from writepath.records.load import LoadResult
from writepath.records.load_facts import PhaseFacts
from writepath.records.measures import Drain, Generator, Latency, Requests, Verdict

if TYPE_CHECKING:
    from writepath.config.registry import Scenario
    from writepath.experiments.base import Experiment

KIND: Experiment[LoadResult] = LoadExperiment()
UNKNOWN = Latency(min=None, mean=None, median=None, p95=None, p99=None, max=None)
REQUESTS = Requests(
    planned=50,
    started=50,
    dropped=0,
    acknowledged=49,
    rejected=0,
    indeterminate=1,
    by_status={},
    by_error={},
)
DRAIN = Drain(
    seconds=0,
    settle_seconds=0,
    capped=False,
    queue_ready_left=0,
    queue_unacknowledged_left=0,
    dead_letters=0,
)
GENERATOR = Generator(
    cpu_share_mean=0,
    cpu_share_peak=0,
    lateness_ms_p99=None,
    lateness_ms_max=None,
    exit_code=0,
    samples=0,
    samples_late=0,
)


def params(scenario: Scenario) -> LoadParams:
    return LoadExperiment().params_of(replace(fakes.suite("jpa"), scenario=scenario), {})


def result(latency: Latency) -> LoadResult:
    return LoadResult(
        requests=REQUESTS,
        answers={},
        completed=50,
        accept_latency_ms=latency,
        planned_latency_ms=UNKNOWN,
        time_to_durable_ms=UNKNOWN,
        durable_of_acknowledged_ms=UNKNOWN,
        durable_later=False,
        time_to_visible_ms=None,
        visible_samples=None,
        visible_error_ms_median=None,
        visible_error_ms_max=None,
        order=None,
        planned_per_s=None,
        planned_peak_per_s=None,
        achieved_per_s=None,
        achieved_peak_per_s=None,
        answered_per_s=None,
        durable_per_s=None,
        phases=(),
        audit=not_read(),
        drain=DRAIN,
        resources={},
        disk_written_bytes=None,
        queue_peak=None,
        generator=GENERATOR,
        foreign_cpu_share=None,
        verdict=Verdict(status="unknown"),
        load_started_at="",
        load_finished_at="",
    )


def test_the_index_keeps_the_scenario_of_an_open_load() -> None:
    kept = params(fakes.SCENARIO)
    assert (kept.scenario, kept.model, kept.virtual_users) == ("short", "open", None)
    assert kept.phases == (PhaseFacts(name="sustained", seconds=0.5, from_per_s=100, to_per_s=100),)
    assert base.from_data(LoadParams, base.to_data(kept), "params") == kept


def test_the_index_keeps_the_users_of_a_closed_load() -> None:
    kept = params(CLOSED)
    assert (kept.model, kept.phases, kept.virtual_users, kept.seconds) == ("closed", (), 3, 0.5)


@pytest.mark.parametrize(("scenario", "seconds"), [(fakes.SCENARIO, 0.53), (CLOSED, 0.5)])
def test_a_cell_takes_its_load_and_its_warm_up(scenario: Scenario, seconds: float) -> None:
    assert KIND.load_seconds(params(scenario), {}) == pytest.approx(seconds)


def test_the_line_of_a_cell_has_its_counts_and_its_latency() -> None:
    latency = replace(UNKNOWN, median=2.64, p95=None)
    assert KIND.line(result(latency)) == "49/50 acknowledged  median 2.6 ms  p95 -"


def test_verdict_and_audit_are_the_results() -> None:
    found = result(UNKNOWN)
    assert KIND.verdict(found) == found.verdict
    assert LoadExperiment().audit(found) == found.audit
