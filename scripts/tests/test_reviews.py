"""Are the embedded reviews like real ones? The figures are those of 250,000 reviews of a public corpus."""

from __future__ import annotations

import random
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.load.dataset import generate
from writepath.load.reviews import KEYWORD_SHARES, reviews

SHA256_OF_SEED_1 = "f397938d3d77207b8380da171735a3b662b9007b644adead9ce363fa1ab1feaa"
SEEDS = st.integers(min_value=0, max_value=2**63 - 1)


@pytest.fixture(scope="module")
def many() -> list[str]:
    return list(islice(reviews(20261121), 20_000))


@given(SEEDS)
def test_every_line_is_one_line_of_1_to_147_characters(seed: int) -> None:
    for line in islice(reviews(seed), 50):
        assert 1 <= len(line) <= 147
        assert line == line.strip()
        assert line.isprintable()


@given(SEEDS, st.integers(min_value=1, max_value=60))
def test_a_seed_gives_the_same_lines_however_many_are_taken(seed: int, count: int) -> None:
    assert generate(seed, count).lines == generate(seed, 60).lines[:count]


def test_the_first_lines_of_a_seed_never_change() -> None:
    """Results of two machines, or of two releases, are only comparable when they wrote the same."""
    assert generate(1, 1000).sha256 == SHA256_OF_SEED_1


def test_other_random_numbers_do_not_disturb() -> None:
    random.seed(5)
    first = generate(3, 20).lines
    random.seed(6)
    assert generate(3, 20).lines == first


@pytest.mark.parametrize(("share", "length"), [(0.10, 11), (0.25, 16), (0.50, 27), (0.75, 42), (0.95, 105)])
def test_lengths_are_those_of_real_reviews(many: list[str], share: float, length: int) -> None:
    assert np.quantile([len(line) for line in many], share) == pytest.approx(length, rel=0.06)


@pytest.mark.parametrize(
    ("keyword", "share"), [("영화", 0.304), ("재미", 0.070), ("스토리", 0.033), ("감동", 0.034)]
)
def test_keywords_are_as_frequent_as_in_real_reviews(many: list[str], keyword: str, share: float) -> None:
    assert np.mean([keyword in line for line in many]) == pytest.approx(share, rel=0.12)


def test_the_keywords_are_those_that_are_searched_for() -> None:
    assert list(KEYWORD_SHARES) == ["영화", "재미", "스토리", "감동"]


def test_few_lines_repeat(many: list[str]) -> None:
    assert len(set(many[:1000])) > 970
    assert len(set(many)) > 18_000


def test_lines_hold_what_makes_real_input_hard(many: list[str]) -> None:
    text = "\n".join(many)
    for mark in ('"', ",", "ㅋㅋ", "...", "ㅠ"):
        assert mark in text
