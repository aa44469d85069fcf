import json
import uuid

import httpx
import pytest

from contract.subject import Subject, assert_problem, token

JSON = "application/json"
# Of a POST: the body, the field that the refusal names. Each wrong value of a field: PostRequestTests of `post-web`.
BODIES: dict[str, tuple[bytes, str]] = {
    "no body": (b"", "body"),
    "broken JSON": (b'{"content": "x"', "body"),
    "something after the object": (b'{"content":"x"} y', "body"),
    "bytes that are not UTF-8": (b'{"content":"\xff\xfe"}', "body"),
    "content missing": (b"{}", "content"),
    "content blank": (b'{"content":" \\t\\n "}', "content"),
    "content of 1,001 characters": (json.dumps({"content": "a" * 1001}).encode(), "content"),
    "content of 1,001 emoji": (json.dumps({"content": "\U0001f600" * 1001}).encode(), "content"),
    "content with NUL": (b'{"content":"a\\u0000b"}', "content"),
    "content with half a surrogate pair": (b'{"content":"a\\ud800b"}', "content"),
    "content a number": (b'{"content":5}', "content"),
    "unknown property": (b'{"content":"x","author":"y"}', "author"),
    "id not a UUID": (b'{"content":"x","id":"nope"}', "id"),
    "id a number": (b'{"content":"x","id":7}', "id"),
    "id null": (b'{"content":"x","id":null}', "id"),
}
TYPES = (
    *("text/plain", "application/xml", "application/x-www-form-urlencoded"),
    *("multipart/form-data", "multipart/form-data; boundary=x"),
)
# By parameter of a search: values that are refused.
QUERIES: dict[str, tuple[str, ...]] = {
    "keyword": ("", "  ", "x" * 1001, "a\0b"),
    "size": ("0", "1001", "", "abc", "1.5", "0x10", " 7", "\uff15", "007", "9999999999", "99999999999"),
    "page": ("-1", "500", "", "abc", "1.5", "0x10", " 7", "\uff15", "007", "9999999999", "99999999999"),
    "after": ("", "nonsense", "' OR 1=1 --", "_" * 32, "A" * 5000, "영" * 32),
}
A_POST = f"/api/posts/{uuid.UUID(int=1)}"
PLACES = [
    *(("GET", path, 404) for path in ("/", "/api", "/api/other", f"{A_POST}/more")),
    *((method, path, 405) for method in ("PUT", "PATCH", "DELETE") for path in ("/api/posts", A_POST)),
    ("TRACE", "/api/posts", 405),  # refused by the proxy
]
INSIDE = [
    *("/inspector", "/inspector/posts", "/inspector/count", "/INSPECTOR/count"),
    *("//inspector/count", "/%69nspector/count", "/api/../inspector/count"),
    *("/actuator", "/actuator/health", "/actuator/env"),
]


def test_a_wrong_write_is_refused_names_the_field_and_stores_nothing(
    subject: Subject, subtests: pytest.Subtests
) -> None:
    def post(body: bytes, content_type: str = JSON) -> httpx.Response:
        return subject.http.post("/api/posts", content=body, headers={"content-type": content_type})

    subject.fence()
    before = subject.count()
    for name, (body, field) in BODIES.items():
        with subtests.test(name):
            assert_problem(post(body), 400, field)
    for content_type in TYPES:
        with subtests.test(content_type):
            assert_problem(post(b'{"content":"x"}', content_type), 415)
    for size_bytes in (20_000, 200_000):  # refused by the application, and by the proxy
        with subtests.test(f"{size_bytes} bytes"):
            assert_problem(post(json.dumps({"content": "x" * size_bytes}).encode()), 413)
    subject.fence()
    assert subject.count() == before + 1


def test_every_wrong_field_is_named_at_once(subject: Subject) -> None:
    response = subject.http.post("/api/posts", json={"id": "nope", "content": " "})
    assert_problem(response, 400, "id")
    assert_problem(response, 400, "content")


def test_a_wrong_parameter_of_a_search_is_400_and_named(subject: Subject, subtests: pytest.Subtests) -> None:
    assert_problem(subject.http.get("/api/posts"), 400, "keyword")
    for name, values in QUERIES.items():
        for value in values:
            with subtests.test(name, value=value[:40]):
                query = {"keyword": token()} | {name: value}
                assert_problem(subject.http.get("/api/posts", params=query), 400, name)
        with subtests.test(f"{name} twice"):
            twice = {"keyword": [token()]} | {name: ["1", "1"]}
            assert_problem(subject.http.get("/api/posts", params=twice), 400, name)
    for text in ("%ff%fe", "%ed%a0%80"):  # bytes that are no text
        with subtests.test(text):
            assert_problem(subject.http.get(f"/api/posts?keyword={text}"), 400)


def test_a_page_beyond_the_window_says_how_to_go_on_and_excludes_a_cursor(subject: Subject) -> None:
    query: dict[str, str | int] = {"keyword": token(), "size": 1000}
    assert subject.http.get("/api/posts", params={**query, "page": 9}).status_code == 200
    refused = subject.http.get("/api/posts", params={**query, "page": 10})
    assert_problem(refused, 400, "page")
    assert "next" in refused.text
    assert_problem(
        subject.http.get("/api/posts", params={**query, "after": "A" * 32, "page": 0}), 400, "page"
    )


def test_what_is_not_there_is_404_and_another_method_405(subject: Subject, subtests: pytest.Subtests) -> None:
    assert subject.http.get(f"/api/posts/{uuid.uuid4()}").status_code == 404
    assert_problem(subject.http.get("/api/posts/nope"), 400, "id")
    for method, path, status in PLACES:
        with subtests.test(f"{method} {path}"):
            answer = subject.http.request(method, path)
            assert_problem(answer, status)
            assert ("GET" in answer.headers.get("allow", "")) == (status == httpx.codes.METHOD_NOT_ALLOWED)


def test_the_proxy_shows_nothing_of_the_inside(subject: Subject) -> None:
    shown = {path: subject.http.get(f"{subject.stack.base_url}{path}").status_code for path in INSIDE}
    assert {path: status for path, status in shown.items() if status not in {400, 404}} == {}
