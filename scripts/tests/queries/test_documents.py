"""Is a post a pure function of its number, and are those of some lines the ones that have them?"""

from __future__ import annotations

import hashlib
import itertools
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.load.dataset import generate
from writepath.load.plan import decode_id
from writepath.queries.documents import Documents

LINES = ("하나", 'two "quoted"', "three\u2028line", "넷")


def documents(count: int, lines: tuple[str, ...] = LINES) -> Documents:
    return Documents(lines=lines, count=count, run_id="0123456789abcde")


def test_posts_come_in_chunks_of_lines_with_dense_ids_and_rising_moments() -> None:
    chunks = list(documents(10).chunks(size=4))
    assert [posts for posts, _ in chunks] == [4, 4, 2]
    posts = [json.loads(line) for _, body in chunks for line in body.decode().split("\n") if line]
    assert [decode_id(post["id"]) for post in posts] == [("0123456789abcde", n) for n in range(10)]
    assert [post["content"] for post in posts] == [LINES[n % 4] for n in range(10)]
    moments = [datetime.fromisoformat(post["createdAt"]) for post in posts]
    assert moments[0] == datetime(2026, 1, 1, tzinfo=UTC)
    assert {b - a for a, b in itertools.pairwise(moments)} == {timedelta(milliseconds=1)}
    assert posts[0]["createdAt"] == "2026-01-01T00:00:00.000Z"


def test_the_same_seed_gives_the_same_ids_and_another_one_others() -> None:
    dataset = generate(1, 3)
    assert Documents.of(dataset, 5, 1).post_id(4) == Documents.of(dataset, 9, 1).post_id(4)
    assert Documents.of(dataset, 5, 1).post_id(4) != Documents.of(dataset, 5, 2).post_id(4)


def test_an_id_leads_back_to_its_post_and_others_to_none() -> None:
    made = documents(10)
    assert [made.sequence_of(made.post_id(n)) for n in (0, 9)] == [0, 9]
    others = [made.post_id(10), documents(10).post_id(3).replace("0", "f", 1), "no id"]
    assert [made.sequence_of(post_id) for post_id in others] == [None, None, None]


@given(
    count=st.integers(1, 40),
    lines=st.integers(1, 12),
    chosen=st.sets(st.integers(0, 11), max_size=12),
)
def test_posts_of_lines_are_those_that_have_them(count: int, lines: int, chosen: set[int]) -> None:
    numbers = sorted(number for number in chosen if number < lines)
    made = documents(count, tuple(str(number) for number in range(lines)))
    wanted = [sequence for sequence in range(count) if int(made.content(sequence)) in numbers]
    array = np.array(numbers, dtype=np.int64)
    assert made.of_lines(array).tolist() == wanted
    assert made.total(array) == len(wanted)
    assert sum(made.with_line(number) for number in numbers) == len(wanted)


def test_the_digest_is_of_every_id_and_hash_in_the_order_of_ids() -> None:
    made = documents(6)
    text = "".join(
        f"{made.post_id(n)},{hashlib.sha256(made.content(n).encode()).hexdigest()[:16]}\n" for n in range(6)
    )
    assert made.digest(made.hashes()) == hashlib.sha256(text.encode()).hexdigest()
    changed = made.hashes()
    changed[3] += np.uint64(1)
    assert made.digest(changed) != made.digest(made.hashes())


@pytest.mark.parametrize("count", [1, 4, 5])
def test_hashes_are_by_post_however_often_the_lines_go_round(count: int) -> None:
    assert len(documents(count).hashes()) == count
