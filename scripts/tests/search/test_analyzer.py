"""Our model of the standard analyzer cuts texts into words as Elasticsearch does."""

from __future__ import annotations

import pytest

from writepath.load.analyzer import lines_with, words

CUTS: tuple[tuple[str, list[str]], ...] = (
    ("한국영화의 힘", ["한국영화의", "힘"]),
    ("영화!영화?영화", ["영화", "영화", "영화"]),
    ("영화ㅋㅋㅋ 굿", ["영화ㅋㅋㅋ", "굿"]),
    ("10년이 지나도", ["10년이", "지나도"]),
    ("평점 3.5점, 3,000원", ["평점", "3.5점", "3,000원"]),
    ("3.재미", ["3", "재미"]),
    ("재미.감동", ["재미.감동"]),
    ("재미:감동", ["재미:감동"]),
    ("재미·감동", ["재미·감동"]),
    ("재미,감동", ["재미", "감동"]),
    ("재미...감동", ["재미", "감동"]),
    ("재미_감동 __ _x_", ["재미_감동", "_x_"]),
    ("Don't PANIC", ["don't", "panic"]),
    ("'인용' 말", ["인용", "말"]),
    ("大박 映画", ["大", "박", "映", "画"]),
    ("ひらカタカナ", ["ひ", "ら", "カタカナ"]),
    ("A급B급", ["a급b급"]),
    ("영화\u200d관", ["영화\u200d관"]),
    ("영화\u200b관", ["영화", "관"]),
    ("e\u0301te\u0301", ["e\u0301te\u0301"]),
    ("★★★ ~~~ ;-)", []),
    ("", []),
)


@pytest.mark.parametrize(("text", "cut"), CUTS)
def test_a_text_is_cut_at_what_is_no_part_of_a_word(text: str, cut: list[str]) -> None:
    assert words(text) == cut


def test_a_word_of_more_than_255_characters_is_cut() -> None:
    assert [len(word) for word in words("ㅋ" * 600)] == [255, 255, 90]


def test_a_phrase_is_found_where_its_words_stand_one_after_the_other() -> None:
    lines = ("좋은 영화", "좋은, 영화!", "영화 좋은", "좋은 한국 영화", "좋은영화", "영화 영화", "CG CG")
    found = lines_with(lines, ("좋은 영화", "영화", "cg", "!?"))
    assert {keyword: numbers.tolist() for keyword, numbers in found.items()} == {
        "좋은 영화": [0, 1],
        "영화": [0, 1, 2, 3, 5],
        "cg": [6],
        "!?": [],
    }
