from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.analysis import raw
from writepath.analysis.audit import Stored
from writepath.analysis.raw import Sample
from writepath.errors import UsageError
from writepath.load import parquet
from writepath.load.ledger import NO_TIME

if TYPE_CHECKING:
    from pathlib import Path

MOMENTS = st.one_of(st.just(NO_TIME), st.integers(0, 2 * 10**15))
ROWS = st.lists(st.tuples(st.integers(0, 10**8), st.booleans(), MOMENTS), max_size=30)
IDS = st.lists(st.text(max_size=40), max_size=3)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("raw") / raw.STORED_FILE


def stored(rows: list[tuple[int, bool, int]], foreign: list[str] | None = None) -> Stored:
    return Stored(
        seq=np.array([seq for seq, _, _ in rows], np.int64),
        content_ok=np.array([ok for _, ok, _ in rows], np.bool_),
        durable_at_us=np.array([at for _, _, at in rows], np.int64),
        foreign_ids=tuple(foreign or ()),
    )


def same(one: Stored, other: Stored) -> bool:
    columns = ("seq", "content_ok", "durable_at_us")
    return one.foreign_ids == other.foreign_ids and all(
        getattr(one, name).tolist() == getattr(other, name).tolist() for name in columns
    )


@given(ROWS, IDS, ROWS, IDS)
def test_both_reads_come_back_as_they_were(
    path: Path,
    rows: list[tuple[int, bool, int]],
    foreign: list[str],
    again: list[tuple[int, bool, int]],
    foreign_again: list[str],
) -> None:
    first, second = stored(rows, foreign), stored(again, foreign_again)
    raw.save_stored((first,), path)
    assert same(raw.read_stored(path), first)
    assert raw.read_stored(path, raw.SECOND).rows == 0
    raw.save_stored((first, second), path)
    assert same(raw.read_stored(path), first)
    assert same(raw.read_stored(path, raw.SECOND), second)


def test_a_foreign_row_has_its_id_alone_and_an_unknown_moment_is_null(path: Path) -> None:
    raw.save_stored((stored([(3, True, 7), (4, False, NO_TIME)], ["other"]),), path)
    assert parquet.load_table(path).to_pylist() == [
        {"read": 1, "sequence": 3, "content_ok": True, "durable_at_us": 7, "foreign_id": None},
        {"read": 1, "sequence": 4, "content_ok": False, "durable_at_us": None, "foreign_id": None},
        {"read": 1, "sequence": None, "content_ok": None, "durable_at_us": None, "foreign_id": "other"},
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"sequence": -1, "content_ok": True},
        {"sequence": 5, "content_ok": None},
        {"sequence": 5, "content_ok": True, "foreign_id": "both"},
        {"sequence": None, "content_ok": None},
    ],
)
def test_a_row_that_is_neither_ours_nor_foreign_is_an_edited_file(path: Path, row: dict[str, object]) -> None:
    parquet.save_table(pa.Table.from_pylist([{"read": 1, **row}], schema=raw.STORED_SCHEMA), path)
    with pytest.raises(UsageError, match=r"stored\.parquet: .*edited"):
        raw.read_stored(path)


@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_cut_anywhere_cannot_be_read_at_all(path: Path, share: float) -> None:
    raw.save_stored((stored([(seq, True, seq) for seq in range(200)]),), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(UsageError, match=r"stored\.parquet: cannot be read .*cut, edited or removed"):
        raw.read_stored(path)


def test_samples_come_back_as_series_in_the_order_sampled(tmp_path: Path) -> None:
    samples = [
        Sample(at_us=1_000, component="app", metric="in_flight", value=3.0),
        Sample(at_us=1_000, component="k6", metric="cpu_seconds", value=0.25),
        Sample(at_us=2_000, component="app", metric="in_flight", value=0.1),
    ]
    raw.save_samples(samples, tmp_path / raw.SAMPLES_FILE)
    found = raw.read_samples(tmp_path / raw.SAMPLES_FILE)
    assert {key: (at.tolist(), value.tolist()) for key, (at, value) in found.items()} == {
        ("app", "in_flight"): ([1_000, 2_000], [3.0, 0.1]),
        ("k6", "cpu_seconds"): ([1_000], [0.25]),
    }


def test_without_samples_there_are_no_series(tmp_path: Path) -> None:
    raw.save_samples([], tmp_path / raw.SAMPLES_FILE)
    assert raw.read_samples(tmp_path / raw.SAMPLES_FILE) == {}
