"""Keyword searches: what the store was filled with, what each search found, and how long it took."""

from typing import Literal

from writepath.records.base import record
from writepath.records.load_facts import WithheldFacts
from writepath.records.measures import Host, Verdict

# The word search of the store; every text that contains the keyword.
SearchMode = Literal["native", "substring"]
SearchKind = Literal["first-page", "every-match"]
KINDS: dict[SearchKind, str] = {"first-page": "first page", "every-match": "every match"}
BY_WORDS = "words"  # the one index with searches of words; all others find any text that contains the keyword


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

    @property
    def per_s(self) -> float | None:
        """Documents, without building the search index."""
        return self.documents / self.seconds if self.seconds else None


@record
class DataSetFacts:
    """What is searched, and how."""

    mode: SearchMode
    search_index: str  # as read back from the running store
    loading: Loading


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

    @property
    def recall_percent(self) -> float | None:
        """Of the posts that contain the keyword, those that were returned; None where there is none."""
        return 100 * (self.expected - self.missed) / self.expected if self.expected else None


@record
class SearchFacts:
    """facts.json of a search run: what only the running system knew."""

    data_set: DataSetFacts
    rounds: int  # as asked for
    keywords: tuple[str, ...]  # of the rounds
    hits: tuple[Hits, ...] = ()  # of these keywords, then of others with unexplained results
    withheld: WithheldFacts | None = None  # during the rounds; null: not measured
    lost_components: tuple[str, ...] = ()  # each with its reason in words
    host: Host | None = None  # in evidence; raw facts leave it to cell.json


@record
class Times:
    """How long one client waited for a keyword, round by round; the first round is cold."""

    keyword: str
    kind: SearchKind
    rounds_ms: tuple[float, ...]  # from the first request to the last byte of the last answer
    warm_mean_ms: float | None  # without the cold round
    mean_ms: float | None


@record
class SearchResult:
    """All figures of a search run."""

    data_set: DataSetFacts
    hits: tuple[Hits, ...]
    times: tuple[Times, ...]
    verdict: Verdict

    def times_of(self, keyword: str, kind: SearchKind) -> Times:
        """Of a keyword of the rounds."""
        return next(one for one in self.times if (one.keyword, one.kind) == (keyword, kind))
