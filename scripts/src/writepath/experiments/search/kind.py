"""Kind `search`: posts in an otherwise idle store, its stores restarted, then rounds of keywords by one client."""

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
from pydantic import Field

from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts, save_facts
from writepath.analysis.searches import RAW_SCHEMA, SEARCHES_FILE, derive_searches, reduce_searches
from writepath.config.checked import Names
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.experiments.search import sections
from writepath.load.corpus import Corpus
from writepath.load.parquet import save_table
from writepath.measure import host, searchable
from writepath.measure.searchable import Answer, Client
from writepath.records import base
from writepath.records.base import record
from writepath.records.measures import Host
from writepath.records.search import Hits, SearchFacts, SearchKind, SearchMode, SearchResult


@record
class SearchParams:
    """Posts, rounds and keywords."""

    documents: Annotated[int, Field(ge=1_000, le=1_000_000)]  # posts that are loaded first
    rounds: Annotated[int, Field(ge=1, le=1_000)]  # how often one client searches for each keyword
    keywords: Names


SECOND = 2
WARM_UP_S = 20.0  # by one client: a store that is a Java program is as slow to start as an application


def measure(run: CellRun, session: Session) -> None:
    """From an empty store to the last round. The facts are saved before the rounds and after them."""
    params, progress = run.params, run.bench.progress
    with run.step("expected results"):  # once for all cells; a minute for half a million posts
        corpus = Corpus.of(run.dataset, params.documents, params.keywords, run.seed)
    stack, truth = session.started(run)
    run.verify(stack, truth)
    run.require_declared()
    with run.step("verify"):
        truth.empty()
    with run.step("load posts"):
        data_set = searchable.filled(corpus, truth, progress)
    facts = SearchFacts(data_set=data_set, rounds=params.rounds, keywords=params.keywords)
    save_facts(base.to_data(facts), run.folder)
    with Client(stack.base_url) as client:
        with run.step("totals"):
            _, unexplained = searchable.totals(corpus, data_set.mode, client, progress)
        with run.step("restart the stores"):
            searchable.restart(stack, truth, run.cell.variant, corpus.documents.post_id(0), client)
        before = host.read_counters()
        rows, hits = _rounds(run, corpus, data_set.mode, client)
    facts = dataclasses.replace(
        facts,
        hits=(*hits, *unexplained),
        withheld=host.withheld_between(before, host.read_counters()),
        lost_components=tuple(stack.lost_components()),
    )
    save_table(pa.Table.from_pylist(rows, RAW_SCHEMA), run.folder / SEARCHES_FILE)
    save_facts(base.to_data(facts), run.folder)


def _rounds(
    run: CellRun, corpus: Corpus, mode: SearchMode, client: Client
) -> tuple[list[dict[str, Any]], list[Hits]]:
    """Every search, and of each keyword one line of hits: the first unexplained. Checked while no clock runs."""
    rows: list[dict[str, Any]] = []
    hits: dict[str, Hits] = {}
    for number, order in enumerate(orders(corpus.asked, run.params.rounds, run.seed, run.cell.block), 1):
        if number == SECOND:
            with run.step("warm-up"):
                searchable.warm_up(corpus, client, WARM_UP_S)
        with run.step(f"round {number}"):
            for keyword in order:
                page, whole = client.first_page(keyword), client.every_match(keyword)
                rows += [_row(page, "first-page", number), _row(whole, "every-match", number)]
                searchable.require_same(page, whole)
                if keyword not in hits or hits[keyword].explained:
                    hits[keyword] = searchable.hits_of(whole, mode, corpus)
    return rows, [hits[keyword] for keyword in corpus.asked]


def orders(keywords: Sequence[str], rounds: int, seed: int, block: int) -> list[list[str]]:
    """By round, all keywords; of the seed alone, so that no keyword always meets the coldest store."""
    drawn = random.Random(f"writepath:rounds:{seed}:{block}")  # noqa: S311 - an order, not a secret
    return [drawn.sample(keywords, len(keywords)) for _ in range(rounds)]


def _row(answer: Answer, kind: SearchKind, number: int) -> dict[str, Any]:
    return {
        "round": number,
        "keyword": answer.keyword,
        "kind": kind,
        "start_us": answer.started_us,
        "duration_us": answer.duration_us,
        "pages": answer.pages,
        "posts": len(answer.ids),
    }


LOADED_PER_S = 5_000.0  # posts, with building the search index and reading back: a first guess
ROUND_S = 5.0  # of one keyword


class SearchExperiment(Experiment[SearchResult]):
    """Posts in an otherwise idle store; one client searches for each keyword in rounds."""

    kind = "search"
    params = SearchParams
    result = SearchResult
    options = (("DOCS", "documents"), ("ROUNDS", "rounds"))
    by_host = True
    metrics = sections.METRICS

    measure = staticmethod(measure)
    derive = staticmethod(derive_searches)
    report = staticmethod(sections.report)

    def load_seconds(self, params: SearchParams) -> float:
        """Of one cell, with its warm-up."""
        rounds_s = params.rounds * len(params.keywords) * ROUND_S
        return params.documents / LOADED_PER_S + WARM_UP_S + rounds_s

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files."""
        facts = base.from_data(SearchFacts, load_facts(folder), str(folder / FACTS_FILE))
        return reduce_searches(folder / SEARCHES_FILE, dataclasses.replace(facts, host=host))

    def line(self, result: SearchResult) -> str:
        """`4 keywords, 4 explained  first page 12.1 ms  every match 96.0 ms`: medians of the keywords' means."""
        explained = sum(one.explained for one in result.hits)
        words = [f"{len(result.hits)} keywords, {explained} explained"]
        for metric in self.metrics:
            ms = metric.get(result)
            words.append(f"{metric.title} {'-' if ms is None else f'{ms:.1f} ms'}")
        return "  ".join(words)
