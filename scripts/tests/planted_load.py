"""What do samples look like of a load with room everywhere, and of one with a resource at its limit?"""

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
JPA, PRODUCER, CONSUMER = "jpa-writer", "rabbitmq-producer", "rabbitmq-consumer"
ELASTICSEARCH = "elasticsearch-writer"
BATCHED = "batched-writer"  # jpa-writer, as jpa-batched has it


def at_s() -> Floats:
    return np.arange(SECONDS + 1, dtype=np.float64)


def gauge(value: float, *, before: float = 0.0, since_s: float = 0.0) -> Floats:
    return np.where(at_s() >= since_s, value, before)


def counter(rate_per_s: float, *, before: float = 0.0, since_s: float = 0.0) -> Floats:
    seconds = at_s()
    late = np.maximum(0.0, seconds - since_s)
    return (seconds - late) * before + late * rate_per_s


def samples(component: str, since_s: float = 0.0, **metrics: float) -> Planted:
    """Of counters, their growth per second."""
    return {
        (component, name): (counter if name.endswith(COUNTED) else gauge)(value, since_s=since_s)
        for name, value in metrics.items()
    }


def healthy() -> Planted:
    """Every part has room: what a load at a third of capacity looks like."""
    return {
        **samples("host", total_seconds=CORES, busy_seconds=0.6, runner_seconds=0.02, core_busy_max=0.5),
        **samples("host", pressure_io_seconds=0.1, pressure_memory_seconds=0.0),
        ("host", "disk_busy_seconds@1"): counter(0.2),
        **samples("k6", cpu_seconds=0.2),
        **samples("nginx", cpu_seconds=0.1, connections_open=60, connections_max=8192, connections_refused=0),
        **samples("postgres", cpu_seconds=0.1),
        **samples(JPA, cpu_seconds=0.2, in_flight=4, in_flight_max=256, in_flight_rejected=0),
        **samples(JPA, pool_active=2, pool_waiting=0, pool_max=5),
        **samples(JPA, database_waiting=1, database_between_statements=0, jvm_gc_seconds=0.01, jvm_seconds=1),
        **samples(BATCHED, in_flight_max=256, inserts_in_flight=1, inserts_in_flight_max=2, insert_queued=2),
        **samples(PRODUCER, in_flight_max=256, unconfirmed=3, blocked=0),
        **samples(CONSUMER, queue_ready=0, consumed=500, consumer_busy_seconds=0.3, jvm_seconds=1),
        **samples(ELASTICSEARCH, in_flight_max=256, bulk_queued=10, bulk_rejected=0),
        **samples(ELASTICSEARCH, bulks_in_flight=2, bulks_in_flight_max=2, index_write_rejected=0),
        **samples(ELASTICSEARCH, index_write_threads=2, index_write_active=1, index_write_queue=0),
        **samples(ELASTICSEARCH, index_gc_seconds=0.01, index_seconds=1),
    }


def look(planted: Planted, generator: Generator = GENERATOR) -> LimitedBy:
    at_us = START_US + (at_s() * 1_000_000).astype(np.int64)
    return limited_by({key: (at_us, value) for key, value in planted.items()}, CORES, generator)


def full_host(since_s: float = 0.0) -> Planted:
    used = {JPA: 0.9, "postgres": 0.4, "nginx": 0.22, "k6": 0.35}
    busy: Planted = {("host", "busy_seconds"): counter(1.94, before=0.6, since_s=since_s)}
    return busy | {(name, "cpu_seconds"): counter(cores) for name, cores in used.items()}


def split(system_busy: float, generator_busy: float) -> Planted:
    """A processor each; the host's own figures are of both."""
    return samples(
        "host",
        system_total_seconds=1,
        generator_total_seconds=1,
        system_busy_seconds=system_busy,
        generator_busy_seconds=generator_busy,
    )


def full_pool(since_s: float = 0.0) -> Planted:
    waiting = samples(JPA, since_s, pool_waiting=30, database_between_statements=4)
    return waiting | {(JPA, "pool_active"): gauge(5, before=2, since_s=since_s)}


def waiting_database(since_s: float = 0.0) -> Planted:
    kinds = {"database_wait.IO.WalSync": 1, "database_wait.LWLock.WALWrite": 3}
    return samples(JPA, since_s, database_waiting=4, **kinds)


def growing_queue() -> Planted:
    return samples(CONSUMER, consumed=1600) | {(CONSUMER, "queue_ready"): at_s() * 400}


PLANTED: dict[str, tuple[Planted, str, str]] = {
    "system-cpu": (
        split(0.95, 0.3) | samples(JPA, cpu_seconds=0.5),
        "host",
        "the CPU of the system under test (2 cores) was 95% busy; cores used: jpa-writer 0.50, ",
    ),
    "host-cpu": (
        full_host(),
        "host",
        "the host CPU (2 cores) was 97% busy; cores used: jpa-writer 0.90, postgres 0.40, k6 0.35",
    ),
    "disk": (
        {("host", "disk_busy_seconds@1"): counter(0.97)},
        "host",
        "a disk was busy 97% of the time; processes waited for a disk 10%",
    ),
    "memory": (
        samples(JPA, jvm_gc_seconds=0.3),
        JPA,
        "jpa-writer spent 30% of the time on garbage collection",
    ),
    "database-waits": (
        waiting_database(),
        "postgres",
        "4.0 of 5 writing connections waited inside PostgreSQL: LWLock.WALWrite 75%, IO.WalSync 25%",
    ),
    "index-writes": (
        samples(ELASTICSEARCH, index_write_active=2, index_write_queue=12),
        "elasticsearch",
        "12 writes waited for one of Elasticsearch's 2 write threads (100% busy)",
    ),
    "index-rejections": (
        samples(ELASTICSEARCH, index_write_rejected=40),
        "elasticsearch",
        "Elasticsearch rejected 40 writes/s",
    ),
    "broker-blocked": (
        samples(PRODUCER, blocked=1),
        "rabbitmq",
        "the broker blocked publishers 100% of the time",
    ),
    "consumer": (
        samples(CONSUMER, consumer_busy_seconds=0.97),
        CONSUMER,
        "the consumer was processing a batch 97% of the time, 500 messages/s",
    ),
    "pool": (
        full_pool(),
        JPA,
        "30 requests waited for one of 5 pool connections (100% in use); 4.0 connections were idle in PostgreSQL",
    ),
    "bulks": (
        samples(ELASTICSEARCH, bulk_queued=200),
        ELASTICSEARCH,
        "200 documents waited for one of 2 bulk requests (100% in flight)",
    ),
    "inserts": (
        samples(BATCHED, inserts_in_flight=2, insert_queued=180),
        BATCHED,
        "180 posts waited for one of 2 inserts (100% in flight)",
    ),
    "confirms": (
        samples(PRODUCER, unconfirmed=230),
        PRODUCER,
        "230 of at most 256 requests waited for the broker's confirm",
    ),
    "queue": (growing_queue(), "rabbitmq", "growing by 400/s; 1600/s were consumed"),
    "in-flight": (
        samples(JPA, in_flight=200, in_flight_rejected=25),
        JPA,
        "200 of at most 256 requests were in flight, 25/s refused",
    ),
    "one-core": (
        samples("nginx", cpu_seconds=0.98) | samples("host", core_busy_max=0.99),
        "nginx",
        "nginx used 0.98 of the one core it can use; the busiest core was 99% busy",
    ),
    "proxy-connections": (
        samples("nginx", connections_open=8100),
        "nginx",
        "nginx had 8100 of at most 8192 connections open",
    ),
    "generator": (
        samples("k6", cpu_seconds=0.95),
        "k6",
        "k6 used 0.95 cores (limit 0.8); the host CPU was not saturated",
    ),
}
