"""Which words does Elasticsearch's standard analyzer make of a text? Its twin, to say why a search finds a post.

The rules are those of Unicode's word segmentation (UAX #29) as Lucene's StandardTokenizer has them: a word is a run of
letters and digits, with what may stand between two of them; ideographs and hiragana stand alone; the rest is dropped.
Left out is what has no part in a word of letters and digits: emoji, and the quotes of Hebrew.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

LONGEST = 255  # characters; a longer word is cut into words of so many
LETTER, DIGIT, KATAKANA, ALONE, SOUTH_EAST = "A", "N", "K", "J", "S"
EXTENDS, JOINS, BETWEEN_LETTERS, BETWEEN_DIGITS, BETWEEN_EITHER, OTHER = "X", "U", "l", "n", "q", "o"
RANGES = (  # before the general category, which knows no scripts
    (ALONE, ((0x2E80, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B))),
    (ALONE, ((0x3041, 0x3096), (0x309D, 0x309F), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAD9))),
    (ALONE, ((0x1B001, 0x1B11F), (0x1F200, 0x1F200), (0x20000, 0x3FFFD))),
    (KATAKANA, ((0x3031, 0x3035), (0x309B, 0x309C), (0x30A0, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF))),
    (KATAKANA, ((0x32D0, 0x32FE), (0x3300, 0x3357), (0xFF66, 0xFF9D))),
    (EXTENDS, ((0x200C, 0x200D), (0xFF9E, 0xFF9F), (0x1F3FB, 0x1F3FF))),
    (LETTER, ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))),
    (OTHER, ((0x200B, 0x200B), (0x3006, 0x3006))),
    (BETWEEN_EITHER, ((0x27, 0x27), (0x2E, 0x2E), (0x2018, 0x2019), (0x2024, 0x2024), (0xFE52, 0xFE52))),
    (BETWEEN_EITHER, ((0xFF07, 0xFF07), (0xFF0E, 0xFF0E))),
    (BETWEEN_LETTERS, ((0x3A, 0x3A), (0xB7, 0xB7), (0x387, 0x387), (0x55F, 0x55F), (0x5F4, 0x5F4))),
    (BETWEEN_LETTERS, ((0x2027, 0x2027), (0xFE13, 0xFE13), (0xFE55, 0xFE55), (0xFF1A, 0xFF1A))),
    (BETWEEN_DIGITS, ((0x2C, 0x2C), (0x3B, 0x3B), (0x37E, 0x37E), (0x589, 0x589), (0x60C, 0x60D))),
    (BETWEEN_DIGITS, ((0x66C, 0x66C), (0x7F8, 0x7F8), (0x2044, 0x2044), (0xFE10, 0xFE10), (0xFE14, 0xFE14))),
    (BETWEEN_DIGITS, ((0xFE50, 0xFE50), (0xFE54, 0xFE54), (0xFF0C, 0xFF0C), (0xFF1B, 0xFF1B))),
)
SOUTH_EAST_BLOCKS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF))
CATEGORIES = {
    **dict.fromkeys(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl"), LETTER),
    **dict.fromkeys(("Mn", "Mc", "Me", "Cf"), EXTENDS),
    "Nd": DIGIT,
    "Pc": JOINS,
}
_LETTERS = "AX*(?:(?:(?:UX*)*|[lq]X*)AX*)*"
_DIGITS = "NX*(?:(?:(?:UX*)*|[nq]X*)NX*)*"
_KATAKANA = "KX*(?:(?:UX*)*KX*)*"
_RUN = f"(?:{_KATAKANA}|{_DIGITS}|{_LETTERS})+"
WORD = re.compile(f"(?:UX*)*{_RUN}(?:(?:UX*)+{_RUN})*(?:UX*)*|(?:SX*)+|JX*")


class _Kinds(dict[int, str]):
    """By code point, what it is to a word; found out when it is first seen."""

    def __missing__(self, code_point: int) -> str:
        kind = self[code_point] = _kind(code_point)
        return kind


def _kind(code_point: int) -> str:
    for kind, ranges in RANGES:
        if any(low <= code_point <= high for low, high in ranges):
            return kind
    kind = CATEGORIES.get(unicodedata.category(chr(code_point)), OTHER)
    if kind == LETTER and any(low <= code_point <= high for low, high in SOUTH_EAST_BLOCKS):
        return SOUTH_EAST
    return kind


_KINDS = _Kinds()


def words(text: str) -> list[str]:
    """In their order, in lower case."""
    return [
        "".join(map(_lower, text[begin : min(begin + LONGEST, word.end())]))
        for word in WORD.finditer(text.translate(_KINDS))
        for begin in range(word.start(), word.end(), LONGEST)
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
