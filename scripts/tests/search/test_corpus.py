"""Posts, keywords and expected results are pure functions of data set and seed, and right by brute force."""

import hashlib
import itertools
import json
import os
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.errors import UsageError
from writepath.load import corpus
from writepath.load.corpus import (
    WRITTEN_LINES,
    Corpus,
    Documents,
    chosen_keywords,
    drawn_keywords,
    frequencies,
    lines_of,
)
from writepath.load.dataset import generate
from writepath.load.plan import decode_id
from writepath.process import call

LINES = ("하나", 'two "quoted"', "three\u2028line", "넷")
# Few characters, of one to four bytes: keywords often are in lines, and overlap.
CHARACTERS = st.sampled_from("ab가각ㅋé\U0001f600 \n")
TEXTS, KEYWORDS = st.text(CHARACTERS, max_size=12), st.text(CHARACTERS, min_size=1, max_size=4)


def documents(*lines: str, count: int | None = None) -> Documents:
    return Documents(lines=lines, count=count or len(lines), run_id="0123456789abcde")


def test_posts_come_in_chunks_of_lines_with_dense_ids_and_rising_moments() -> None:
    chunks = list(documents(*LINES, count=10).chunks(size=4))
    assert [posts for posts, _ in chunks] == [4, 4, 2]
    posts = [json.loads(line) for _, body in chunks for line in body.decode().split("\n") if line]
    assert [decode_id(post["id"]) for post in posts] == [("0123456789abcde", n) for n in range(10)]
    assert [post["content"] for post in posts] == [LINES[n % 4] for n in range(10)]
    moments = [datetime.fromisoformat(post["createdAt"]) for post in posts]
    assert moments[0] == datetime(2026, 1, 1, tzinfo=UTC)
    assert {b - a for a, b in itertools.pairwise(moments)} == {timedelta(milliseconds=1)}


def test_an_id_is_of_the_seed_and_leads_back_to_its_post() -> None:
    made, other = (Documents.of(generate(1, 3), 10, seed) for seed in (1, 2))
    assert [made.sequence_of(made.post_id(n)) for n in (0, 9)] == [0, 9]
    others = [made.post_id(10), other.post_id(3), "no id"]
    assert [made.sequence_of(post_id) for post_id in others] == [None, None, None]


def test_the_digest_is_of_every_id_and_hash_in_the_order_of_ids() -> None:
    made, hashes = documents(*LINES), np.arange(4, dtype=np.uint64)
    text = "".join(f"{made.post_id(n)},{n:016x}\n" for n in range(4))
    assert made.digest(hashes) == hashlib.sha256(text.encode()).hexdigest()


@given(lines=st.lists(TEXTS, min_size=1, max_size=9), keyword=KEYWORDS, count=st.integers(1, 30))
def test_posts_that_must_be_found_are_those_whose_content_contains_the_keyword(
    lines: list[str], keyword: str, count: int
) -> None:
    made = documents(*lines, count=count)
    found = lines_of(lines[:count], [keyword, keyword])[keyword]["substring"]
    naive = [sequence for sequence in range(count) if keyword in made.content(sequence)]
    assert made.of_lines(found).tolist() == naive
    assert made.total(found) == len(naive)


def test_words_substrings_and_both_are_told_apart() -> None:
    lines = ("영화 굿", "한국영화", "CG가", "cg", "CG 굿", "없음")
    found = {
        keyword: {rule: numbers.tolist() for rule, numbers in own.items()}
        for keyword, own in lines_of(lines, ["영화", "CG"]).items()
    }
    assert found == {
        "영화": {"substring": [0, 1], "native": [0], "as word": [0]},
        "CG": {"substring": [2, 4], "native": [3, 4], "as word": [4]},  # in lower case, as a word of its own
    }


def test_a_words_frequency_is_the_number_of_posts_it_is_in() -> None:
    found = frequencies(documents("영화 영화 굿굿", "한국영화", "영화!", "굿굿", count=6))
    assert found == Counter({"영화": 3, "굿굿": 3, "한국영화": 2})


def test_what_only_one_way_of_searching_knows_as_a_word_is_none() -> None:
    """Cut by the analyzer, joined by it to a neighbour, told apart by case, too short, too long."""
    lines = ("大박", "재미_감동", "재미.감동", "CG", "굿", "가" * 21, "영화")
    assert frequencies(documents(*lines)) == Counter({"영화": 1})


def test_keywords_are_drawn_by_frequency_of_the_seed_alone() -> None:
    made = Documents.of(generate(1, 5_000), 5_000, 1)
    found = chosen_keywords(made, 1, 50)
    assert found == chosen_keywords(made, 1, 50) != chosen_keywords(made, 2, 50)
    assert found.items() <= frequencies(made).items()
    lines = ["흔한"] * 99 + ["드문"]
    firsts = Counter(next(iter(chosen_keywords(documents(*lines), seed, 1))) for seed in range(300))
    assert firsts["드문"] < 15 < firsts["흔한"]


def test_questions_are_drawn_by_frequency_of_the_seed_alone() -> None:
    known = {"흔한": 900, "드문": 100}
    asked = drawn_keywords(known, 1)
    assert asked == drawn_keywords(known, 1) != drawn_keywords(known, 2)
    assert len(asked) == corpus.DRAWN
    assert abs(Counter(asked)["드문"] / len(asked) - 0.1) < 0.02


def test_posts_without_a_word_are_refused_with_a_remedy() -> None:
    with pytest.raises(UsageError, match=r"DATASET: none of the 2 posts has a word.*DOCS"):
        chosen_keywords(documents("!!", "굿"), 1)


def test_what_is_written_during_searches_can_be_found_by_one_of_the_keywords() -> None:
    corpus = Corpus.of(generate(1, 3_000), 3_000, ("영화",), 1)
    assert 100 < len(corpus.written.lines) <= WRITTEN_LINES
    assert all(any(keyword in line for keyword in corpus.keywords) for line in corpus.written.lines)
    assert set(corpus.drawn) <= set(corpus.keywords)


MANY, MOST_BYTES = 500_000, 400 << 20  # of the whole process; its lines alone are 90 MB
MAKE_MANY = f"""
import json
from pathlib import Path
from writepath.load.corpus import Documents, lines_of
from writepath.load.dataset import generate
posts = Documents.of(generate(1, {MANY}), {MANY}, 1)
found = lines_of(posts.lines, ("영화", "감동"))
sent = sum(count for count, _ in posts.chunks())
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
peak_kib = int(status["VmHWM"].split()[0])  # ru_maxrss would count the process that started this one
ids = {{posts.post_id(n) for n in range(posts.count)}}
own = all(posts.sequence_of(posts.post_id(n)) == n for n in (0, 1, {MANY} - 1))
totals = [
    (posts.total(lines["substring"]), sum(word in posts.content(n) for n in range(posts.count)))
    for word, lines in found.items()
]
print(json.dumps([len(posts.lines), sent, len(ids), own, totals, peak_kib]))
"""


def test_half_a_million_posts_have_different_ids_and_right_totals_in_bounded_memory() -> None:
    """In a process of its own, whose memory nothing else has used."""
    source = Path(corpus.__file__).parents[2]
    said = call(sys.executable, "-c", MAKE_MANY, env={**os.environ, "PYTHONPATH": str(source)}, timeout_s=600)
    lines, sent, ids, own, totals, peak_kib = json.loads(said)
    assert (lines, sent, ids, own) == (MANY, MANY, MANY, True)
    assert [found == naive and found > MANY / 50 for found, naive in totals] == [True, True]
    assert peak_kib * 1024 < MOST_BYTES
