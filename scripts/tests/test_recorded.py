from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recording
from writepath.errors import AuditError
from writepath.load import ledger, recorded
from writepath.load.ledger import RECORD, Ledger
from writepath.load.recorded import ROW

if TYPE_CHECKING:
    from pathlib import Path

# The same bytes stand in k6/recorder/ledger/format_test.go.
HEADER_HEX = "777269746570617468206c656467657202000000200000000000000000000000"
RECORD_HEX = "5806e8ebc060060007000000fa0000003a300000c900010000000000c110bfa7"
EPOCH_US = 1_795_231_568_103_000
TIMES = st.integers(min_value=0, max_value=20_000_000)
RECORDS = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=ledger.SEQUENCES - 1),
        st.sampled_from([0, 1]),
        TIMES.map(lambda us: EPOCH_US + us),
        TIMES,
        TIMES,
        st.sampled_from([0, 200, 201, 400, 409, 429, 500, 502, 503, 504]),
        st.sampled_from([0, 1000, 1050, 1212, 1220, 1503, ledger.WRONG_ACK]),
    ),
    max_size=40,
    unique_by=lambda record: record[0],
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded") / recorded.FILE


def request(seq: int, status: int = 201, code: int = 0) -> recording.Request:
    return (seq, 0, EPOCH_US + seq, 309, 11_300, status, code)


def read(path: Path, data: bytes) -> Ledger:
    path.write_bytes(data)
    return ledger.read(path)


def test_the_layout_is_the_one_that_k6_writes(path: Path) -> None:
    found = read(path, bytes.fromhex(HEADER_HEX + RECORD_HEX))
    assert found.records.tolist() == [(7, 1, EPOCH_US, 250, 12_346, 201, 0)]
    assert (found.malformed, found.truncated) == (0, False)
    assert (recording.HEADER.hex(), recorded.HEADER.itemsize, ROW.itemsize) == (HEADER_HEX, 32, 32)
    assert recording.rows([(7, 1, EPOCH_US, 250, 12_346, 201, 0)]).hex() == RECORD_HEX


@given(RECORDS)
def test_what_was_recorded_is_read_in_the_order_of_the_sequence(path: Path, records: list[Any]) -> None:
    found = ledger.read(recording.write(path, records))
    assert found.records.tolist() == np.array(sorted(records), RECORD).tolist()
    assert (found.malformed, found.repeated, found.truncated) == (0, 0, False)


@given(st.integers(min_value=0, max_value=7 * 32))
def test_a_file_cut_anywhere_loses_only_the_record_that_is_cut(path: Path, cut: int) -> None:
    torn = read(path, (recording.HEADER + recording.rows(map(request, range(6))))[:cut])
    assert torn.records["seq"].tolist() == list(range(max(cut // 32 - 1, 0)))
    assert (torn.truncated, torn.malformed) == (cut % 32 > 0, 0)


@given(st.integers(min_value=0, max_value=3 * 32 - 1), st.integers(min_value=1, max_value=255))
def test_a_changed_byte_makes_one_record_none(path: Path, at: int, change: int) -> None:
    rows = bytearray(recording.rows(map(request, range(3))))
    rows[at] ^= change
    spoiled = read(path, recording.HEADER + bytes(rows))
    assert spoiled.records["seq"].tolist() == [seq for seq in range(3) if seq != at // 32]
    assert (spoiled.malformed, spoiled.problems) == (1, (f"record {at // 32 + 1}: not a record",))


@pytest.mark.parametrize(
    ("field", "value"),
    [("seq", ledger.SEQUENCES), ("status", 1000), ("operation", 2), ("error_code", 1 << 31)],
)
def test_what_no_request_can_have_is_no_record(path: Path, field: str, value: int) -> None:
    rows = np.frombuffer(recording.rows(map(request, range(3))), ROW).copy()
    rows[field][1] = value
    found = read(path, recording.HEADER + recording.sealed(rows).tobytes())
    assert (found.records["seq"].tolist(), found.malformed) == ([0, 2], 1)


def test_zeros_that_a_crash_left_are_no_records_and_the_first_of_a_repeated_one_is_kept(path: Path) -> None:
    rows = [request(3), request(4), request(3, 503)]
    found = read(path, recording.HEADER + recording.rows(rows) + bytes(30 * 32))
    assert found.records["status"].tolist() == [201, 201]
    assert (found.malformed, found.repeated, len(found.problems)) == (30, 1, 10)


def test_before_the_first_record_there_is_none(path: Path) -> None:
    for data in (b"", recording.HEADER):
        empty = read(path, data)
        assert (len(empty.records), empty.truncated) == (0, False)
        assert not recorded.holds_any(path)
    assert recorded.holds_any(recording.write(path, [request(0)]))
    assert not recorded.holds_any(path.with_name("nowhere.rec"))


@pytest.mark.parametrize(
    "header", [b"seq,start_ms,blocked_ms,duration_", recording.HEADER.replace(b"\2", b"\1")]
)
def test_another_versions_file_is_refused(path: Path, header: bytes) -> None:
    with pytest.raises(AuditError, match=r"ledger\.rec: not a ledger of version 2"):
        read(path, header + recording.rows([request(0)]))
    with pytest.raises(AuditError, match="nowhere"):
        ledger.read(path.with_name("nowhere.rec"))


def test_a_tail_counts_what_is_appended(tmp_path: Path) -> None:
    path = tmp_path / recorded.FILE
    tail = ledger.Tail(path)
    assert tail.poll().finished == 0
    path.write_bytes(recording.HEADER[:20])
    assert tail.poll().finished == 0
    last = recording.rows([request(2)])
    path.write_bytes(recording.HEADER + recording.rows([request(201), request(1, 503)]) + last[:20])
    assert tail.poll() == ledger.Progress(finished=2, acknowledged=1, errors=1)
    with path.open("ab") as file:
        file.write(last[20:] + recording.rows([request(3, 0, 1212)]))
    assert tail.poll() == ledger.Progress(finished=4, acknowledged=2, errors=2)
    assert tail.highest == 201
    path.unlink()  # by whoever keeps it as a table
    assert tail.poll() == ledger.Progress(finished=4, acknowledged=2, errors=2)


def test_a_million_records_are_read_in_no_time(path: Path) -> None:
    """Record by record this takes half a minute; the bound leaves room for a busy machine."""
    rows = np.zeros(1_000_000, ROW)
    rows["seq"] = np.random.default_rng(7).permutation(len(rows))
    rows["status"] = 201
    data = recording.HEADER + recording.sealed(rows).tobytes()
    began = time.process_time()
    found = read(path, data)
    assert (len(found.records), found.malformed, found.truncated) == (1_000_000, 0, False)
    assert time.process_time() - began < 10
