"""Does a generated request find a wrong answer, and a read-back a wrong post?"""

import hashlib
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from http_server import Answer, Request, serving
from writepath import selfcheck
from writepath.selfcheck import Say, changed, fuzzing
from writepath.selfcheck.changed import Sent
from writepath.selfcheck.fuzzing import Fuzzed, fuzz, stored_objections, text_objection, wrong_posts

CONTRACT = fuzzing.document()
POST = {
    "id": "3f2b8a1c-9d4e-4f6a-8b7c-1d2e3f4a5b6c",
    "content": "film",
    "createdAt": "2026-01-02T03:04:05.678Z",
}
PROBLEM = {"Content-Type": "application/problem+json"}


def found(answer: Answer) -> set[str]:
    with serving(lambda _: answer) as url:
        tried = fuzz(CONTRACT, url, examples=1, seed=1, queued=False, phases=("examples",))
    assert tried.tried == 4
    return {one.what.partition(":")[0] for one in tried.findings}


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (Answer(500, {"status": 500, "title": "x"}, PROBLEM), "status 500"),
        (Answer(404, b"<html>", {"Content-Type": "text/html"}), "status 404 of type ['text/html']"),
        (Answer(404, {"status": 400, "title": "x"}, PROBLEM), 'status 404 with the problem b\'{"status"'),
        (Answer(418, {"status": 418, "title": "x"}, PROBLEM), "Undocumented status code"),
        (Answer(200, b"x", {"Content-Type": "text/plain"}), "Undocumented Content-Type"),
        (
            Answer(200, {"posts": [{"id": 7}]}, {"Content-Type": "application/json"}),
            "Response violates schema",
        ),
    ],
)
def test_a_wrong_answer_is_found(answer: Answer, what: str) -> None:
    assert what in found(answer)


def test_a_connection_that_is_closed_without_an_answer_is_found() -> None:
    with serving(lambda _: None) as url:
        tried = fuzz(CONTRACT, url, examples=1, seed=1, queued=False, phases=("examples",))
    assert tried.findings


@pytest.mark.parametrize("text", ["", " ", "\t\u3000\x1c", "a\0", "a\ud800"])
def test_what_the_document_forbids_in_words_is_found(text: str) -> None:
    assert text_objection(text)


@pytest.mark.parametrize("text", ["a", "\u00a0", "\x85", "a ", "\U0001f600"])
def test_what_java_does_not_call_blank_is_allowed(text: str) -> None:
    assert not text_objection(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""},
        {"content": "a" * 1001},
        {"content": "a\0b"},
        {"content": " \t"},
        {"content": 7},
        {"id": POST["id"].upper()},
        {"id": "nope"},
        {"more": "x"},
    ],
)
def test_a_post_that_the_document_forbids_is_found(wrong: dict[str, Any]) -> None:
    assert stored_objections(CONTRACT, POST | wrong)
    assert not stored_objections(CONTRACT, POST | {"content": "\U0001f600" * 1000})


def test_a_post_that_is_lost_or_changed_is_found() -> None:
    other = str(uuid.uuid4())
    content_hash = hashlib.sha256(b"film").hexdigest()[:32]

    def answer(request: Request) -> Answer:
        if request.path == "/inspector/posts":
            lines = f"id,content_hash,at\n{POST['id']},{content_hash},1\n{other},{content_hash},1\n"
            return Answer(200, lines.encode())
        return Answer(
            200, POST if request.path.endswith(POST["id"]) else POST | {"id": other, "content": "x"}
        )

    lost = str(uuid.uuid4())
    tried = Fuzzed(
        cases={}, statuses={}, findings=(), created=frozenset({lost, POST["id"]}), requests=(), seconds=1.0
    )
    with serving(answer) as url:
        wrong = wrong_posts(url, f"{url}/inspector", tried)
    assert wrong == [
        f"{other}: content is not what the inspector says",
        f"{lost} was created and is not stored",
    ]


def test_generated_requests_are_part_of_the_self_check_only_where_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[str] = []

    def part(name: str) -> tuple[str, Callable[[Say], bool]]:
        def run(_: Say) -> bool:
            ran.append(name)
            return True

        return name, run

    monkeypatch.setattr(selfcheck, "PARTS", {name: part(name) for name in selfcheck.PARTS})
    assert selfcheck.run(None, print) == 0
    assert ran == ["audit", "recorder", "report", "comparison"]
    assert selfcheck.run(["fuzz"], print) == 0
    assert ran[-1] == "fuzz"


PAGE = {"posts": [POST], "next": "x"}
SEARCH = Sent("GET", b"/api/posts?keyword=film", b"", "")
WRITE = Sent("POST", b"/api/posts", b'{"content":"film"}', "application/json")
WRONG: list[tuple[Sent, Answer | None]] = [
    (SEARCH, None),
    (SEARCH, Answer(503, {"status": 503, "title": "x"}, PROBLEM)),
    (SEARCH, Answer(400, b"no", {"Content-Type": "text/html"})),
    (SEARCH, Answer(400, {"status": 404, "title": "x"}, PROBLEM)),
    (SEARCH, Answer(200, PAGE | {"more": 1}, {"Content-Type": "application/json"})),
    (WRITE, Answer(201, {"id": POST["id"]}, {"Content-Type": "application/json"})),
]


@pytest.mark.parametrize(("sent", "answer"), WRONG)
def test_a_wrong_answer_to_a_changed_request_is_found(sent: Sent, answer: Answer | None) -> None:
    with serving(lambda _: answer) as url:
        tried = changed.send(CONTRACT, url, [sent], cases=3, seed=1)
    assert len(tried.findings) == 3
    assert sum(tried.statuses.values()) == 3


def test_changed_requests_differ_arrive_as_framed_and_are_the_same_for_a_seed() -> None:
    def received(seed: int) -> list[tuple[str, bytes]]:
        found: list[tuple[str, bytes]] = []

        def answer(request: Request) -> Answer:
            found.append((request.path, request.body))
            created = {name: POST[name] for name in ("id", "createdAt")}
            made = request.method == "POST"
            return Answer(
                201 if made else 200, created if made else PAGE, {"Content-Type": "application/json"}
            )

        with serving(answer) as url:
            tried = changed.send(CONTRACT, url, [SEARCH, WRITE], cases=200, seed=seed)
        assert sum(tried.statuses.values()) == 200
        assert {what for what, _ in tried.findings} <= {"status 400 of type text/html"}  # of Python's server
        assert tried.created == {POST["id"]}
        return found

    first = received(1)
    assert len(first) > 190
    assert len(set(first)) > 150
    assert first == received(1) != received(2)
