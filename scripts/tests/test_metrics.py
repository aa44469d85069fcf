"""Do the metrics of an application become the samples of a run, under the names that evidence has?"""

from writepath.measure import metrics

TEXT = """\
# HELP writepath_in_flight
# TYPE writepath_in_flight gauge
writepath_in_flight 3.0
# TYPE writepath_consumed counter
writepath_consumed_total 1.2E4
# TYPE hikaricp_connections_pending gauge
hikaricp_connections_pending{pool="posts"} 7.0
# TYPE hikaricp_connections_max gauge
hikaricp_connections_max{pool="posts"} 5.0
# TYPE writepath_database_wait gauge
writepath_database_wait{event="IO.WalSync"} 2.0
writepath_database_wait{event="Lock.transactionid"} NaN
# TYPE writepath_consumer_lag_seconds gauge
writepath_consumer_lag_seconds 0.25
# TYPE process_uptime_seconds gauge
process_uptime_seconds 60.5
# TYPE jvm_gc_pause_seconds summary
jvm_gc_pause_seconds_count{action="end of minor GC",cause="G1 Evacuation Pause",gc="G1 Young Generation"} 9
jvm_gc_pause_seconds_sum{action="end of minor GC",cause="G1 Evacuation Pause",gc="G1 Young Generation"} 0.5
jvm_gc_pause_seconds_sum{action="end of minor GC",cause="Metadata GC Threshold",gc="G1 Young Generation"} 0.25
# TYPE something_else gauge
something_else 1.0
"""


def test_metrics_become_samples_under_the_names_of_evidence() -> None:
    assert metrics.samples(TEXT) == {
        "in_flight": 3.0,
        "consumed": 12000.0,
        "pool_waiting": 7.0,
        "pool_max": 5.0,
        "database_wait.IO.WalSync": 2.0,  # and no other, as that one could not be read
        "consumer_lag_ms": 250.0,
        "jvm_seconds": 60.5,
        "jvm_gc_seconds": 0.75,
    }


def test_a_collector_that_has_not_collected_yet_has_taken_no_time() -> None:
    assert metrics.samples("# TYPE process_uptime_seconds gauge\nprocess_uptime_seconds 1.0\n") == {
        "jvm_seconds": 1.0,
        "jvm_gc_seconds": 0.0,
    }
