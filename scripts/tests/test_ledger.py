from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writepath.errors import UsageError
from writepath.load import ledger, parquet
from writepath.load.ledger import NO_TIME, RECORD, SEARCH, WRITE, Ledger, Operation, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

EPOCH_US = 1_795_231_568_103_000
TIMES = st.integers(min_value=0, max_value=20_000_000)
RECORDS = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=999),
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
    return tmp_path_factory.mktemp("ledgers") / ledger.FILE


def table(records: list[Any]) -> NDArray[np.void]:
    return np.array(records, RECORD)


def request(seq: int, status: int = 201, code: int = 0, operation: int = 0) -> tuple[int, ...]:
    return (seq, operation, EPOCH_US + seq, 309, 11_300, status, code)


def of(*requests: tuple[int, ...]) -> Ledger:
    return Ledger(records=table(list(requests)), operations=ledger.OPERATIONS)


def test_each_operation_has_its_own_statuses_and_a_wrong_total_is_not_served() -> None:
    found = of(
        request(0, 201),
        request(1, 200),
        request(2, 200, operation=1),
        request(3, 201, operation=1),
        request(4, 200, ledger.WRONG_TOTAL, operation=1),
        request(5, 400, operation=1),
        *(request(status, status) for status in (400, 409, 413, 415, 429)),
        *(request(status, status) for status in (0, 202, 302, 404, 500, 502, 503, 504)),
    )
    assert found.outcomes().tolist() == [
        Outcome.ACKNOWLEDGED,
        Outcome.INDETERMINATE,
        Outcome.ACKNOWLEDGED,
        Outcome.INDETERMINATE,
        Outcome.INDETERMINATE,
        *[Outcome.REJECTED] * 6,
        *[Outcome.INDETERMINATE] * 8,
    ]


@given(RECORDS, st.integers(min_value=0, max_value=50))
def test_a_written_ledger_is_read_as_it_was(path: Path, records: list[Any], more: int) -> None:
    whole = ledger.concluded(of(*sorted(records)), len(records) + more)
    ledger.write(whole, path)
    kept = parquet.load_table(path).column("duration_us")
    assert kept.null_count == (~whole.timed()).sum()
    after = ledger.read(path)
    assert after.records.tolist() == whole.records.tolist()
    assert (after.malformed, after.repeated, after.truncated) == (0, 0, False)


def test_row_groups_are_read_one_at_a_time_and_together_are_the_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = of(*(request(seq, 200 + seq % 2, operation=seq % 2) for seq in range(10)))
    write_table = pq.write_table
    monkeypatch.setattr(
        pq, "write_table", lambda *found, **more: write_table(*found, row_group_size=4, **more)
    )
    ledger.write(whole, path)
    parts = list(ledger.parts(path))
    assert [len(part.records) for part in parts] == [4, 4, 2]
    assert np.concatenate([part.records for part in parts]).tolist() == whole.records.tolist()
    assert ledger.read(path).records.tolist() == whole.records.tolist()


@given(st.floats(min_value=0, max_value=1, exclude_max=True))
def test_a_table_cut_anywhere_cannot_be_read_at_all(path: Path, share: float) -> None:
    ledger.write(of(*map(request, range(400))), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    for damaged in (path, path.with_name("nowhere.parquet")):
        with pytest.raises(UsageError, match=rf"{damaged.name}: cannot be read"):
            ledger.read(damaged)


def _without_a_sequence(found: pa.Table) -> pa.Table:
    return found.set_column(0, "sequence", pa.nulls(found.num_rows, pa.int64()))


def _with(name: str, value: object) -> Callable[[pa.Table], pa.Table]:
    """Another value in the first row."""

    def change(found: pa.Table) -> pa.Table:
        index = found.schema.get_field_index(name)
        values = [value, *found.column(name).to_pylist()[1:]]
        return found.set_column(index, name, pa.array(values, pa.string() if name == "operation" else None))

    return change


@pytest.mark.parametrize(
    "change",
    [
        _without_a_sequence,
        _with("sequence", -1),
        _with("sequence", ledger.SEQUENCES),
        _with("start_us", None),
        _with("duration_us", -5),
        _with("status", 1000),
        _with("status", None),
        _with("operation", "delete"),
        _with("operation", None),
        _with("error_code", -1),
        lambda found: found.set_column(6, "error_code", pa.array(["a", "b"])),
        lambda found: found.drop_columns(["status"]),
    ],
)
def test_a_row_that_is_no_request_makes_the_table_unreadable(
    path: Path, change: Callable[[pa.Table], pa.Table]
) -> None:
    parquet.save_table(change(ledger.to_table(of(request(0), request(1)))), path)
    with pytest.raises(UsageError, match=r"requests\.parquet: .*edited"):
        ledger.read(path)


def test_rows_in_another_order_are_sorted_and_a_repeated_sequence_is_reported(path: Path) -> None:
    ledger.write(of(request(3), request(4), request(3, 503), request(1)), path)
    found = ledger.read(path)
    assert found.records["seq"].tolist() == [1, 3, 4]
    assert found.records["status"].tolist() == [201, 201, 201]
    assert (found.repeated, found.problems) == (1, ("record 3: seq 3 is repeated",))


def test_errors_are_counted_by_their_kind() -> None:
    codes = [(201, 0), (201, 9001), (0, 1212), (0, 1212), (0, 1220), (0, 1211), (0, 1050), (0, 9002), (503, 1503),
             (429, 1429), (0, 4711)]  # fmt: skip
    mixed = of(*(request(seq, *pair) for seq, pair in enumerate(codes)))
    assert mixed.by_error() == {
        "wrong ack": 1, "connection refused": 2, "connection reset": 1, "dial timed out": 1,
        "request timed out": 1, "connection closed": 1, "HTTP 503": 1, "HTTP 429": 1, "k6 error 4711": 1,
    }  # fmt: skip
    assert mixed.by_status() == {"0": 7, "201": 2, "429": 1, "503": 1}


@pytest.mark.parametrize("operation", [WRITE, SEARCH])
def test_iterations_without_a_record_are_added_as_indeterminate(operation: Operation) -> None:
    whole = ledger.concluded(of(request(0), request(3)), 6, operation)
    assert whole.records["seq"].tolist() == list(range(6))
    assert whole.timed().tolist() == [True, False, False, True, False, False]
    assert whole.records["duration_us"].tolist()[1] == NO_TIME
    assert whole.records["operation"].tolist()[1] == ledger.OPERATIONS.index(operation)
    assert whole.outcomes().tolist() == [0, 2, 2, 0, 2, 2]
    assert whole.by_error() == {"interrupted": 4}
    for damage in ({"truncated": True}, {"malformed": 1}):  # nobody knows what their records said
        torn = ledger.concluded(replace(of(request(0), request(2)), **damage), started=4)
        assert torn.by_error() == {"its line is unreadable": 2}


def test_a_half_written_table_never_has_the_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.unlink(missing_ok=True)

    def full(*_found: object, **_more: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(OSError, match="no space left"):
        ledger.write(of(request(0)), path)
    assert not path.exists()


def test_a_million_requests_are_written_and_read_in_no_time(path: Path) -> None:
    """Row by row this takes half a minute; the bound leaves room for a busy machine."""
    records = np.zeros(1_000_000, RECORD)
    records["seq"] = np.arange(len(records))
    records["start_us"] = EPOCH_US + 125 * records["seq"]
    records["status"] = 201
    began = time.process_time()
    ledger.write(Ledger(records=records), path)
    assert len(ledger.read(path).records) == 1_000_000
    assert time.process_time() - began < 10
