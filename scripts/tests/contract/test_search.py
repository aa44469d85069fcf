from typing import Any

import pytest

from contract.subject import KEYWORDS, TEXTS, WORDS, Subject, eventually, holds, made, token

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
    "a word": "{word}",
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


def in_order(posts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As a search must give them; an id's digits compare as its bytes do."""
    return sorted(posts, key=lambda post: (post["createdAt"], post["id"]), reverse=True)


def test_a_search_finds_the_newest_first_and_never_less_than_before(subject: Subject) -> None:
    word, ids, totals = token(), [], [0]
    for number in range(10):
        ids.append(subject.written(f"{word} {number}"))
        totals.append(subject.search(word)["total"])
    posts = subject.page(word, total=10)
    totals += [subject.search(word)["total"] for _ in range(60)]
    assert totals == sorted(totals)
    assert totals[-1] == 10
    assert posts == in_order(posts)
    assert {post["id"] for post in posts} == set(ids)
    assert set(posts[0]) == {"id", "content", "createdAt"}


def test_pages_by_number_and_by_cursor_give_every_post_once_and_in_order(
    subject: Subject, subtests: pytest.Subtests
) -> None:
    word = token()
    ids = {answer.json()["id"] for answer in subject.write_all([f"{word} {number}" for number in range(25)])}
    assert len(subject.page(word, total=25)) == 20  # without a size
    for size in (1, 7, 24, 25, 1000):
        with subtests.test(size=size):
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
    for size, page in ((25, 1), (1, 25), (1, 9999), (1000, 9)):
        assert subject.search(word, size=size, page=page) == {"total": 25, "posts": []}


def test_a_cursor_gives_what_was_there_once_while_others_are_written(subject: Subject) -> None:
    word = token()
    ids = {answer.json()["id"] for answer in subject.write_all([f"{word} {number}" for number in range(30)])}
    subject.page(word, total=30)
    seen = subject.walk(word, 4, between=lambda: subject.written(f"{word} later"))
    found = [post["id"] for post in seen]
    assert len(found) == len(set(found))
    assert ids <= set(found)
    assert seen == in_order(seen)


def test_a_keyword_is_text_and_never_a_pattern(subject: Subject, subtests: pytest.Subtests) -> None:
    wanted = {}
    for name, (keyword, other) in SPECIAL.items():
        word = token()
        subject.written(other.format(word=word))
        wanted[name, keyword.format(word=word)] = subject.written(keyword.format(word=word))
    for (name, keyword), post in wanted.items():
        with subtests.test(name):
            assert [found["id"] for found in subject.page(keyword, total=1)] == [post]


def test_a_strange_keyword_is_answered_and_finds_nothing(subject: Subject, subtests: pytest.Subtests) -> None:
    for name, keyword in STRANGE.items():
        with subtests.test(name):
            assert subject.search(keyword.format(word=token())) == {"total": 0, "posts": []}


def stored_texts(subject: Subject) -> dict[str, str]:
    """Content by id, in a store that has nothing else: half of the texts are written as a client does, half loaded."""
    subject.fence()
    subject.empty()
    loaded = [made(number, text) for number, text in enumerate(TEXTS[::2])]
    subject.loaded(loaded)
    contents = {post["id"]: post["content"] for post in loaded}
    contents |= {subject.written(text): text for text in TEXTS[1::2]}
    eventually(lambda: subject.count() == len(TEXTS), "every text is stored")
    return contents


def test_a_keyword_finds_exactly_what_holds_it(subject: Subject, subtests: pytest.Subtests) -> None:
    """Beside an oracle by brute force, on few texts that have everything in them."""
    texts, search_index = stored_texts(subject), subject.search_index
    for keyword in KEYWORDS:
        with subtests.test(keyword):
            wanted = {post for post, text in texts.items() if holds(text, keyword, search_index)}
            found = subject.page(keyword, total=len(wanted), size=1000)
            assert {post["id"]: post["content"] for post in found} == {post: texts[post] for post in wanted}
            assert len(found) == len(wanted)
            assert subject.walk(keyword, size=3) == found
    parts = sum("화를" in text for text in texts.values())
    assert parts
    assert len(subject.search("화를")["posts"]) == (0 if search_index == WORDS else parts)
