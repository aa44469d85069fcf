"""Searches for keywords, one at a time on one connection, and takes the time of each search."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import httpx

from writepath.errors import AuditError
from writepath.measure.inspector import plain_client

if TYPE_CHECKING:
    from types import TracebackType

FIRST_PAGE, EVERY_MATCH = 20, 1000  # posts in a page
MOST_PAGES = 2_000  # twice as many posts as any suite has
TIMEOUT_S = 15.0  # as k6's
FOUND = 200
NEXT = b'"next":"'  # within a post's text the quotes would be escaped


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A keyword's posts as far as they were asked for."""

    keyword: str
    started_us: int  # epoch
    duration_us: int  # from the first request to the last byte of the last page
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
        return self._timed(keyword, size, most=1)

    def every_match(self, keyword: str) -> Answer:
        """All posts, page by page. AuditError where there is no answer."""
        return self._timed(keyword, EVERY_MATCH, most=MOST_PAGES)

    def page(self, keyword: str, after: str | None) -> tuple[list[str], str | None]:
        """Ids of a large page, and the cursor of the next one."""
        page = self._page(keyword, EVERY_MATCH, after)
        return [post["id"] for post in _parsed(keyword, page)["posts"]], _cursor(page)

    def _timed(self, keyword: str, size: int, *, most: int) -> Answer:
        """Pages until the last one, or the most that are asked for; parsed after the clock was stopped."""
        started_us, began = time.time_ns() // 1000, time.perf_counter_ns()
        pages = [self._page(keyword, size, None)]
        while len(pages) < most and (cursor := _cursor(pages[-1])) is not None:
            pages.append(self._page(keyword, size, cursor))
        duration_us = (time.perf_counter_ns() - began) // 1000
        if len(pages) == most > 1:
            raise AuditError(f"a search for '{keyword}' does not end: it returned {most:,} pages")
        parsed = [_parsed(keyword, page) for page in pages]
        total = parsed[0].get("total")
        if not isinstance(total, int):
            raise AuditError(f"a search for '{keyword}' returned no total")
        posts = [post for page in parsed for post in page["posts"]]
        return Answer(
            keyword=keyword,
            started_us=started_us,
            duration_us=duration_us,
            pages=len(pages),
            total=total,
            ids=tuple(post["id"] for post in posts),
            contents=tuple(post["content"] for post in posts),
        )

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
