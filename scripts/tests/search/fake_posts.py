"""Posts that are loaded and searched over HTTP by brute force, in one small server that can be told to lie."""

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

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
    other_next: bool = False  # the cursor stands where a quick look does not find it


@dataclass(kw_only=True)
class FakePosts:
    """A context manager."""

    lies: Lies = field(default_factory=Lies)
    posts: list[Post] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)  # questions to the inspector, in order
    loaded: int = 0

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"
        self.inspector_url = f"{self.base_url}/inspector"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

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
            "versions": {"fake": "1"},
            "gauges": {},
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

    def told(self, what: str, asked: dict[str, list[str]]) -> str:
        """The answer to a question to the inspector."""
        self.heard.append(what)
        if what == "visible":
            ids = asked["ids"][0].split(",")
            return json.dumps({"visible": sorted({post["id"] for post in self.posts}.intersection(ids))})
        texts = {"posts": self.csv(), "commits": "id,durable_at_us\n"}
        return texts[what] if what in texts else json.dumps(self.inspect(what, b""))

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


def _handler(fake: FakePosts) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - one class, that a function must make
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/api/posts":
                return self.write(json.loads(body))
            what = self.path.removeprefix("/inspector/")
            fake.heard.append(what)
            return self.send(200, json.dumps(fake.inspect(what, body)))

        def write(self, post: Post) -> None:
            if not fake.lies.forget_writes or fake.loaded == 0:
                fake.posts.append({**post, "createdAt": "2027-01-01T00:00:00.000Z"})
            self.send(201, json.dumps({"id": post["id"]}), {"Location": f"/api/posts/{post['id']}"})

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            if url.path.startswith("/inspector/"):
                self.send(200, fake.told(url.path.removeprefix("/inspector/"), parse_qs(url.query)))
            elif url.path.startswith("/api/posts/"):
                known = [post for post in fake.posts if post["id"] == url.path.rpartition("/")[2]]
                self.send(200 if known else 404, json.dumps(known[0] if known else {}))
            elif url.path != "/api/posts":
                self.send(404, "no such page")
            else:
                self.search({name: values[0] for name, values in parse_qs(url.query).items()})

        def search(self, asked: dict[str, str]) -> None:
            if fake.lies.refuse:
                return self.send(503, "the store is down")
            answer = fake.search(asked["keyword"], int(asked["size"]), asked.get("after"))
            spaced = (", ", ": ") if fake.lies.other_next else (",", ":")
            text = json.dumps(answer, ensure_ascii=False, separators=spaced)
            return self.send(200, text[1:] if fake.lies.garble else text)

        def send(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
            body = text.encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return Handler
