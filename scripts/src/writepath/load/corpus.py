"""What every store of a suite run holds, what it is asked, and what it must find: computed once for all cells."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from writepath.load import keywords as words
from writepath.load.documents import Documents
from writepath.load.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from writepath.load.dataset import Dataset
    from writepath.load.keywords import Keyword

WRITTEN_LINES = 1000  # as many as every other suite's writes cycle through


@dataclass(frozen=True, kw_only=True, eq=False)
class Corpus:
    """Posts, what is searched for in them, and what must be found."""

    documents: Documents
    asked: tuple[str, ...]  # keywords of the rounds, by one client
    keywords: tuple[Keyword, ...]  # of the load
    drawn: tuple[str, ...]  # which of them request 0, 1, 2, ... asks for
    oracle: Oracle  # of both
    written: Dataset  # what is written during searches: lines that a search for one of the keywords must find

    @staticmethod
    @lru_cache(maxsize=1)
    def of(dataset: Dataset, count: int, asked: tuple[str, ...], seed: int) -> Corpus:
        """A function of its arguments; takes seconds for 50,000 posts."""
        documents = Documents.of(dataset, count, seed)
        keywords = words.chosen(documents, seed)
        oracle = Oracle.of(documents, (*asked, *(keyword.text for keyword in keywords)))
        return Corpus(
            documents=documents,
            asked=asked,
            keywords=keywords,
            drawn=words.drawn(keywords, seed),
            oracle=oracle,
            written=_written(dataset, oracle, keywords),
        )


def write_questions(drawn: Sequence[str], totals: Mapping[str, int], path: Path) -> None:
    """The file that k6 reads (k6/lib/searches.js): by request, the keyword and how many posts hold it."""
    questions = [{"keyword": quote(keyword, safe=""), "total": totals[keyword]} for keyword in drawn]
    path.write_text(json.dumps(questions), encoding="utf-8")


def _written(dataset: Dataset, oracle: Oracle, keywords: Sequence[Keyword]) -> Dataset:
    """Each line is found by some keyword in either mode, so that every write can be looked for."""
    found = [oracle.lines[keyword.text].both for keyword in keywords]
    return dataset.only(np.unique(np.concatenate(found))[:WRITTEN_LINES].tolist())
