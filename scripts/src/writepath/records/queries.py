"""The records of a search suite: queries.json and read.json."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from writepath.records import base
from writepath.records.base import record
from writepath.records.capacity import Bracket, Hold, SearchLine, unresolved
from writepath.records.index import Outcome, Status, VariantRecord
from writepath.records.measures import (
    Code,
    DatasetFacts,
    Durability,
    Host,
    Latency,
)

if TYPE_CHECKING:
    from pathlib import Path

QUERIES_SCHEMA_VERSION = 1
QUERIES_FILE = "queries.json"  # the suite run's index
READ_FILE = "read.json"  # one variant in one block

SearchMode = Literal[
    "native", "substring"
]  # the word search of the store; every text that contains the keyword
RoundKind = Literal["first-page", "every-match"]


@record
class Loading:
    """How the posts were loaded into the store."""

    documents: int
    seconds: float  # all requests of the bulk path, without building the search index
    build_seconds: float | None  # of the search index; null where it is built while loading
    settle_seconds: float  # refresh, copies to replicas, VACUUM ANALYZE
    store_bytes: int  # everything that the store keeps for them
    search_index_bytes: int | None  # null where the store has no separate figure
    parts_bytes: dict[str, int]
    digest: str  # SHA-256 of every stored id and content hash, in the order of ids; equal for all variants


@record
class Hits:
    """What a keyword finds, and what it must find."""

    keyword: str
    mode: SearchMode
    expected: int  # posts whose content contains the keyword
    found: int  # what the variant answered as its total
    missed: int  # expected posts that every-match did not return
    surplus: int  # returned posts that were not expected
    as_word: int  # of expected: posts that contain the keyword as a whole word
    explained: bool  # substring: no missed, no surplus posts; native: as our model of the analyzer expects


@record
class Round:
    """One search for one keyword by one client, as in the original experiment."""

    keyword: str
    kind: RoundKind
    round: int  # from 1
    cold: bool  # the first after the store's start
    latency_ms: float  # from the first request to the last byte of the last answer
    requests: int  # pages fetched
    posts: int  # posts fetched


@record
class Beside:
    """A search load together with a write load."""

    search_rate_per_s: float
    write_rate_per_s: float
    seconds: float
    search_latency_ms: Latency  # from the scheduled send time
    write_latency_ms: Latency  # from the scheduled send time
    alone_latency_ms: Latency | None  # of the same search rate without writes
    visible_ms_median: float | None  # from sending the POST until a search found the write
    visible_ms_p95: float | None
    writes_acknowledged: int
    writes_found: int  # after the last refresh, by searches for every word of the written posts' keywords
    wrong_answers: int  # totals below what was there before the load
    warm_up_seconds: float | None = (
        None  # of writes, then of both together; null: of writes alone, too short to believe latencies
    )
    noise: tuple[str, ...] = ()  # why the host was still noisy in the last retry of these loads
    host: Host | None = None  # if rerun later; null: the host of the whole search run
    code: Code | None = None  # if rerun later, the version; else null

    @property
    def warm(self) -> bool:
        """Whether all parts were warm when the latencies were measured."""
        return self.warm_up_seconds is not None


@record
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
    position: int  # from 1: place in its block
    again: bool  # the A/A control: a second run of the baseline
    runtime: str
    seed: int
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code
    started_at: str
    finished_at: str
    outcome: Outcome
    error: str | None
    durability: Durability | None = None
    loading: Loading | None = None
    hits: tuple[
        Hits, ...
    ] = ()  # of the keywords of the rounds, then of load keywords with unexplained results
    rounds: tuple[Round, ...] = ()
    capacity: Bracket | None = None  # searches/s that were answered within the SLO
    holds: tuple[Hold, ...] = ()
    beside: Beside | None = None
    host: Host | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def left_to_noise(self) -> bool:
        """Whether something noisy was not retried."""
        return bool(unresolved(self.holds)) or self.beside_left_to_noise

    @property
    def beside_left_to_noise(self) -> bool:
        """Whether searches alone or with writes were noisy and not retried."""
        return self.beside is not None and bool(self.beside.noise)


@record
class QueriesSuite:
    """queries.json: written at the start and after each variant."""

    schema_version: int
    suite: str
    title: str
    stamp: str
    status: Status
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
    variants: tuple[VariantRecord, ...]
    overrides: dict[str, str]
    dataset: DatasetFacts
    code: Code
    blocks: tuple[tuple[str, ...], ...]
    reads: tuple[SearchLine, ...] = ()


def load_suite(folder: Path) -> QueriesSuite:
    """Reads folder/queries.json; UsageError where it is missing, broken or of another version."""
    return base.load(QueriesSuite, folder / QUERIES_FILE, QUERIES_SCHEMA_VERSION)


def load_read(folder: Path) -> Read:
    """Reads folder/read.json; UsageError where it is missing, broken or of another version."""
    return base.load(Read, folder / READ_FILE, QUERIES_SCHEMA_VERSION)


def save_suite(suite: QueriesSuite, folder: Path) -> None:
    """Writes folder/queries.json at once and completely."""
    base.save(suite, folder / QUERIES_FILE)


def save_read(read: Read, folder: Path) -> None:
    """Writes folder/read.json at once and completely."""
    base.save(read, folder / READ_FILE)
