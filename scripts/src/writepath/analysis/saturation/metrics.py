"""What the rules read of a load's samples; the rest says nothing of a bottleneck."""

from __future__ import annotations

from writepath.analysis.saturation.rules import WAIT

DISKS = "disk_busy_seconds"  # then a disk's number, where there are several
METRICS = frozenset(
    (
        *("busy_seconds", "total_seconds", "runner_seconds", "core_busy_max"),
        *("pressure_memory_seconds", "pressure_io_seconds", "cpu_seconds", "write_bytes"),
        *("jvm_gc_seconds", "jvm_seconds", "index_gc_seconds", "index_seconds"),
        *("database_waiting", "database_between_statements", "blocked"),
        *("pool_max", "pool_waiting", "pool_active"),
        *("in_flight", "in_flight_max", "in_flight_rejected", "unconfirmed"),
        *("bulks_in_flight", "bulks_in_flight_max", "bulk_queued", "bulk_rejected", "singles_rejected"),
        *("index_write_threads", "index_write_active", "index_write_queue", "index_write_rejected"),
        *("consumer_loops", "consumer_busy_seconds", "consumed", "queue_ready", "queue_unacknowledged"),
        *("connections_open", "connections_max", "connections_refused"),
    )
)


def read_by_rules(metric: str) -> bool:
    """Whether a rule or a figure of a load step reads it."""
    return metric in METRICS or metric.startswith((DISKS, WAIT))
