"""Every read path beside an oracle by brute force, on few texts that have everything in them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from contract.subject import eventually
from contract.texts import KEYWORDS, TEXTS, WORDS, holds

if TYPE_CHECKING:
    from contract.subject import Subject


@pytest.fixture(scope="module")
def texts(subject: Subject) -> dict[str, str]:
    """Content by id: every other text is written as a client does, the rest loaded."""
    subject.empty()
    loaded = [
        {"id": str(uuid.uuid4()), "content": text, "createdAt": f"2026-01-02T03:04:05.{number // 4:03d}Z"}
        for number, text in enumerate(TEXTS[::2])
    ]
    subject.loaded(loaded)
    contents = {post["id"]: post["content"] for post in loaded}
    contents |= {subject.written(text): text for text in TEXTS[1::2]}
    eventually(lambda: subject.count() == len(TEXTS), "every text is stored")
    return contents


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_finds_exactly_what_holds_it(subject: Subject, texts: dict[str, str], keyword: str) -> None:
    search_index = subject.search_index
    wanted = {post for post, text in texts.items() if holds(text, keyword, search_index)}
    found = subject.page(keyword, total=len(wanted), size=1000)
    assert {post["id"]: post["content"] for post in found} == {post: texts[post] for post in wanted}
    assert len(found) == len(wanted)
    assert subject.walk(keyword, size=3) == found


def test_only_an_index_of_words_misses_parts_of_texts(subject: Subject, texts: dict[str, str]) -> None:
    parts = sum(1 for text in texts.values() if "화를" in text)
    assert parts
    assert len(subject.search("화를", size=1000)["posts"]) == (0 if subject.search_index == WORDS else parts)
