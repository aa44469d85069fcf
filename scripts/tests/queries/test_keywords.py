"""Are keywords words of the posts, drawn as often as they stand in them, and the same for the same seed?"""

from __future__ import annotations

from collections import Counter

import pytest

from writepath.errors import UsageError
from writepath.load.dataset import generate
from writepath.queries import keywords
from writepath.queries.corpus import WRITTEN_LINES, Corpus
from writepath.queries.documents import Documents
from writepath.queries.keywords import Keyword, chosen, drawn, frequencies


def documents(*lines: str, count: int | None = None) -> Documents:
    return Documents(lines=lines, count=count or len(lines), run_id="0" * 15)


def test_a_words_frequency_is_the_number_of_posts_it_stands_in() -> None:
    found = frequencies(documents("영화 영화 굿굿", "한국영화", "영화!", "굿굿", count=6))
    assert found == Counter({"영화": 3, "굿굿": 3, "한국영화": 2})


def test_what_only_one_way_of_searching_knows_as_a_word_is_none() -> None:
    """Cut by the analyzer, joined by it to a neighbour, told apart by case, too short, too long."""
    lines = ("大박", "재미_감동", "재미.감동", "CG", "굿", "가" * 21, "영화")
    assert frequencies(documents(*lines)) == Counter({"영화": 1})


def test_frequencies_are_those_of_a_look_at_each_post() -> None:
    made = Documents.of(generate(1, 300), 1000, 1)
    found = frequencies(made)
    for word in ("영화", *list(found)[:50]):
        posts = sum(word in keywords.WORD.findall(made.content(n)) for n in range(made.count))
        assert found[word] == posts


def test_keywords_are_a_function_of_posts_and_seed_and_none_is_there_twice() -> None:
    made = Documents.of(generate(1, 5_000), 5_000, 1)
    found = chosen(made, 1, 50)
    assert found == chosen(made, 1, 50) != chosen(made, 2, 50)
    assert len({keyword.text for keyword in found}) == len(found) == 50
    assert {keyword.text: keyword.documents for keyword in found}.items() <= frequencies(made).items()


def test_frequent_words_are_chosen_more_often_than_rare_ones() -> None:
    lines = ["흔한"] * 99 + ["드문"]
    firsts = Counter(chosen(documents(*lines), seed, 1)[0].text for seed in range(300))
    assert firsts["드문"] < 15 < firsts["흔한"]


def test_questions_are_drawn_by_frequency_of_the_seed_alone() -> None:
    known = (Keyword(text="흔한", documents=900), Keyword(text="드문", documents=100))
    asked = drawn(known, 1)
    assert asked == drawn(known, 1) != drawn(known, 2)
    assert len(asked) == keywords.DRAWN
    assert abs(Counter(asked)["드문"] / len(asked) - 0.1) < 0.02


def test_posts_without_a_word_are_refused_with_a_remedy() -> None:
    with pytest.raises(UsageError, match=r"DATASET: none of the 2 posts has a word.*DOCS"):
        chosen(documents("!!", "굿"), 1)


def test_what_is_written_beside_searches_can_be_found_by_one_of_the_keywords() -> None:
    corpus = Corpus.of(generate(1, 3_000), 3_000, ("영화",), 1)
    assert 100 < len(corpus.written.lines) <= WRITTEN_LINES
    texts = [keyword.text for keyword in corpus.keywords]
    assert all(any(text in line for text in texts) for line in corpus.written.lines)
    assert corpus.written.sha256 != generate(1, 3_000).sha256
    assert set(corpus.drawn) <= set(texts)
