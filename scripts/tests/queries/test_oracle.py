"""Does brute force over the joined text find what a look at each line finds?"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from writepath.load.dataset import generate
from writepath.queries.documents import Documents
from writepath.queries.oracle import Oracle, Text

# Few characters, of one to four bytes: keywords often stand in lines, also one over the other.
TEXTS = st.text(st.sampled_from("ab가각ㅋé\U0001f600 \n"), max_size=12)
KEYWORDS = st.text(st.sampled_from("ab가각ㅋé\U0001f600 \n"), min_size=1, max_size=4)


@given(lines=st.lists(TEXTS, min_size=1, max_size=20), keyword=KEYWORDS)
def test_lines_that_hold_a_keyword_are_those_of_in(lines: list[str], keyword: str) -> None:
    naive = [number for number, line in enumerate(lines) if keyword in line]
    assert Text(lines).holding(keyword).tolist() == naive


@given(lines=st.lists(TEXTS, min_size=1, max_size=9), keyword=KEYWORDS, count=st.integers(1, 30))
def test_posts_that_must_be_found_are_those_whose_content_holds_the_keyword(
    lines: list[str], keyword: str, count: int
) -> None:
    documents = Documents(lines=tuple(lines), count=count, run_id="0" * 15)
    oracle = Oracle.of(documents, [keyword, keyword])
    naive = [sequence for sequence in range(count) if keyword in documents.content(sequence)]
    assert oracle.sequences(keyword, "substring").tolist() == naive
    assert oracle.total(keyword, "substring") == len(naive)


def test_words_substrings_and_both_are_told_apart() -> None:
    lines = ("영화 굿", "한국영화", "CG가", "cg", "CG 굿", "없음")
    oracle = Oracle.of(Documents(lines=lines, count=12, run_id="0" * 15), ["영화", "CG"])
    assert [oracle.total("영화", mode) for mode in ("substring", "native")] == [4, 2]
    assert oracle.as_word("영화") == 2
    assert oracle.sequences("CG", "substring").tolist() == [2, 4, 8, 10]
    assert oracle.sequences("CG", "native").tolist() == [3, 4, 9, 10]  # in lower case, as a word of its own
    assert oracle.as_word("CG") == 2


def test_case_and_composition_count() -> None:
    oracle = Oracle.of(Documents(lines=("\u00e9", "e\u0301", "E"), count=3, run_id="0" * 15), ["\u00e9", "e"])
    assert oracle.sequences("\u00e9", "substring").tolist() == [0]
    assert oracle.sequences("e", "substring").tolist() == [1]


def test_the_embedded_reviews_hold_the_keywords_as_often_as_is_promised() -> None:
    documents = Documents.of(generate(1, 20_000), 20_000, 1)
    oracle = Oracle.of(documents, ("영화", "재미"))
    naive = [n for n in range(documents.count) if "영화" in documents.content(n)]
    assert np.array_equal(oracle.sequences("영화", "substring"), naive)
    assert abs(oracle.total("영화", "substring") / documents.count - 0.304) < 0.02
    assert 0 < oracle.as_word("영화") < oracle.total("영화", "substring")
