"""Measures one cell of kind `search`: bulk load, restart of the stores, rounds of keywords by one client."""

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from writepath.analysis.evidence import save_facts
from writepath.analysis.searches import RAW_SCHEMA, SEARCHES_FILE
from writepath.experiments.base import CellRun, Session
from writepath.load.corpus import Corpus
from writepath.load.parquet import save_table
from writepath.measure import host, searchable
from writepath.measure.searchable import Answer, Client
from writepath.records import base
from writepath.records.search import Hits, SearchFacts, SearchKind, SearchMode

SECOND = 2
WARM_UP_S = 20.0  # by one client: a store that is a Java program is as slow to start as an application


def measure(run: CellRun, session: Session) -> None:
    """From an empty store to the last round. The facts are saved before the rounds and after them."""
    params, progress = run.params, run.bench.progress
    corpus = Corpus.of(run.dataset, params.documents, params.keywords, run.seed)
    stack, truth = session.stack(run), session.truth(run)
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
