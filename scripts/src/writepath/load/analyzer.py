"""Cuts texts into the words that Elasticsearch's standard analyzer makes of them, to say why a search finds a post.

Both follow Unicode's word segmentation (UAX #29). Left out: scripts without spaces but Chinese and Japanese, and emoji.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

LONGEST = 255  # characters; a longer word is cut into words of so many
BOUNDARY = regex.compile(r"(?w)\b", regex.V1)
SAYS = regex.compile(  # what makes a part between two boundaries a word
    r"[\p{L}\p{Nd}\p{Nl}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u24B6-\u24E9]"
)


def words(text: str) -> list[str]:
    """In their order, in lower case."""
    return [
        "".join(map(_lower, part[begin : begin + LONGEST]))
        for part in BOUNDARY.split(text)
        if SAYS.search(part)
        for begin in range(0, len(part), LONGEST)
    ]


def lines_with(lines: Sequence[str], keywords: Iterable[str]) -> dict[str, NDArray[np.int64]]:
    """By keyword, numbers of the lines in which its words stand one after the other; none for one without a word."""
    found: dict[str, list[int]] = {keyword: [] for keyword in keywords}
    by_first: dict[str, list[tuple[str, list[str]]]] = {}
    for keyword in found:
        phrase = words(keyword)
        if phrase:
            by_first.setdefault(phrase[0], []).append((keyword, phrase))
    for number, line in enumerate(lines):
        said = words(line)
        for at, word in enumerate(said):
            for keyword, phrase in by_first.get(word, ()):
                numbers = found[keyword]
                if said[at : at + len(phrase)] == phrase and numbers[-1:] != [number]:
                    numbers.append(number)
    return {keyword: np.array(numbers, dtype=np.int64) for keyword, numbers in found.items()}


def _lower(character: str) -> str:
    """Of one character one: Java has no longer ones here."""
    return character.lower()[0]
