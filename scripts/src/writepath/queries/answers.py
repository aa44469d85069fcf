"""What does a search answer, how long does it take, and is it right? One client, one search at a time."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import httpx
import numpy as np

from writepath.errors import AuditError
from writepath.measure.inspector import plain_client
from writepath.records.queries import Hits

if TYPE_CHECKING:
    from types import TracebackType

    from writepath.queries.oracle import Oracle
    from writepath.records.queries import SearchMode

FIRST_PAGE, EVERY_MATCH = 20, 1000  # posts in a page
MOST_PAGES = 2_000  # twice as many posts as any suite has
TIMEOUT_S = 15.0  # as k6's
FOUND = 200
NEXT = b'"next":"'  # within a post's text the quotes would be escaped


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A keyword's posts as far as they were asked for."""

    keyword: str
    latency_ms: float  # from the first request to the last byte of the last page
    pages: int
    total: int
    ids: tuple[str, ...]  # in the order given
    contents: tuple[str, ...]


class Client:
    """One connection that stays open. A context manager."""

    def __init__(self, base_url: str) -> None:
        """Opens no connection yet."""
        self._client = plain_client(TIMEOUT_S, base_url)

    def __enter__(self) -> Self:
        """Nothing to open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the connection."""
        self._client.close()

    def holds(self, post_id: str) -> bool:
        """Whether the path answers for a post by its id; False for any failure."""
        try:
            return self._client.get(f"/api/posts/{post_id}").status_code == FOUND
        except httpx.HTTPError:
            return False

    def first_page(self, keyword: str, size: int = FIRST_PAGE) -> Answer:
        """The youngest posts, and how many there are. AuditError where there is no answer."""
        began = time.perf_counter()
        page = self._page(keyword, size, None)
        return _answer(keyword, began, [page])

    def every_match(self, keyword: str) -> Answer:
        """All posts, page by page. AuditError where there is no answer."""
        began = time.perf_counter()
        pages = [self._page(keyword, EVERY_MATCH, None)]
        while (cursor := _cursor(pages[-1])) is not None:
            if len(pages) == MOST_PAGES:
                raise AuditError(f"a search for '{keyword}' does not end: it returned {MOST_PAGES:,} pages")
            pages.append(self._page(keyword, EVERY_MATCH, cursor))
        return _answer(keyword, began, pages)

    def page(self, keyword: str, after: str | None) -> tuple[list[str], str | None]:
        """Ids of a large page, and the cursor of the next one."""
        page = self._page(keyword, EVERY_MATCH, after)
        return [post["id"] for post in _parsed(keyword, page)["posts"]], _cursor(page)

    def _page(self, keyword: str, size: int, after: str | None) -> bytes:
        cursor = "" if after is None else f"&after={quote(after, safe='')}"
        try:
            answer = self._client.get(f"/api/posts?keyword={quote(keyword, safe='')}&size={size}{cursor}")
        except httpx.HTTPError as error:
            raise AuditError(
                f"a search for '{keyword}' got no answer ({str(error) or type(error).__name__})"
            ) from error
        if answer.status_code != FOUND:
            said = " ".join(answer.text.split())[:200]
            raise AuditError(f"a search for '{keyword}' was answered {answer.status_code}: {said}")
        return answer.content


def _answer(keyword: str, began: float, pages: list[bytes]) -> Answer:
    """Parsed after the clock was stopped."""
    latency_ms = (time.perf_counter() - began) * 1000
    parsed = [_parsed(keyword, page) for page in pages]
    posts = [post for page in parsed for post in page["posts"]]
    total = parsed[0].get("total")
    if not isinstance(total, int):
        raise AuditError(f"a search for '{keyword}' returned no total")
    return Answer(
        keyword=keyword,
        latency_ms=round(latency_ms, 3),
        pages=len(pages),
        total=total,
        ids=tuple(post["id"] for post in posts),
        contents=tuple(post["content"] for post in posts),
    )


def _parsed(keyword: str, page: bytes) -> dict[str, Any]:
    """AuditError where the page is none, or goes on otherwise than the clock's quick look found."""
    try:
        parsed: Any = json.loads(page)
        sound = all({"id", "content"} <= set(post) for post in parsed["posts"])
    except (ValueError, KeyError, TypeError) as error:
        raise AuditError(
            f"a search for '{keyword}' returned something that is not a page of posts"
        ) from error
    if not sound or parsed.get("next") != _cursor(page):
        raise AuditError(f"a search for '{keyword}' returned a page in an unknown format")
    return dict(parsed)


def _cursor(page: bytes) -> str | None:
    """Of the next page; found without parsing, which would be on the clock."""
    at = page.rfind(NEXT)
    if at < 0:
        return None
    begin = at + len(NEXT)
    return page[begin:].partition(b'"')[0].decode()


def hits(answer: Answer, mode: SearchMode, oracle: Oracle) -> Hits:
    """What every match of a keyword was, beside what it must be."""
    documents, keyword = oracle.documents, answer.keyword
    expected = oracle.sequences(keyword, "substring")
    ruled = oracle.sequences(keyword, mode)
    found = [documents.sequence_of(post_id) for post_id in answer.ids]
    right = [
        sequence
        for sequence, content in zip(found, answer.contents, strict=True)
        if sequence is not None and documents.content(sequence) == content
    ]
    known = np.array(right, dtype=np.int64)
    as_ruled = len(right) == len(found) and np.array_equal(known, ruled[::-1])  # the youngest first
    return Hits(
        keyword=keyword,
        mode=mode,
        expected=len(expected),
        found=answer.total,
        missed=len(np.setdiff1d(expected, known)),
        surplus=len(found) - len(np.intersect1d(expected, known)),
        as_word=oracle.as_word(keyword),
        explained=as_ruled and answer.total == len(ruled),
    )


def begins(page: Answer, whole: Answer) -> bool:
    """Whether a first page is the beginning of all matches."""
    return page.total == whole.total and page.ids == whole.ids[:FIRST_PAGE]
