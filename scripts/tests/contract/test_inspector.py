from __future__ import annotations

import hashlib
import json
import time
import uuid
from typing import TYPE_CHECKING

import pytest
import yaml

from contract.subject import LINES_OF_JSON, assert_problem, eventually, token

if TYPE_CHECKING:
    from contract.subject import Subject

CLOCK_SLACK_US = 5_000_000


def test_every_instance_is_ready(subject: Subject) -> None:
    for service in subject.services:
        instances = len(subject.stack.inspector_urls(service))
        assert instances >= 1
        assert subject.inspect_all("ready", service) == [{"ready": True}] * instances


def test_pending_has_its_four_numbers_everywhere(subject: Subject) -> None:
    for service in subject.services:
        pending = subject.inspect("pending", service)
        assert set(pending) == {"in_flight", "ready", "unacknowledged", "dead"}
        assert all(isinstance(number, int) and number >= 0 for number in pending.values())


def test_gauges_are_flat_numbers_and_the_ingress_counts_what_is_in_flight(subject: Subject) -> None:
    for service in subject.services:
        gauges = subject.inspect("gauges", service)
        assert gauges
        assert all(isinstance(value, int | float) for value in gauges.values())
    assert {"in_flight", "in_flight_rejected"} <= set(subject.inspect("gauges", subject.variant.ingress))


def test_versions_name_java_spring_and_what_stands_behind(subject: Subject) -> None:
    for service in subject.services:
        versions = subject.inspect("versions", service)
        assert {"java", "spring-boot"} < set(versions)
        assert all(isinstance(value, str) and value for value in versions.values())


def test_a_201_promises_its_class_as_the_running_system_says_itself(subject: Subject) -> None:
    for service in subject.services:
        durability = subject.inspect("durability", service)
        ingress = service == subject.variant.ingress  # the far end of a queue keeps what it is given
        assert durability["level"] == (subject.variant.level if ingress else "A")
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
    known: list[int] = []

    def told() -> bool:
        rows = [*subject.rows("posts")[1:], *subject.rows("commits")[1:]]
        known.extend(int(row[-1]) for row in rows if row[0] == post and row[-1])
        return bool(known)

    eventually(told, "store or service tells when the post became durable")
    assert started_us - CLOCK_SLACK_US < known[0] < time.time_ns() // 1000 + CLOCK_SLACK_US


def test_commits_have_their_header(subject: Subject) -> None:
    assert subject.rows("commits")[0] == ["id", "durable_at_us"]


def test_reset_empties_store_and_queues(subject: Subject) -> None:
    subject.fence()
    assert subject.count() > 0
    subject.empty()
    assert subject.count() == 0
    assert subject.rows("posts")[1:] == []
    assert subject.inspect("pending") == {"in_flight": 0, "ready": 0, "unacknowledged": 0, "dead": 0}
    subject.fence()
    assert subject.count() == 1


def made(number: int, content: str) -> dict[str, str]:
    """A post for a bulk load; every fourth has a moment of its own."""
    moment = f"2026-01-02T03:04:{number // 4000 % 60:02d}.{number // 4 % 1000:03d}Z"
    return {"id": str(uuid.uuid4()), "content": content, "createdAt": moment}


def test_what_was_loaded_is_counted_exported_and_searched(subject: Subject) -> None:
    subject.empty()
    word = token()
    posts = [made(number, f"{word} 영화 \U0001f600 \\ {number}") for number in range(2500)]
    assert subject.ask("POST", "load/begin").json() == {}
    for start in (0, 1000, 2000):
        part = posts[start : start + 1000]
        assert subject.load(part).json() == {"posts": len(part)}
    finished = subject.ask("POST", "load/finish").json()
    assert (finished["build_seconds"] is not None) == (subject.search_index in {"trigram", "bigram"})
    assert finished["settle_seconds"] > 0
    assert subject.inspect("ready") == {"ready": True}
    assert subject.count() == 2500
    hashes = {post["id"]: hashlib.sha256(post["content"].encode()).hexdigest()[:16] for post in posts}
    assert {row[0]: row[1] for row in subject.rows("posts")[1:]} == hashes
    found = subject.walk(word, 1000)
    assert found == sorted(posts, key=lambda post: (post["createdAt"], post["id"]), reverse=True)
    assert subject.search(word)["total"] == 2500


BAD_LINES = {
    "no JSON": ("{", "body"),
    "no object": ("[1]", "body"),
    "an empty line": ("", "body"),
    "no id": ('{"content":"x","createdAt":"2026-01-02T03:04:05Z"}', "id"),
    "no moment": (f'{{"id":"{uuid.uuid4()}","content":"x"}}', "createdAt"),
    "blank content": (
        f'{{"id":"{uuid.uuid4()}","content":" ","createdAt":"2026-01-02T03:04:05Z"}}',
        "content",
    ),
}


@pytest.mark.parametrize(("line", "field"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_of_a_load_is_400_and_named(subject: Subject, line: str, field: str) -> None:
    before = subject.count()
    lines = [json.dumps(made(1, "x")), json.dumps(made(2, "x")), line, json.dumps(made(3, "x"))]
    answer = subject.ask("POST", "load", content="\n".join(lines), headers={"content-type": LINES_OF_JSON})
    assert_problem(answer, 400)
    assert f"line 3: {field} " in answer.json()["detail"]
    assert subject.count() == before


def test_a_load_refuses_an_id_that_is_there(subject: Subject) -> None:
    post = made(1, "there")
    subject.loaded([post])
    answer = subject.load([post | {"content": "again"}])
    assert_problem(answer, 409)
    assert post["id"] in answer.json()["detail"]
    assert subject.found(post["id"])["content"] == "there"


def test_a_load_takes_lines_of_json_only(subject: Subject) -> None:
    answer = subject.ask("POST", "load", json=made(1, "x"))
    assert_problem(answer, 415)
    assert subject.load([made(1, "x")] * 2).status_code == 400
    assert subject.load([made(number, "x") for number in range(10_001)]).status_code == 400


def test_the_store_says_how_much_room_its_posts_take(subject: Subject) -> None:
    subject.fence()
    sizes = subject.ask("GET", "sizes").json()
    assert set(sizes) == {"documents", "store_bytes", "search_index_bytes", "parts"}
    assert sizes["documents"] == subject.count()
    assert (sizes["search_index_bytes"] is None) == (subject.search_index == "none")
    assert sizes["parts"]
    assert all(isinstance(size, int) and size >= 0 for size in sizes["parts"].values())
    assert 0 < sum(sizes["parts"].values()) <= sizes["store_bytes"]
    assert (sizes["search_index_bytes"] or 0) < sizes["store_bytes"]


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
    usage = subject.stack.usage()
    assert set(subject.stack.components) <= set(usage)
    for component in subject.stack.components:
        assert usage[component].cpu_seconds > 0
        assert usage[component].rss_bytes > 0


def test_settings_hold_no_secret(subject: Subject) -> None:
    settings = subject.stack.effective_settings()
    assert set(settings) == set(subject.stack.components)
    for entries in settings.values():
        for name, value in entries.items():
            assert "PASS" not in name.upper() or set(value) == {"*"}, name
