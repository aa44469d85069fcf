"""The ledger of a load: one record for each request, as k6 records it and as a table that is kept.

k6/recorder/ledger/format.go writes records of fixed size; a test on each side has the same bytes. A file that ends
within a record, or in one whose check is wrong, was torn by a crash: what comes before it counts.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from writepath.errors import AuditError, UsageError
from writepath.load import parquet
from writepath.records.load_facts import OperationFacts

RECORDING_FILE = "ledger.rec"
HEADER = np.dtype([("magic", "S16"), ("version", "<u4"), ("record_bytes", "<u4"), ("zeros", "<u8")])
ROW = np.dtype(
    [
        ("start_us", "<u8"),  # epoch
        ("seq", "<u4"),
        ("blocked_us", "<u4"),
        ("duration_us", "<u4"),
        ("status", "<u2"),
        ("operation", "<u2"),  # index into OPERATIONS; with status, one word
        ("error_code", "<u4"),
        ("check", "<u4"),  # the other seven words and CHECK_SEED, exclusive or
    ]
)
MAGIC = b"writepath ledger"
VERSION = 2
CHECK_SEED = 0x4C504657
_STATUSES = 1000
_ERROR_CODES = 1 << 31

FILE = "requests.parquet"
NO_TIME = parquet.NULL  # an interrupted request has it in all three times
RECORD = np.dtype(
    [
        ("seq", np.int64),
        ("operation", np.int16),  # index into OPERATIONS
        ("start_us", np.int64),  # epoch
        ("blocked_us", np.int64),  # waiting for and making a connection
        ("duration_us", np.int64),  # from sending to the end of the answer; without one, until given up
        ("status", np.int16),  # 0: no answer
        ("error_code", np.int32),  # k6's, or ours from 9000 on (k6/recorder/ledger/request.go); 0: none
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
WRITE = OperationFacts(name="write", served=(ACKNOWLEDGED_STATUS,))
SEARCH = OperationFacts(name="search", served=(200,))
OPERATIONS = (WRITE, SEARCH)  # in the order of their numbers in k6/recorder/ledger/request.go
_NAMES = pa.array([operation.name for operation in OPERATIONS], pa.string())


class Outcome(IntEnum):
    """What an answer says of the request."""

    ACKNOWLEDGED = 0  # served: of a write 201; of a search 200 with the right total
    REJECTED = 1  # a documented refusal: 400, 409, 413, 415, 429
    INDETERMINATE = 2  # time-out, reset, 5xx, anything else: may or may not be stored


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """All records of one load."""

    records: NDArray[np.void]  # of RECORD, ascending by seq, each seq once
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
        outcomes[_served(self.records)] = Outcome.ACKNOWLEDGED
        outcomes[np.isin(status, REJECTED_STATUSES)] = Outcome.REJECTED
        return outcomes


def error_kind(status: int, error_code: int) -> str:
    """In words: "connection refused", "HTTP 503", ...; k6's codes from 1400 to 1599 repeat the status."""
    if status not in (0, ACKNOWLEDGED_STATUS) and error_code != WRONG_TOTAL:
        return f"HTTP {status}"
    return _ERRORS.get(error_code, f"k6 error {error_code}")


def _served(rows: NDArray[np.void]) -> NDArray[np.bool_]:
    """A wrong ack is an acknowledgement all the same: it must be stored. A wrong total is no answer."""
    served = np.zeros(len(rows), np.bool_)
    for index, operation in enumerate(OPERATIONS):
        served |= (rows["operation"] == index) & np.isin(rows["status"], operation.served)
    served &= rows["error_code"] != WRONG_TOTAL
    return served


def read(path: Path) -> Ledger:
    """Reads what k6 recorded (.rec), as far as it goes, or the table that is kept (.parquet), which is all or nothing.

    AuditError or UsageError where it cannot be read.
    """
    if path.suffix == parquet.SUFFIX:
        records = _kept(path)
        return _in_order(records, np.arange(1, len(records) + 1))
    rows, torn = _recorded(path)
    sound = _sound(rows)
    bad = np.flatnonzero(~sound) + 1
    rows = rows[sound] if len(bad) else rows
    records = np.empty(len(rows), RECORD)
    for name in RECORD.names or ():
        records[name] = rows[name]
    ledger = _in_order(records, np.flatnonzero(sound) + 1)
    malformed = [f"record {number}: not a record" for number in bad[:NAMED_PROBLEMS]]
    problems = (*malformed, *ledger.problems)[:NAMED_PROBLEMS]
    return replace(ledger, malformed=len(bad), truncated=torn, problems=problems)


def _recorded(path: Path) -> tuple[NDArray[np.void], bool]:
    """All whole rows of a recording, and whether its end is torn. AuditError without a file of this version."""
    try:
        data_bytes = path.stat().st_size
        if data_bytes < HEADER.itemsize:
            return np.empty(0, ROW), data_bytes > 0
        found = np.fromfile(path, HEADER, count=1)[0]
        if (found["magic"], found["version"], found["record_bytes"]) != (MAGIC, VERSION, ROW.itemsize):
            raise AuditError(
                f"{path.name}: not a ledger of version {VERSION}; another version of the k6 recorder wrote it."
                " Rerun it."
            )
        whole, rest = divmod(data_bytes - HEADER.itemsize, ROW.itemsize)
        return np.fromfile(path, ROW, count=whole, offset=HEADER.itemsize), rest > 0
    except OSError as error:
        raise AuditError(f"{path.name}: the load's ledger cannot be read ({error.strerror})") from error


def _sound(rows: NDArray[np.void]) -> NDArray[np.bool_]:
    """By row, whether it is a record: its check is right, and a request can have its values."""
    pairs = rows.view("<u8").reshape(len(rows), ROW.itemsize // 8)
    folded = pairs[:, 0] ^ pairs[:, 1] ^ pairs[:, 2] ^ pairs[:, 3]
    sound = (folded ^ (folded >> np.uint64(32))) & np.uint64(0xFFFFFFFF) == CHECK_SEED
    limits = {"seq": SEQUENCES, "status": _STATUSES, "error_code": _ERROR_CODES, "operation": len(OPERATIONS)}
    for name, limit in limits.items():
        sound &= rows[name] < limit
    found: NDArray[np.bool_] = sound
    return found


def _in_order(records: NDArray[np.void], numbers: NDArray[np.int64]) -> Ledger:
    """Ascending by sequence, each once. numbers: of the records in the file."""
    if (records["seq"][1:] > records["seq"][:-1]).all():
        return Ledger(records=records)
    order = np.argsort(records["seq"], kind="stable")
    records = np.take(records, order)  # six times as fast as an index, with fields
    again = np.zeros(len(records), np.bool_)
    again[1:] = records["seq"][1:] == records["seq"][:-1]
    repeated = np.flatnonzero(again)
    problems = tuple(
        f"record {numbers[order[index]]}: seq {records['seq'][index]} is repeated"
        for index in repeated[:NAMED_PROBLEMS]
    )
    records = records[~again] if len(repeated) else records
    return Ledger(records=records, repeated=len(repeated), problems=problems)


def _kept(path: Path) -> NDArray[np.void]:
    """Records of the table, in its order."""
    found = parquet.Parts(path, SCHEMA)
    records = np.empty(found.rows, RECORD)
    begin = 0
    try:
        for table in found:
            part = _records(table)
            records[begin : begin + len(part)] = part
            begin += len(part)
    except ValueError as error:
        raise UsageError(f"{path}: {error}; it was edited") from error
    return records


def _records(table: pa.Table) -> NDArray[np.void]:
    """ValueError where a row is no request."""
    records = np.empty(table.num_rows, RECORD)
    for name, column in zip(SCHEMA.names, RECORD.names or (), strict=True):
        if column != "operation":
            records[column] = parquet.whole(table, name)
    operations = table.column("operation").cast(pa.string())
    numbers = pc.index_in(operations, value_set=_NAMES)
    if numbers.null_count:
        unknown = operations.filter(numbers.is_null())[0].as_py()
        raise ValueError(f"operation {unknown!r} is none of {', '.join(_NAMES.to_pylist())}")
    records["operation"] = numbers.to_numpy()
    times = np.stack([records[name] for name in _TIMES])
    timed, timeless = (times >= 0).all(axis=0), (times == NO_TIME).all(axis=0) & (records["status"] == 0)
    possible = (records["seq"] >= 0) & (records["seq"] < SEQUENCES) & (records["error_code"] >= 0)
    possible &= (records["status"] >= 0) & (records["status"] < _STATUSES)
    bad = np.flatnonzero(~(possible & (timed | timeless)))
    if len(bad):
        raise ValueError(f"the row of sequence {records['seq'][bad[0]]} is no request")
    return records


def write(ledger: Ledger, path: Path) -> None:
    """Writes requests.parquet, one row a request in their order; it appears complete or not at all."""
    records = ledger.records
    columns = {
        "sequence": pa.array(records["seq"]),
        "operation": pa.DictionaryArray.from_arrays(records["operation"].astype(np.int32), _NAMES),
        **{name: parquet.moments(records[name]) for name in _TIMES},
        "status": pa.array(records["status"]),
        "error_code": pa.array(records["error_code"]),
    }
    parquet.save_table(pa.table(columns, schema=SCHEMA), path)


def concluded(ledger: Ledger, started: Sequence[int], operation: OperationFacts = WRITE) -> Ledger:
    """Adds the started iterations that left no record: status 0, no times, indeterminate. operation: theirs.

    started: by k6 process; they take the sequence numbers in turns. In a whole ledger such an iteration was
    interrupted; in one that is not, nobody knows what its record said.
    """
    known = ledger.records["seq"]
    begun = []
    for first, count in enumerate(started):
        recorded = known[known % len(started) == first]
        begun.append(
            first + len(started) * np.arange(max(count, int(recorded.max(initial=-1)) // len(started) + 1))
        )
    missing = np.setdiff1d(np.concatenate(begun), known, assume_unique=True)
    added = np.zeros(len(missing), RECORD)
    added["seq"] = missing
    added["operation"] = OPERATIONS.index(operation)
    for name in _TIMES:
        added[name] = NO_TIME
    added["error_code"] = UNREAD if ledger.truncated or ledger.malformed else INTERRUPTED
    records = np.concatenate([ledger.records, added])
    return replace(ledger, records=records[np.argsort(records["seq"], kind="stable")])


def begin(path: Path) -> None:
    """A recording without a record, to which several k6 append."""
    np.array([(MAGIC, VERSION, ROW.itemsize, 0)], HEADER).tofile(path)


def holds_any(path: Path) -> bool:
    """Whether a request was recorded there."""
    return path.exists() and path.stat().st_size >= HEADER.itemsize + ROW.itemsize


class Tail:
    """Follows what k6 records at the cost of reading each byte once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = HEADER.itemsize
        self.finished = 0
        self.acknowledged = 0
        self.acknowledged_us: NDArray[np.uint32] = np.empty(
            0, np.uint32
        )  # what was new: from sending to the 201

    def poll(self) -> Self:
        """Itself, once what is new was read."""
        with contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
            rows = np.frombuffer(data, ROW, count=len(data) // ROW.itemsize)
            self._offset += rows.nbytes
            self.finished += len(rows)
            self.acknowledged_us = rows["duration_us"][_served(rows)]
            self.acknowledged += len(self.acknowledged_us)
        return self
