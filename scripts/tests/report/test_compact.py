"""Does the published form keep every kind of request, and refuse what it cannot hold?"""

from __future__ import annotations

import lzma
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from writepath.errors import UsageError
from writepath.load.ledger import RECORD, Ledger
from writepath.report import compact
from writepath.report.raw import RunData, Samples, StoredRows, VisibleRows, read_run

if TYPE_CHECKING:
    from pathlib import Path

    from report.conftest import SuiteSpec

START_MS = 1_767_323_045_000.0
TIMES = st.integers(min_value=0, max_value=2_000_000).map(lambda units: units / 100)
REQUEST = st.tuples(
    st.integers(min_value=1, max_value=50),  # step of the sequence
    st.one_of(st.none(), st.tuples(TIMES, TIMES, TIMES)),  # start, blocked, duration; none: interrupted
    st.sampled_from([(201, 0), (503, 1503), (0, 1050), (0, 9002)]),
    st.one_of(
        st.none(), st.just("unknown"), st.integers(min_value=-100, max_value=10**7).map(lambda n: n / 100)
    ),
)
Request = tuple[int, tuple[float, float, float] | None, tuple[int, int], float | str | None]


@pytest.fixture
def run_data(suite: SuiteSpec) -> RunData:
    """A valid run, to be spoiled."""
    return read_run(suite.write() / "jpa/flat/rep-01")


def ledger_of(requests: list[Request]) -> np.ndarray:
    records = np.zeros(len(requests), dtype=RECORD)
    seq = -1
    for record, (step, times, (status, error), _) in zip(records, requests, strict=True):
        seq += step
        start, blocked, duration = times or (np.nan, np.nan, np.nan)
        for name, value in (("seq", seq), ("start_ms", START_MS + start), ("blocked_ms", blocked)):
            record[name] = value
        record["duration_ms"], record["status"], record["error_code"] = duration, status, error
    return records


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(REQUEST, max_size=40))
def test_every_request_and_row_comes_back(tmp_path: Path, run_data: RunData, requests: list[Request]) -> None:
    records = ledger_of(requests)
    rows = [
        (record["seq"], np.nan if delay == "unknown" else np.nan_to_num(record["start_ms"]) + float(delay))
        for record, (*_, delay) in zip(records, requests, strict=True)
        if delay is not None and not np.isnan(record["start_ms"])
    ]
    stored = StoredRows(
        seq=np.array([seq for seq, _ in rows], dtype=np.int64),
        durable_at_ms=np.array([moment for _, moment in rows]),
        content_ok=np.ones(len(rows), dtype=np.int64),
        foreign_rows=0,
    )
    series = {
        ("k6", "cpu_seconds"): Samples(
            at_ms=np.array([START_MS, START_MS + 999]), value=np.array([0.25, 3.5])
        )
    }
    data = RunData(run=run_data.run, ledger=Ledger(records=records), stored=stored, series=series)
    assert compact.problems(data) == []
    compact.write(data, tmp_path)
    ledger, kept, samples = compact.read(tmp_path)
    for name in RECORD.names or ():
        np.testing.assert_allclose(ledger.records[name], records[name], rtol=0, atol=0.0051)
    assert kept.seq.tolist() == stored.seq.tolist()
    np.testing.assert_allclose(kept.durable_at_ms, stored.durable_at_ms, rtol=0, atol=0.0101)
    assert samples["k6", "cpu_seconds"].at_ms.tolist() == [START_MS, START_MS + 999]
    assert samples["k6", "cpu_seconds"].value.tolist() == [0.25, 3.5]


@pytest.mark.parametrize(
    ("seq", "content_ok", "foreign", "problem"),
    [
        ([1, 1], [1, 1], 0, "rows are stored more than once"),
        ([1, 2], [1, 0], 0, "rows are stored with other content"),
        ([1, 99_999], [1, 1], 0, "rows in the store were never sent"),
        ([1, 2], [1, 1], 1, "rows in the store were never sent"),
    ],
)
def test_what_the_form_cannot_hold_is_named(
    run_data: RunData, seq: list[int], content_ok: list[int], foreign: int, problem: str
) -> None:
    stored = StoredRows(
        seq=np.array(seq), durable_at_ms=np.zeros(2), content_ok=np.array(content_ok), foreign_rows=foreign
    )
    spoiled = RunData(run=run_data.run, ledger=run_data.ledger, stored=stored, series={})
    assert compact.problems(spoiled) == [problem]


def test_a_missing_column_is_named(tmp_path: Path, run_data: RunData) -> None:
    compact.write(run_data, tmp_path)
    path = tmp_path / compact.REQUESTS_FILE
    lines = lzma.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(lzma.compress(b"".join(line for line in lines if not line.startswith(b"durable"))))
    with pytest.raises(UsageError, match="no column durable"):
        compact.read(tmp_path)


def test_a_cut_file_is_named(tmp_path: Path, run_data: RunData) -> None:
    compact.write(run_data, tmp_path)
    path = tmp_path / compact.REQUESTS_FILE
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UsageError, match="truncated or was edited"):
        compact.read(tmp_path)


def test_visible_moments_come_back_and_are_not_there_where_nobody_looked(
    tmp_path: Path, run_data: RunData
) -> None:
    compact.write(run_data, tmp_path)
    assert compact.read_visible(tmp_path) is None
    nan = np.nan
    seen = VisibleRows(
        seq=np.array([3, 4, 90]),
        not_before_ms=np.array([START_MS + 1.25, nan, nan]),
        visible_at_ms=np.array([START_MS + 51.5, START_MS, nan]),
    )
    compact.write(replace(run_data, visible=seen), tmp_path)
    back = compact.read_visible(tmp_path)
    assert back is not None
    assert back.seq.tolist() == [3, 4, 90]
    np.testing.assert_allclose(back.not_before_ms, seen.not_before_ms, rtol=0, atol=0.0051)
    np.testing.assert_allclose(back.visible_at_ms, seen.visible_at_ms, rtol=0, atol=0.0051)
