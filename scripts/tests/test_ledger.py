"""Are requests recorded, kept as a table and read back as they were, and is damage told?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import recording
from writepath.analysis import load_rows
from writepath.analysis.audit import ACKNOWLEDGED
from writepath.errors import AuditError
from writepath.load import ledger, parquet
from writepath.load.ledger import NO_TIME, RECORD, ROW, SEARCH, SESSION, WRITE, Ledger
from writepath.records.load_facts import OperationFacts

EPOCH_US = 1_795_231_568_103_000
TIMES = st.integers(min_value=0, max_value=20_000_000)
RECORDS = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=999),
        st.sampled_from(range(len(ledger.OPERATIONS))),
        TIMES.map(lambda us: EPOCH_US + us),
        TIMES,
        TIMES,
        st.sampled_from([0, 200, 201, 400, 409, 429, 500, 502, 503, 504]),
        st.sampled_from([0, 1000, 1050, 1212, 1220, 1503, ledger.WRONG_ACK, ledger.LOGIN_FAILED]),
    ),
    max_size=40,
    unique_by=lambda record: record[0],
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ledgers") / ledger.FILE


def table(records: list[Any]) -> NDArray[np.void]:
    return np.array(records, RECORD)


def request(seq: int, status: int = 201, code: int = 0, operation: int = 0) -> recording.Request:
    return (seq, operation, EPOCH_US + seq, 309, 11_300, status, code)


def of(*requests: recording.Request) -> Ledger:
    return Ledger(records=table(list(requests)))


def test_each_operation_has_its_own_status_and_two_errors_are_never_served(path: Path) -> None:
    statuses = (0, 200, 201, 202, 302, 400, 401, 404, 409, 413, 415, 429, 500, 502, 503, 504)
    answers = [(operation, status, 0) for operation in range(len(ledger.OPERATIONS)) for status in statuses]
    answers += [(0, 201, ledger.WRONG_ACK), (1, 200, ledger.WRONG_TOTAL)]
    answers += [(3, 201, ledger.LOGIN_FAILED), (4, 200, ledger.LOGIN_FAILED)]
    found = of(*(request(seq, status, code, number) for seq, (number, status, code) in enumerate(answers)))
    served = {answers[index] for index in np.flatnonzero(found.acknowledged())}
    assert served == {
        (0, 201, 0),
        (0, 201, ledger.WRONG_ACK),
        (1, 200, 0),
        (2, 200, 0),
        (3, 201, 0),
        (4, 200, 0),
    }
    ledger.write(found, path)
    rows = load_rows.of_raw(parquet.parts(path, ledger.SCHEMA), None, ledger.OPERATIONS, 0)
    assert (rows.client == ACKNOWLEDGED).tolist() == found.acknowledged().tolist()


@given(RECORDS, st.integers(min_value=0, max_value=50))
def test_a_ledger_is_written_as_it_is(path: Path, records: list[Any], more: int) -> None:
    whole = ledger.concluded(of(*sorted(records)), [len(records) + more])
    ledger.write(whole, path)
    kept = parquet.load_table(path)
    names = [operation.name for operation in ledger.OPERATIONS]
    for row, record in zip(kept.to_pylist(), whole.records.tolist(), strict=True):
        values = [NO_TIME if value is None else value for value in row.values()]
        assert [values[0], names.index(str(values[1])), *values[2:]] == list(record)


def test_row_groups_are_read_one_at_a_time_and_together_are_the_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = of(*(request(seq, 200 + seq % 2, operation=seq % 2) for seq in range(10)))
    write_table = pq.write_table
    monkeypatch.setattr(
        pq, "write_table", lambda *found, **more: write_table(*found, row_group_size=4, **more)
    )
    ledger.write(whole, path)
    parts = list(parquet.parts(path, ledger.SCHEMA))
    assert [len(part) for part in parts] == [4, 4, 2]
    together = parquet.load_table(path)
    assert pa.concat_tables(parts).cast(together.schema).equals(together)


def test_errors_are_counted_by_their_kind() -> None:
    codes = [(201, 0), (201, 9001), (0, 1212), (0, 1212), (0, 1220), (0, 1211), (0, 1050), (0, 9002), (503, 1503),
             (429, 1429), (0, 4711), (401, 9008), (201, 9008)]  # fmt: skip
    mixed = of(*(request(seq, *pair) for seq, pair in enumerate(codes)))
    assert recording.by_error(mixed) == {
        "wrong ack": 1, "connection refused": 2, "connection reset": 1, "dial timed out": 1,
        "request timed out": 1, "connection closed": 1, "HTTP 503": 1, "HTTP 429": 1, "k6 error 4711": 1,
        "log-in failed": 2,
    }  # fmt: skip
    assert recording.by_status(mixed) == {0: 7, 201: 3, 401: 1, 429: 1, 503: 1}


@pytest.mark.parametrize("operation", [WRITE, SEARCH, SESSION])
def test_iterations_without_a_record_are_added_as_indeterminate(operation: OperationFacts) -> None:
    whole = ledger.concluded(of(request(0), request(3)), [6], operation)
    assert whole.records["seq"].tolist() == list(range(6))
    assert np.flatnonzero(whole.records["start_us"] == NO_TIME).tolist() == [1, 2, 4, 5]
    assert whole.records["operation"].tolist()[1] == ledger.OPERATIONS.index(operation)
    assert np.flatnonzero(whole.acknowledged()).tolist() == [0, 3]
    assert recording.by_error(whole) == {"interrupted": 4}
    shared = ledger.concluded(of(request(0), request(1), request(5)), [1, 4], operation)
    assert shared.records["seq"].tolist() == [0, 1, 3, 5, 7], "of two k6, which take sequences in turns"
    torn = replace(of(request(0), request(2)), problems=("the end is cut off",))  # nobody knows what it said
    assert recording.by_error(ledger.concluded(torn, started=[4])) == {"its line is unreadable": 2}


def test_a_half_written_table_never_has_the_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.unlink(missing_ok=True)

    def full(*_found: object, **_more: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(OSError, match="no space left"):
        ledger.write(of(request(0)), path)
    assert not path.exists()


# The same bytes stand in k6/recorder/ledger/format_test.go.
HEADER_HEX = "777269746570617468206c656467657202000000200000000000000000000000"
RECORD_HEX = "5806e8ebc060060007000000fa0000003a300000c900010000000000c110bfa7"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded") / ledger.RECORDING_FILE


def read(kept: Path, data: bytes) -> Ledger:
    kept.write_bytes(data)
    return ledger.read(kept)


def test_the_layout_is_the_one_that_k6_writes(kept: Path) -> None:
    found = read(kept, bytes.fromhex(HEADER_HEX + RECORD_HEX))
    assert found.records.tolist() == [(7, 1, EPOCH_US, 250, 12_346, 201, 0)]
    assert found.problems == ()
    assert (recording.HEADER.hex(), ledger.HEADER.itemsize, ROW.itemsize) == (HEADER_HEX, 32, 32)
    assert recording.rows([(7, 1, EPOCH_US, 250, 12_346, 201, 0)]).hex() == RECORD_HEX


@given(RECORDS)
def test_what_was_recorded_is_read_in_the_order_of_the_sequence(kept: Path, records: list[Any]) -> None:
    found = ledger.read(recording.write(kept, records))
    assert found.records.tolist() == np.array(sorted(records), RECORD).tolist()
    assert found.problems == ()


@given(st.integers(min_value=0, max_value=7 * 32))
def test_a_file_cut_anywhere_loses_only_the_record_that_is_cut(kept: Path, cut: int) -> None:
    torn = read(kept, (recording.HEADER + recording.rows(map(request, range(6))))[:cut])
    assert torn.records["seq"].tolist() == list(range(max(cut // 32 - 1, 0)))
    assert torn.problems == (("the end is cut off",) if cut % 32 else ())


@given(st.integers(min_value=0, max_value=3 * 32 - 1), st.integers(min_value=1, max_value=255))
def test_a_changed_byte_makes_one_record_none(kept: Path, at: int, change: int) -> None:
    rows = bytearray(recording.rows(map(request, range(3))))
    rows[at] ^= change
    spoiled = read(kept, recording.HEADER + bytes(rows))
    assert spoiled.records["seq"].tolist() == [seq for seq in range(3) if seq != at // 32]
    assert spoiled.problems == (f"record {at // 32 + 1}: not a record",)


@pytest.mark.parametrize(
    ("field", "value"),
    [("seq", ledger.SEQUENCES), ("status", 1000), ("operation", 5), ("error_code", 1 << 31)],
)
def test_what_no_request_can_have_is_no_record(kept: Path, field: str, value: int) -> None:
    rows = np.frombuffer(recording.rows(map(request, range(3))), ROW).copy()
    rows[field][1] = value
    found = read(kept, recording.HEADER + recording.sealed(rows).tobytes())
    assert (found.records["seq"].tolist(), found.problems) == ([0, 2], ("record 2: not a record",))


def test_zeros_that_a_crash_left_are_no_records_and_the_first_of_a_repeated_one_is_kept(kept: Path) -> None:
    rows = [request(3), request(4), request(3, 503)]
    found = read(kept, recording.HEADER + recording.rows(rows) + bytes(32))
    assert found.records["status"].tolist() == [201, 201]
    assert found.problems == ("record 4: not a record", "record 3: seq 3 is repeated")
    assert len(read(kept, recording.HEADER + bytes(30 * 32)).problems) == 10


def test_before_the_first_record_there_is_none(kept: Path) -> None:
    for data in (b"", recording.HEADER):
        empty = read(kept, data)
        assert (len(empty.records), empty.problems) == (0, ())
        assert not ledger.holds_any(kept)
    assert ledger.holds_any(recording.write(kept, [request(0)]))
    assert not ledger.holds_any(kept.with_name("nowhere.rec"))


@pytest.mark.parametrize(
    "header", [b"seq,start_ms,blocked_ms,duration_", recording.HEADER.replace(b"\2", b"\1")]
)
def test_another_versions_file_is_refused(kept: Path, header: bytes) -> None:
    with pytest.raises(AuditError, match=r"ledger\.rec: not a ledger of version 2"):
        read(kept, header + recording.rows([request(0)]))
    with pytest.raises(AuditError, match="nowhere"):
        ledger.read(kept.with_name("nowhere.rec"))


def test_a_tail_counts_what_is_appended(tmp_path: Path) -> None:
    kept = tmp_path / ledger.RECORDING_FILE
    tail = ledger.Tail(kept)
    assert tail.poll().finished == 0
    kept.write_bytes(recording.HEADER[:20])
    assert tail.poll().finished == 0
    last = recording.rows([request(2)])
    kept.write_bytes(recording.HEADER + recording.rows([request(201), request(1, 503)]) + last[:20])
    assert (tail.poll().finished, tail.acknowledged) == (2, 1)
    with kept.open("ab") as file:
        file.write(last[20:] + recording.rows([request(3, 0, 1212)]))
    assert (tail.poll().finished, tail.acknowledged) == (4, 2)
    kept.unlink()  # by whoever keeps it as a table
    assert (tail.poll().finished, tail.acknowledged) == (4, 2)
