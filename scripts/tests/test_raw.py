from pathlib import Path

import numpy as np

from writepath.analysis import raw
from writepath.analysis.raw import Sample, Stored
from writepath.load import parquet
from writepath.load.ledger import NO_TIME


def stored(rows: list[tuple[int, bool, int]], *foreign: str) -> Stored:
    seq, content_ok, durable_at_us = (np.array(column) for column in zip(*rows, strict=True))
    return Stored(seq=seq, content_ok=content_ok, durable_at_us=durable_at_us, foreign_ids=foreign)


def test_a_foreign_row_has_its_id_alone_and_an_unknown_moment_is_null(tmp_path: Path) -> None:
    path = tmp_path / raw.STORED_FILE
    raw.save_stored((stored([(3, True, 7), (4, False, NO_TIME)], "other"), stored([(3, True, 9)])), path)
    assert parquet.load_table(path).to_pylist() == [
        {"read": 1, "sequence": 3, "content_ok": True, "durable_at_us": 7, "foreign_id": None},
        {"read": 1, "sequence": 4, "content_ok": False, "durable_at_us": None, "foreign_id": None},
        {"read": 1, "sequence": None, "content_ok": None, "durable_at_us": None, "foreign_id": "other"},
        {"read": 2, "sequence": 3, "content_ok": True, "durable_at_us": 9, "foreign_id": None},
    ]


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
    raw.save_samples([], tmp_path / raw.SAMPLES_FILE)
    assert raw.read_samples(tmp_path / raw.SAMPLES_FILE) == {}
