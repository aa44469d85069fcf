from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from writepath.errors import AuditError
from writepath.load.ledger import NO_TIME
from writepath.load.plan import encode_id
from writepath.measure import stored
from writepath.measure.stored import PREFIX_LENGTH, Rows

if TYPE_CHECKING:
    from collections.abc import Iterable

RUN = "0123456789abcde"
PREFIX = encode_id(RUN, 0)[:PREFIX_LENGTH]
LINES = ["하나", "two", "three, with a comma"]
HEADER = "id,content_hash,durable_at_us\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def post(sequence: int, content: str | None = None, at_us: int | str = 1_700_000_000_123_456) -> str:
    text = LINES[sequence % len(LINES)] if content is None else content
    return f"{encode_id(RUN, sequence)},{digest(text)},{at_us}\n"


def read(chunks: Iterable[bytes], *, hashed: bool = True) -> Rows:
    rows = Rows(PREFIX, hashed=hashed)
    rows.read(chunks)
    return rows


def test_sequence_content_and_moment_are_read() -> None:
    body = (HEADER + post(4) + post(2**40) + post(1, "changed")).encode()
    rows = read([body[:30], body[30:90], body[90:]])
    held = stored.assemble(rows, Rows(PREFIX, hashed=False), stored.content_hashes(LINES))
    assert held.seq.tolist() == [4, 2**40, 1]
    assert held.content_ok.tolist() == [True, True, False]
    assert held.durable_at_us.tolist() == [1_700_000_000_123_456] * 3
    assert len(read([HEADER.encode()]).seq) == 0


def test_ids_of_other_runs_and_ids_that_are_none_are_foreign() -> None:
    other = encode_id("fffffffffffffff", 1)
    upper = encode_id(RUN, 10).upper()
    lines = "".join(f"{name},{digest('x')},\n" for name in (other, upper, "z" * 36))
    assert read([(HEADER + lines).encode()]).foreign_ids == [other, upper, "z" * 36]


def test_a_missing_moment_is_taken_from_the_first_commit_known() -> None:
    rows = read([(HEADER + post(0, at_us="") + post(1, at_us="") + post(2, at_us=9_000)).encode()])
    commits = Rows(PREFIX, hashed=False)
    for at_us in (8_000, "", 5_000):
        commits.read([f"id,durable_at_us\n{encode_id(RUN, 0)},{at_us}\n{encode_id(RUN, 2)},1\n".encode()])
    held = stored.assemble(rows, commits, stored.content_hashes(LINES))
    assert held.durable_at_us.tolist() == [5_000, NO_TIME, 9_000]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "id,hash\n",
        HEADER + post(1)[:-5],
        HEADER + "short\n",
        HEADER + f"{encode_id(RUN, 1)},{'x' * 16},1\n",
        HEADER + post(1, at_us="noon"),
    ],
)
def test_an_answer_that_is_cut_or_in_another_form_is_an_error(body: str) -> None:
    with pytest.raises(AuditError):
        read([body.encode()])


def test_a_million_rows_take_seconds() -> None:
    tail = f",{digest(LINES[0])},1700000000123456\n"
    body = (HEADER + "".join(encode_id(RUN, s) + tail for s in range(1_000_000))).encode()
    began = time.monotonic()
    rows = read(body[i : i + (1 << 20)] for i in range(0, len(body), 1 << 20))
    assert time.monotonic() - began < 10
    assert np.array_equal(rows.seq, np.arange(1_000_000))
