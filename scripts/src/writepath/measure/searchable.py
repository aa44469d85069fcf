"""Bulk loads a store, searches it, and proves that every keyword finds what it must."""

import itertools
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import httpx
import numpy as np
from pydantic import TypeAdapter

from writepath.config.registry import Variant
from writepath.errors import AuditError, StartError
from writepath.load.corpus import Corpus, Documents
from writepath.measure.inspector import Inspector, plain_client, short
from writepath.measure.read_back import restart_stores
from writepath.measure.rows import content_hashes
from writepath.measure.truth import Truth
from writepath.progress import Progress
from writepath.records.search import BY_WORDS, DataSetFacts, Hits, Loading, SearchMode
from writepath.runtime.base import Stack

NAMED = 3  # ids in an error
LOAD_TIMEOUT_S = 120.0  # of a chunk of a bulk load
BUILD_TIMEOUT_S = 1800.0  # of a search index over a million posts
SIZES_TIMEOUT_S = 60.0
LINES_OF_JSON = {"Content-Type": "application/x-ndjson"}


def load(documents: Documents, store: Inspector, progress: Progress) -> Loading:
    """Into an empty store. AuditError where it holds anything else than these posts afterwards."""
    progress.phase("load posts")
    store.request("load/begin", method="POST", timeout_s=BUILD_TIMEOUT_S)
    seconds = _send(documents, store, progress)
    progress.phase("build the search index")
    built = store.ask(dict[str, Any], "load/finish", method="POST", timeout_s=BUILD_TIMEOUT_S)
    progress.phase("read back")
    digest = read_back(documents, store)
    sizes = store.ask(dict[str, Any], "sizes", timeout_s=SIZES_TIMEOUT_S)
    if sizes["documents"] != documents.count:
        raise AuditError(
            f"{store.service}: /inspector/sizes counts {sizes['documents']:,} documents of {documents.count:,} stored"
        )
    return Loading(
        documents=documents.count,
        seconds=round(seconds, 3),
        build_seconds=None if built["build_seconds"] is None else round(built["build_seconds"], 3),
        settle_seconds=round(built["settle_seconds"], 3),
        store_bytes=sizes["store_bytes"],
        search_index_bytes=sizes["search_index_bytes"],
        parts_bytes=sizes["parts"],
        digest=digest,
    )


def _send(documents: Documents, store: Inspector, progress: Progress) -> float:
    """All posts past the write path, one request after the other; what the requests took, in seconds."""
    seconds, done = 0.0, 0
    for posts, lines in documents.chunks():
        began = time.monotonic()
        request: dict[str, Any] = {"method": "POST", "content": lines, "headers": LINES_OF_JSON}
        taken = store.ask(int, "load", field="posts", timeout_s=LOAD_TIMEOUT_S, **request)
        seconds += time.monotonic() - began
        if taken != posts:
            raise AuditError(f"{store.service}: /inspector/load accepted {taken} of {posts} posts")
        done += posts
        progress.piece(done, documents.count, "posts", seconds)
    return seconds


def read_back(documents: Documents, store: Inspector) -> str:
    """The digest of what is stored. AuditError names what is missing, foreign, twice there or of other content."""
    rows, wanted = store.posts(documents.run_id), np.arange(documents.count)
    stored = rows.own.sort_by("sequence")
    sequences, hashes = (stored.column(name).to_numpy() for name in ("sequence", "content_hash"))
    flaws = {
        "missing": np.setdiff1d(wanted, sequences),
        "stored twice": np.unique(sequences[1:][sequences[1:] == sequences[:-1]]),
        "unknown": np.setdiff1d(sequences, wanted),
    }
    if np.array_equal(sequences, wanted):
        lines = content_hashes(documents.lines)
        flaws["with different content"] = np.flatnonzero(hashes != lines[wanted % len(lines)])
    named = {name: [documents.post_id(n) for n in which.tolist()] for name, which in flaws.items()}
    said = [
        f"{len(ids):,} {name} ({', '.join(ids[:NAMED])}{', ...' if len(ids) > NAMED else ''})"
        for name, ids in (*named.items(), ("foreign", rows.foreign_ids))
        if ids
    ]
    if said:
        raise AuditError(
            f"{store.service}: the store differs from the {documents.count:,} posts that were loaded:"
            f" {'; '.join(said)}. Its searches would find different posts."
        )
    return documents.digest(hashes)


FIRST_PAGE, EVERY_MATCH = 20, 1000  # posts in a page
MOST_PAGES = 2_000  # twice as many posts as any suite has
TIMEOUT_S = 15.0  # as k6's
FOUND = 200


@dataclass(frozen=True, kw_only=True)
class Post:
    """A post of a page."""

    id: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a search is answered with."""

    posts: list[Post]
    total: int | None = None  # of a first page
    next: str | None = None  # where the next one begins; None: there is none


PAGE = TypeAdapter(Page)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A keyword's posts as far as they were asked for."""

    keyword: str
    started_us: int  # epoch
    duration_us: int  # of all requests, each to its last byte
    pages: int
    total: int
    ids: tuple[str, ...]  # in the order given
    contents: tuple[str, ...]


class Client:
    """One connection that stays open. A context manager."""

    def __init__(self, base_url: str) -> None:
        self._client = plain_client(TIMEOUT_S, base_url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def holds(self, post_id: str) -> bool:
        """Whether the path answers for a post by its id; False for any failure."""
        try:
            return self._client.get(f"/api/posts/{post_id}").status_code == FOUND
        except httpx.HTTPError:
            return False

    def first_page(self, keyword: str, size: int = FIRST_PAGE) -> Answer:
        """The youngest posts, and how many there are. AuditError where there is no answer."""
        return _answer(keyword, itertools.islice(self._pages(keyword, size), 1))

    def every_match(self, keyword: str) -> Answer:
        """All posts, page by page. AuditError where there is no answer."""
        return _answer(keyword, self._pages(keyword, EVERY_MATCH))

    def ids(self, keyword: str) -> Iterator[list[str]]:
        """Of all posts, page by page, from the youngest on."""
        for page, _ in self._pages(keyword, EVERY_MATCH):
            yield [post.id for post in page.posts]

    def _pages(self, keyword: str, size: int) -> Iterator[tuple[Page, int]]:
        """With the microseconds of each, to its last byte: it is parsed after the clock was stopped."""
        question: dict[str, str | int] = {"keyword": keyword, "size": size}
        for _ in range(MOST_PAGES):
            began_ns = time.perf_counter_ns()
            content = self._content(keyword, question)
            took_us = (time.perf_counter_ns() - began_ns) // 1000
            try:
                page = PAGE.validate_json(content)
            except ValueError as error:
                raise AuditError(
                    f"a search for '{keyword}' returned something that is not a page of posts"
                ) from error
            yield page, took_us
            if page.next is None:
                return
            question["after"] = page.next
        raise AuditError(f"a search for '{keyword}' does not end: it returned {MOST_PAGES:,} pages")

    def _content(self, keyword: str, question: dict[str, str | int]) -> bytes:
        try:
            answer = self._client.get("/api/posts", params=question)
        except httpx.HTTPError as error:
            raise AuditError(
                f"a search for '{keyword}' got no answer ({str(error) or type(error).__name__})"
            ) from error
        if answer.status_code != FOUND:
            raise AuditError(f"a search for '{keyword}' was answered {answer.status_code}: {short(answer)}")
        return answer.content


def _answer(keyword: str, found: Iterator[tuple[Page, int]]) -> Answer:
    started_us = time.time_ns() // 1000
    pages, took_us = zip(*found, strict=True)
    if pages[0].total is None:
        raise AuditError(f"a search for '{keyword}' returned no total")
    posts = [post for page in pages for post in page.posts]
    return Answer(
        keyword=keyword,
        started_us=started_us,
        duration_us=sum(took_us),
        pages=len(pages),
        total=pages[0].total,
        ids=tuple(post.id for post in posts),
        contents=tuple(post.content for post in posts),
    )


SEARCH_INDEX = ("search_index", "store.search_index")  # of a service that stores; behind a queue


def filled(corpus: Corpus, truth: Truth, progress: Progress) -> DataSetFacts:
    """Of an empty store that now has the posts. StartError, AuditError where it is not as it must be."""
    settings = truth.store.durability().settings
    index = next((settings[name] for name in SEARCH_INDEX if name in settings), None)
    if index is None:
        raise StartError(
            f"{truth.store.service}: /inspector/durability does not name the search index,"
            " so the expected results are unknown"
        )
    return DataSetFacts(
        mode="native" if index == BY_WORDS else "substring",
        search_index=index,
        loading=load(corpus.documents, truth.store, progress),
    )


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
        total = client.first_page(keyword, 1).total
        ruled = corpus.total(keyword, mode)
        if total != ruled and mode == "substring":
            raise AuditError(
                f"a search for '{keyword}' counts {total:,} posts, but {ruled:,} contain it;"
                " its response time would be that of a different search"
            )
        if total != ruled:
            unexplained.append(hits_of(client.every_match(keyword), mode, corpus))
        found[keyword] = total
        progress.piece(number, len(corpus.keywords), "keywords", time.monotonic() - began)
    return found, tuple(unexplained)


def warm_up(corpus: Corpus, client: Client, seconds: float) -> float:
    """First pages and large ones of the keywords under load. Mean milliseconds of a first page."""
    ends, took_us = time.monotonic() + seconds, []
    for keyword in itertools.cycle(corpus.drawn):
        took_us.append(client.first_page(keyword).duration_us)
        next(client.ids(keyword))
        if time.monotonic() >= ends:
            break
    return statistics.fmean(took_us) / 1000


def hits_of(whole: Answer, mode: SearchMode, corpus: Corpus) -> Hits:
    """What every match of a keyword was, compared with what it must be."""
    documents, lines = corpus.documents, corpus.lines[whole.keyword]
    expected, ruled = documents.of_lines(lines["substring"]), documents.of_lines(lines[mode])
    numbered = zip(map(documents.sequence_of, whole.ids), whole.contents, strict=True)
    right = [number for number, text in numbered if number is not None and documents.content(number) == text]
    as_ruled = len(right) == len(whole.ids) and right == ruled[::-1].tolist()  # the youngest first
    found = np.array(right, dtype=np.int64)
    return Hits(
        keyword=whole.keyword,
        mode=mode,
        expected=len(expected),
        found=whole.total,
        missed=len(np.setdiff1d(expected, found)),
        surplus=len(whole.ids) - len(np.intersect1d(expected, found)),
        as_word=documents.total(lines["as word"]),
        explained=as_ruled and whole.total == len(ruled),
    )


def require_same(page: Answer, whole: Answer) -> None:
    """AuditError where a first page is not the beginning of all matches."""
    if page.total != whole.total or page.ids != whole.ids[:FIRST_PAGE]:
        raise AuditError(
            f"a search for '{page.keyword}': the first page or its total differs from that of all matches"
        )


def restart(stack: Stack, truth: Truth, variant: Variant, known_id: str, client: Client) -> None:
    """Ends every store in order and starts it again: its own caches are empty, the kernel's page cache is not.

    Returns when the path is as before: it answers for a post by its id, which searches nothing, and with every copy in
    place. AuditError where that takes more than 300 s.
    """

    def guarantees() -> bool:
        try:
            return truth.durability().level <= variant.level
        except AuditError:
            return False

    restart_stores(stack, stack.terminate, lambda: client.holds(known_id) and guarantees())
