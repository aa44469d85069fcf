"""What is no saturation although it looks like one, and what is said where series are short, missing or restart?"""

import numpy as np
import pytest

from planted_load import (
    CORES,
    GENERATOR,
    PLANTED,
    START_US,
    Planted,
    at_s,
    counter,
    full_pool,
    gauge,
    growing_queue,
    healthy,
    look,
)
from writepath.analysis.saturation import limited_by
from writepath.records.steps import LimitedBy


def test_a_level_that_dips_once_in_five_seconds_stays_a_level() -> None:
    planted = full_pool()
    planted["jpa-writer", "pool_waiting"][::5] = 0
    found = look({**healthy(), **planted})
    assert found.first is not None
    assert found.first.resource == "pool"


def test_a_pool_in_use_whose_queue_is_shorter_than_itself_has_room() -> None:
    planted = full_pool()
    planted["jpa-writer", "pool_waiting"] = gauge(4)
    assert look({**healthy(), **planted}).first is None


def test_waiters_for_a_pool_with_idle_connections_are_no_sign_of_a_small_pool() -> None:
    planted = full_pool()
    planted["jpa-writer", "pool_active"] = gauge(3)
    assert look({**healthy(), **planted}).first is None


def test_full_bulks_with_few_documents_behind_them_are_how_batching_works() -> None:
    assert look({**healthy(), ("elasticsearch-writer", "bulk_queued"): gauge(60)}).first is None


def test_a_deep_queue_that_shrinks_limits_nothing() -> None:
    planted = growing_queue()
    planted["rabbitmq-consumer", "queue_ready"] = 24_000 - at_s() * 400
    assert look({**healthy(), **planted}).first is None


def test_a_queue_that_nobody_empties_is_seen() -> None:
    planted = growing_queue()
    planted["rabbitmq-consumer", "consumed"] = counter(0)
    found = look({**healthy(), **planted})
    assert found.first is not None
    assert found.first.resource == "queue"


def test_a_consumer_that_waits_for_its_store_is_judged_by_its_one_connection() -> None:
    """Of a pool of 5 it uses one: 0.8 sessions that wait are most of what it can have."""
    planted: Planted = {
        ("rabbitmq-consumer", "consumer_loops"): gauge(1),
        ("rabbitmq-consumer", "pool_max"): gauge(5),
        ("rabbitmq-consumer", "database_waiting"): gauge(0.8),
        ("rabbitmq-consumer", "consumer_busy_seconds"): counter(0.97),
    }
    found = look({**healthy(), **planted})
    assert found.first is not None
    assert found.first.resource == "database-waits"
    assert [each.resource for each in found.others] == ["consumer"]


def test_what_both_ends_of_a_queue_say_of_one_store_is_told_once() -> None:
    planted = healthy()
    for component in ("rabbitmq-producer", "rabbitmq-consumer"):
        planted[component, "index_write_threads"] = gauge(2)
        planted[component, "index_write_active"] = gauge(2)
        planted[component, "index_write_queue"] = gauge(12)
    found = look(planted)
    assert found.first is not None
    assert found.first.resource == "index-writes"
    assert found.others == ()


def test_what_programs_outside_the_run_use_of_a_full_host_is_said() -> None:
    planted = {**healthy(), ("host", "busy_seconds"): counter(1.94)}
    found = look(planted)
    assert found.first is not None
    assert found.first.evidence.endswith(", other programs 1.32")


def test_a_proxy_that_refuses_connections_has_none_left() -> None:
    found = look({**healthy(), ("nginx", "connections_refused"): counter(3)})
    assert found.first is not None
    assert found.first.resource == "proxy-connections"
    assert found.first.evidence.endswith("60 of at most 8192 connections open, 3/s refused")


def test_the_collector_of_elasticsearch_is_seen_through_its_writer() -> None:
    found = look({**healthy(), ("elasticsearch-writer", "index_gc_seconds"): counter(0.2)})
    assert found.first is not None
    assert (found.first.resource, found.first.component) == ("memory", "elasticsearch")


def test_a_host_that_reclaims_memory_is_seen() -> None:
    found = look({**healthy(), ("host", "pressure_memory_seconds"): counter(0.2)})
    assert found.first is not None
    assert (found.first.resource, found.first.component) == ("memory", "host")


def test_what_waits_for_a_disk_counts_where_no_disk_is_seen() -> None:
    planted = {**healthy(), ("host", "pressure_io_seconds"): counter(0.95)}
    assert look(planted).first is None
    del planted["host", "disk_busy_seconds@1"]
    found = look(planted)
    assert found.first is not None
    assert found.first.resource == "disk"


@pytest.mark.parametrize("metric", ["bulk_rejected", "singles_rejected"])
def test_rejections_count_where_only_the_writer_answers(metric: str) -> None:
    planted = healthy()
    del planted["elasticsearch-writer", "index_write_rejected"]
    found = look({**planted, ("elasticsearch-writer", metric): counter(7)})
    assert found.first is not None
    assert found.first.resource == "index-rejections"


def test_one_reading_alone_says_nothing() -> None:
    everything = {key: value for plant, _, _ in PLANTED.values() for key, value in plant().items()}
    one = {key: (np.array([START_US]), value[-1:]) for key, value in {**healthy(), **everything}.items()}
    assert limited_by(one, CORES, GENERATOR).first is None


def test_without_any_series_nothing_is_said() -> None:
    nothing = LimitedBy(first=None)
    assert limited_by({}, CORES, GENERATOR) == nothing
    empty = (np.empty(0, np.int64), np.empty(0))
    assert limited_by(dict.fromkeys(healthy(), empty), CORES, GENERATOR) == nothing


@pytest.mark.parametrize("missing", healthy())
def test_a_missing_series_breaks_no_other_rule(missing: tuple[str, str]) -> None:
    planted = {**healthy(), ("elasticsearch-writer", "index_write_rejected"): counter(40)}
    planted.pop(missing)
    found = look(planted)
    if missing != ("elasticsearch-writer", "index_write_rejected"):
        assert found.first is not None
        assert found.first.resource == "index-rejections"


def test_an_instance_that_starts_again_is_no_jump_of_a_counter() -> None:
    planted = healthy()
    planted["jpa-writer", "jvm_gc_seconds"] = np.where(at_s() < 30, at_s() * 0.01, (at_s() - 30) * 0.01)
    planted["jpa-writer", "jvm_seconds"] = np.where(at_s() < 30, at_s(), at_s() - 30)
    assert look(planted).first is None
