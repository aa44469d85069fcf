"""A write path in one small HTTP server that can be told to lie: what the lifecycle is tested against."""

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self

from http_server import Answer, Request, exposed, serving

HEADER = "id,content_hash,durable_at_us"


@dataclass(kw_only=True)
class Lies:
    """By sequence of the measured load."""

    skip: frozenset[int] = frozenset()  # answered 201, not stored
    double: frozenset[int] = frozenset()  # stored twice
    spoil: frozenset[int] = frozenset()  # stored with other content
    refuse: frozenset[int] = frozenset()  # answered 503, not stored
    invent: tuple[str, ...] = ()  # ids nobody sent
    keep_on_reset: int = 0  # the reset from which on nothing is emptied any more; 0: none
    drop: frozenset[int] = frozenset()  # gone after the restart
    keep: frozenset[int] = frozenset()  # answered 503, and stored
    admit: frozenset[int] = frozenset()  # answered 400, and stored
    delay: frozenset[int] = frozenset()  # durable 10 s after it was sent
    cross: frozenset[int] = frozenset()  # answered with the id of another
    cut_posts: bool = False
    cut_again: bool = False  # the second read
    no_durability: bool = False


@dataclass(kw_only=True)
class Liar:
    """A context manager; `on` is told of each kind of request, in order."""

    lies: Lies = field(default_factory=Lies)
    on: Callable[[str], None] = lambda _what: None
    rows: list[tuple[str, str, int]] = field(default_factory=list)
    resets: int = 0
    crashes: int = 0
    down: bool = False
    _serving: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        self.store("00000000-0000-8000-8000-000000000000", "the write that proved the stack ready")
        self._sent: dict[str, str] = {}
        self.base_url = self._serving.enter_context(serving(self.answer))
        self.inspector_url = f"{self.base_url}/inspector"
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.close()

    @property
    def measured(self) -> bool:
        """From the second reset on comes the load, and the lies begin."""
        return self.resets > 1

    def store(self, post_id: str, content: str, after_s: float = 0.0) -> None:
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        self.rows.append((post_id, digest, int((time.time() + after_s) * 1_000_000)))

    def crash(self) -> None:
        self.down = True
        self.rows = [row for row in self.rows if sequence_of(row[0]) not in self.lies.drop]

    def revive(self) -> None:
        self.down = False
        self.crashes += 1

    def write(self, post_id: str, content: str) -> int:
        sequence = sequence_of(post_id)
        lies = self.lies if self.measured else Lies()
        if sequence == 0:
            for invented in lies.invent:
                self.store(invented, "nobody sent this")
        if sequence in lies.refuse:
            return 503
        if sequence not in lies.skip:
            spoilt = "spoilt" if sequence in lies.spoil else content
            self.store(post_id, spoilt, 10.0 if sequence in lies.delay else 0.0)
        if sequence in lies.double:
            self.store(post_id, content)
        if sequence in lies.keep:
            return 503
        return 400 if sequence in lies.admit else 201

    def named(self, post_id: str) -> str:
        """The id that the answer names."""
        crossed = self.measured and sequence_of(post_id) in self.lies.cross
        return f"{post_id[:-1]}{int(post_id[-1], 16) ^ 1:x}" if crossed else post_id

    def inspect(self, what: str) -> Any:
        count = len(self.rows)
        answers: dict[str, Any] = {
            "readiness": {"status": "UP"},
            "count": {"count": count},
            "pending": {"in_flight": 0, "ready": 0, "unacknowledged": 0, "dead": 0},
            "info": {"versions": {"liar": "1.0"}},
            "durability": {} if self.lies.no_durability else {"level": "A", "settings": {"fsync": True}},
        }
        return answers[what]

    def visible(self, ids: list[str]) -> list[str]:
        stored = {row[0] for row in list(self.rows)}
        return [post_id for post_id in ids if post_id in stored]

    def reset(self) -> None:
        self.resets += 1
        if not 0 < self.lies.keep_on_reset <= self.resets:
            self.rows.clear()

    def posts(self) -> str:
        lines = [HEADER, *(f"{post_id},{digest},{at_us}" for post_id, digest, at_us in self.rows)]
        text = "\n".join(lines) + "\n"
        cut = self.lies.cut_posts or (self.lies.cut_again and self.crashes)
        return text[:-10] if cut and self.measured else text

    def answer(self, request: Request) -> Answer:
        what = request.path.rpartition("/")[2]
        if request.path == "/inspector/reset":
            self.on("reset")
            self.reset()
            return Answer(200, {"count": len(self.rows)})
        if request.path.startswith(("/inspector/", "/actuator/")):
            return self.inspected(what)
        if request.method == "POST":
            return self.written(json.loads(request.body))
        stored = any(row[0] == what for row in self.rows)
        content = self._sent.get(what) if stored else None
        return Answer(404, {}) if content is None else Answer(200, {"id": what, "content": content})

    def written(self, post: dict[str, str]) -> Answer:
        self.on("write")
        status = self.write(post["id"], post["content"])
        self._sent[post["id"]] = post["content"]
        return Answer(status, {"id": self.named(post["id"]), "createdAt": "2026-01-01T00:00:00.000Z"})

    def inspected(self, what: str) -> Answer:
        if self.down:
            return Answer(503, {"detail": "the store is down"})
        self.on(what.partition("?")[0])
        if what.startswith("prometheus?"):
            return Answer(
                200, exposed({"in_flight": 1, "queue_ready": 4, "suppressed_duplicates": 2, "redelivered": 3})
            )
        if what == "posts":
            return Answer(200, self.posts().encode())
        if what == "commits":
            return Answer(200, b"id,durable_at_us\n")  # it knows of none
        if what.startswith("visible?"):
            return Answer(200, {"visible": self.visible(what.partition("=")[2].split(","))})
        return Answer(200, self.inspect(what))


def sequence_of(post_id: str) -> int:
    return int(post_id[20:23] + post_id[24:], 16)
