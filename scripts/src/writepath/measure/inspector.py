"""Clients of what a variant says of itself: the inspectors of its services, and the rows that they send."""

import binascii
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv
from pydantic import TypeAdapter, ValidationError

from writepath.analysis.raw import Stored
from writepath.errors import AuditError
from writepath.load import parquet
from writepath.load.ledger import NO_TIME
from writepath.records.measures import Durability

PREFIX_LENGTH = 20  # rrrrrrrr-rrrr-8rrr-8
_COMMITS = {"id": pa.binary(36), "durable_at_us": pa.int64()}
_POSTS = {"id": pa.binary(36), "content_hash": pa.binary(16), "durable_at_us": pa.int64()}
_DIGITS = np.full(256, -1, dtype=np.int64)
_DIGITS[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)
_SEQ_COLUMNS = np.array([20, 21, 22, *range(24, 36)])
_POWERS = 16 ** np.arange(len(_SEQ_COLUMNS) - 1, -1, -1, dtype=np.int64)
_ROW = np.dtype([("seq", np.int64), ("hash", np.uint64), ("durable_at_us", np.int64)])


def content_hashes(lines: Sequence[str]) -> NDArray[np.uint64]:
    """First 64 bits of the SHA-256 of each line's UTF-8."""
    return np.array(
        [int.from_bytes(hashlib.sha256(line.encode()).digest()[:8], "big") for line in lines], dtype=np.uint64
    )


class Rows:
    """Collects the lines of one or more inspectors' CSV; a run's ids become sequences, the rest stay as they are."""

    def __init__(self, run_prefix: str, *, hashed: bool) -> None:
        """run_prefix: the first 20 characters of the run's ids; hashed: lines of /posts, not of /commits."""
        self._prefix = np.frombuffer(run_prefix.encode(), dtype=np.uint8)
        if len(self._prefix) != PREFIX_LENGTH:
            raise ValueError(run_prefix)
        self._types = _POSTS if hashed else _COMMITS
        self._rows = [np.empty(0, _ROW)]
        self.foreign_ids: list[str] = []

    def read(self, chunks: Iterable[bytes]) -> None:
        """Takes the body of one answer. AuditError where it is cut or not in the agreed form."""
        body = b"".join(chunks)
        header, wanted = body[:200].partition(b"\n")[0], ",".join(self._types)
        if header.strip() != wanted.encode():
            raise AuditError(f"the inspector sent {header[:60]!r}, expected the header {wanted!r}")
        if not body.endswith(b"\n"):
            raise AuditError(
                f"the inspector's answer ends in the middle of a line ({body[-60:]!r}); the store may be down"
            )
        try:
            options = csv.ConvertOptions(column_types=self._types)
            self._take(csv.read_csv(pa.BufferReader(body), convert_options=options))
        except (pa.ArrowInvalid, binascii.Error) as error:
            raise AuditError(f"the inspector sent a line in another form ({error})") from error

    def _take(self, table: pa.Table) -> None:
        ids = _characters(table.column("id"))
        digits = _DIGITS[ids[:, _SEQ_COLUMNS]]
        ours = (ids[:, :PREFIX_LENGTH] == self._prefix).all(axis=1) & (digits >= 0).all(axis=1)
        self.foreign_ids += [bytes(each).decode("ascii", "replace") for each in ids[~ours]]
        rows = np.zeros(len(ids), _ROW)
        rows["seq"] = digits @ _POWERS
        if "content_hash" in self._types:
            hashes = _characters(table.column("content_hash")).tobytes()
            rows["hash"] = np.frombuffer(binascii.unhexlify(hashes), ">u8")
        rows["durable_at_us"] = parquet.whole(table, "durable_at_us")
        self._rows.append(rows[ours])

    @property
    def rows(self) -> NDArray[np.void]:
        """Sequence, content hash and moment (epoch, NO_TIME where there was none), in the order read."""
        return np.concatenate(self._rows)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Content hashes, in the order read."""
        found: NDArray[np.uint64] = self.rows["hash"]
        return found

    @property
    def seq(self) -> NDArray[np.int64]:
        """Sequences, in the order read."""
        found: NDArray[np.int64] = self.rows["seq"]
        return found


def _characters(column: Any) -> NDArray[np.uint8]:
    """Of a column of words of one length: a row each."""
    width = column.type.byte_width
    chunks = [np.frombuffer(chunk.buffers()[1], np.uint8, len(chunk) * width) for chunk in column.chunks]
    return np.concatenate([np.empty(0, np.uint8), *chunks]).reshape(-1, width)


def assemble(posts: Rows, commits: Rows, lines: NDArray[np.uint64]) -> Stored:
    """Rows of the store, with the moments that only the writing process knows filled in; lines: content_hashes."""
    rows, dated = posts.rows, commits.rows
    seq, durable_at_us = rows["seq"], rows["durable_at_us"]
    missing = durable_at_us == NO_TIME
    dated = dated[dated["durable_at_us"] != NO_TIME]
    if missing.any() and len(dated):
        dated = dated[np.lexsort((dated["durable_at_us"], dated["seq"]))]
        known, first = np.unique(dated["seq"], return_index=True)
        at = np.minimum(np.searchsorted(known, seq), len(known) - 1)
        durable_at_us = np.where(
            missing & (known[at] == seq), dated["durable_at_us"][first][at], durable_at_us
        )
    return Stored(
        seq=seq,
        content_ok=rows["hash"] == lines[seq % len(lines)],
        durable_at_us=durable_at_us,
        foreign_ids=tuple(posts.foreign_ids),
    )


T = TypeVar("T")
ASK_TIMEOUT_S = 10.0
GAUGE_TIMEOUT_S = 0.8  # below the sampling interval
VISIBLE_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 60.0  # between two chunks of a read-back
LOAD_TIMEOUT_S = 120.0  # of a chunk of a bulk load
BUILD_TIMEOUT_S = 1800.0  # of a search index over a million posts
CHUNK_BYTES = 1 << 20
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
    parts_bytes: Mapping[str, int]


def plain_client(timeout_s: float, base_url: str = "") -> httpx.Client:
    """For HTTP on loopback: no proxy of the environment, and no certificates to load, which takes 50 ms."""
    return httpx.Client(base_url=base_url, timeout=timeout_s, trust_env=False, verify=False)  # noqa: S501


class Inspector:
    """All instances of one service. `url` of an instance: http://127.0.0.1:PORT/inspector."""

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
        return self._number(self._ask("GET", self.urls[0], "count"), "count", "count")

    def serves(self) -> bool:
        """Whether every instance is ready and can ask its store and its queue."""
        try:
            for url in self.urls:
                for what in ("ready", "count", "pending"):
                    self._ask("GET", url, what)
        except AuditError:
            return False
        return True

    def reset(self) -> None:
        """Empties store and queues; every instance also forgets what it counted itself."""
        for url in self.urls:
            self._ask("POST", url, "reset")

    def pending(self) -> Pending:
        """What the broker has, as one instance sees it; what an instance alone knows of itself, of all."""
        answers = [self._ask("GET", url, "pending") for url in self.urls]
        shared = {name: max(int(a[name]) for a in answers) for name in ("ready", "dead")}
        own = {name: sum(int(a[name]) for a in answers) for name in ("in_flight", "unacknowledged")}
        return Pending(**shared, **own)

    def visible(self, ids: Sequence[str]) -> Sequence[str]:
        """Which of these posts a search in the final store finds now."""
        answer = self._ask("GET", self.urls[0], f"visible?ids={','.join(ids)}", VISIBLE_TIMEOUT_S)
        if not isinstance(answer.get("visible"), list):
            raise self._odd("visible", answer)
        return [str(post_id) for post_id in answer["visible"]]

    def durability(self) -> Durability:
        """What a 201 of this service promises, read back from the running system."""
        answer = self._ask("GET", self.urls[0], "durability")
        if answer.get("level") not in ("A", "B", "C"):
            raise AuditError(
                f"{self.service}: the inspector reported no durability level: {str(answer)[:200]}"
            )
        settings = {str(k): _setting(v) for k, v in sorted(answer["settings"].items())}
        return Durability(level=answer["level"], settings=settings)

    def versions(self) -> Mapping[str, str]:
        """Versions the application knows: its own parts and its store's."""
        return {str(k): str(v) for k, v in self._ask("GET", self.urls[0], "versions").items()}

    def begin_load(self) -> None:
        """Makes the store ready for a bulk load."""
        self._ask("POST", self.urls[0], "load/begin", BUILD_TIMEOUT_S)

    def load(self, lines: bytes) -> int:
        """Posts as lines of JSON, past the write path; how many were stored. All are, or AuditError."""
        answer = self._ask("POST", self.urls[0], "load", LOAD_TIMEOUT_S, lines)
        return self._number(answer, "posts", "load")

    def finish_load(self) -> LoadEnd:
        """Has the store build its search index and come to rest."""
        answer = self._ask("POST", self.urls[0], "load/finish", BUILD_TIMEOUT_S)
        return self._typed(LoadEnd, answer, "load/finish")

    def sizes(self) -> Sizes:
        """Of everything stored, and of the search index alone."""
        answer = self._ask("GET", self.urls[0], "sizes", READ_TIMEOUT_S)
        return self._typed(Sizes, {**answer, "parts_bytes": answer.get("parts")}, "sizes")

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

    def read_posts(self, rows: Rows) -> None:
        """The whole final store, once."""
        rows.read(self._stream(self.urls[0], "posts"))

    def read_commits(self, rows: Rows) -> None:
        """What each instance knows of durability moments."""
        for url in self.urls:
            rows.read(self._stream(url, "commits"))

    def _gauges(self, url: str) -> dict[str, float]:
        try:
            answer = self._client.get(f"{url}/gauges", timeout=GAUGE_TIMEOUT_S)
            answer.raise_for_status()
            return {str(k): float(v) for k, v in answer.json().items()}
        except (httpx.HTTPError, ValueError):
            return {}

    def _number(self, answer: Mapping[str, Any], name: str, what: str) -> int:
        if not isinstance(answer.get(name), int):
            raise self._odd(what, answer)
        return int(answer[name])

    def _typed(self, kind: type[T], answer: object, what: str) -> T:
        try:
            return TypeAdapter(kind).validate_python(answer)
        except ValidationError as error:
            raise self._odd(what, answer) from error

    def _odd(self, what: str, answer: object) -> AuditError:
        return AuditError(f"{self.service}: /inspector/{what} answered {str(answer)[:200]}")

    def _ask(
        self,
        method: str,
        url: str,
        question: str,
        timeout_s: float = ASK_TIMEOUT_S,
        lines: bytes | None = None,
    ) -> dict[str, Any]:
        what = question.partition("?")[0]
        headers = None if lines is None else {"Content-Type": "application/x-ndjson"}
        try:
            answer = self._client.request(
                method, f"{url}/{question}", content=lines, headers=headers, timeout=timeout_s
            )
            answer.raise_for_status()
            return dict(answer.json())
        except httpx.HTTPStatusError as error:
            detail = " ".join(error.response.text.split())[:200]
            raise AuditError(
                f"{self.service}: /inspector/{what} answered {error.response.status_code}: {detail}"
            ) from error
        except (httpx.HTTPError, ValueError) as error:
            raise AuditError(
                f"{self.service}: /inspector/{what} did not answer ({_words(error)}); see its log"
            ) from error

    def _stream(self, url: str, what: str) -> Iterator[bytes]:
        try:
            with self._client.stream("GET", f"{url}/{what}", timeout=READ_TIMEOUT_S) as answer:
                answer.raise_for_status()
                yield from answer.iter_bytes(CHUNK_BYTES)
        except httpx.HTTPError as error:
            raise AuditError(
                f"{self.service}: /inspector/{what} could not be read ({_words(error)})"
            ) from error


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
