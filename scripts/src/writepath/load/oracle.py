"""The posts that a search must find: brute force over the data set, which no index has a part in."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from writepath.load import analyzer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from writepath.load.documents import Documents
    from writepath.records.search import SearchMode

BETWEEN = b"\0"  # in no line and no keyword: PostgreSQL cannot store it


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """Numbers of the dataset's lines that belong to a keyword, ascending."""

    holding: NDArray[np.int64]  # the keyword as it is, code point by code point, anywhere in the line
    worded: NDArray[np.int64]  # its words, by the standard analyzer's rule

    def of(self, mode: SearchMode) -> NDArray[np.int64]:
        """Those that a search of this mode must find."""
        return self.holding if mode == "substring" else self.worded

    @property
    def both(self) -> NDArray[np.int64]:
        """Those that hold the keyword between word boundaries."""
        return np.intersect1d(self.holding, self.worded, assume_unique=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Oracle:
    """What every keyword that is asked must find."""

    documents: Documents
    lines: dict[str, Lines]

    @staticmethod
    def of(documents: Documents, keywords: Iterable[str]) -> Oracle:
        """About 20 ms a keyword for 250,000 lines, and some seconds for the words of all."""
        wanted = tuple(dict.fromkeys(keywords))
        return Oracle(documents=documents, lines=lines_of(documents.lines[: documents.count], wanted))

    def total(self, keyword: str, mode: SearchMode) -> int:
        """How many posts a search finds."""
        return self.documents.total(self.lines[keyword].of(mode))

    def sequences(self, keyword: str, mode: SearchMode) -> NDArray[np.int64]:
        """Which posts, ascending: from the oldest to the youngest."""
        return self.documents.of_lines(self.lines[keyword].of(mode))

    def as_word(self, keyword: str) -> int:
        """Posts that hold the keyword between word boundaries."""
        return self.documents.total(self.lines[keyword].both)


def lines_of(lines: Sequence[str], keywords: Sequence[str]) -> dict[str, Lines]:
    """By keyword, which of the lines belong to it."""
    text, worded = Text(lines), analyzer.lines_with(lines, keywords)
    return {keyword: Lines(holding=text.holding(keyword), worded=worded[keyword]) for keyword in keywords}


class Text:
    """All lines as one text: UTF-8 finds what code points find, as none of its characters begins within another."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Twice the bytes of all lines for a moment."""
        encoded = [line.encode() for line in lines]
        self._joined = BETWEEN.join(encoded)
        self._starts = list(accumulate((len(line) + len(BETWEEN) for line in encoded), initial=0))

    def holding(self, keyword: str) -> NDArray[np.int64]:
        """Numbers of the lines that hold the keyword, ascending."""
        needle, numbers = keyword.encode(), []
        at = self._joined.find(needle)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            numbers.append(number)
            at = self._joined.find(needle, self._starts[number + 1])
        return np.array(numbers, dtype=np.int64)
