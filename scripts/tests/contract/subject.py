"""What does a test of the contract work with? One started variant, its proxy's HTTP and its inspectors."""

import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx

from writepath import poll
from writepath.config.registry import Variant
from writepath.measure import metrics
from writepath.runtime.base import Stack

VISIBLE_SECONDS = 60.0  # a queue's consumer or an index refresh, on a busy machine
LOAD_SECONDS = 120.0  # an index is built, a replica copied
IN_FLIGHT_MAX = 32  # of each instance of a variant that is asked everything; more are refused
PROBLEM = "application/problem+json"
LINES_OF_JSON = "application/x-ndjson"


def eventually(probe: Callable[[], bool], what: str, within_s: float = VISIBLE_SECONDS) -> None:
    """Returns once the probe holds; AssertionError when it does not within the bound."""
    assert poll.until(probe, within_s), f"not within {within_s:.0f} s: {what}"


def place(inspector: str, question: str) -> str:
    """Of a question below /inspector, or of a whole path on the same port."""
    return f"{inspector.removesuffix('/inspector') if question[0] == '/' else inspector + '/'}{question}"


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

    def write_all(self, contents: Sequence[str], clients: int = 4) -> list[httpx.Response]:
        """One POST each, by so many clients at once; by default what a cold application on a slow host carries."""
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
        response = self.http.get(place(url, question))
        assert response.status_code == httpx.codes.OK, response.text
        return response.json()

    def inspect_all(self, question: str, service: str) -> list[Any]:
        """What each instance's inspector answers."""
        urls = self.stack.inspector_urls(service)
        return [self.http.get(place(url, question)).json() for url in urls]

    def gauges(self, service: str) -> list[Mapping[str, float]]:
        """Each instance's metrics, under the names of samples."""
        plain = {"Accept": "text/plain"}
        urls = self.stack.inspector_urls(service)
        return [metrics.samples(self.http.get(place(url, metrics.PATH), headers=plain).text) for url in urls]

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


WORDS = "words"  # an Elasticsearch index cut into words; every other one finds parts of texts

TEXTS = (
    "영화",
    "좋은 영화를 보았다",
    "영 화가 나서 화면을 껐다",
    "화영 화영",
    "재미있다! 정말 재미있다!!",
    "재미 있다, 정말 재미 있다",
    "정말 재미있는 영화, 또 보고 싶다",
    "감동 그 자체",
    "감동적인 스토리와 감독",
    "스토리는 별로 (감동은 있음)",
    "이 영화 정말 좋다",
    "이 영화는 정말, 좋다",
    "Great MOVIE, great movie",
    "great 영화",
    "greatest",
    "영화10점",
    "10점 만점에 10점",
    "100% 추천",
    "100 추천",
    "\U0001f600\U0001f44d",
    "영화\U0001f600",
    "영화 \U0001f600 좋다",
    "ㅋㅋㅋ ㅋㅋㅋㅋ",
    "a",
    "aaaa",
    "!!!",
    "영화!영화",
    "다른 이야기\n둘째 줄 영화",
)

KEYWORDS = (
    *("영화", "재미", "감동", "정말", "좋다", "화영", "10", "이야", "둘째"),  # two characters
    *("영", "화", "a", "!", "\U0001f600", "ㅋ", "1", "%", "_", "'", "*", "\x07"),  # one
    *("화를", "미있", "동적", "토리", "eat", "00"),  # inside of words
    *("영 화", "정말 재미", "이 영화", "영화 정말", "재미 있다", "화 정말", "기\n둘"),  # across spaces
    *("다!", "있다!!", "정말, 좋", "(감동", "100%", "!영화", "영화, 또"),  # with punctuation
    *("\U0001f600\U0001f44d", "영화\U0001f600", "영화 \U0001f600"),
    *("great", "Great", "GREAT", "MOVIE", "Great movie", "greatest"),
    *("재미있다", "스토리와 감독", "없는말", "aaaaa", "ㅋㅋㅋ"),
)

# What the standard analyzer makes of these texts: letters and digits in a row are a word, and so is each emoji;
# everything else parts words. (It knows more rules, such as those for 3.14 or don't; no text here needs them.)
_WORD = re.compile(r"[^\W_]+|[\U0001f000-\U0001ffff]")


def words(text: str) -> list[str]:
    """The text's words in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def holds(text: str, keyword: str, search_index: str) -> bool:
    """Whether the keyword must find the text, in a store with this search index."""
    if search_index != WORDS:
        return keyword in text
    return _in_a_row(words(text), words(keyword))


def _in_a_row(text: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the words stand in the text one after the other; no word is in no text."""
    starts = range(len(text) - len(wanted) + 1)
    return bool(wanted) and any(list(text[start : start + len(wanted)]) == list(wanted) for start in starts)
