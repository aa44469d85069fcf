"""Fills a store with the posts that are searched, and proves that its searches find what they must."""

from __future__ import annotations

import itertools
import statistics
import time
from typing import TYPE_CHECKING

from writepath.analysis.hits import hits
from writepath.errors import AuditError, StartError
from writepath.measure import bulk_load, crash
from writepath.measure.keyword_client import FIRST_PAGE
from writepath.records.search import BY_WORDS, DataSetFacts

if TYPE_CHECKING:
    from writepath.config.registry import Variant
    from writepath.load.corpus import Corpus
    from writepath.measure.keyword_client import Answer, Client
    from writepath.measure.truth import Truth
    from writepath.progress import Progress
    from writepath.records.search import Hits, SearchMode
    from writepath.runtime.base import Stack

SEARCH_INDEX = ("search_index", "store.search_index")  # of a service that stores; behind a queue


def filled(corpus: Corpus, truth: Truth, progress: Progress) -> DataSetFacts:
    """Of an empty store that now has the posts. StartError, AuditError where it is not as it must be."""
    index = _search_index(truth)
    return DataSetFacts(
        mode="native" if index == BY_WORDS else "substring",
        search_index=index,
        loading=bulk_load.load(corpus.documents, truth.store, progress),
    )


def _search_index(truth: Truth) -> str:
    """As the store that is searched reports it."""
    settings = truth.store.durability().settings
    found = next((settings[name] for name in SEARCH_INDEX if name in settings), None)
    if found is None:
        raise StartError(
            f"{truth.store.service}: /inspector/durability does not name the search index,"
            " so the expected results are unknown"
        )
    return found


def totals(
    corpus: Corpus, mode: SearchMode, client: Client, progress: Progress
) -> tuple[dict[str, int], tuple[Hits, ...]]:
    """What a search for each of the load's keywords counts, on a store at rest; it warms the application, too.

    And hits of those that no rule of ours explains. AuditError where a substring search counts others than the oracle.
    """
    found: dict[str, int] = {}
    unexplained: list[Hits] = []
    began = time.monotonic()
    for number, keyword in enumerate(corpus.keywords, 1):
        total = client.first_page(keyword.text, 1).total
        ruled = corpus.oracle.total(keyword.text, mode)
        if total != ruled and mode == "substring":
            raise AuditError(
                f"a search for '{keyword.text}' counts {total:,} posts, but {ruled:,} contain it;"
                " its response time would be that of a different search"
            )
        if total != ruled:
            unexplained.append(hits_of(client.every_match(keyword.text), mode, corpus))
        found[keyword.text] = total
        progress.piece(number, len(corpus.keywords), "keywords", time.monotonic() - began)
    return found, tuple(unexplained)


def warm_up(corpus: Corpus, client: Client, seconds: float) -> float:
    """First pages and large ones of the keywords under load. Mean milliseconds of a first page."""
    ends, took_us = time.monotonic() + seconds, []
    for keyword in itertools.cycle(corpus.drawn):
        took_us.append(client.first_page(keyword).duration_us)
        client.page(keyword, None)
        if time.monotonic() >= ends:
            break
    return statistics.fmean(took_us) / 1000


def hits_of(whole: Answer, mode: SearchMode, corpus: Corpus) -> Hits:
    """What every match of a keyword was, compared with what it must be."""
    return hits(whole.keyword, mode, corpus.oracle, total=whole.total, ids=whole.ids, contents=whole.contents)


def require_same(page: Answer, whole: Answer) -> None:
    """AuditError where a first page is not the beginning of all matches."""
    if page.total != whole.total or page.ids != whole.ids[:FIRST_PAGE]:
        raise AuditError(
            f"a search for '{page.keyword}': the first page or its total differs from that of all matches"
        )


def restart(stack: Stack, truth: Truth, variant: Variant, known_id: str, client: Client) -> None:
    """Ends every store in order and starts it again: its own caches are empty, the kernel's page cache is not.

    Returns when the path is as before: it answers for a post by its id, which searches nothing, and with every copy in
    place. AuditError where that takes more than 90 s.
    """

    def guarantees() -> bool:
        try:
            return truth.durability().level <= variant.level
        except AuditError:
            return False

    crash.restart(stack, lambda: client.holds(known_id) and guarantees())
