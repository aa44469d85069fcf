"""A suite run of searches with known answers, written through the records that write real ones; raw files on demand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from capacity.planted_hold import loaded
from report import planted_capacity
from report.planted_capacity import SECONDS, SLO_MS, STAMP, STARTED, TWIN
from report.planted_paths import Path_
from report.planted_raw import measured, records, save
from writepath import records as result
from writepath.analysis.figures import time_to_visible
from writepath.analysis.raw import VISIBLE_FILE, Seen, save_visible
from writepath.config.registry import Phase
from writepath.load.ledger import NO_TIME, SEARCH, WRITE, WRONG_TOTAL, Operation
from writepath.load.plan import arrival_plan
from writepath.records import queries
from writepath.records.capacity import SearchLine
from writepath.records.index import Status, VariantRecord
from writepath.records.queries import Beside, Hits, Loading, Read, Round, SearchMode
from writepath.report.queries_raw import Found, QueriesData

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from writepath.capacity.rig import Loaded
    from writepath.records.capacity import Hold, Search

DOCUMENTS = 50_000
ROUNDS = 5
KEYWORDS = {"영화": 15_000, "스토리": 1_500, "감동": 1_200, "재미": 3_500}  # posts that hold it
WEIGHTS = dict(zip(KEYWORDS, (4.0, 1.0, 0.8, 1.5), strict=True))
COLD = 3.0  # times
WARM = (0.98, 1.02, 0.99, 1.01)  # rounds 2 to 5; their mean is 1
BLOCKS = (1.0, 1.1, 0.9)  # what the host did to each
MISSED = 4  # of the posts that hold a keyword, a search by words misses each fourth
SURPLUS = 7  # and finds so many others
DIGEST = "d" * 64  # of seed 1: ids are drawn from it
DATASET = result.DatasetFacts(name="reviews.tsv.gz", sha256="e" * 64, lines=DOCUMENTS)
SUITE = "search"
SEARCHES_PER_S, WRITES_PER_S, LOADED_S = 50.0, 50.0, 20.0
ACKNOWLEDGED, WRONG = 990, 2


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A variant and what is true of it."""

    name: str
    title: str
    mode: SearchMode
    index: str
    first_page_ms: float  # one client, warm, of a keyword that weighs 1
    every_match_ms: float
    per_s: tuple[float, ...]  # capacity by block
    settings: dict[str, str] = field(default_factory=dict)
    profiles: tuple[str, ...] = ("jpa",)
    wobble: tuple[float, ...] = (1.0, 1.0, 1.0)  # of its times by block, beyond what the host did
    index_bytes: int | None = None
    build_s: float | None = None


def _elasticsearch(shards: int, replicas: int, index: str = "words") -> dict[str, str]:
    found = {"ELASTICSEARCH_SHARDS": str(shards), "ELASTICSEARCH_REPLICAS": str(replicas)}
    return found if index == "words" else found | {"ELASTICSEARCH_SEARCH_INDEX": index}


VARIANTS = (
    Asked(
        name="jpa", title="JPA", mode="substring", index="none", first_page_ms=60.0, every_match_ms=90.0,
        per_s=(2300.0, 2400.0, 2350.0),
    ),
    Asked(
        name="jpa-trigram", title="JPA, trigram index", mode="substring", index="trigram", first_page_ms=30.0,
        every_match_ms=45.0, per_s=(2900.0, 3100.0, 3000.0), settings={"POSTGRES_SEARCH_INDEX": "trigram"},
        index_bytes=5 << 20, build_s=2.5,
    ),
    Asked(
        name="elasticsearch-1s0r", title="Elasticsearch, 1 shard", mode="native", index="words",
        first_page_ms=5.0, every_match_ms=200.0, per_s=(1500.0, 1450.0, 1520.0),
        settings=_elasticsearch(1, 0), profiles=("elasticsearch",),
    ),
    Asked(
        name="elasticsearch-8s0r", title="Elasticsearch, 8 shards", mode="native", index="words",
        first_page_ms=4.0, every_match_ms=150.0, per_s=(1700.0, 1750.0, 1720.0),
        settings=_elasticsearch(8, 0), profiles=("elasticsearch",), wobble=(1.0, 1.02, 0.98),
    ),
    Asked(
        name="elasticsearch-8s1r", title="Elasticsearch, 8 shards, 1 replica", mode="native", index="words",
        first_page_ms=8.0, every_match_ms=300.0, per_s=(620.0, 640.0, 600.0),
        settings=_elasticsearch(8, 1), profiles=("elasticsearch", "replica"),
    ),
    Asked(
        name="elasticsearch-1s0r-bigrams", title="Elasticsearch, 1 shard, bigrams", mode="substring",
        index="bigrams", first_page_ms=10.0, every_match_ms=220.0, per_s=(1100.0, 1150.0, 1090.0),
        settings=_elasticsearch(1, 0, "bigrams"), profiles=("elasticsearch",),
    ),
)  # fmt: skip


@dataclass(kw_only=True)
class Planted:
    """A suite run of searches below root/results; tests change its fields, then write it."""

    root: Path
    variants: tuple[Asked, ...] = VARIANTS
    keywords: dict[str, int] = field(default_factory=lambda: dict(KEYWORDS))
    blocks: int = 3
    twin: bool = True
    status: Status = "finished"
    failed: tuple[tuple[str, int], ...] = ()  # variant and block of what failed
    digests: dict[str, str] = field(default_factory=dict)  # by variant, of other posts than all have
    scale: float = 1.0  # of all rates
    raw: bool = False  # ledgers and samples, too
    stamp: str = STAMP
    seed: int = 1

    @property
    def folder(self) -> Path:
        return self.root / "results" / SUITE / self.stamp

    def write(self) -> Path:
        """Writes every record; the run's folder."""
        data = self.data()
        for found in data.reads:
            queries.save_read(found.read, self.folder / found.folder)
        queries.save_suite(data.suite, self.folder)
        return self.folder

    def data(self) -> QueriesData:
        """The same, without files but for the raw ones of a run that has them."""
        found = tuple(self._found())
        lines = tuple(
            SearchLine(
                variant=one.read.variant, block=one.read.block, position=one.read.position,
                again=one.read.again, folder=one.folder, outcome=one.read.outcome, seconds=600.0,
            )
            for one in found
        )  # fmt: skip
        return QueriesData(suite=self._suite(lines), reads=found)

    def _found(self) -> Iterator[Found]:
        """As many searches as a suite for capacity of the same paths has, with what comes before and after them."""
        asked = {one.name: one for one in self.variants}
        searches = planted_capacity.Planted(
            root=self.root,
            paths=tuple(_path(one) for one in self.variants),
            blocks=self.blocks,
            twin=TWIN if self.twin else None,
            suite=SUITE,
            scale=self.scale,
            seed=self.seed,
        ).searches()
        for search, folder in searches:
            one = asked[search.variant]
            read = self._read(one, search)
            if self.raw:
                carried = (TWIN if search.again else one.per_s)[search.block - 1] * self.scale
                read = _with_raw(read, self.folder / folder, carried)
            yield Found(read=read, folder=folder)

    def _read(self, one: Asked, search: Search) -> Read:
        read = Read(
            schema_version=queries.QUERIES_SCHEMA_VERSION, run_id=search.run_id, suite=SUITE, variant=one.name,
            title=one.title, family=search.family, mode=one.mode, search_index=one.index, block=search.block,
            position=search.position, again=search.again, runtime="native", seed=self.seed, overrides={},
            dataset=DATASET, code=search.code, started_at=STARTED, finished_at=STARTED,
            outcome="finished", error=None, durability=search.durability, host=search.host,
            versions=search.versions,
        )  # fmt: skip
        if (one.name, search.block) in self.failed and not search.again:
            return replace(read, outcome="failed", error="postgres did not start")
        return replace(
            read,
            loading=self._loading(one),
            hits=tuple(_hits(one, keyword, holds) for keyword, holds in self.keywords.items()),
            rounds=tuple(self._rounds(one, search.block)),
            capacity=search.sustained,
            holds=tuple(_asked(hold) for hold in search.holds),
            beside=_beside(one),
        )

    def _loading(self, one: Asked) -> Loading:
        parts = {"posts": 20 << 20} | ({} if one.index_bytes is None else {"index": one.index_bytes})
        return Loading(
            documents=DOCUMENTS, seconds=10.0, build_seconds=one.build_s, settle_seconds=1.5,
            store_bytes=sum(parts.values()), search_index_bytes=one.index_bytes, parts_bytes=parts,
            digest=self.digests.get(one.name, DIGEST if self.seed == 1 else f"{self.seed:02x}" * 32),
        )  # fmt: skip

    def _rounds(self, one: Asked, block: int) -> Iterator[Round]:
        host = BLOCKS[block - 1] * one.wobble[block - 1]
        for number in range(1, ROUNDS + 1):
            times = COLD if number == 1 else WARM[number - 2]
            for keyword, holds in self.keywords.items():
                took = host * times * WEIGHTS.get(keyword, 1.0)
                found = _hits(one, keyword, holds).found
                for kind, ms, requests, posts in (
                    ("first-page", one.first_page_ms, 1, min(20, found)),
                    ("every-match", one.every_match_ms, max(1, -(-found // 1000)), found),
                ):
                    yield Round(
                        keyword=keyword, kind=kind, round=number, cold=number == 1,  # type: ignore[arg-type]
                        latency_ms=round(ms * took, 3), requests=requests, posts=posts,
                    )  # fmt: skip

    def _suite(self, lines: tuple[SearchLine, ...]) -> queries.QueriesSuite:
        names = tuple(one.name for one in self.variants)
        order = (*names, *([f"{names[0]}@again"] if self.twin else []))
        return queries.QueriesSuite(
            schema_version=queries.QUERIES_SCHEMA_VERSION, suite=SUITE, title="How fast posts are found again",
            stamp=self.stamp, status=self.status, started_at=STARTED, finished_at=STARTED, seed=self.seed,
            repetitions=self.blocks, runtime="native", documents=DOCUMENTS, rounds=ROUNDS,
            keywords=tuple(self.keywords), slo_ms=SLO_MS, hold_seconds=SECONDS, baseline=names[0],
            variants=tuple(
                VariantRecord(
                    name=one.name, title=one.title, family=one.name, acknowledges="committed",
                    profiles=one.profiles, settings=one.settings,
                )
                for one in self.variants
            ),
            overrides={}, dataset=DATASET,
            code=result.Code(commit="a" * 40, dirty=False), blocks=(order,) * self.blocks, reads=lines,
        )  # fmt: skip


def _path(one: Asked) -> Path_:
    """In block 2 noise spoils a hold of the baseline, which is made again."""
    return Path_(
        name=one.name,
        title=one.title,
        sustained_per_s=one.per_s,
        noise_in_block=2 if one is VARIANTS[0] else None,
    )


def _asked(hold: Hold) -> Hold:
    """Of searches nothing has to be stored."""
    served = hold.requests.by_status["201"]
    failed = {status: count for status, count in hold.requests.by_status.items() if status != "201"}
    requests = replace(hold.requests, by_status={"200": served} | failed)
    return replace(hold, requests=requests, stored_per_s=None, drain_seconds=None, audit=None, backlog=None)


def _hits(one: Asked, keyword: str, holds: int) -> Hits:
    missed, surplus = (holds // MISSED, SURPLUS) if one.mode == "native" else (0, 0)
    return Hits(
        keyword=keyword, mode=one.mode, expected=holds, found=holds - missed + surplus, missed=missed,
        surplus=surplus, as_word=holds - holds // MISSED, explained=True,
    )  # fmt: skip


def _beside(one: Asked) -> Beside:
    def latency(p99: float) -> result.Latency:
        return result.Latency(min=1.0, mean=p99 / 4, median=p99 / 5, p95=p99 / 2, p99=p99, max=p99 * 2)

    return Beside(
        search_rate_per_s=SEARCHES_PER_S, write_rate_per_s=WRITES_PER_S, seconds=LOADED_S,
        search_latency_ms=latency(one.first_page_ms * 3), write_latency_ms=latency(40.0),
        alone_latency_ms=latency(one.first_page_ms * 2), visible_ms_median=500.0, visible_ms_p95=950.0,
        writes_acknowledged=ACKNOWLEDGED, writes_found=ACKNOWLEDGED, wrong_answers=0, warm_up_seconds=30.0,
    )  # fmt: skip


def _with_raw(read: Read, folder: Path, carried_per_s: float) -> Read:
    """With raw files, and the figures that follow from them."""
    holds = tuple(
        measured(hold, folder / f"hold-{hold.number:02}", carried_per_s, queue=False, operation=SEARCH)
        for hold in read.holds
    )
    beside = read.beside
    assert beside is not None
    alone = _load(folder / "alone", SEARCHES_PER_S, operation=SEARCH)
    searches = _load(folder / "beside", SEARCHES_PER_S, operation=SEARCH, wrong=WRONG)
    writes = _load(folder / "beside-writes", WRITES_PER_S)
    seen = _seen(writes, folder / "beside-writes")
    known = time_to_visible(writes.taken, seen).time_to_visible_ms
    assert known is not None
    return replace(
        read,
        holds=holds,
        beside=replace(
            beside,
            search_latency_ms=searches.figures.planned_latency_ms,
            write_latency_ms=writes.figures.planned_latency_ms,
            alone_latency_ms=alone.figures.planned_latency_ms,
            visible_ms_median=known.median,
            visible_ms_p95=known.p95,
            writes_acknowledged=writes.figures.requests.acknowledged,
            writes_found=writes.figures.requests.acknowledged,
            wrong_answers=WRONG,
        ),
    )


def _load(folder: Path, rate_per_s: float, *, operation: Operation = WRITE, wrong: int = 0) -> Loaded:
    phase = Phase(name="load", seconds=LOADED_S, from_per_s=rate_per_s, to_per_s=rate_per_s)
    plan = arrival_plan([phase])
    sent = records(plan, unserved=plan.planned // 100, operation=operation)
    sent["error_code"][:wrong] = WRONG_TOTAL
    load = loaded(plan, sent)
    save(load, folder)
    return load


def _seen(writes: Loaded, folder: Path) -> Seen:
    """Each second write was asked for; the one after every hundredth of them was never found."""
    sampled = writes.taken.records[::2]
    found = sampled["start_us"] + 100_000 + 9000 * (np.arange(len(sampled)) % 100)
    found[99::100] = NO_TIME
    seen = Seen(
        seq=sampled["seq"].copy(),
        not_before_us=np.full(len(sampled), NO_TIME),
        visible_at_us=found,
    )
    save_visible(seen, folder / VISIBLE_FILE)
    return seen
