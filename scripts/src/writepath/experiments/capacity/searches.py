"""Capacity runs of searches: first pages of keywords over loaded posts; then half of the capacity during writes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from writepath.experiments.capacity import during_writes
from writepath.load.corpus import Corpus, write_questions
from writepath.load.ledger import SEARCH
from writepath.measure import loading, searchable
from writepath.measure.keyword_client import Client
from writepath.records.search_load import SearchLoadFacts

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.experiments.base import CellRun
    from writepath.experiments.capacity.path import WarmPath
    from writepath.load import k6
    from writepath.measure.truth import Truth
    from writepath.records.steps import StepFacts
    from writepath.runtime.base import Stack

BEGINS = 0.25  # of what one client reached, one search after the other: a path that is idle most of the time
QUESTIONS_FILE = "questions.json"
WARM_UP_S = 20.0  # by one client: a store that is a Java program is as slow to start as an application


class Searches:
    """GETs of a keyword's first page, each compared with the total that it must have."""

    request = SEARCH

    def __init__(self) -> None:
        """What `prepare` fills."""
        self._corpus: Corpus
        self._questions: Path
        self._facts: SearchLoadFacts

    def prepare(self, run: CellRun, stack: Stack, truth: Truth) -> float:
        """Proved to write, filled with posts, each keyword's total known, and warm."""
        bench, variant, progress = run.bench, run.cell.variant, run.bench.progress
        self._corpus = Corpus.of(run.dataset, run.params.documents, (), run.seed)
        with run.step("verify"):
            run.durability, run.versions = loading.verified(
                bench.runtime, variant, stack, truth, run.dataset, run.folder
            )
            loading.require_declared(run.durability, variant)
            truth.empty()
        with run.step("load posts"):
            data_set = searchable.filled(self._corpus, truth, progress)
        with Client(stack.base_url) as client:
            with run.step("totals"):
                totals, hits = searchable.totals(self._corpus, data_set.mode, client, progress)
            with run.step("warm-up"):
                one_client_ms = searchable.warm_up(self._corpus, client, WARM_UP_S)
        self._questions = run.folder / QUESTIONS_FILE
        write_questions(self._corpus.drawn, totals, self._questions)
        self._facts = SearchLoadFacts(data_set=data_set, hits=hits)
        progress.say(f"  one client waited {one_client_ms:.1f} ms for a first page on average")
        return BEGINS * 1000 / one_client_ms

    def load(self, load: k6.Load) -> k6.Load:
        """With keywords in the place of posts."""
        return dataclasses.replace(load, content=self._questions, variables={"BENCH_TOTAL": "exactly"})

    def before_load(self, path: WarmPath) -> None:
        """The posts stay."""
        if path.facts.searches is None:
            path.know(searches=self._facts)

    def after_step(self, path: WarmPath, step: StepFacts) -> StepFacts:  # noqa: ARG002 - answers say all
        """Searches leave nothing to look at."""
        return step

    def beyond(self, path: WarmPath, capacity_per_s: float) -> None:
        """Half of the capacity, alone and during writes. Adds posts to the store."""
        with Client(path.stack.base_url) as client:
            measured = during_writes.measure(path, self._corpus, client, capacity_per_s)
        path.know(searches=dataclasses.replace(self._facts, during_writes=measured))
