"""The ledger of a load: one record for each request, as k6 records it and as a table that is kept.

k6/recorder/ledger/format.go writes records of fixed size; a test on each side has the same bytes. A file that ends
within a record, or in one whose check is wrong, was torn by a crash: what comes before it counts.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.errors import AuditError
from writepath.load import parquet
from writepath.records.load_facts import OperationFacts

RECORDING_FILE = "ledger.rec"
REQUESTS_RECORDING_FILE = "requests.rec"  # of a load of sessions: their single requests
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
REQUESTS_FILE = "session_requests.parquet"  # of a load of sessions, whose own table is FILE
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
_TIMES = ("start_us", "blocked_us", "duration_us")
_ANSWER = ("status", "error_code")
SCHEMA = pa.schema(
    [
        ("sequence", pa.int64()),
        ("operation", parquet.WORD),
        *((name, pa.from_numpy_dtype(RECORD[name])) for name in (*_TIMES, *_ANSWER)),
    ]
)
TIMED_OUT = 1050  # k6's own: no answer within the client's limit
WRONG_ACK = 9001  # 201, but Location does not name the id that was sent
END_OF_FILE = 9002  # the connection was closed without an answer
INTERRUPTED = 9003  # k6 was stopped before the answer; often there is not even a line
UNREAD = 9004  # nothing, in a ledger that is torn or has records that are none: it may have said 201
REFUSED_BY_APPLICATION = 9005  # 503 at the cap of requests in flight
REFUSED_BY_STORE = 9006  # 503: the store or the broker could not take it in time
WRONG_TOTAL = 9007  # 200, but with another total than the posts that hold the keyword
LOGIN_FAILED = 9008  # of a session: it got no token; of a log-in: 201, but without a token
UNSERVED = (WRONG_TOTAL, LOGIN_FAILED)  # whatever the status
ACKNOWLEDGED_STATUS = 201
REJECTED_STATUSES = (400, 409, 413, 415, 429)
SEQUENCES = 10**8  # of one load
NAMED_PROBLEMS = 10
_ERRORS = {
    1000: "connection failed",
    1020: "invalid URL",
    TIMED_OUT: "request timed out",
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
    LOGIN_FAILED: "log-in failed",
}
WRITE = OperationFacts(name="write", served=(ACKNOWLEDGED_STATUS,))
SEARCH = OperationFacts(name="search", served=(200,))
READ = OperationFacts(name="read", served=(200,))
LOGIN = OperationFacts(name="login", served=(201,))
SESSION = OperationFacts(name="session", served=(200,))  # a log-in and the reads that follow it
OF_READS = {"points": READ, "feed": READ, "sessions": SESSION}  # by what a scenario reads
OPERATIONS = (WRITE, SEARCH, READ, LOGIN, SESSION)  # by their numbers in k6/recorder/ledger/request.go
_NAMES = pa.array([operation.name for operation in OPERATIONS], pa.string())


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """All records of one load."""

    records: NDArray[np.void]  # of RECORD, ascending by seq, each seq once
    problems: tuple[
        str, ...
    ] = ()  # in words, the first 10: rows that are no record, or repeat one that is kept

    def acknowledged(self) -> NDArray[np.bool_]:
        """By record, whether it was served: a write and a log-in by a 201, a search by a 200 with the right total."""
        return _served(self.records)


def error_kind(status: int, error_code: int) -> str:
    """In words: "connection refused", "HTTP 503", ...; k6's codes from 1400 to 1599 repeat the status."""
    if status not in (0, ACKNOWLEDGED_STATUS) and error_code not in UNSERVED:
        return f"HTTP {status}"
    return _ERRORS.get(error_code, f"k6 error {error_code}")


def _served(rows: NDArray[np.void]) -> NDArray[np.bool_]:
    """A wrong ack is an acknowledgement all the same: it must be stored. What is in UNSERVED is no answer."""
    served = np.zeros(len(rows), np.bool_)
    for index, operation in enumerate(OPERATIONS):
        served |= (rows["operation"] == index) & np.isin(rows["status"], operation.served)
    served &= ~np.isin(rows["error_code"], UNSERVED)
    return served


def read(path: Path) -> Ledger:
    """Reads what k6 recorded, as far as it goes. AuditError where it cannot be read."""
    rows, torn = _recorded(path)
    sound = _sound(rows)
    numbers, bad = np.flatnonzero(sound) + 1, np.flatnonzero(~sound) + 1  # of the records in the file
    records = np.empty(len(numbers), RECORD)
    for name in RECORD.names or ():
        records[name] = rows[name][sound]
    order = np.argsort(records["seq"], kind="stable")
    records = np.take(records, order)  # six times as fast as an index, with fields
    first = np.diff(records["seq"], prepend=-1) > 0  # of those with the same sequence
    problems = ["the end is cut off"] if torn else []
    problems += [f"record {number}: not a record" for number in bad[:NAMED_PROBLEMS]]
    problems += [
        f"record {numbers[order[index]]}: seq {records['seq'][index]} is repeated"
        for index in np.flatnonzero(~first)[:NAMED_PROBLEMS]
    ]
    return Ledger(records=records[first], problems=tuple(problems[:NAMED_PROBLEMS]))


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
    words = rows.view("<u4").reshape(len(rows), ROW.itemsize // 4)
    sound: NDArray[np.bool_] = np.bitwise_xor.reduce(words, axis=1) == CHECK_SEED
    limits = {"seq": SEQUENCES, "status": _STATUSES, "error_code": _ERROR_CODES, "operation": len(OPERATIONS)}
    for name, limit in limits.items():
        sound &= rows[name] < limit
    return sound


def write(ledger: Ledger, path: Path) -> None:
    """Writes requests.parquet, one row a request in their order; it appears complete or not at all."""
    records = ledger.records
    columns = {
        "sequence": pa.array(records["seq"]),
        "operation": pa.DictionaryArray.from_arrays(records["operation"].astype(np.int32), _NAMES),
        **{name: parquet.moments(records[name]) for name in _TIMES},
        **{name: pa.array(records[name]) for name in _ANSWER},
    }
    parquet.save_table(pa.table(columns, schema=SCHEMA), path)


def concluded(ledger: Ledger, started: Sequence[int], operation: OperationFacts = WRITE) -> Ledger:
    """Adds the started iterations that left no record: status 0, no times, indeterminate. operation: theirs.

    started: by k6 process; they take the sequence numbers in turns. In a whole ledger such an iteration was
    interrupted; in one that is not, nobody knows what its record said.
    """
    known, processes = ledger.records["seq"], len(started)
    begun = []
    for first, count in enumerate(started):
        last_recorded = known[known % processes == first].max(initial=-1)
        begun.append(np.arange(first, max(first + count * processes, last_recorded + 1), processes))
    missing = np.setdiff1d(np.concatenate(begun), known, assume_unique=True)
    added = np.zeros(len(missing), RECORD)
    added["seq"] = missing
    added["operation"] = OPERATIONS.index(operation)
    for name in _TIMES:
        added[name] = NO_TIME
    added["error_code"] = UNREAD if ledger.problems else INTERRUPTED
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
        self.acknowledged_us = np.empty(0, np.uint32)  # of what was new: from sending to the 201

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
