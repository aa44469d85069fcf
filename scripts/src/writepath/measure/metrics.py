"""The applications' metrics, as /actuator/prometheus has them, under the names that samples have."""

import math
from collections.abc import Iterator, Mapping

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

_OURS = (  # writepath_NAME, of a counter with _total, is NAME
    *(
        "in_flight",
        "in_flight_max",
        "in_flight_rejected",
        "pool_timeouts",
        "store_failures",
        "store_timeouts",
    ),
    *("database_active", "database_waiting", "database_between_statements"),
    *("index_write_threads", "index_write_active", "index_write_queue", "index_write_rejected"),
    *("index_merges", "index_merge_seconds", "index_refresh_seconds", "index_seconds", "index_gc_seconds"),
    *("allocation_retries", "bulk_queued", "bulks_in_flight", "bulk_rejected", "bulks_in_flight_max"),
    *("bulks_sent", "bulk_documents_mean", "singles_in_flight", "singles_sent", "singles_rejected"),
    *("insert_queued", "inserts_in_flight", "inserts_in_flight_max", "inserts_sent", "insert_posts_mean"),
    *("queue_ready", "queue_messages", "queue_dead", "queue_unacknowledged", "consumer_connected"),
    *("consumer_loops", "consumer_busy_seconds", "consumed", "batches", "stored", "suppressed_duplicates"),
    *("parked", "redelivered", "rescued", "store_retries", "confirmed", "returned", "nacked"),
    *("publish_refused", "confirm_timeouts", "lost_confirms", "publisher_connections", "topology_repairs"),
    *("connected", "blocked", "unconfirmed", "messages_sent", "posts_sent", "messages_consumed"),
    *("sql_statements", "sql_rows", "read_requests"),
)
_WAIT, _LAG = "writepath_database_wait", "writepath_consumer_lag_seconds"
_UPTIME = "process_uptime_seconds"
_PAUSES = ("jvm_gc_pause_seconds", "jvm_gc_concurrent_phase_time_seconds")  # absent before the first one
_NAMES = {
    **{f"writepath_{name}": name for name in _OURS},
    **{f"hikaricp_connections_{name}": f"pool_{name}" for name in ("active", "idle", "max")},
    "hikaricp_connections_pending": "pool_waiting",
    _UPTIME: "jvm_seconds",
}
_TIMERS = {  # of the pool: how long a connection was waited for, and how long it was held
    "hikaricp_connections_acquire_seconds": ("pool_acquired", "pool_acquire_seconds"),
    "hikaricp_connections_usage_seconds": ("pool_used", "pool_usage_seconds"),
}
_NAMES_OF_TIMERS = {
    f"{name}_{part}": ours
    for name, own in _TIMERS.items()
    for part, ours in zip(("count", "sum"), own, strict=True)
}
_ASKED = (*_NAMES, *_TIMERS, *_PAUSES, _WAIT, _LAG)
PATH = "/actuator/prometheus?includedNames=" + ",".join(_ASKED)  # no other is sent


def samples(text: str) -> Mapping[str, float]:
    """By the name of a sample. ValueError where the text is not in Prometheus's format."""
    sums: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            for name, value in _renamed(sample):
                sums[name] = sums.get(name, 0.0) + value
    return sums


def _renamed(sample: Sample) -> Iterator[tuple[str, float]]:
    """Of one that is none of ours, or not a number, nothing."""
    name = sample.name.removesuffix("_total")
    if math.isnan(sample.value):
        return
    if ours := _NAMES.get(name) or _NAMES_OF_TIMERS.get(name):
        yield ours, sample.value
    if name == _UPTIME:
        yield "jvm_gc_seconds", 0.0
    elif name.removesuffix("_sum") in _PAUSES and name.endswith("_sum"):
        yield "jvm_gc_seconds", sample.value
    elif name == _WAIT:
        yield f"database_wait.{sample.labels['event']}", sample.value
    elif name == _LAG:
        yield "consumer_lag_ms", sample.value * 1000
