"""Asks the inspectors of one service what it and its store know, over all its instances."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter

from writepath.errors import AuditError
from writepath.measure import rows
from writepath.measure.rows import Rows
from writepath.records.measures import Durability

T = TypeVar("T")
ASK_TIMEOUT_S = 10.0
GAUGE_TIMEOUT_S = 0.8  # below the sampling interval
VISIBLE_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 60.0  # between two chunks of a read-back
LOAD_TIMEOUT_S = 120.0  # of a chunk of a bulk load
BUILD_TIMEOUT_S = 1800.0  # of a search index over a million posts
SHARED_GAUGES = ("queue_ready", "queue_dead", "database_", "index_")  # a store's or broker's, whoever looks
INSTANCE_GAUGES = ("redelivered",)  # counters that a restart of one instance sets back: told by instance, too


@dataclass(frozen=True, kw_only=True)
class Pending:
    """Messages not yet in the final store; zeros where there is no queue."""

    in_flight: int
    ready: int
    unacknowledged: int
    dead: int

    @property
    def waiting(self) -> int:
        """On their way to the store; dead letters are not."""
        return self.in_flight + self.ready + self.unacknowledged


@dataclass(frozen=True, kw_only=True)
class LoadEnd:
    """What a store did after a bulk load."""

    build_seconds: float | None  # None: its index is built while loading
    settle_seconds: float


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What a store takes on disk."""

    documents: int
    store_bytes: int
    search_index_bytes: int | None  # None: no figure of its own
    parts: dict[str, int]  # bytes


def together(seen: Iterable[Pending]) -> Pending:
    """What the broker has is the same whoever looks; what an instance alone knows of itself adds up."""
    known = list(seen)
    return Pending(
        in_flight=sum(each.in_flight for each in known),
        ready=max(each.ready for each in known),
        unacknowledged=sum(each.unacknowledged for each in known),
        dead=max(each.dead for each in known),
    )


def plain_client(timeout_s: float, base_url: str = "") -> httpx.Client:
    """For HTTP on loopback: no proxy of the environment, and no certificates to load, which takes 50 ms."""
    return httpx.Client(base_url=base_url, timeout=timeout_s, trust_env=False, verify=False)  # noqa: S501


class Inspector:
    """All instances of one service. `url` of an instance: http://127.0.0.1:PORT/inspector.

    AuditError, with the service and what it was asked, where an answer is missing or not in the agreed form.
    """

    def __init__(self, service: str, urls: Sequence[str]) -> None:
        self.service = service
        self.urls = tuple(urls)
        self._client = plain_client(ASK_TIMEOUT_S)
        self._pool = ThreadPoolExecutor(
            max_workers=max(1, len(self.urls)), thread_name_prefix=f"inspect-{service}"
        )

    def close(self) -> None:
        """Ends its connections and threads."""
        self._pool.shutdown(cancel_futures=True)
        self._client.close()

    def count(self) -> int:
        """Rows in the final store, refreshed."""
        return self._ask(int, "count", field="count")

    def serves(self) -> bool:
        """Whether every instance is ready and can ask its store and its queue."""
        try:
            for url in self.urls:
                for what in ("ready", "count", "pending"):
                    self._request(what, url)
        except AuditError:
            return False
        return True

    def reset(self) -> None:
        """Empties store and queues; every instance also forgets what it counted itself."""
        for url in self.urls:
            self._request("reset", url, method="POST")

    def pending(self) -> Pending:
        """Of the queue, as all instances see it."""
        return together(self._ask(Pending, "pending", url) for url in self.urls)

    def visible(self, ids: Sequence[str]) -> Sequence[str]:
        """Which of these posts a search in the final store finds now."""
        question = f"visible?ids={','.join(ids)}"
        return self._ask(list[str], question, field="visible", timeout_s=VISIBLE_TIMEOUT_S)

    def durability(self) -> Durability:
        """What a 201 of this service guarantees, read back from the running system."""
        answer = self._ask(dict[str, Any], "durability")
        if answer.get("level") not in ("A", "B", "C"):
            raise AuditError(
                f"{self.service}: the inspector reported no durability level: {str(answer)[:200]}"
            )
        settings = {name: _setting(value) for name, value in sorted(answer["settings"].items())}
        return Durability(level=answer["level"], settings=settings)

    def versions(self) -> Mapping[str, str]:
        """Versions the application knows: its own parts and its store's."""
        return self._ask(dict[str, str], "versions")

    def begin_load(self) -> None:
        """Makes the store ready for a bulk load."""
        self._request("load/begin", method="POST", timeout_s=BUILD_TIMEOUT_S)

    def load(self, lines: bytes) -> int:
        """Posts as lines of JSON, past the write path; how many were stored. All are, or AuditError."""
        request: dict[str, Any] = {"content": lines, "headers": {"Content-Type": "application/x-ndjson"}}
        return self._ask(int, "load", field="posts", method="POST", timeout_s=LOAD_TIMEOUT_S, **request)

    def finish_load(self) -> LoadEnd:
        """Has the store build its search index and come to rest."""
        return self._ask(LoadEnd, "load/finish", method="POST", timeout_s=BUILD_TIMEOUT_S)

    def sizes(self) -> Sizes:
        """Of everything stored, and of the search index alone."""
        return self._ask(Sizes, "sizes", timeout_s=READ_TIMEOUT_S)

    def gauges(self) -> Mapping[str, float]:
        """Sums over all instances, asked in parallel; an instance that does not answer in time is left out."""
        sums: dict[str, float] = {}
        for number, answer in enumerate(self._pool.map(self._gauges, self.urls), 1):
            for name, value in answer.items():
                known = sums.get(name, 0.0)
                sums[name] = max(known, value) if name.startswith(SHARED_GAUGES) else known + value
                if name in INSTANCE_GAUGES:
                    sums[f"{name}@{number}"] = value
        return sums

    def _gauges(self, url: str) -> dict[str, float]:
        try:
            return self._ask(dict[str, float], "gauges", url, timeout_s=GAUGE_TIMEOUT_S)
        except AuditError:
            return {}

    def posts(self, run_id: str) -> Rows:
        """The whole final store."""
        return rows.parse(self._request("posts", timeout_s=READ_TIMEOUT_S).content, run_id, rows.POSTS)

    def commits(self, run_id: str) -> list[Rows]:
        """What each instance knows of durability moments."""
        answers = [self._request("commits", url, timeout_s=READ_TIMEOUT_S).content for url in self.urls]
        return [rows.parse(answer, run_id, rows.COMMITS) for answer in answers]

    def _ask(
        self, kind: type[T], what: str, url: str | None = None, *, field: str | None = None, **request: Any
    ) -> T:
        """The answer, or a field of it. url: of one instance; None: of the first, as all have the same store."""
        answer = self._request(what, url, **request)
        try:
            data = answer.json()
            return TypeAdapter(kind).validate_python(data if field is None else data[field])
        except (ValueError, LookupError, TypeError) as error:
            raise AuditError(
                f"{self.service}: /inspector/{what.partition('?')[0]} answered {_short(answer)}"
            ) from error

    def _request(
        self,
        what: str,
        url: str | None = None,
        *,
        method: str = "GET",
        timeout_s: float = ASK_TIMEOUT_S,
        **more: Any,
    ) -> httpx.Response:
        asked = f"{self.service}: /inspector/{what.partition('?')[0]}"
        try:
            answer = self._client.request(method, f"{url or self.urls[0]}/{what}", timeout=timeout_s, **more)
        except httpx.HTTPError as error:
            words = str(error) or type(error).__name__
            raise AuditError(f"{asked} did not answer ({words}); see its log") from error
        if not answer.is_success:
            raise AuditError(f"{asked} answered {answer.status_code}: {_short(answer)}")
        return answer


def _short(answer: httpx.Response) -> str:
    return " ".join(answer.text.split())[:200]


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
