from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.subject import token

if TYPE_CHECKING:
    from contract.subject import Subject

# A keyword with something special in it, and a content that only a pattern or a query would find with it.
SPECIAL = {
    "percent sign": ("{word}a%b", "{word}axxb"),
    "underscore": ("{word}a_b", "{word}axb"),
    "star": ("{word}a*b", "{word}axxb"),
    "question mark": ("{word}a?b", "{word}axb"),
    "regular expression": ("{word}.*z", "{word}abz"),
    "backslash": ("{word}\\b", "{word}b"),
    "single quote": ("{word}'b", "{word}b"),
    "double quote": ('{word}"b', "{word}b"),
    "SQL": ("{word}' OR '1'='1", "{word}"),
    "query string": ("{word} OR id:*", "{word} nothing"),
}


def test_a_search_finds_the_newest_first(subject: Subject) -> None:
    word = token()
    ids = []
    for number in range(5):
        ids.append(subject.written(f"{word} {number}"))
        subject.found(ids[-1])
    posts = subject.page(word, total=5)
    moments = [post["createdAt"] for post in posts]
    assert moments == sorted(moments, reverse=True)
    assert {post["id"] for post in posts} == set(ids)
    assert set(posts[0]) == {"id", "content", "createdAt"}


def test_size_limits_the_posts_and_not_the_total(subject: Subject) -> None:
    word = token()
    for number in range(25):
        subject.written(f"{word} {number}")
    assert len(subject.page(word, total=25, size=3)) == 3
    assert len(subject.page(word, total=25, size=100)) == 25
    assert len(subject.page(word, total=25)) == 20


def test_a_search_without_a_hit_is_empty(subject: Subject) -> None:
    assert subject.page(token(), total=0) == []


def test_a_korean_word_is_found(subject: Subject) -> None:
    word = "".join(chr(0xAC00 + ord(letter) - ord("a")) for letter in token())
    subject.written(f"이 {word} 정말 좋다")
    assert [post["content"] for post in subject.page(word, total=1)] == [f"이 {word} 정말 좋다"]


@pytest.mark.parametrize(("keyword", "other"), SPECIAL.values(), ids=SPECIAL.keys())
def test_a_keyword_is_text_and_never_a_pattern(subject: Subject, keyword: str, other: str) -> None:
    word = token()
    subject.written(other.format(word=word))
    wanted = subject.written(keyword.format(word=word))
    assert [post["id"] for post in subject.page(keyword.format(word=word), total=1)] == [wanted]
