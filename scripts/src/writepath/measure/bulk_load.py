"""Loads the posts that are searched into an empty store, past the write path, and reads every row back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from writepath.errors import AuditError
from writepath.measure.stored import PREFIX_LENGTH, Rows, content_hashes
from writepath.records.search import Loading

if TYPE_CHECKING:
    from writepath.load.documents import Documents
    from writepath.measure.inspector import Inspector
    from writepath.progress import Progress

NAMED = 3  # ids in an error


def load(documents: Documents, store: Inspector, progress: Progress) -> Loading:
    """Into an empty store. AuditError where it holds anything else than these posts afterwards."""
    progress.phase("load posts")
    store.begin_load()
    seconds = _send(documents, store, progress)
    progress.phase("build the search index")
    built = store.finish_load()
    progress.phase("read back")
    digest = read_back(documents, store)
    sizes = store.sizes()
    if sizes.documents != documents.count:
        raise AuditError(
            f"{store.service}: /inspector/sizes counts {sizes.documents:,} documents of {documents.count:,} stored"
        )
    return Loading(
        documents=documents.count,
        seconds=round(seconds, 3),
        build_seconds=None if built.build_seconds is None else round(built.build_seconds, 3),
        settle_seconds=round(built.settle_seconds, 3),
        store_bytes=sizes.store_bytes,
        search_index_bytes=sizes.search_index_bytes,
        parts_bytes=dict(sizes.parts_bytes),
        digest=digest,
    )


def _send(documents: Documents, store: Inspector, progress: Progress) -> float:
    """All posts, one request after the other; what the requests took, in seconds."""
    seconds, done = 0.0, 0
    for posts, lines in documents.chunks():
        began = time.monotonic()
        taken = store.load(lines)
        seconds += time.monotonic() - began
        if taken != posts:
            raise AuditError(f"{store.service}: /inspector/load accepted {taken} of {posts} posts")
        done += posts
        progress.piece(done, documents.count, "posts", seconds)
    return seconds


def read_back(documents: Documents, store: Inspector) -> str:
    """The digest of what is stored. AuditError names what is missing, foreign, twice there or of other content."""
    rows = Rows(documents.post_id(0)[:PREFIX_LENGTH], hashed=True)
    store.read_posts(rows)
    sequences = rows.seq
    order = np.argsort(sequences, kind="stable")
    sequences, hashes = sequences[order], rows.hashes[order]
    wanted = np.arange(documents.count)
    again = sequences[1:][sequences[1:] == sequences[:-1]]
    flaws = {
        "missing": np.setdiff1d(wanted, sequences),
        "stored twice": np.unique(again),
        "unknown": np.setdiff1d(sequences, wanted),
    }
    found = [_flaw(name, [documents.post_id(n) for n in which.tolist()]) for name, which in flaws.items()]
    found.append(_flaw("foreign", rows.foreign_ids))
    if not any(found):
        lines = content_hashes(documents.lines)
        changed = np.flatnonzero(hashes != lines[wanted % len(lines)])
        found.append(_flaw("with different content", [documents.post_id(n) for n in changed.tolist()]))
    if said := [words for words in found if words]:
        raise AuditError(
            f"{store.service}: the store differs from the {documents.count:,} posts that were loaded:"
            f" {'; '.join(said)}. Its searches would find different posts."
        )
    return documents.digest(hashes)


def _flaw(name: str, ids: list[str]) -> str:
    more = ", ..." if len(ids) > NAMED else ""
    return f"{len(ids):,} {name} ({', '.join(ids[:NAMED])}{more})" if ids else ""
