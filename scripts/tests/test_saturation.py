"""Is each resource seen at its limit, the first one named first, and a symptom not taken for its cause?"""

import numpy as np
import pytest

from planted_load import (
    COUNTED,
    LATE,
    PLANTED,
    SECONDS,
    Planted,
    at_s,
    counter,
    full_host,
    full_pool,
    healthy,
    look,
    waiting_database,
)
from writepath.analysis import verdict
from writepath.analysis.saturation import RESOURCES, rules
from writepath.analysis.saturation.signals import WINDOW_US
from writepath.analysis.stats import US_PER_S


def test_of_a_load_with_room_everywhere_nothing_is_said() -> None:
    found = look(healthy())
    assert found.first is None
    assert found.others == ()


def test_where_nothing_is_at_its_limit_what_came_nearest_is_named_with_its_evidence() -> None:
    found = look({**healthy(), ("host", "busy_seconds"): counter(1.7)})
    assert found.first is None
    assert found.nearest is not None
    assert (found.nearest.resource, found.nearest.component) == ("host-cpu", "host")
    assert "the host CPU (2 cores) was 85% busy" in found.nearest.evidence


def test_one_long_queue_is_not_what_came_nearest() -> None:
    second = at_s() == SECONDS / 2
    found = look(
        {
            **healthy(),
            ("host", "busy_seconds"): counter(1.5),
            ("jpa-writer", "pool_active"): np.where(second, 5.0, 2.0),
            ("jpa-writer", "pool_waiting"): np.where(second, 2000.0, 0.0),
        }
    )
    assert found.first is None
    assert found.nearest is not None
    assert found.nearest.resource == "host-cpu"


def test_every_resource_has_a_planted_case() -> None:
    assert set(PLANTED) == set(RESOURCES)


@pytest.mark.parametrize("resource", PLANTED)
def test_a_resource_at_its_limit_is_named_with_its_evidence(resource: str) -> None:
    plant, component, words = PLANTED[resource]
    found = look({**healthy(), **plant()})
    assert found.first is not None
    assert (found.first.resource, found.first.component) == (resource, component)
    assert words in found.first.evidence
    assert found.others == ()
    assert found.nearest is None


@pytest.mark.parametrize("resource", PLANTED)
def test_what_was_at_its_limit_for_three_seconds_only_limited_nothing(resource: str) -> None:
    """A checkpoint, a compiler, a collection: each load has some."""
    plant, _, _ = PLANTED[resource]
    brief: Planted = {}
    for key, value in plant().items():
        usual = healthy().get(key, np.zeros_like(value))
        if key[1].endswith(COUNTED):
            steps = np.diff(usual, prepend=usual[0])
            steps[31:34] = np.diff(value, prepend=value[0])[31:34]
            brief[key] = np.cumsum(steps)
        else:
            brief[key] = np.where((at_s() >= 30) & (at_s() < 33), value, usual)
    assert look({**healthy(), **brief}).first is None


def test_the_one_that_was_at_its_limit_earlier_is_first() -> None:
    found = look({**healthy(), **full_pool(since_s=10), **full_host(since_s=30)})
    assert found.first is not None
    assert found.first.resource == "pool"
    since_s = int(found.first.evidence.rpartition(" starting at ")[2].split()[0])
    assert 10 <= since_s < 10 + WINDOW_US / US_PER_S  # a level is known once a window is full of it
    assert [each.resource for each in found.others] == ["host-cpu"]


def test_waiters_for_a_pool_before_a_full_host_are_a_symptom() -> None:
    """The database is idle; what the pool's connections wait for is a processor."""
    found = look({**healthy(), **full_pool(), **full_host()})
    assert found.first is not None
    assert found.first.resource == "host-cpu"
    assert [each.resource for each in found.others] == ["pool"]


def test_waiters_for_a_pool_before_a_waiting_database_are_a_symptom() -> None:
    found = look({**healthy(), **full_pool(since_s=10), **waiting_database(since_s=13)})
    assert found.first is not None
    assert found.first.resource == "database-waits"


def test_a_full_host_comes_before_what_waits_for_it_in_the_order_of_the_path() -> None:
    refusing: Planted = {("jpa-writer", "in_flight_rejected"): counter(25)}
    found = look({**healthy(), **refusing, **full_pool(), **waiting_database(), **full_host()})
    assert found.first is not None
    told = [each.resource for each in (found.first, *found.others)]
    assert told == ["host-cpu", "database-waits", "pool", "in-flight"]


def test_a_generator_that_lacks_a_processor_on_a_full_host_is_not_blamed() -> None:
    busy: Planted = {**full_host(), ("k6", "cpu_seconds"): counter(0.95)}
    found = look({**healthy(), **busy}, LATE)
    assert found.first is not None
    assert found.first.resource == "host-cpu"
    assert found.others == ()


def test_a_late_generator_is_named_where_nothing_else_is_full() -> None:
    found = look(healthy(), LATE)
    assert found.first is not None
    assert found.first.resource == "generator"
    assert "sent 400 ms late at p99" in found.first.evidence


def test_a_late_generator_comes_after_what_is_known_to_be_full() -> None:
    found = look({**healthy(), **full_pool()}, LATE)
    assert found.first is not None
    assert found.first.resource == "pool"
    assert [each.resource for each in found.others] == ["generator"]


def test_a_busy_and_late_generator_is_named_once() -> None:
    found = look({**healthy(), ("k6", "cpu_seconds"): counter(0.95)}, LATE)
    assert found.first is not None
    assert found.first.resource == "generator"
    assert found.others == ()


def test_the_generators_limits_are_those_of_a_runs_verdict() -> None:
    assert rules.GENERATOR_CPU == verdict.CPU_SHARE_LIMIT
    assert rules.GENERATOR_LATE_MS == verdict.LATENESS_MS_LIMIT
