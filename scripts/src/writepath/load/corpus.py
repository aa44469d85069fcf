"""What every store of a suite run holds, what it is asked, and what it must find: computed once for all cells.

Words are those of Elasticsearch's standard analyzer, by Unicode's word segmentation (UAX #29). Left out: scripts
without spaces but Chinese and Japanese, and emoji.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Literal
from urllib.parse import quote

import numpy as np
import regex
from numpy.typing import NDArray

from writepath.errors import UsageError
from writepath.load.dataset import Dataset
from writepath.load.plan import decode_id, encode_id
from writepath.records.search import SearchMode

FIRST_AT = datetime(2026, 1, 1, tzinfo=UTC)  # before any write of a load, so that those come first
APART = timedelta(milliseconds=1)
LINES_AT_ONCE = 5_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Documents:
    """Post n has line n modulo their number, and is n milliseconds younger than the first."""

    lines: tuple[str, ...]
    count: int
    run_id: str  # 15 hex digits, in every id

    @staticmethod
    def of(dataset: Dataset, count: int, seed: int) -> "Documents":
        """The same posts, down to their ids, for every variant, block and machine."""
        run_id = hashlib.sha256(f"writepath:documents:{seed}".encode()).hexdigest()[:15]
        return Documents(lines=dataset.lines, count=count, run_id=run_id)

    def content(self, sequence: int) -> str:
        """What a post says."""
        return self.lines[sequence % len(self.lines)]

    def post_id(self, sequence: int) -> str:
        """Its id."""
        return encode_id(self.run_id, sequence)

    def sequence_of(self, post_id: str) -> int | None:
        """Which post has the id; None where none of these has."""
        found = decode_id(post_id)
        if found is None or found[0] != self.run_id or found[1] >= self.count:
            return None
        return found[1]

    def of_lines(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Posts with one of these lines, ascending by sequence; each line's number is there once."""
        return np.flatnonzero(np.isin(np.arange(self.count) % len(self.lines), numbers))

    def total(self, numbers: NDArray[np.int64]) -> int:
        """How many posts have one of these lines."""
        whole, rest = divmod(self.count, len(self.lines))
        return whole * len(numbers) + int((numbers < rest).sum())

    def chunks(self, size: int = LINES_AT_ONCE) -> Iterator[tuple[int, bytes]]:
        """As the inspector's bulk load takes them: how many posts, and one line of JSON for each."""
        for begin in range(0, self.count, size):
            sequences = range(begin, min(begin + size, self.count))
            yield len(sequences), "".join(map(self._line, sequences)).encode()

    def digest(self, hashes: NDArray[np.uint64]) -> str:
        """SHA-256 of every id and content hash, in the order of ids; hashes: by sequence, as they are stored."""
        total = hashlib.sha256()
        for sequence, hashed in enumerate(hashes.tolist()):
            total.update(f"{self.post_id(sequence)},{hashed:016x}\n".encode())
        return total.hexdigest()

    def _line(self, sequence: int) -> str:
        at = (FIRST_AT + sequence * APART).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        post = {"id": self.post_id(sequence), "content": self.content(sequence), "createdAt": at}
        return json.dumps(post, ensure_ascii=False) + "\n"


LONGEST_WORD = 255  # characters; a longer word is cut into words of so many
BOUNDARY = regex.compile(r"(?w)\b", regex.V1)
SAYS = regex.compile(  # what makes a part between two boundaries a word
    r"[\p{L}\p{Nd}\p{Nl}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u24B6-\u24E9]"
)


def words(text: str) -> list[str]:
    """In their order, in lower case: one character of each, as Java has no longer ones here."""
    return [
        "".join(character.lower()[0] for character in part[begin : begin + LONGEST_WORD])
        for part in BOUNDARY.split(text)
        if SAYS.search(part)
        for begin in range(0, len(part), LONGEST_WORD)
    ]


def lines_with(lines: Sequence[str], keywords: Iterable[str]) -> dict[str, NDArray[np.int64]]:
    """By keyword, numbers of the lines in which its words stand one after the other; none for one without a word."""
    found: dict[str, set[int]] = {keyword: set() for keyword in keywords}
    by_first: dict[str, list[tuple[str, list[str]]]] = {}
    for keyword in found:
        if phrase := words(keyword):
            by_first.setdefault(phrase[0], []).append((keyword, phrase))
    for number, line in enumerate(lines):
        said = words(line)
        for at, word in enumerate(said):
            for keyword, phrase in by_first.get(word, ()):
                if said[at : at + len(phrase)] == phrase:
                    found[keyword].add(number)
    return {keyword: np.array(sorted(numbers), dtype=np.int64) for keyword, numbers in found.items()}


KEYWORDS = 300
DRAWN = 8192  # questions, then the same again
SHORTEST, LONGEST = 2, 20  # characters: one alone is rarely searched for, and has no bigram of its own
WORD = re.compile(rf"(?<![^\W_])[^\W_]{{{SHORTEST},{LONGEST}}}(?![^\W_])")


def frequencies(documents: Documents) -> Counter[str]:
    """By word, in how many posts it is: a run of letters and digits, of 2 to 20 characters.

    Only as a word that both ways of searching know: neither cut by the analyzer, nor told from it by its case alone.
    """
    posts: Counter[str] = Counter()
    whole, rest = divmod(documents.count, len(documents.lines))
    for number, line in enumerate(documents.lines[: documents.count]):
        for word in set(WORD.findall(line)).intersection(words(line)):
            posts[word] += whole + (number < rest)
    return posts


def chosen_keywords(documents: Documents, seed: int, count: int = KEYWORDS) -> dict[str, int]:
    """So many different words, drawn by their frequency, in a sorted order; UsageError where there is none.

    By word, in how many posts it is.
    """
    known = sorted(frequencies(documents).items())
    if not known:
        raise UsageError(
            f"DATASET: none of the {documents.count} posts has a word of {SHORTEST} to {LONGEST} letters"
            " to search for; use other texts, or more of them (DOCS)"
        )
    random = Random(f"writepath:keywords:{seed}")  # noqa: S311 - a choice, not a secret
    # The smallest of exponential waiting times: drawn by weight, and none twice.
    waits = sorted((-math.log(1.0 - random.random()) / posts, word, posts) for word, posts in known)
    return dict(sorted((word, posts) for _, word, posts in waits[:count]))


def drawn_keywords(keywords: Mapping[str, int], seed: int, count: int = DRAWN) -> tuple[str, ...]:
    """What request 0, 1, 2, ... asks for: each keyword as often as it is in the posts."""
    random = Random(f"writepath:questions:{seed}")  # noqa: S311 - a choice, not a secret
    return tuple(random.choices([*keywords], [*keywords.values()], k=count))


Lines = Mapping[
    SearchMode | Literal["as word"], NDArray[np.int64]
]  # numbers of the dataset's lines, ascending


def lines_of(lines: Sequence[str], keywords: Iterable[str]) -> dict[str, Lines]:
    """By keyword: the lines with it, code point by code point, anywhere; with its words, by the analyzer; with both.

    About 10 ms a keyword for 250,000 lines, and some seconds for the words of all.
    """
    found: dict[str, Lines] = {}
    for keyword, native in lines_with(lines, keywords).items():
        anywhere = np.array([number for number, line in enumerate(lines) if keyword in line], np.int64)
        both = np.intersect1d(anywhere, native, assume_unique=True)
        found[keyword] = {"substring": anywhere, "native": native, "as word": both}
    return found


WRITTEN_LINES = 1000  # as many as every other suite's writes cycle through


@dataclass(frozen=True, kw_only=True, eq=False)
class Corpus:
    """Posts, what is searched for in them, and what must be found."""

    documents: Documents
    asked: tuple[str, ...]  # keywords of the rounds, by one client
    keywords: Mapping[str, int]  # of the load: in how many posts each is
    drawn: tuple[str, ...]  # which of them request 0, 1, 2, ... asks for
    lines: Mapping[str, Lines]  # by keyword of rounds or load: those that must be found
    written: Dataset  # what is written during searches: lines that a search for one of the keywords must find

    @staticmethod
    @lru_cache(maxsize=1)
    def of(dataset: Dataset, count: int, asked: tuple[str, ...], seed: int) -> "Corpus":
        """A function of its arguments; takes seconds for 50,000 posts."""
        documents = Documents.of(dataset, count, seed)
        keywords = chosen_keywords(documents, seed)
        lines = lines_of(documents.lines[:count], (*asked, *keywords))
        # Each line is found by some keyword in either mode, so that every write can be looked for.
        found = np.unique(np.concatenate([lines[keyword]["as word"] for keyword in keywords]))
        return Corpus(
            documents=documents,
            asked=asked,
            keywords=keywords,
            drawn=drawn_keywords(keywords, seed),
            lines=lines,
            written=dataset.only(found[:WRITTEN_LINES].tolist()),
        )

    def total(self, keyword: str, mode: SearchMode) -> int:
        """How many posts a search finds."""
        return self.documents.total(self.lines[keyword][mode])


def write_questions(drawn: Sequence[str], totals: Mapping[str, int], path: Path) -> None:
    """The file that k6 reads (k6/lib/searches.js): by request, the keyword and how many posts hold it."""
    questions = [{"keyword": quote(keyword, safe=""), "total": totals[keyword]} for keyword in drawn]
    path.write_text(json.dumps(questions), encoding="utf-8")
