"""Compares what a search for a keyword returned with what it must return."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from writepath.records.search import Hits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.load.oracle import Oracle
    from writepath.records.search import SearchMode


def hits(
    keyword: str,
    mode: SearchMode,
    oracle: Oracle,
    *,
    total: int,
    ids: Sequence[str],
    contents: Sequence[str],
) -> Hits:
    """total, ids, contents: of every match, in the order given."""
    documents = oracle.documents
    expected = oracle.sequences(keyword, "substring")
    ruled = oracle.sequences(keyword, mode)
    found = [documents.sequence_of(post_id) for post_id in ids]
    right = [
        sequence
        for sequence, content in zip(found, contents, strict=True)
        if sequence is not None and documents.content(sequence) == content
    ]
    known = np.array(right, dtype=np.int64)
    as_ruled = len(right) == len(found) and np.array_equal(known, ruled[::-1])  # the youngest first
    return Hits(
        keyword=keyword,
        mode=mode,
        expected=len(expected),
        found=total,
        missed=len(np.setdiff1d(expected, known)),
        surplus=len(found) - len(np.intersect1d(expected, known)),
        as_word=oracle.as_word(keyword),
        explained=as_ruled and total == len(ruled),
    )
