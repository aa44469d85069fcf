"""Asks the inspectors of one service what it and its store know, over all its instances."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter

from writepath.errors import AuditError
from writepath.measure import metrics, rows
from writepath.measure.rows import Rows
from writepath.records.measures import Durability

T = TypeVar("T")
INSPECTOR = "/inspector"
READINESS, INFO = "/actuator/health/readiness", "/actuator/info"  # on the same port
ASK_TIMEOUT_S = 10.0
GAUGE_TIMEOUT_S = 0.8  # below the sampling interval
VISIBLE_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 60.0  # between two chunks of a read-back
SHARED_GAUGES = ("queue_ready", "queue_messages", "queue_dead", "database_", "index_")  # whoever looks
INSTANCE_GAUGES = ("redelivered",)  # counters that a restart of one instance sets back: told by instance, too


@dataclass(frozen=True, kw_only=True)
class Pending:
    """Posts not yet in the final store; zeros where there is no queue."""

    in_flight: int
    ready: int  # 0 if and only if no message waits; otherwise estimated, as the broker counts messages
    unacknowledged: int
    dead: int

    @property
    def waiting(self) -> int:
        """On their way to the store; dead letters are not."""
        return self.in_flight + self.ready + self.unacknowledged


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
    """All instances of one service. `url` of an instance: http://runner:TOKEN@127.0.0.1:PORT/inspector.

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
        return self.ask(int, "count", field="count")

    def serves(self) -> bool:
        """Whether every instance is ready and can ask its store and its queue."""
        try:
            for url in self.urls:
                for what in (READINESS, "count", "pending"):
                    self.request(what, url)
        except AuditError:
            return False
        return True

    def reset(self) -> None:
        """Empties store and queues; every instance also forgets what it counted itself."""
        for url in self.urls:
            self.request("reset", url, method="POST")

    def pending(self) -> Pending:
        """Of the queue, as all instances see it."""
        return together(self.ask(Pending, "pending", url) for url in self.urls)

    def visible(self, ids: Sequence[str]) -> Sequence[str]:
        """Which of these posts a search in the final store finds now."""
        question = f"visible?ids={','.join(ids)}"
        return self.ask(list[str], question, field="visible", timeout_s=VISIBLE_TIMEOUT_S)

    def durability(self) -> Durability:
        """What a 201 of this service guarantees, read back from the running system."""
        answer = self.ask(dict[str, Any], "durability")
        if answer.get("level") not in ("A", "B", "C"):
            raise AuditError(
                f"{self.service}: the inspector reported no durability level: {str(answer)[:200]}"
            )
        settings = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in sorted(answer["settings"].items())
        }
        return Durability(level=answer["level"], settings=settings)

    def versions(self) -> Mapping[str, str]:
        """Versions the application knows: its own parts and its store's."""
        return self.ask(dict[str, str], INFO, field="versions")

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

    def _gauges(self, url: str) -> Mapping[str, float]:
        try:
            answer = self.request(
                metrics.PATH, url, timeout_s=GAUGE_TIMEOUT_S, headers={"Accept": "text/plain"}
            )
            return metrics.samples(answer.text)
        except (AuditError, ValueError):
            return {}

    def posts(self, run_id: str) -> Rows:
        """The whole final store."""
        return rows.parse(self.request("posts", timeout_s=READ_TIMEOUT_S).content, run_id, rows.POSTS)

    def commits(self, run_id: str) -> list[Rows]:
        """What each instance knows of durability moments."""
        answers = [self.request("commits", url, timeout_s=READ_TIMEOUT_S).content for url in self.urls]
        return [rows.parse(answer, run_id, rows.COMMITS) for answer in answers]

    def ask(
        self, kind: type[T], what: str, url: str | None = None, *, field: str | None = None, **request: Any
    ) -> T:
        """The answer, or a field of it. url: of one instance; None: of the first, as all have the same store."""
        answer = self.request(what, url, **request)
        try:
            data = answer.json()
            return TypeAdapter(kind).validate_python(data if field is None else data[field])
        except (ValueError, LookupError, TypeError) as error:
            raise AuditError(f"{self.service}: {_path(what)} answered {short(answer)}") from error

    def request(
        self,
        what: str,
        url: str | None = None,
        *,
        method: str = "GET",
        timeout_s: float = ASK_TIMEOUT_S,
        **more: Any,
    ) -> httpx.Response:
        """The answer of one instance as it is. what: below /inspector, or a whole path. more: of httpx."""
        asked = f"{self.service}: {_path(what)}"
        server = (url or self.urls[0]).removesuffix(INSPECTOR)
        try:
            answer = self._client.request(method, f"{server}{_whole(what)}", timeout=timeout_s, **more)
        except httpx.HTTPError as error:
            words = str(error) or type(error).__name__
            raise AuditError(f"{asked} did not answer ({words}); see its log") from error
        if not answer.is_success:
            raise AuditError(f"{asked} answered {answer.status_code}: {short(answer)}")
        return answer


def _whole(what: str) -> str:
    return what if what.startswith("/") else f"{INSPECTOR}/{what}"


def _path(what: str) -> str:
    return _whole(what).partition("?")[0]


def short(answer: httpx.Response) -> str:
    """What was answered, for an error."""
    return " ".join(answer.text.split())[:200]
