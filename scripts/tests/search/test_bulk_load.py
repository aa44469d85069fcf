"""After a bulk load all posts are in the store, or the error says in which way they are not."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rich.console import Console

from search.fake_posts import FakePosts, Lies
from writepath.errors import AuditError
from writepath.load.documents import Documents
from writepath.measure import bulk_load
from writepath.measure.inspector import Inspector
from writepath.measure.stored import content_hashes
from writepath.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENTS = Documents(lines=("하나", "two", "셋 three"), count=25, run_id="0123456789abcde")
FOREIGN = {
    "id": "00000000-0000-8000-8000-000000000000",
    "content": "x",
    "createdAt": "2026-01-01T00:00:00.000Z",
}
BEYOND = {"id": DOCUMENTS.post_id(25), "content": "two", "createdAt": "2026-01-01T00:00:00.025Z"}


@contextmanager
def store(fake: FakePosts) -> Iterator[Inspector]:
    with fake:
        inspector = Inspector("app", [fake.inspector_url])
        try:
            yield inspector
        finally:
            inspector.close()


def progress(to: io.StringIO | None = None) -> Progress:
    return Progress(console=Console(file=to or io.StringIO(), width=200))


def test_posts_are_loaded_between_begin_and_finish_and_read_back() -> None:
    fake = FakePosts()
    with store(fake) as inspector:
        found = bulk_load.load(DOCUMENTS, inspector, progress())
    lines = content_hashes(DOCUMENTS.lines)
    hashes = lines[np.arange(25) % len(lines)]
    assert fake.heard == ["load/begin", "load", "load/finish", "posts", "sizes"]
    assert len(fake.posts) == found.documents == 25
    assert (found.build_seconds, found.settle_seconds) == (0.25, 0.5)
    assert (found.store_bytes, found.search_index_bytes, found.parts_bytes) == (4096, None, {"table": 4096})
    assert found.digest == DOCUMENTS.digest(hashes)
    assert found.seconds >= 0


def test_what_has_been_loaded_and_how_long_the_rest_takes_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writepath.progress.PLAIN_INTERVAL_S", 0.0)
    said = io.StringIO()
    with store(FakePosts()) as inspector:
        bulk_load.load(DOCUMENTS, inspector, progress(said))
    assert "load posts  25 of 25 posts" in said.getvalue()


@pytest.mark.parametrize(
    ("lies", "words"),
    [
        (Lies(lose=frozenset({3})), f"1 missing ({DOCUMENTS.post_id(3)})"),
        (Lies(lose=frozenset(range(5))), "5 missing"),
        (Lies(twice=frozenset({7})), f"1 stored twice ({DOCUMENTS.post_id(7)})"),
        (Lies(spoil=frozenset({2})), f"1 with different content ({DOCUMENTS.post_id(2)})"),
        (Lies(invent=(FOREIGN,)), f"1 foreign ({FOREIGN['id']})"),
        (Lies(invent=(BEYOND,)), f"1 unknown ({BEYOND['id']})"),
        (Lies(lose=frozenset({1}), twice=frozenset({2})), "1 missing"),
        (Lies(uncounted=1), "/inspector/load accepted 24 of 25 posts"),
        (Lies(sizes_off=-1), "/inspector/sizes counts 24 documents of 25 stored"),
    ],
)
def test_a_store_that_does_not_hold_what_was_loaded_is_not_searched(lies: Lies, words: str) -> None:
    with store(FakePosts(lies=lies)) as inspector, pytest.raises(AuditError) as refused:
        bulk_load.load(DOCUMENTS, inspector, progress())
    assert words in str(refused.value)
