import hashlib
import time
import uuid
from contextlib import closing

import httpx
import yaml

from contract.subject import VISIBLE_SECONDS, Subject, assert_problem, eventually
from writepath import poll
from writepath.measure.inspector import Inspector

CLOCK_SLACK_US = 5_000_000
INGRESS = {"in_flight", "in_flight_max", "in_flight_rejected"}
DATABASE = {
    *("pool_active", "pool_idle", "pool_waiting", "pool_max"),
    *("database_active", "database_waiting", "database_between_statements"),
}
INDEX = {
    *("index_write_threads", "index_write_active", "index_write_queue", "index_write_rejected"),
    *("index_merges", "index_merge_seconds", "index_refresh_seconds", "index_seconds", "index_gc_seconds"),
}
PUBLISHER = {
    *("confirmed", "returned", "nacked", "publish_refused", "confirm_timeouts", "lost_confirms"),
    *("publisher_connections", "topology_repairs", "connected", "blocked", "unconfirmed"),
    *("messages_sent", "posts_sent"),
}
CONSUMER = {
    *(
        "consumer_connected",
        "queue_unacknowledged",
        "consumer_loops",
        "consumer_busy_seconds",
        "consumer_lag_ms",
    ),
    *("consumed", "batches", "stored", "suppressed_duplicates", "parked", "redelivered", "rescued"),
    *("store_retries", "messages_consumed"),
}


def test_every_service_tells_its_state_and_what_it_runs_on(subject: Subject) -> None:
    for service in subject.services:
        instances = len(subject.stack.inspector_urls(service))
        assert instances >= 1
        for group in ("liveness", "readiness"):
            answers = subject.inspect_all(f"/actuator/health/{group}", service)
            assert [answer["status"] for answer in answers] == ["UP"] * instances
        pending = subject.inspect("pending", service)
        assert set(pending) == {"in_flight", "ready", "unacknowledged", "dead"}
        assert all(isinstance(number, int) and number >= 0 for number in pending.values())
        info = subject.inspect("/actuator/info", service)
        assert info["build"]["artifact"].endswith(service.rpartition("-")[2])  # for each store another
        versions = info["versions"]
        assert {"java", "spring-boot"} < set(versions)
        assert all(isinstance(value, str) and value for value in versions.values())


def test_every_figure_of_the_evidence_is_measured(subject: Subject) -> None:
    subject.fence()
    variant, stack = subject.variant, subject.stack
    for service in subject.services:
        wanted = {"jvm_seconds", "jvm_gc_seconds"} | (
            INDEX if "elasticsearch" in variant.family else DATABASE
        )
        wanted |= INGRESS if service == variant.ingress else CONSUMER
        wanted |= {"queue_ready", "queue_messages", "queue_dead"} | PUBLISHER if subject.queued else set()
        with closing(Inspector(service, stack.inspector_urls(service))) as inspector:
            missing = set(wanted)

            def measured(of: Inspector = inspector, missing: set[str] = missing) -> bool:
                missing -= set(of.gauges())
                return not missing

            assert poll.until(measured, VISIBLE_SECONDS), f"{service} does not measure {sorted(missing)}"


def test_a_201_promises_its_class_as_the_running_system_says_itself(subject: Subject) -> None:
    for service in subject.services:
        durability = subject.inspect("durability", service)
        # The far end of a queue keeps what it is given; only a quorum queue is flushed.
        flushed = subject.variant.settings.get("RABBITMQ_QUEUE_TYPE", "quorum") == "quorum"
        far_end = "A" if flushed else "B"
        ingress = service == subject.variant.ingress
        assert durability["level"] == (subject.variant.level if ingress else far_end)
        assert durability["settings"]
        assert all(isinstance(value, str) for value in durability["settings"].values())


def test_the_export_has_every_post_with_its_content_hash(subject: Subject) -> None:
    content = f"hashed 영화 \U0001f600 {uuid.uuid4()}"
    post = subject.written(content)
    subject.found(post)
    header, *rows = subject.rows("posts")
    assert header == ["id", "content_hash", "durable_at_us"]
    mine = [row for row in rows if row[0] == post]
    assert [row[1] for row in mine] == [hashlib.sha256(content.encode()).hexdigest()[:16]]
    assert len(rows) == subject.count()


def test_somebody_knows_when_a_post_became_durable(subject: Subject) -> None:
    started_us = time.time_ns() // 1000
    post = subject.written("timed")
    subject.found(post)
    assert subject.rows("commits")[0] == ["id", "durable_at_us"]
    known: list[int] = []

    def told() -> bool:
        rows = [*subject.rows("posts")[1:], *subject.rows("commits")[1:]]
        known.extend(int(row[-1]) for row in rows if row[0] == post and row[-1])
        return bool(known)

    eventually(told, "store or service tells when the post became durable")
    assert started_us - CLOCK_SLACK_US < known[0] < time.time_ns() // 1000 + CLOCK_SLACK_US


def test_reset_empties_store_and_queues(subject: Subject) -> None:
    subject.fence()
    assert subject.count() > 0
    subject.empty()
    assert subject.count() == 0
    assert subject.rows("posts")[1:] == []
    assert subject.inspect("pending") == {"in_flight": 0, "ready": 0, "unacknowledged": 0, "dead": 0}
    subject.fence()
    assert subject.count() == 1


def test_only_the_runner_changes_data_and_no_web_page_reads(subject: Subject) -> None:
    subject.fence()
    before = subject.count()
    known = httpx.URL(subject.stack.inspector_urls(subject.variant.inspector)[0])
    for stranger in (known.copy_with(userinfo=b""), known.copy_with(password="guessed")):
        for change in ("reset", "load/begin", "load", "load/finish"):
            assert_problem(subject.http.post(f"{stranger}/{change}"), 401)
    for header in ({"origin": "https://example.org"}, {"host": "rebound.example.org"}):
        assert_problem(subject.http.get(f"{known}/count", headers=header), 403)
        assert_problem(subject.http.post(f"{known}/reset", headers=header), 403)
    assert subject.count() == before


def test_the_contract_is_served_as_a_document(subject: Subject) -> None:
    response = subject.http.get("/openapi.yaml")
    assert response.status_code == 200
    document = yaml.safe_load(response.text)
    assert set(document["paths"]) == {"/api/posts", "/api/posts/{id}"}
    assert {"201", "400", "409", "413", "415", "503"} <= set(
        document["paths"]["/api/posts"]["post"]["responses"]
    )


def test_nothing_was_lost_and_everything_is_measured(subject: Subject) -> None:
    assert subject.stack.lost_components() == []

    def measured() -> bool:
        subject.written("one more of the writes that each component spends its first clock tick on")
        usage = subject.stack.usage()
        assert set(subject.stack.components) <= set(usage)
        return all(one.cpu_seconds > 0 and one.rss_bytes > 0 for one in usage.values())

    eventually(measured, "each component has used processor and memory")


def test_settings_hold_no_secret(subject: Subject) -> None:
    settings = subject.stack.effective_settings()
    assert set(settings) == set(subject.stack.components)
    for entries in settings.values():
        for name, value in entries.items():
            assert "PASS" not in name.upper() or set(value) == {"*"}, name
