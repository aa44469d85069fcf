"""What the engine asks of kind `search`, and what a suite says of it."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts
from writepath.analysis.searches import SEARCHES_FILE, derive_searches, reduce_searches
from writepath.analysis.stats import spread
from writepath.config.checked import Names
from writepath.config.registry import Suite
from writepath.experiments.base import CellRun, Experiment, Session
from writepath.experiments.search import measure as measuring
from writepath.experiments.search import sections
from writepath.records import base
from writepath.records.base import record
from writepath.records.measures import Host
from writepath.records.search import KINDS, SearchFacts, SearchResult
from writepath.report.data import SuiteData
from writepath.report.model import Report

OPTIONS = {"DOCS": "documents", "ROUNDS": "rounds"}  # of the command line: the field that it replaces


@record
class SearchParams:
    """Posts, rounds and keywords."""

    documents: Annotated[int, Field(ge=1_000, le=1_000_000)]  # posts that are loaded first
    rounds: Annotated[int, Field(ge=1, le=1_000)]  # how often one client searches for each keyword
    keywords: Names

    def over(self, options: Mapping[str, Any]) -> "SearchParams":
        """With what the user asked for."""
        changed: dict[str, Any] = {OPTIONS[name]: value for name, value in options.items()}
        return dataclasses.replace(self, **changed)


LOADED_PER_S = 5_000.0  # posts, with building the search index and reading back: a first guess
ROUND_S = 5.0  # of one keyword


class SearchExperiment(Experiment[SearchResult]):
    """Posts in an otherwise idle store; one client searches for each keyword in rounds."""

    kind = "search"
    params = SearchParams
    result = SearchResult
    options = tuple(OPTIONS)
    by_host = True
    metrics = sections.METRICS

    def params_of(self, suite: Suite, options: Mapping[str, Any]) -> SearchParams:
        """The part `search:` of the suite."""
        return suite.checked_params(SearchParams).over(options)

    def dataset_lines(self, params: SearchParams) -> int:
        """A text of its own for each post, where the data set has as many."""
        return params.documents

    def load_seconds(self, params: SearchParams) -> float:
        """Of one cell, with its warm-up."""
        rounds_s = params.rounds * len(params.keywords) * ROUND_S
        return params.documents / LOADED_PER_S + measuring.WARM_UP_S + rounds_s

    def measure(self, run: CellRun, session: Session) -> None:
        """Leaves raw files in the cell's folder."""
        measuring.measure(run, session)

    def reduce(self, folder: Path, host: Host) -> Evidence:
        """Evidence of a folder of raw files."""
        facts = base.from_data(SearchFacts, load_facts(folder), str(folder / FACTS_FILE))
        return reduce_searches(folder / SEARCHES_FILE, dataclasses.replace(facts, host=host))

    def derive(self, evidence: Evidence) -> SearchResult:
        """The result that follows from evidence."""
        return derive_searches(evidence)

    def line(self, result: SearchResult) -> str:
        """`4 keywords, 4 explained  first page 12.1 ms  every match 96.0 ms`: medians of the keywords' means."""
        explained = sum(one.explained for one in result.hits)
        words = [f"{len(result.hits)} keywords, {explained} explained"]
        for kind, name in KINDS.items():
            figure = spread(one.warm_mean_ms for one in result.times if one.kind == kind)
            words.append(f"{name} {'-' if figure is None else f'{figure.median:.1f} ms'}")
        return "  ".join(words)

    def report(self, data: SuiteData[SearchResult]) -> Report:
        """Sections of tables."""
        return sections.report(data)
