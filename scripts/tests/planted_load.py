"""What do samples look like of a load with room everywhere, and of one with a resource at its limit?"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from writepath.analysis.saturation import limited_by
from writepath.analysis.stats import Floats
from writepath.records.measures import Generator
from writepath.records.steps import LimitedBy

SECONDS = 60
CORES = 2
START_US = 1_700_000_000_000_000
COUNTED = ("_seconds", "_seconds@1", "_rejected", "_refused", "consumed")
Planted = dict[tuple[str, str], "Floats"]

GENERATOR = Generator(
    cpu_share_mean=0.3,
    cpu_share_peak=0.4,
    lateness_ms_p99=2.0,
    lateness_ms_max=9.0,
    exit_code=0,
    samples=SECONDS + 1,
    samples_late=0,
)
LATE = replace(GENERATOR, lateness_ms_p99=400.0)


def at_s() -> Floats:
    return np.arange(SECONDS + 1, dtype=np.float64)


def gauge(value: float, *, before: float = 0.0, since_s: float = 0.0) -> Floats:
    return np.where(at_s() >= since_s, value, before)


def counter(rate_per_s: float, *, before: float = 0.0, since_s: float = 0.0) -> Floats:
    seconds = at_s()
    late = np.maximum(0.0, seconds - since_s)
    return (seconds - late) * before + late * rate_per_s


def healthy() -> Planted:
    """Every part has room: what a load at a third of capacity looks like."""
    return {
        ("host", "total_seconds"): counter(CORES),
        ("host", "busy_seconds"): counter(0.6),
        ("host", "runner_seconds"): counter(0.02),
        ("host", "core_busy_max"): gauge(0.5),
        ("host", "disk_busy_seconds@1"): counter(0.2),
        ("host", "pressure_io_seconds"): counter(0.1),
        ("host", "pressure_memory_seconds"): counter(0.0),
        ("k6", "cpu_seconds"): counter(0.2),
        ("nginx", "cpu_seconds"): counter(0.1),
        ("nginx", "connections_open"): gauge(60),
        ("nginx", "connections_max"): gauge(8192),
        ("nginx", "connections_refused"): counter(0),
        ("postgres", "cpu_seconds"): counter(0.1),
        ("jpa-writer", "cpu_seconds"): counter(0.2),
        ("jpa-writer", "in_flight"): gauge(4),
        ("jpa-writer", "in_flight_max"): gauge(256),
        ("jpa-writer", "in_flight_rejected"): counter(0),
        ("jpa-writer", "pool_active"): gauge(2),
        ("jpa-writer", "pool_waiting"): gauge(0),
        ("jpa-writer", "pool_max"): gauge(5),
        ("jpa-writer", "database_waiting"): gauge(1),
        ("jpa-writer", "database_between_statements"): gauge(0),
        ("jpa-writer", "jvm_gc_seconds"): counter(0.01),
        ("jpa-writer", "jvm_seconds"): counter(1),
        ("rabbitmq-producer", "in_flight_max"): gauge(256),
        ("rabbitmq-producer", "unconfirmed"): gauge(3),
        ("rabbitmq-producer", "blocked"): gauge(0),
        ("rabbitmq-consumer", "queue_ready"): gauge(0),
        ("rabbitmq-consumer", "consumed"): counter(500),
        ("rabbitmq-consumer", "consumer_busy_seconds"): counter(0.3),
        ("rabbitmq-consumer", "jvm_seconds"): counter(1),
        ("elasticsearch-writer", "in_flight_max"): gauge(256),
        ("elasticsearch-writer", "bulk_queued"): gauge(10),
        ("elasticsearch-writer", "bulks_in_flight"): gauge(2),
        ("elasticsearch-writer", "bulks_in_flight_max"): gauge(2),
        ("elasticsearch-writer", "bulk_rejected"): counter(0),
        ("elasticsearch-writer", "index_write_threads"): gauge(2),
        ("elasticsearch-writer", "index_write_active"): gauge(1),
        ("elasticsearch-writer", "index_write_queue"): gauge(0),
        ("elasticsearch-writer", "index_write_rejected"): counter(0),
        ("elasticsearch-writer", "index_gc_seconds"): counter(0.01),
        ("elasticsearch-writer", "index_seconds"): counter(1),
    }


def look(planted: Planted, generator: Generator = GENERATOR) -> LimitedBy:
    at_us = START_US + (at_s() * 1_000_000).astype(np.int64)
    return limited_by({key: (at_us, value) for key, value in planted.items()}, CORES, generator)


def full_host(since_s: float = 0.0) -> Planted:
    return {
        ("host", "busy_seconds"): counter(1.94, before=0.6, since_s=since_s),
        ("jpa-writer", "cpu_seconds"): counter(0.9),
        ("postgres", "cpu_seconds"): counter(0.4),
        ("nginx", "cpu_seconds"): counter(0.22),
        ("k6", "cpu_seconds"): counter(0.35),
    }


def split(system_busy: float, generator_busy: float) -> Planted:
    """A processor each; the host's own figures are of both."""
    sides = {"system": system_busy, "generator": generator_busy}
    busy = {("host", f"{side}_busy_seconds"): counter(share) for side, share in sides.items()}
    return {("host", f"{side}_total_seconds"): counter(1) for side in sides} | busy


def full_pool(since_s: float = 0.0) -> Planted:
    return {
        ("jpa-writer", "pool_active"): gauge(5, before=2, since_s=since_s),
        ("jpa-writer", "pool_waiting"): gauge(30, since_s=since_s),
        ("jpa-writer", "database_between_statements"): gauge(4, since_s=since_s),
    }


def waiting_database(since_s: float = 0.0) -> Planted:
    return {
        ("jpa-writer", "database_waiting"): gauge(4, since_s=since_s),
        ("jpa-writer", "database_wait.IO.WalSync"): gauge(1, since_s=since_s),
        ("jpa-writer", "database_wait.LWLock.WALWrite"): gauge(3, since_s=since_s),
    }


def growing_queue() -> Planted:
    return {
        ("rabbitmq-consumer", "queue_ready"): at_s() * 400,
        ("rabbitmq-consumer", "consumed"): counter(1600),
    }


PLANTED: dict[str, tuple[Callable[[], Planted], str, str]] = {
    "system-cpu": (
        lambda: split(0.95, 0.3) | {("jpa-writer", "cpu_seconds"): counter(0.5)},
        "host",
        "the CPU of the system under test (2 cores) was 95% busy; cores used: jpa-writer 0.50, ",
    ),
    "host-cpu": (
        full_host,
        "host",
        "the host CPU (2 cores) was 97% busy; cores used: jpa-writer 0.90, postgres 0.40, k6 0.35",
    ),
    "disk": (
        lambda: {("host", "disk_busy_seconds@1"): counter(0.97)},
        "host",
        "a disk was busy 97% of the time; processes waited for a disk 10%",
    ),
    "memory": (
        lambda: {("jpa-writer", "jvm_gc_seconds"): counter(0.3)},
        "jpa-writer",
        "jpa-writer spent 30% of the time on garbage collection",
    ),
    "database-waits": (
        waiting_database,
        "postgres",
        "4.0 of 5 writing connections waited inside PostgreSQL: LWLock.WALWrite 75%, IO.WalSync 25%",
    ),
    "index-writes": (
        lambda: {
            ("elasticsearch-writer", "index_write_active"): gauge(2),
            ("elasticsearch-writer", "index_write_queue"): gauge(12),
        },
        "elasticsearch",
        "12 writes waited for one of Elasticsearch's 2 write threads (100% busy)",
    ),
    "index-rejections": (
        lambda: {("elasticsearch-writer", "index_write_rejected"): counter(40)},
        "elasticsearch",
        "Elasticsearch rejected 40 writes/s",
    ),
    "broker-blocked": (
        lambda: {("rabbitmq-producer", "blocked"): gauge(1)},
        "rabbitmq",
        "the broker blocked publishers 100% of the time",
    ),
    "consumer": (
        lambda: {("rabbitmq-consumer", "consumer_busy_seconds"): counter(0.97)},
        "rabbitmq-consumer",
        "the consumer was processing a batch 97% of the time, 500 messages/s",
    ),
    "pool": (
        full_pool,
        "jpa-writer",
        "30 requests waited for one of 5 pool connections (100% in use); 4.0 connections were idle in PostgreSQL",
    ),
    "bulks": (
        lambda: {("elasticsearch-writer", "bulk_queued"): gauge(200)},
        "elasticsearch-writer",
        "200 documents waited for one of 2 bulk requests (100% in flight)",
    ),
    "confirms": (
        lambda: {("rabbitmq-producer", "unconfirmed"): gauge(230)},
        "rabbitmq-producer",
        "230 of at most 256 requests waited for the broker's confirm",
    ),
    "queue": (growing_queue, "rabbitmq", "growing by 400/s; 1600/s were consumed"),
    "in-flight": (
        lambda: {
            ("jpa-writer", "in_flight"): gauge(200),
            ("jpa-writer", "in_flight_rejected"): counter(25),
        },
        "jpa-writer",
        "200 of at most 256 requests were in flight, 25/s refused",
    ),
    "one-core": (
        lambda: {("nginx", "cpu_seconds"): counter(0.98), ("host", "core_busy_max"): gauge(0.99)},
        "nginx",
        "nginx used 0.98 of the one core it can use; the busiest core was 99% busy",
    ),
    "proxy-connections": (
        lambda: {("nginx", "connections_open"): gauge(8100)},
        "nginx",
        "nginx had 8100 of at most 8192 connections open",
    ),
    "generator": (
        lambda: {("k6", "cpu_seconds"): counter(0.95)},
        "k6",
        "k6 used 0.95 cores (limit 0.8); the host CPU was not saturated",
    ),
}
