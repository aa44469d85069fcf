"""Is each resource seen at its limit, the first one named first, and what only looks like one left out?"""

import numpy as np
import pytest

from planted_load import (
    BATCHED,
    CONSUMER,
    CORES,
    COUNTED,
    ELASTICSEARCH,
    GENERATOR,
    JPA,
    LATE,
    PLANTED,
    PRODUCER,
    SECONDS,
    START_US,
    Planted,
    at_s,
    counter,
    full_host,
    full_pool,
    gauge,
    growing_queue,
    healthy,
    look,
    samples,
    split,
    waiting_database,
)
from writepath.analysis.samples import WINDOW_US
from writepath.analysis.saturation import RESOURCES, limited_by
from writepath.analysis.stats import US_PER_S
from writepath.records.steps import LimitedBy, Saturated

REJECTING = samples(ELASTICSEARCH, index_write_rejected=40)


def resources(found: LimitedBy) -> list[str]:
    """All that were at their limit, the first one first."""
    return [each.resource for each in (found.first, *found.others) if each is not None]


def first(planted: Planted) -> Saturated:
    found = look({**healthy(), **planted}).first
    assert found is not None
    return found


def test_where_nothing_is_at_its_limit_what_came_nearest_is_named_with_its_evidence() -> None:
    found = look(healthy() | samples("host", busy_seconds=1.7))
    assert resources(found) == []
    assert found.nearest is not None
    assert (found.nearest.resource, found.nearest.component) == ("host-cpu", "host")
    assert "the host CPU (2 cores) was 85% busy" in found.nearest.evidence


def test_one_long_queue_is_not_what_came_nearest() -> None:
    second = at_s() == SECONDS / 2
    pool: Planted = {
        (JPA, "pool_active"): np.where(second, 5.0, 2.0),
        (JPA, "pool_waiting"): np.where(second, 2000.0, 0.0),
    }
    found = look(healthy() | samples("host", busy_seconds=1.5) | pool)
    assert resources(found) == []
    assert found.nearest is not None
    assert found.nearest.resource == "host-cpu"


def test_every_resource_has_a_planted_case() -> None:
    assert set(PLANTED) == set(RESOURCES)


@pytest.mark.parametrize("resource", PLANTED)
def test_a_resource_at_its_limit_is_named_with_its_evidence_unless_it_was_for_three_seconds_only(
    resource: str,
) -> None:
    """A checkpoint, a compiler, a collection: each load has some."""
    planted, component, words = PLANTED[resource]
    found = look({**healthy(), **planted})
    assert (resources(found), found.nearest) == ([resource], None)
    assert found.first is not None
    assert found.first.component == component
    assert words in found.first.evidence
    brief: Planted = {}
    for key, value in planted.items():
        always = key[1].endswith("_total_seconds")
        usual = healthy().get(key, value if always else np.zeros_like(value))
        if key[1].endswith(COUNTED):
            steps = np.diff(usual, prepend=usual[0])
            steps[31:34] = np.diff(value, prepend=value[0])[31:34]
            brief[key] = np.cumsum(steps)
        else:
            brief[key] = np.where((at_s() >= 30) & (at_s() < 33), value, usual)
    assert resources(look({**healthy(), **brief})) == []


def test_the_one_that_was_at_its_limit_earlier_is_first() -> None:
    planted = {**full_pool(since_s=10), **full_host(since_s=30)}
    assert resources(look({**healthy(), **planted})) == ["pool", "host-cpu"]
    since_s = int(first(planted).evidence.rpartition(" starting at ")[2].split()[0])
    assert 10 <= since_s < 10 + WINDOW_US / US_PER_S  # a level is known once a window is full of it


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        # The database is idle; what the pool's connections wait for is a processor.
        ({**full_pool(), **full_host()}, ["host-cpu", "pool"]),
        ({**full_pool(since_s=10), **waiting_database(since_s=13)}, ["database-waits", "pool"]),
        (
            {(JPA, "in_flight_rejected"): counter(25), **full_pool(), **waiting_database(), **full_host()},
            ["host-cpu", "database-waits", "pool", "in-flight"],
        ),
        # Of a pool of 5 a consumer uses one: 0.8 sessions that wait are most of what it can have.
        (
            samples(CONSUMER, consumer_loops=1, pool_max=5, database_waiting=0.8, consumer_busy_seconds=0.97),
            ["database-waits", "consumer"],
        ),
        # Of a pool of 5 batched writes use two.
        (
            samples(BATCHED, inserts_in_flight=2, insert_queued=180, pool_max=5, database_waiting=1.5),
            ["database-waits", "inserts"],
        ),
        # Both ends of a queue look at the same store.
        (
            samples(PRODUCER, index_write_threads=2, index_write_active=2, index_write_queue=12)
            | samples(CONSUMER, index_write_threads=2, index_write_active=2, index_write_queue=12),
            ["index-writes"],
        ),
    ],
)
def test_what_waits_for_a_saturated_resource_is_told_after_it_and_nothing_twice(
    planted: Planted, expected: list[str]
) -> None:
    assert resources(look({**healthy(), **planted})) == expected


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        ({}, ["generator"]),
        (full_pool(), ["pool", "generator"]),
        (samples("k6", cpu_seconds=0.95), ["generator"]),
        (full_host() | samples("k6", cpu_seconds=0.95), ["host-cpu"]),  # then it lacks a processor
    ],
)
def test_a_late_generator_is_named_once_after_what_is_full_and_not_blamed_on_a_full_host(
    planted: Planted, expected: list[str]
) -> None:
    found = look({**healthy(), **planted}, LATE)
    assert resources(found) == expected
    assert planted or "sent 400 ms late at p99" in str(found.first)


@pytest.mark.parametrize(
    ("planted", "expected", "evidence"),
    [
        (split(0.5, 0.85), ["generator"], "the processors of the load generator were 85% busy (limit 80%)"),
        (split(0.95, 0.85), ["system-cpu", "generator"], ""),  # neither is the other's symptom
        (split(0.7, 0.7) | full_host(), [], ""),
    ],
)
def test_each_side_is_judged_by_its_own_processors(
    planted: Planted, expected: list[str], evidence: str
) -> None:
    found = look({**healthy(), **planted})
    assert resources(found) == expected
    assert not evidence or evidence == str(found.first and found.first.evidence)


@pytest.mark.parametrize(
    "planted",
    [
        {**full_pool(), (JPA, "pool_waiting"): gauge(4)},  # shorter than the pool
        {**full_pool(), (JPA, "pool_active"): gauge(3)},  # idle connections: the pool is not small
        {(ELASTICSEARCH, "bulk_queued"): gauge(60)},  # how batching works
        {**growing_queue(), (CONSUMER, "queue_ready"): 24_000 - at_s() * 400},  # it shrinks
        {("host", "pressure_io_seconds"): counter(0.95)},  # a disk is seen, and it is idle
        {  # an instance starts again: no jump of a counter
            (JPA, "jvm_gc_seconds"): np.where(at_s() < 30, at_s() * 0.01, (at_s() - 30) * 0.01),
            (JPA, "jvm_seconds"): np.where(at_s() < 30, at_s(), at_s() - 30),
        },
    ],
)
def test_what_only_looks_like_a_limit_is_none(planted: Planted) -> None:
    assert resources(look({**healthy(), **planted})) == []


DIPPING = np.where(at_s() % 5 == 0, 0.0, 30.0)  # a level that dips once in five seconds stays a level


@pytest.mark.parametrize(
    ("planted", "resource", "component", "end"),
    [
        ({**full_pool(), (JPA, "pool_waiting"): DIPPING}, "pool", JPA, "were idle in PostgreSQL"),
        ({**growing_queue(), (CONSUMER, "consumed"): counter(0)}, "queue", "rabbitmq", "0/s were consumed"),
        ({("host", "busy_seconds"): counter(1.94)}, "host-cpu", "host", ", other programs 1.32"),
        ({("nginx", "connections_refused"): counter(3)}, "proxy-connections", "nginx", "open, 3/s refused"),
        ({(ELASTICSEARCH, "index_gc_seconds"): counter(0.2)}, "memory", "elasticsearch", "collection"),
        ({("host", "pressure_memory_seconds"): counter(0.2)}, "memory", "host", "of the time"),
    ],
)
def test_special_cases_of_a_limit_are_seen(planted: Planted, resource: str, component: str, end: str) -> None:
    found = first(planted)
    assert (found.resource, found.component) == (resource, component)
    assert found.evidence.endswith(end)


@pytest.mark.parametrize(
    ("absent", "planted", "resource"),
    [
        (("host", "disk_busy_seconds@1"), {("host", "pressure_io_seconds"): counter(0.95)}, "disk"),
        *(
            (
                (ELASTICSEARCH, "index_write_rejected"),
                {(ELASTICSEARCH, metric): counter(7)},
                "index-rejections",
            )
            for metric in ("bulk_rejected", "singles_rejected")
        ),
        *((key, REJECTING, "index-rejections") for key in healthy() if key not in REJECTING),
    ],
)
def test_a_missing_series_breaks_no_other_rule_and_the_next_best_stands_in(
    absent: tuple[str, str], planted: Planted, resource: str
) -> None:
    series = {**healthy(), **planted}
    del series[absent]
    assert resources(look(series))[:1] == [resource]


def test_one_reading_alone_or_none_says_nothing() -> None:
    everything = {key: value for planted, _, _ in PLANTED.values() for key, value in planted.items()}
    one = {key: (np.array([START_US]), value[-1:]) for key, value in {**healthy(), **everything}.items()}
    assert limited_by(one, CORES, GENERATOR).first is None
    nothing, empty = LimitedBy(first=None), (np.empty(0, np.int64), np.empty(0))
    assert limited_by({}, CORES, GENERATOR) == nothing
    assert limited_by(dict.fromkeys(healthy(), empty), CORES, GENERATOR) == nothing
