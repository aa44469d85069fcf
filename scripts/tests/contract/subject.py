"""What does a test of the contract work with? One started variant, its proxy's HTTP and its inspectors."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from writepath import poll

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from writepath.config.registry import Variant
    from writepath.runtime.base import Stack

VISIBLE_SECONDS = 15.0  # a queue's consumer or an index refresh, on a busy machine
LOAD_SECONDS = 120.0  # an index is built, a replica copied
IN_FLIGHT_MAX = 32  # of each instance of a variant that is asked everything; more are refused
PROBLEM = "application/problem+json"
LINES_OF_JSON = "application/x-ndjson"


def eventually(probe: Callable[[], bool], what: str, within_s: float = VISIBLE_SECONDS) -> None:
    """Returns once the probe holds; AssertionError when it does not within the bound."""
    assert poll.until(probe, within_s), f"not within {within_s:.0f} s: {what}"


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

    def write_all(self, contents: Sequence[str], clients: int = IN_FLIGHT_MAX) -> list[httpx.Response]:
        """One POST each, by so many clients at once; by default no more than one instance admits."""
        with ThreadPoolExecutor(clients) as pool:
            return list(pool.map(self.write, contents))

    def found(self, post: str) -> dict[str, Any]:
        """The post, once it is in its final store."""
        eventually(lambda: self.http.get(f"/api/posts/{post}").is_success, f"GET of {post} is 200")
        answer: dict[str, Any] = self.http.get(f"/api/posts/{post}").json()
        return answer

    def page(self, keyword: str, *, total: int, **query: int | str) -> list[dict[str, Any]]:
        """The posts found, once the search knows of so many in all."""
        eventually(lambda: self.search(keyword)["total"] == total, f"a search for {keyword!r} finds {total}")
        posts: list[dict[str, Any]] = self.search(keyword, **query)["posts"]
        return posts

    def search(self, keyword: str, **query: int | str) -> dict[str, Any]:
        """The whole answer to a search that must be answered."""
        response = self.http.get("/api/posts", params={"keyword": keyword, **query})
        assert response.status_code == httpx.codes.OK, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def walk(
        self, keyword: str, size: int, between: Callable[[], object] = lambda: None
    ) -> list[dict[str, Any]]:
        """Every post that holds the keyword, by following `next`; something may be done between two pages."""
        answer = self.search(keyword, size=size)
        posts: list[dict[str, Any]] = answer["posts"]
        while "next" in answer:
            between()
            answer = self.search(keyword, size=size, after=answer["next"])
            assert answer["posts"], "next was given where nothing followed"
            assert "total" not in answer
            posts = posts + answer["posts"]
        return posts

    @property
    def search_index(self) -> str:
        """What the store says it searches in; on a queue path the settings of the store have a prefix."""
        settings: dict[str, str] = self.inspect("durability")["settings"]
        return settings.get("search_index") or settings["store.search_index"]

    def ask(self, method: str, question: str, **how: Any) -> httpx.Response:
        """The inspector of the service that knows the store, with any method and body."""
        url = self.stack.inspector_urls(self.variant.inspector)[0]
        return self.http.request(method, f"{url}/{question}", timeout=LOAD_SECONDS, **how)

    def load(self, posts: Sequence[Mapping[str, str]]) -> httpx.Response:
        """Posts, each with id, content and createdAt, into the store past the write path."""
        lines = "".join(json.dumps(post, ensure_ascii=False) + "\n" for post in posts)
        return self.ask("POST", "load", content=lines.encode(), headers={"content-type": LINES_OF_JSON})

    def loaded(self, posts: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Loads them between a begin and a finish, whose answer is returned."""
        assert self.ask("POST", "load/begin").json() == {}
        response = self.load(posts)
        assert response.status_code == httpx.codes.OK, response.text
        assert response.json() == {"posts": len(posts)}
        finished = self.ask("POST", "load/finish")
        assert finished.status_code == httpx.codes.OK, finished.text
        answer: dict[str, Any] = finished.json()
        return answer

    def empty(self) -> None:
        """Resets the store, and what each service counts and holds."""
        for service in self.services:
            url = self.stack.inspector_urls(service)[0]
            assert self.http.post(f"{url}/reset").json() == {"count": 0}

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
        """The lines of one of the inspector's CSV exports, the header first; of commits those of each instance."""
        urls = self.stack.inspector_urls(self.variant.inspector)
        lines: list[str] = []
        for url in urls if question == "commits" else urls[:1]:
            response = self.http.get(f"{url}/{question}")
            assert response.status_code == httpx.codes.OK, response.text
            assert response.headers["content-type"].startswith("text/csv")
            lines += response.text.splitlines()[bool(lines) :]
        return [line.split(",") for line in lines]

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


def assert_try_later(response: httpx.Response, refused_by: str | None = None) -> None:
    """503, a problem document, when to try again, and whose refusal it is."""
    assert_problem(response, httpx.codes.SERVICE_UNAVAILABLE)
    assert int(response.headers["retry-after"]) >= 1
    assert response.headers["x-refused-by"] in ({refused_by} if refused_by else {"application", "store"})


def made(number: int, content: str) -> dict[str, str]:
    """A post for a bulk load; each four share a moment."""
    moment = f"2026-01-02T03:04:{number // 4000 % 60:02d}.{number // 4 % 1000:03d}Z"
    return {"id": str(uuid.uuid4()), "content": content, "createdAt": moment}
