"""What does a test of the contract work with? One started variant, its proxy's HTTP and its inspectors."""

from __future__ import annotations

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.registry import Variant
    from writepath.runtime.base import Stack

VISIBLE_SECONDS = 15.0  # a queue's consumer or an index refresh, on a busy machine
PROBLEM = "application/problem+json"
_PAUSE_SECONDS = 0.05


def eventually(probe: Callable[[], bool], what: str, within_s: float = VISIBLE_SECONDS) -> None:
    """Returns once the probe holds; AssertionError when it does not within the bound."""
    deadline = time.monotonic() + within_s
    while not probe():
        assert time.monotonic() < deadline, f"not within {within_s:.0f} s: {what}"
        time.sleep(_PAUSE_SECONDS)


def token() -> str:
    """A word that no other test writes: 16 letters, because an analyzer may part letters from digits."""
    return "".join(chr(ord("a") + int(digit, 16)) for digit in uuid.uuid4().hex[:16])


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One started variant."""

    variant: Variant
    stack: Stack
    http: httpx.Client

    @property
    def queued(self) -> bool:
        """Whether a queue lies between the 201 and the store."""
        return self.variant.ingress != self.variant.inspector

    @property
    def services(self) -> list[str]:
        """Our own applications of this variant."""
        return sorted({self.variant.ingress, self.variant.inspector})

    def write(self, content: str, post: str | None = None) -> httpx.Response:
        """POST of one post, under the client's id where one is given."""
        body = {"content": content} if post is None else {"id": post, "content": content}
        return self.http.post("/api/posts", json=body)

    def written(self, content: str) -> str:
        """Writes a post that must be accepted; its id."""
        response = self.write(content)
        assert response.status_code == httpx.codes.CREATED, response.text
        return str(response.json()["id"])

    def write_all(self, contents: Sequence[str]) -> list[httpx.Response]:
        """One POST each, all at once."""
        with ThreadPoolExecutor(len(contents)) as pool:
            return list(pool.map(self.write, contents))

    def found(self, post: str) -> dict[str, Any]:
        """The post, once it is in its final store."""
        eventually(lambda: self.http.get(f"/api/posts/{post}").is_success, f"GET of {post} is 200")
        answer: dict[str, Any] = self.http.get(f"/api/posts/{post}").json()
        return answer

    def page(self, keyword: str, *, total: int, size: int | None = None) -> list[dict[str, Any]]:
        """The posts found, once the search knows of so many in all."""
        query = {"keyword": keyword} if size is None else {"keyword": keyword, "size": str(size)}
        last: dict[str, Any] = {}

        def complete() -> bool:
            response = self.http.get("/api/posts", params=query)
            assert response.status_code == httpx.codes.OK, response.text
            last.update(response.json())
            return bool(last["total"] == total)

        try:
            eventually(complete, f"a search for {keyword!r} finds {total}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it found {last['total']}") from None
        posts: list[dict[str, Any]] = last["posts"]
        return posts

    def fence(self) -> None:
        """Returns once everything sent before is stored: a queue keeps the order, and this post is its last."""
        self.found(self.written(f"fence {token()}"))

    def inspect(self, question: str, service: str | None = None) -> Any:
        """What the inspector (of the one service that knows the store, unless named) answers, as JSON."""
        url = self.stack.inspector_urls(service or self.variant.inspector)[0]
        response = self.http.get(f"{url}/{question}")
        assert response.status_code == httpx.codes.OK, response.text
        return response.json()

    def inspect_all(self, question: str, service: str) -> list[Any]:
        """What each instance's inspector answers."""
        return [json.loads(self.http.get(f"{u}/{question}").text) for u in self.stack.inspector_urls(service)]

    def rows(self, question: str) -> list[list[str]]:
        """The lines of one of the inspector's CSV exports, the header first."""
        url = self.stack.inspector_urls(self.variant.inspector)[0]
        response = self.http.get(f"{url}/{question}")
        assert response.status_code == httpx.codes.OK, response.text
        assert response.headers["content-type"].startswith("text/csv")
        return [line.split(",") for line in response.text.splitlines()]

    def count(self) -> int:
        """Rows or documents in the store, exactly."""
        return int(self.inspect("count")["count"])

    def dead(self) -> int:
        """Messages parked in the dead-letter queue."""
        return int(self.inspect("pending")["dead"])


def assert_problem(response: httpx.Response, status: int, field: str | None = None) -> None:
    """The answer is this refusal, as a problem document that names the field and nothing internal."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"].partition(";")[0] == PROBLEM, response.headers
    problem = response.json()
    assert problem["status"] == status
    if field is not None:
        assert field in {error["field"] for error in problem["errors"]}, problem
    for internal in ("Exception", "io.writepath", "springframework", "\tat ", "org.postgresql"):
        assert internal not in response.text


def assert_try_later(response: httpx.Response) -> None:
    """503, a problem document, and when to try again."""
    assert_problem(response, httpx.codes.SERVICE_UNAVAILABLE)
    assert int(response.headers["retry-after"]) >= 1
