"""Which of these texts must a keyword find? An oracle by brute force, for each kind of search index."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = "words"  # an Elasticsearch index cut into words; every other one finds parts of texts

TEXTS = (
    "영화",
    "좋은 영화를 보았다",
    "영 화가 나서 화면을 껐다",
    "화영 화영",
    "재미있다! 정말 재미있다!!",
    "재미 있다, 정말 재미 있다",
    "정말 재미있는 영화, 또 보고 싶다",
    "감동 그 자체",
    "감동적인 스토리와 감독",
    "스토리는 별로 (감동은 있음)",
    "이 영화 정말 좋다",
    "이 영화는 정말, 좋다",
    "Great MOVIE, great movie",
    "great 영화",
    "greatest",
    "영화10점",
    "10점 만점에 10점",
    "100% 추천",
    "100 추천",
    "\U0001f600\U0001f44d",
    "영화\U0001f600",
    "영화 \U0001f600 좋다",
    "ㅋㅋㅋ ㅋㅋㅋㅋ",
    "a",
    "aaaa",
    "!!!",
    "영화!영화",
    "다른 이야기\n둘째 줄 영화",
)

KEYWORDS = (
    *("영화", "재미", "감동", "정말", "좋다", "화영", "10", "이야", "둘째"),  # two characters
    *("영", "화", "a", "!", "\U0001f600", "ㅋ", "1", "%", "_", "'", "*", "\x07"),  # one
    *("화를", "미있", "동적", "토리", "eat", "00"),  # inside of words
    *("영 화", "정말 재미", "이 영화", "영화 정말", "재미 있다", "화 정말", "기\n둘"),  # across spaces
    *("다!", "있다!!", "정말, 좋", "(감동", "100%", "!영화", "영화, 또"),  # with punctuation
    *("\U0001f600\U0001f44d", "영화\U0001f600", "영화 \U0001f600"),
    *("great", "Great", "GREAT", "MOVIE", "Great movie", "greatest"),
    *("재미있다", "스토리와 감독", "없는말", "aaaaa", "ㅋㅋㅋ"),
)

# What the standard analyzer makes of these texts: letters and digits in a row are a word, and so is each emoji;
# everything else parts words. (It knows more rules, such as those for 3.14 or don't; no text here needs them.)
_WORD = re.compile(r"[^\W_]+|[\U0001f000-\U0001ffff]")


def words(text: str) -> list[str]:
    """The text's words in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def holds(text: str, keyword: str, search_index: str) -> bool:
    """Whether the keyword must find the text, in a store with this search index."""
    if search_index != WORDS:
        return keyword in text
    return _in_a_row(words(text), words(keyword))


def _in_a_row(text: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the words stand in the text one after the other; no word is in no text."""
    starts = range(len(text) - len(wanted) + 1)
    return bool(wanted) and any(list(text[start : start + len(wanted)]) == list(wanted) for start in starts)
