"""Our model of the standard analyzer cuts texts into words as Elasticsearch does."""

import pytest

from writepath.load.corpus import lines_with, words

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


ODD = (
    "\u00b7\u318d\u2027\uff1a영화\u318d감동 재미\u2027감동 영화\uff1a굿",
    "①영화 영화② Ⅲ편 ⓐ급 ½점 10²점 ３점",
    "영화♥감동 영화★감동 영화♡ 👍👍 👍🏽영화 🇰🇷영화 1\ufe0f\u20e3등 ❤\ufe0f영화",
    "ㅠㅠㅠ.ㅠ ㅋ.ㅋ ^^; -_- ;_; _영화_ 영화__감동",
    "3:0 3;0 3,0 3.0 3'0 a.b a'b a:b a,b a;b 1.a a.1 1,a",
    "日本語テスト ひらがな カタカナー 々 ｶﾞ ﾊﾟ",
    "हिन्दी עברית العربية",
    "\u1112\u1161\u11ab\u1100\u1173\u11af ﾡﾢ ㄱ",
    "x\u00ady\u200cz\u200dw\ufeffv\u2060u",
    "Straße İstanbul ΣΑΣ Ǆ ﬁn",
)
