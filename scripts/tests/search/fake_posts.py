"""Posts that are loaded and searched over HTTP by brute force, in one small server that can be told to lie."""

import hashlib
import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from http_server import Answer, Request, serving
from writepath.load.corpus import Corpus

Post = dict[str, str]


@dataclass(kw_only=True)
class Lies:
    """What is wrong with the store, or with its searches."""

    lose: frozenset[int] = frozenset()  # posts, by their place in the load, that are not stored
    twice: frozenset[int] = frozenset()  # stored again
    spoil: frozenset[int] = frozenset()  # stored with other content
    invent: tuple[Post, ...] = ()  # stored, and sent by nobody
    uncounted: int = 0  # posts of a request that its answer leaves out
    sizes_off: int = 0
    hide: frozenset[str] = frozenset()  # contents that no search finds
    repeat: bool = False  # the first post of each page once more
    miscount: int = 0  # of a total
    miscount_large: int = 0  # of the total of a large page alone
    oldest_first: bool = False
    endless: bool = False  # the cursor always leads to the same page
    refuse: bool = False  # 503
    garble: bool = False  # no JSON
    no_total: bool = False
    search_index: str | None = "none"  # None: it does not say
    forget_writes: bool = False  # answered 201, and not stored


@dataclass(kw_only=True)
class FakePosts:
    """A context manager."""

    lies: Lies = field(default_factory=Lies)
    posts: list[Post] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)  # questions to the inspector, in order
    loaded: int = 0

    _serving: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """With all its posts."""
        made = cls()
        for _, body in corpus.documents.chunks():
            made.load(body)
        return made

    def __enter__(self) -> Self:
        self.base_url = self._serving.enter_context(serving(self.answer))
        self.inspector_url = f"{self.base_url}/inspector"
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.close()

    def answer(self, request: Request) -> Answer:
        url = urlsplit(request.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path.startswith(("/inspector/", "/actuator/")):
            return self.inspected(url.path.removeprefix("/inspector").lstrip("/"), asked, request.body)
        if request.method == "POST":
            return self.written(json.loads(request.body))
        if url.path == "/api/posts":
            return self.searched(asked)
        known = [post for post in self.posts if post["id"] == url.path.rpartition("/")[2]]
        return Answer(200, known[0]) if known else Answer(404, {})

    def written(self, post: Post) -> Answer:
        if not self.lies.forget_writes or self.loaded == 0:
            self.posts.append({**post, "createdAt": "2027-01-01T00:00:00.000Z"})
        return Answer(201, {"id": post["id"]}, {"Location": f"/api/posts/{post['id']}"})

    def searched(self, asked: dict[str, str]) -> Answer:
        if self.lies.refuse:
            return Answer(503, b"the store is down")
        found = self.search(asked["keyword"], int(asked["size"]), asked.get("after"))
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))  # as k6 expects it
        return Answer(200, (text[1:] if self.lies.garble else text).encode())

    def inspected(self, what: str, asked: dict[str, str], body: bytes) -> Answer:
        self.heard.append(what)
        if what == "visible":
            ids = asked["ids"].split(",")
            return Answer(200, {"visible": sorted({post["id"] for post in self.posts}.intersection(ids))})
        texts = {"posts": self.csv(), "commits": "id,durable_at_us\n", "actuator/prometheus": ""}
        return Answer(200, texts[what].encode() if what in texts else self.inspect(what, body))

    def load(self, body: bytes) -> dict[str, Any]:
        sent = [json.loads(line) for line in body.splitlines()]
        for place, post in enumerate(sent, self.loaded):
            kept = {**post, "content": "spoilt"} if place in self.lies.spoil else post
            self.posts += [kept] * (0 if place in self.lies.lose else 2 if place in self.lies.twice else 1)
        if self.loaded == 0:
            self.posts += self.lies.invent
        self.loaded += len(sent)
        return {"posts": len(sent) - self.lies.uncounted}

    def inspect(self, what: str, body: bytes) -> dict[str, Any]:
        answers: dict[str, Any] = {
            "load/begin": {},
            "load/finish": {"build_seconds": 0.25, "settle_seconds": 0.5},
            "sizes": {
                "documents": len(self.posts) + self.lies.sizes_off,
                "store_bytes": 4096,
                "search_index_bytes": None,
                "parts": {"table": 4096},
            },
            "count": {"count": len(self.posts)},
            "pending": {"in_flight": 0, "ready": 0, "unacknowledged": 0, "dead": 0},
            "actuator/info": {"versions": {"fake": "1"}},
            "durability": {"level": "A", "settings": self.settings},
        }
        if what == "reset":
            self.posts.clear()
            return {}
        return self.load(body) if what == "load" else dict(answers[what])

    @property
    def settings(self) -> dict[str, str]:
        index = self.lies.search_index
        return {} if index is None else {"search_index": index}

    def csv(self) -> str:
        rows = [
            f"{post['id']},{hashlib.sha256(post['content'].encode()).hexdigest()[:16]},1000"
            for post in self.posts
        ]
        return "\n".join(["id,content_hash,durable_at_us", *rows, ""])

    def search(self, keyword: str, size: int, after: str | None) -> dict[str, Any]:
        lies = self.lies
        found = [
            post for post in self.posts if keyword in post["content"] and post["content"] not in lies.hide
        ]
        found.sort(key=lambda post: (post["createdAt"], post["id"]), reverse=not lies.oldest_first)
        first = 0 if after is None or lies.endless else int(after, 16)
        page = found[first : first + size]
        answer: dict[str, Any] = {}
        if after is None and not lies.no_total:
            answer["total"] = len(found) + lies.miscount + (lies.miscount_large if size > 20 else 0)
        answer["posts"] = page[:1] + page if lies.repeat else page
        if first + size < len(found) or lies.endless:
            answer["next"] = f"{first + size:x}"
        return answer
