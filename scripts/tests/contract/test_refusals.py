from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

import pytest

from contract.subject import assert_problem, token

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from contract.subject import Subject

JSON = {"content-type": "application/json"}
REFUSED = {
    "no body": (b"", "body"),
    "broken JSON": (b'{"content": "x"', "body"),
    "not an object": (b'["content"]', "body"),
    "a bare string": (b'"content"', "body"),
    "something after the object": (b'{"content":"x"} y', "body"),
    "bytes that are not UTF-8": (b'{"content":"\xff\xfe"}', "body"),
    "content missing": (b"{}", "content"),
    "content null": (b'{"content":null}', "content"),
    "content empty": (b'{"content":""}', "content"),
    "content blank": (b'{"content":" \\t\\n "}', "content"),
    "content blank in Unicode": ('{"content":"\u3000\u2003"}'.encode(), "content"),
    "content of 1,001 characters": (json.dumps({"content": "a" * 1001}).encode(), "content"),
    "content of 1,001 emoji": (json.dumps({"content": "\U0001f600" * 1001}).encode(), "content"),
    "content with NUL": (b'{"content":"a\\u0000b"}', "content"),
    "content with half a surrogate pair": (b'{"content":"a\\ud800b"}', "content"),
    "content a number": (b'{"content":5}', "content"),
    "content a boolean": (b'{"content":true}', "content"),
    "content a list": (b'{"content":["x"]}', "content"),
    "content an object": (b'{"content":{"x":1}}', "content"),
    "unknown property": (b'{"content":"x","author":"y"}', "author"),
    "id not a UUID": (b'{"content":"x","id":"nope"}', "id"),
    "id empty": (b'{"content":"x","id":""}', "id"),
    "id without dashes": (b'{"content":"x","id":"0123456789abcdef0123456789abcdef"}', "id"),
    "id shortened": (b'{"content":"x","id":"1-1-1-1-1"}', "id"),
    "id a number": (b'{"content":"x","id":7}', "id"),
}


INSIDE = [
    *("/inspector", "/inspector/ready", "/inspector/count", "/INSPECTOR/ready"),
    *("//inspector/ready", "/%69nspector/ready", "/api/../inspector/ready"),
    *("/actuator", "/actuator/health", "/actuator/env"),
]


def stores_nothing(subject: Subject, request: Callable[[], httpx.Response]) -> httpx.Response:
    """The answer to a request after which only the fence's own post is new."""
    before = subject.count()
    response = request()
    subject.fence()
    assert subject.count() == before + 1
    return response


@pytest.mark.parametrize(("body", "field"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_body_is_400_names_the_field_and_stores_nothing(
    subject: Subject, body: bytes, field: str
) -> None:
    subject.fence()
    response = stores_nothing(subject, lambda: subject.http.post("/api/posts", content=body, headers=JSON))
    assert_problem(response, 400, field)


def test_every_wrong_field_is_named_at_once(subject: Subject) -> None:
    response = subject.http.post("/api/posts", json={"id": "nope", "content": " "})
    assert_problem(response, 400, "id")
    assert_problem(response, 400, "content")


@pytest.mark.parametrize("size_bytes", [20_000, 200_000])
def test_a_body_too_large_is_413_and_stores_nothing(subject: Subject, size_bytes: int) -> None:
    subject.fence()
    body = {"content": "x" * size_bytes}
    assert_problem(stores_nothing(subject, lambda: subject.http.post("/api/posts", json=body)), 413)


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/xml", "application/x-www-form-urlencoded"]
)
def test_another_content_type_is_415_and_stores_nothing(subject: Subject, content_type: str) -> None:
    subject.fence()
    headers = {"content-type": content_type}
    body = b'{"content":"x"}'
    response = stores_nothing(subject, lambda: subject.http.post("/api/posts", content=body, headers=headers))
    assert_problem(response, 415)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_another_method_is_405(subject: Subject, method: str) -> None:
    assert_problem(subject.http.request(method, "/api/posts"), 405)
    assert_problem(subject.http.request(method, f"/api/posts/{uuid.uuid4()}"), 405)


def test_an_unknown_id_is_404(subject: Subject) -> None:
    assert subject.http.get(f"/api/posts/{uuid.uuid4()}").status_code == 404


def test_an_id_that_is_no_uuid_is_400(subject: Subject) -> None:
    assert_problem(subject.http.get("/api/posts/nope"), 400, "id")


@pytest.mark.parametrize("path", ["/", "/api", "/api/other", f"/api/posts/{uuid.UUID(int=1)}/more"])
def test_an_unknown_path_is_404(subject: Subject, path: str) -> None:
    assert_problem(subject.http.get(path), 404)


@pytest.mark.parametrize("path", INSIDE)
def test_the_proxy_shows_nothing_of_the_inside(subject: Subject, path: str) -> None:
    assert subject.http.get(f"{subject.stack.base_url}{path}").status_code in {400, 404}


@pytest.mark.parametrize(
    "keyword", ["", "  ", "x" * 1001, "a\0b"], ids=["empty", "blank", "1,001 characters", "NUL"]
)
def test_a_wrong_keyword_is_400(subject: Subject, keyword: str) -> None:
    assert_problem(subject.http.get("/api/posts", params={"keyword": keyword}), 400, "keyword")


def test_a_missing_keyword_is_400(subject: Subject) -> None:
    assert_problem(subject.http.get("/api/posts"), 400, "keyword")


@pytest.mark.parametrize("size", ["0", "-1", "1001", "1000000", "abc", "1.5", "99999999999"])
def test_a_wrong_size_is_400(subject: Subject, size: str) -> None:
    assert_problem(subject.http.get("/api/posts", params={"keyword": token(), "size": size}), 400, "size")


@pytest.mark.parametrize("page", ["-1", "500", "2147483647", "99999999999", "abc", "1.5"])
def test_a_wrong_page_is_400(subject: Subject, page: str) -> None:
    assert_problem(subject.http.get("/api/posts", params={"keyword": token(), "page": page}), 400, "page")


def test_a_page_beyond_the_window_says_how_to_go_on(subject: Subject) -> None:
    query: dict[str, str | int] = {"keyword": token(), "size": 1000}
    assert subject.http.get("/api/posts", params={**query, "page": 9}).status_code == 200
    refused = subject.http.get("/api/posts", params={**query, "page": 10})
    assert_problem(refused, 400, "page")
    assert "next" in refused.text


@pytest.mark.parametrize(
    "after",
    ["", "nonsense", "' OR 1=1 --", "A" * 31, "A" * 33, "A" * 31 + "=", "_" * 32, "A" * 5000, "영" * 32],
)
def test_a_wrong_cursor_is_400(subject: Subject, after: str) -> None:
    assert_problem(subject.http.get("/api/posts", params={"keyword": token(), "after": after}), 400, "after")


def test_a_page_behind_a_cursor_is_400(subject: Subject) -> None:
    query: dict[str, str | int] = {"keyword": token(), "after": "A" * 32, "page": 0}
    assert_problem(subject.http.get("/api/posts", params=query), 400, "page")
