"""The ledger of a load: one record for each request, as k6 records it and as a table that is kept.

k6/recorder/ledger/format.go writes records of fixed size; a test on each side has the same bytes. A file that ends
within a record, or in one whose check is wrong, was torn by a crash: what comes before it counts.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from writepath.errors import AuditError, UsageError
from writepath.load import parquet

RECORDING_FILE = "ledger.rec"
HEADER = np.dtype([("magic", "S16"), ("version", "<u4"), ("record_bytes", "<u4"), ("zeros", "<u8")])
ROW = np.dtype(
    [
        ("start_us", "<u8"),  # epoch
        ("seq", "<u4"),
        ("blocked_us", "<u4"),
        ("duration_us", "<u4"),
        ("status", "<u2"),
        ("operation", "<u2"),  # index into the load's operations; with status, one word
        ("error_code", "<u4"),
        ("check", "<u4"),  # the other seven words and CHECK_SEED, exclusive or
    ]
)
MAGIC = b"writepath ledger"
VERSION = 2
CHECK_SEED = 0x4C504657
_STATUSES = 1000
_ERROR_CODES = 1 << 31


@dataclass(frozen=True, kw_only=True, eq=False)
class Recording:
    """What a file holds, in its order."""

    rows: NDArray[np.void]  # of ROW, whole ones that are records
    numbers: NDArray[np.int64]  # of those, in the file, from 1
    bad: tuple[int, ...]  # numbers of the others
    torn: bool  # the end of the file is no whole record


def read_recording(path: Path, *, sequences: int, operations: int) -> Recording:
    """A recording as far as it goes. sequences, operations: how many there are at most. AuditError without a file."""
    try:
        data_bytes = path.stat().st_size
        if 0 < data_bytes < HEADER.itemsize:
            return Recording(rows=np.empty(0, ROW), numbers=np.empty(0, np.int64), bad=(), torn=True)
        if data_bytes:
            _require_ours(path)
        whole, rest = divmod(max(data_bytes - HEADER.itemsize, 0), ROW.itemsize)
        rows = np.fromfile(path, ROW, count=whole, offset=HEADER.itemsize)
    except OSError as error:
        raise AuditError(f"{path.name}: the load's ledger cannot be read ({error.strerror})") from error
    sound = _sound(rows, sequences, operations)
    numbers = np.flatnonzero(sound) + 1
    bad = np.flatnonzero(~sound) + 1
    return Recording(
        rows=rows if not len(bad) else rows[sound], numbers=numbers, bad=tuple(bad.tolist()), torn=rest > 0
    )


def rows_from(path: Path, offset: int) -> NDArray[np.void]:
    """Whole rows from an offset of the file on, where one begins."""
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read()
    return np.frombuffer(data, ROW, count=len(data) // ROW.itemsize)


def holds_any(path: Path) -> bool:
    """Whether a request was recorded there."""
    return path.exists() and path.stat().st_size >= HEADER.itemsize + ROW.itemsize


def _require_ours(path: Path) -> None:
    found = np.fromfile(path, HEADER, count=1)[0]
    said = (found["magic"], int(found["version"]), int(found["record_bytes"]))
    if said != (MAGIC, VERSION, ROW.itemsize):
        raise AuditError(
            f"{path.name}: not a ledger of version {VERSION}; another version of the k6 recorder wrote it."
            " Rerun it."
        )


def _sound(rows: NDArray[np.void], sequences: int, operations: int) -> NDArray[np.bool_]:
    pairs = rows.view("<u8").reshape(len(rows), ROW.itemsize // 8)
    folded = pairs[:, 0] ^ pairs[:, 1] ^ pairs[:, 2] ^ pairs[:, 3]
    checked = (folded ^ (folded >> np.uint64(32))) & np.uint64(0xFFFFFFFF) == CHECK_SEED
    possible = (rows["seq"] < sequences) & (rows["status"] < _STATUSES) & (rows["error_code"] < _ERROR_CODES)
    possible &= rows["operation"] < operations
    sound: NDArray[np.bool_] = checked & possible
    return sound


FILE = "requests.parquet"
NO_TIME = parquet.NULL  # an interrupted request has it in all three times
RECORD = np.dtype(
    [
        ("seq", np.int64),
        ("operation", np.int16),  # index into Ledger.operations
        ("start_us", np.int64),  # epoch
        ("blocked_us", np.int64),  # waiting for and making a connection
        ("duration_us", np.int64),  # from sending to the end of the answer; without one, until given up
        ("status", np.int16),  # 0: no answer
        ("error_code", np.int32),  # k6's, or ours from 9000 on (k6/lib/ledger.js); 0: none
    ]
)
SCHEMA = pa.schema(
    [
        ("sequence", pa.int64()),
        ("operation", parquet.WORD),
        ("start_us", pa.int64()),
        ("blocked_us", pa.int64()),
        ("duration_us", pa.int64()),
        ("status", pa.int16()),
        ("error_code", pa.int32()),
    ]
)
WRONG_ACK = 9001  # 201, but Location does not name the id that was sent
END_OF_FILE = 9002  # the connection was closed without an answer
INTERRUPTED = 9003  # k6 was stopped before the answer; often there is not even a line
UNREAD = 9004  # nothing, in a ledger that is torn or has records that are none: it may have said 201
REFUSED_BY_APPLICATION = 9005  # 503 at the cap of requests in flight
REFUSED_BY_STORE = 9006  # 503: the store or the broker could not take it in time
WRONG_TOTAL = 9007  # 200, but with another total than the posts that hold the keyword
ACKNOWLEDGED_STATUS = 201
REJECTED_STATUSES = (400, 409, 413, 415, 429)
SEQUENCES = 10**8  # of one load
NAMED_PROBLEMS = 10
_STATUSES = 1000
_TIMES = ("start_us", "blocked_us", "duration_us")
_ERRORS = {
    1000: "connection failed",
    1020: "invalid URL",
    1050: "request timed out",
    1101: "no such host",
    1201: "broken pipe",
    1210: "dial failed",
    1211: "dial timed out",
    1212: "connection refused",
    1220: "connection reset",
    1701: "unreadable answer",
    WRONG_ACK: "wrong ack",
    END_OF_FILE: "connection closed",
    INTERRUPTED: "interrupted",
    UNREAD: "its line is unreadable",
    WRONG_TOTAL: "wrong total",
}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What a request does, and with which statuses it counts as served."""

    name: str
    served: tuple[int, ...]


WRITE = Operation(name="write", served=(ACKNOWLEDGED_STATUS,))
SEARCH = Operation(name="search", served=(200,))
OPERATIONS = (WRITE, SEARCH)  # in the order of their numbers in k6/lib/ledger.js


class Outcome(IntEnum):
    """What an answer says of the request."""

    ACKNOWLEDGED = 0  # served: of a write 201; of a search 200 with the right total
    REJECTED = 1  # a documented refusal: 400, 409, 413, 415, 429
    INDETERMINATE = 2  # time-out, reset, 5xx, anything else: may or may not be stored


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """All records of one load."""

    records: NDArray[np.void]  # of RECORD, ascending by seq, each seq once
    operations: tuple[Operation, ...] = (WRITE,)
    malformed: int = 0  # rows that are no record (a torn last one is not counted)
    repeated: int = 0  # records with a seq that came before; the first is kept
    truncated: bool = False  # the last record is torn: k6 was killed
    problems: tuple[str, ...] = ()  # the first 10 malformed or repeated ones, in words

    def timed(self) -> NDArray[np.bool_]:
        """By record, whether it has times; an interrupted request has none."""
        known: NDArray[np.bool_] = self.records["start_us"] != NO_TIME
        return known

    def outcomes(self) -> NDArray[np.uint8]:
        """By record, its Outcome."""
        status = self.records["status"]
        outcomes = np.full(len(status), Outcome.INDETERMINATE, np.uint8)
        outcomes[_served(self.records, self.operations)] = Outcome.ACKNOWLEDGED
        outcomes[np.isin(status, REJECTED_STATUSES)] = Outcome.REJECTED
        return outcomes

    def by_status(self) -> dict[str, int]:
        """Number of records by HTTP status; "0" = no answer."""
        values, counts = np.unique(self.records["status"], return_counts=True)
        return {str(value): int(count) for value, count in zip(values, counts, strict=True)}

    def by_error(self) -> dict[str, int]:
        """Number of records by kind of error in words; of 201s, only those with a wrong ack are in it."""
        records = self.records
        sound = _served(records, self.operations) & (records["error_code"] != WRONG_ACK)
        kinds = np.stack([records["status"][~sound], records["error_code"][~sound]]).astype(np.int64)
        pairs, counts = np.unique(kinds, axis=1, return_counts=True)
        totals: dict[str, int] = {}
        for (status, code), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            kind = error_kind(status, code)
            totals[kind] = totals.get(kind, 0) + count
        return totals


def error_kind(status: int, error_code: int) -> str:
    """In words: "connection refused", "HTTP 503", ...; k6's codes from 1400 to 1599 repeat the status."""
    if status not in (0, ACKNOWLEDGED_STATUS) and error_code != WRONG_TOTAL:
        return f"HTTP {status}"
    return _ERRORS.get(error_code, f"k6 error {error_code}")


def _served(rows: NDArray[np.void], operations: tuple[Operation, ...]) -> NDArray[np.bool_]:
    """A wrong ack is an acknowledgement all the same: it must be stored. A wrong total is no answer."""
    served = np.zeros(len(rows), np.bool_)
    for index, one in enumerate(operations):
        served |= (rows["operation"] == index) & np.isin(rows["status"], one.served)
    served &= rows["error_code"] != WRONG_TOTAL
    return served


def read(path: Path, operations: tuple[Operation, ...] = OPERATIONS) -> Ledger:
    """Reads what k6 recorded (.rec), as far as it goes, or the table that is kept (.parquet), which is all or nothing.

    AuditError or UsageError where it cannot be read.
    """
    if path.suffix == parquet.SUFFIX:
        return _kept(path, operations)
    found = read_recording(path, sequences=SEQUENCES, operations=len(operations))
    records = np.empty(len(found.rows), RECORD)
    for name in RECORD.names or ():
        records[name] = found.rows[name]
    ledger = _in_order(Ledger(records=records, operations=operations), found.numbers)
    malformed = [f"record {number}: not a record" for number in found.bad[:NAMED_PROBLEMS]]
    return replace(
        ledger,
        malformed=len(found.bad),
        truncated=found.torn,
        problems=(*malformed, *ledger.problems)[:NAMED_PROBLEMS],
    )


def _kept(path: Path, operations: tuple[Operation, ...]) -> Ledger:
    """In little memory where the file is in order, as the runner writes it."""
    found = parquet.Parts(path, SCHEMA)
    records = np.empty(found.rows, RECORD)
    begin = 0
    for part in _parts(found, path, operations):
        records[begin : begin + len(part)] = part
        begin += len(part)
    ledger = Ledger(records=records, operations=operations)
    if (records["seq"][1:] > records["seq"][:-1]).all():
        return ledger
    return _in_order(ledger, np.arange(1, len(records) + 1))


def _in_order(ledger: Ledger, numbers: NDArray[np.int64]) -> Ledger:
    """Ascending by sequence, each once. numbers: of the records in the file."""
    order = np.argsort(ledger.records["seq"], kind="stable")
    records = np.take(ledger.records, order)  # six times as fast as an index, with fields
    again = np.zeros(len(records), np.bool_)
    again[1:] = records["seq"][1:] == records["seq"][:-1]
    repeated = np.flatnonzero(again)
    problems = tuple(
        f"record {numbers[order[index]]}: seq {records['seq'][index]} is repeated"
        for index in repeated[:NAMED_PROBLEMS]
    )
    records = records[~again] if len(repeated) else records
    return replace(ledger, records=records, repeated=len(repeated), problems=problems)


def _parts(found: parquet.Parts, path: Path, operations: tuple[Operation, ...]) -> Iterator[NDArray[np.void]]:
    try:
        for table in found:
            yield _records(table, operations)
    except ValueError as error:
        raise UsageError(f"{path}: {error}; it was edited") from error


def _records(table: pa.Table, operations: tuple[Operation, ...]) -> NDArray[np.void]:
    """ValueError where a row is no request."""
    records = np.empty(table.num_rows, RECORD)
    for name, column in zip(SCHEMA.names, RECORD.names or (), strict=True):
        if column != "operation":
            records[column] = parquet.whole(table, name)
    records["operation"] = _numbers(table.column("operation"), operations)
    times = np.stack([records[name] for name in _TIMES])
    timed, timeless = (times >= 0).all(axis=0), (times == NO_TIME).all(axis=0) & (records["status"] == 0)
    possible = (records["seq"] >= 0) & (records["seq"] < SEQUENCES) & (records["error_code"] >= 0)
    possible &= (records["status"] >= 0) & (records["status"] < _STATUSES)
    bad = np.flatnonzero(~(possible & (timed | timeless)))
    if len(bad):
        raise ValueError(f"the row of sequence {records['seq'][bad[0]]} is no request")
    return records


def _numbers(column: Any, operations: tuple[Operation, ...]) -> NDArray[np.int16]:
    """By row, the index of its operation."""
    known = [one.name for one in operations]
    numbers = pc.index_in(column.cast(pa.string()), value_set=pa.array(known, pa.string()))
    if numbers.null_count:
        unknown = column.filter(numbers.is_null())[0].as_py()
        raise ValueError(f"operation {unknown!r} is none of {', '.join(known)}")
    found: NDArray[np.int16] = numbers.to_numpy().astype(np.int16)
    return found


def to_table(ledger: Ledger) -> pa.Table:
    """One row a request, in their order."""
    records = ledger.records
    names = pa.array([one.name for one in ledger.operations], pa.string())
    columns = {
        "sequence": pa.array(records["seq"]),
        "operation": pa.DictionaryArray.from_arrays(pa.array(records["operation"].astype(np.int32)), names),
        **{name: parquet.moments(records[name]) for name in _TIMES},
        "status": pa.array(records["status"]),
        "error_code": pa.array(records["error_code"]),
    }
    return pa.table(columns, schema=SCHEMA)


def write(ledger: Ledger, path: Path) -> None:
    """Writes requests.parquet; it appears complete or not at all."""
    parquet.save_table(to_table(ledger), path)


def concluded(ledger: Ledger, started: int, operation: Operation = WRITE) -> Ledger:
    """Adds the started iterations that left no record: status 0, no times, indeterminate. operation: theirs.

    In a whole ledger they were interrupted; in one that is not, nobody knows what their records said.
    """
    known = ledger.records["seq"]
    missing = np.setdiff1d(np.arange(max(started, int(known.max(initial=-1)) + 1)), known, assume_unique=True)
    added = np.zeros(len(missing), RECORD)
    added["seq"] = missing
    added["operation"] = ledger.operations.index(operation)
    for name in _TIMES:
        added[name] = NO_TIME
    added["error_code"] = UNREAD if ledger.truncated or ledger.malformed else INTERRUPTED
    records = np.concatenate([ledger.records, added])
    return replace(ledger, records=records[np.argsort(records["seq"], kind="stable")])


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What the ledger holds so far."""

    finished: int
    acknowledged: int
    errors: int  # everything else


class Tail:
    """Follows what k6 records at the cost of reading each byte once."""

    def __init__(self, path: Path, operations: tuple[Operation, ...] = OPERATIONS) -> None:
        self._path, self._operations = path, operations
        self._offset = HEADER.itemsize
        self._finished = 0
        self._acknowledged = 0
        self.highest = -1  # sequence of what was read

    def poll(self) -> Progress:
        """Reads what is new; totals since the start."""
        with contextlib.suppress(FileNotFoundError):
            rows = rows_from(self._path, self._offset)
            self._offset += rows.nbytes
            self._finished += len(rows)
            self._acknowledged += int(np.count_nonzero(_served(rows, self._operations)))
            if len(rows):
                self.highest = max(self.highest, int(rows["seq"].max()))
        return Progress(
            finished=self._finished,
            acknowledged=self._acknowledged,
            errors=self._finished - self._acknowledged,
        )
