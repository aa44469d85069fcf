"""Chooses what is searched for under load: words of the posts themselves, each as often as it is in them."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.load import analyzer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.load.documents import Documents

KEYWORDS = 300
DRAWN = 8192  # questions, then the same again
SHORTEST, LONGEST = 2, 20  # characters: one alone is rarely searched for, and has no bigram of its own
WORD = re.compile(rf"(?<![^\W_])[^\W_]{{{SHORTEST},{LONGEST}}}(?![^\W_])")


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A word of the posts."""

    text: str
    documents: int  # posts in which it is a word of its own


def frequencies(documents: Documents) -> Counter[str]:
    """By word, in how many posts it is: a run of letters and digits, of 2 to 20 characters.

    Only as a word that both ways of searching know: neither cut by the analyzer, nor told from it by its case alone.
    """
    posts: Counter[str] = Counter()
    whole, rest = divmod(documents.count, len(documents.lines))
    for number, line in enumerate(documents.lines[: documents.count]):
        for word in set(WORD.findall(line)).intersection(analyzer.words(line)):
            posts[word] += whole + (number < rest)
    return posts


def chosen(documents: Documents, seed: int, count: int = KEYWORDS) -> tuple[Keyword, ...]:
    """So many different words, drawn by their frequency, in a sorted order; UsageError where there is none."""
    known = sorted(frequencies(documents).items())
    if not known:
        raise UsageError(
            f"DATASET: none of the {documents.count} posts has a word of {SHORTEST} to {LONGEST} letters"
            " to search for; use other texts, or more of them (DOCS)"
        )
    random = Random(f"writepath:keywords:{seed}")  # noqa: S311 - a choice, not a secret
    # The smallest of exponential waiting times: drawn by weight, and none twice.
    waits = sorted((-math.log(1.0 - random.random()) / posts, word, posts) for word, posts in known)
    return tuple(
        Keyword(text=word, documents=posts) for word, posts in sorted((w, p) for _, w, p in waits[:count])
    )


def drawn(keywords: Sequence[Keyword], seed: int, count: int = DRAWN) -> tuple[str, ...]:
    """What request 0, 1, 2, ... asks for: each keyword as often as it is in the posts."""
    random = Random(f"writepath:questions:{seed}")  # noqa: S311 - a choice, not a secret
    texts = [keyword.text for keyword in keywords]
    return tuple(random.choices(texts, [keyword.documents for keyword in keywords], k=count))
