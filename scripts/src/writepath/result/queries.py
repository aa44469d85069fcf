"""What is known of searches over the same posts? The records of queries.json and read.json: load and save.

Rules are those of `writepath.result`: a unit is the last part of a name; what could not be measured is null.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from writepath.result import SuiteStatus, SuiteVariant  # noqa: TC001 - from_json reads the hints
from writepath.result.capacity import Bracket, Hold, SearchLine, unresolved
from writepath.result.files import class_to_level, level_to_class, read_json, write_json
from writepath.result.measures import (  # noqa: TC001 - from_json reads the hints
    Code,
    DatasetFacts,
    Durability,
    Host,
    Latency,
)
from writepath.result.records import from_json

if TYPE_CHECKING:
    from pathlib import Path

QUERIES_SCHEMA_VERSION = 1
QUERIES_FILE = "queries.json"  # the suite run's index
READ_FILE = "read.json"  # one variant in one block

SearchMode = Literal["native", "substring"]  # the path's own way of words; every text that holds the keyword
RoundKind = Literal["first-page", "every-match"]


@dataclass(frozen=True, kw_only=True)
class Loading:
    """How the posts came into the store."""

    documents: int
    seconds: float  # all requests of the bulk path, without building the search index
    build_seconds: float | None  # of the search index; null where it is built while loading
    settle_seconds: float  # refresh, copies to replicas, VACUUM ANALYZE
    store_bytes: int  # all that the store holds for them
    search_index_bytes: int | None  # null where the store has no separate figure
    parts_bytes: dict[str, int]
    digest: str  # SHA-256 of every stored id and content hash, in the order of ids; equal for all variants


@dataclass(frozen=True, kw_only=True)
class Hits:
    """What a keyword finds, beside what it must find."""

    keyword: str
    mode: SearchMode
    expected: int  # by the oracle, of the mode substring: posts whose content holds the keyword
    found: int  # what the variant answered as its total
    missed: int  # expected posts that every-match did not return
    surplus: int  # returned posts that the oracle has not
    as_word: int  # of expected: where the keyword stands between word boundaries
    explained: bool  # substring: nothing missed, no surplus; native: found is what the analyzer's rule gives


@dataclass(frozen=True, kw_only=True)
class Round:
    """One keyword asked once by one client, as the original experiment did."""

    keyword: str
    kind: RoundKind
    round: int  # from 1
    cold: bool  # the first after the store's start
    latency_ms: float  # from the first request to the last byte of the last answer
    requests: int  # pages fetched
    posts: int  # posts fetched


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A search load beside a write load."""

    search_rate_per_s: float
    write_rate_per_s: float
    seconds: float
    search_latency_ms: Latency  # from the planned moment
    write_latency_ms: Latency  # from the planned moment
    alone_latency_ms: Latency | None  # of the same search rate without writes
    visible_ms_median: float | None  # from sending the POST until a search found the write
    visible_ms_p95: float | None
    writes_acknowledged: int
    writes_found: int  # after the last refresh, by searches for every word of the written posts' keywords
    wrong_answers: int  # totals below what was there before the load
    warm_up_seconds: float | None = (
        None  # of writes, then of both together; null: of writes alone, too short to believe latencies
    )
    noise: tuple[str, ...] = ()  # what still spoilt these loads when they had been made again
    host: Host | None = None  # where they were made alone, later; null: with the rest of the reading
    code: Code | None = None  # likewise, by which version

    @property
    def warm(self) -> bool:
        """Whether latencies are those of parts that had searched and written for a while."""
        return self.warm_up_seconds is not None


@dataclass(frozen=True, kw_only=True)
class Read:
    """read.json: one variant in one block, from an empty store."""

    schema_version: int
    run_id: str
    suite: str
    variant: str
    title: str
    family: str
    mode: SearchMode
    search_index: str  # as read back from the running store
    block: int  # from 1
    position: int  # from 1: when in its block
    again: bool  # the A/A twin: the baseline a second time
    runtime: str
    seed: int
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code
    started_at: str
    finished_at: str
    outcome: Literal["finished", "failed", "aborted"]
    error: str | None
    durability: Durability | None = None
    loading: Loading | None = None
    hits: tuple[Hits, ...] = ()  # of the rounds' keywords, then of those of the load that no rule explains
    rounds: tuple[Round, ...] = ()
    capacity: Bracket | None = None  # searches a second that were answered within the SLO
    holds: tuple[Hold, ...] = ()
    beside: Beside | None = None
    host: Host | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def left_to_noise(self) -> bool:
        """Whether noise spoilt something that was not made again."""
        return bool(unresolved(self.holds)) or self.beside_left_to_noise

    @property
    def beside_left_to_noise(self) -> bool:
        """Likewise, searches alone or beside writes."""
        return self.beside is not None and bool(self.beside.noise)


@dataclass(frozen=True, kw_only=True)
class QueriesSuite:
    """queries.json: written at the start and after each variant."""

    schema_version: int
    suite: str
    title: str
    stamp: str
    status: SuiteStatus
    started_at: str
    finished_at: str | None
    seed: int
    repetitions: int  # blocks
    runtime: str
    documents: int
    rounds: int
    keywords: tuple[str, ...]  # of the rounds
    slo_ms: float
    hold_seconds: float
    baseline: str
    variants: tuple[SuiteVariant, ...]
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code
    blocks: tuple[tuple[str, ...], ...]
    reads: tuple[SearchLine, ...] = ()


def load_suite(folder: Path) -> QueriesSuite:
    """Reads folder/queries.json; UsageError where it is missing, broken or of another version."""
    return from_json(QueriesSuite, read_json(folder / QUERIES_FILE, QUERIES_SCHEMA_VERSION))


def load_read(folder: Path) -> Read:
    """Reads folder/read.json; UsageError where it is missing, broken or of another version."""
    return from_json(Read, class_to_level(read_json(folder / READ_FILE, QUERIES_SCHEMA_VERSION)))


def save_suite(suite: QueriesSuite, folder: Path) -> None:
    """Writes folder/queries.json at once and completely."""
    write_json(dataclasses.asdict(suite), folder / QUERIES_FILE)


def save_read(read: Read, folder: Path) -> None:
    """Writes folder/read.json at once and completely."""
    write_json(level_to_class(dataclasses.asdict(read)), folder / READ_FILE)
