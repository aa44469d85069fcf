"""Searches under load: what the store was filled with, and searches at half of their capacity during writes."""

from writepath.records.base import record
from writepath.records.measures import Latency
from writepath.records.search import DataSetFacts, Hits
from writepath.records.steps import SentFacts


@record
class DuringWritesFacts:
    """What only the running system knew of a search load, alone and then together with a write load."""

    search_rate_per_s: float
    write_rate_per_s: float
    seconds: float
    alone: SentFacts
    searches: SentFacts  # during writes
    writes: SentFacts
    writes_found: int  # after the last refresh, by searches for every word of the written posts' keywords
    warm_up_seconds: float
    noise: tuple[str, ...] = ()  # why the host was still noisy in the last retry of these loads


@record
class SearchLoadFacts:
    """What only the running system knew of a capacity run of searches."""

    data_set: DataSetFacts
    hits: tuple[Hits, ...] = ()  # of keywords of the load with unexplained results
    during_writes: DuringWritesFacts | None = None  # null: no rate passed


@record
class DuringWrites:
    """A search load together with a write load. Latencies are from the scheduled send time."""

    search_rate_per_s: float
    write_rate_per_s: float
    seconds: float
    alone_latency_ms: Latency  # of the same search rate without writes
    search_latency_ms: Latency
    write_latency_ms: Latency
    visible_ms_median: float | None  # from sending the POST until a search found the write
    visible_ms_p95: float | None
    writes_acknowledged: int
    writes_found: int
    wrong_answers: int  # totals below what was there before the load
    warm_up_seconds: float


@record
class SearchLoad:
    """Figures of a capacity run of searches beside those of its steps."""

    data_set: DataSetFacts
    hits: tuple[Hits, ...]
    during_writes: DuringWrites | None
