from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.subject import assert_problem, token

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

# Keywords that something on the way could stumble over. The word in each is in no post: whatever is found is a mistake.
STRANGE = {
    "wildcards": "{word}%_*?",
    "quotes": "{word}'\"`",
    "SQL": "{word}'; DROP TABLE posts; --",
    "a query of Elasticsearch": '{word}"}}}}}} {{"query":{{"match_all":{{}}}}',
    "a template": "${{jndi:ldap://{word}}} {{{{7*7}}}}",
    "control characters": "{word}\x01\x07\x1b\x7f",
    "line breaks": "{word}\r\nX-Injected: 1",
    "emoji": "{word}\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "right to left": "{word}\u202e\u05e9",
    "a replacement character": "{word}\ufffd\uffff",
    "parameters": "{word}&size=0#fragment",
    "a path": "{word}/../../inspector/reset",
    "1,000 characters of four bytes": "{word}" + "\U0001f600" * 984,
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


def in_order(posts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As a search must give them; an id's digits compare as its bytes do."""
    return sorted(posts, key=lambda post: (post["createdAt"], post["id"]), reverse=True)


@pytest.mark.parametrize("size", [1, 7, 24, 25, 1000])
def test_pages_by_number_and_by_cursor_give_every_post_once_and_in_order(subject: Subject, size: int) -> None:
    word = token()
    ids = {answer.json()["id"] for answer in subject.write_all([f"{word} {number}" for number in range(25)])}
    subject.page(word, total=25)
    numbered: list[dict[str, Any]] = []
    for page in range(-(-25 // size)):
        answer = subject.search(word, size=size, page=page)
        assert answer["total"] == 25
        numbered += answer["posts"]
        assert ("next" in answer) == (len(numbered) < 25)
    assert numbered == in_order(numbered)
    assert {post["id"] for post in numbered} == ids
    assert len(numbered) == 25
    assert subject.walk(word, size) == numbered


def test_a_cursor_gives_what_was_there_once_while_others_are_written(subject: Subject) -> None:
    word = token()
    ids = {answer.json()["id"] for answer in subject.write_all([f"{word} {number}" for number in range(30)])}
    subject.page(word, total=30)
    seen = subject.walk(word, 4, between=lambda: subject.written(f"{word} later"))
    found = [post["id"] for post in seen]
    assert len(found) == len(set(found))
    assert ids <= set(found)
    assert seen == in_order(seen)


@pytest.mark.parametrize(("size", "page"), [(20, 1), (1, 3), (1, 9999), (1000, 9)])
def test_a_page_beyond_the_last_post_is_empty(subject: Subject, size: int, page: int) -> None:
    word = token()
    for number in range(3):
        subject.written(f"{word} {number}")
    subject.page(word, total=3)
    assert subject.search(word, size=size, page=page) == {"total": 3, "posts": []}


def test_a_search_repeated_never_finds_less(subject: Subject) -> None:
    word, totals = token(), [0]
    for number in range(60):
        if number < 10:
            subject.written(f"{word} {number}")
        totals.append(subject.search(word)["total"])
    subject.page(word, total=10)
    totals += [subject.search(word)["total"] for _ in range(60)]
    assert totals == sorted(totals)
    assert totals[-1] == 10


@pytest.mark.parametrize("keyword", STRANGE.values(), ids=STRANGE.keys())
def test_a_strange_keyword_is_answered_and_finds_nothing(subject: Subject, keyword: str) -> None:
    word = token()
    assert subject.search(keyword.format(word=word)) == {"total": 0, "posts": []}


@pytest.mark.parametrize("character", ["x", "영", "%", "_", "'", "*", "\U0001f600", "\x07"])
def test_one_character_is_a_keyword(subject: Subject, character: str) -> None:
    answer = subject.search(character, size=1000)
    assert len(answer["posts"]) == min(1000, answer["total"])
    assert all(character in post["content"].lower() for post in answer["posts"])


@pytest.mark.parametrize("query", ["keyword=%ff%fe", "keyword=%ed%a0%80"])
def test_a_keyword_that_is_no_text_is_400(subject: Subject, query: str) -> None:
    assert_problem(subject.http.get(f"/api/posts?{query}"), 400)
