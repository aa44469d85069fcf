"""What became of each request? k6's records of finished iterations, and the table that is kept of them, as arrays."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from writepath.errors import AuditError
from writepath.load import recorded
from writepath.load.blocks import Blocks, columns, sifted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

HEADER = "seq,start_ms,blocked_ms,duration_ms,status,error_code"
RECORD = np.dtype(
    [
        ("seq", np.int64),
        ("start_ms", np.float64),  # epoch
        ("blocked_ms", np.float64),  # waiting for and making a connection
        ("duration_ms", np.float64),  # from sending to the end of the answer; without one, until given up
        ("status", np.int16),  # 0: no answer
        ("error_code", np.int32),  # k6's, or ours from 9000 on (k6/lib/ledger.js); 0: none
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
FOUND_STATUS = 200  # of a load of searches
REJECTED_STATUSES = (400, 409, 413, 415, 429)
SEQUENCES = 10**8  # of one run; more digits are two lines run together
NAMED_PROBLEMS = 10
_NAMED_BYTES = 80
_LEVEL = 6
_US_PER_MS = 1000
_RECORDED = ".rec"
_NONE = np.empty(0, RECORD)
_TIMES = ("start_ms", "blocked_ms", "duration_ms")
_TYPES = {
    "seq": pa.int64(),
    **dict.fromkeys(_TIMES, pa.float64()),
    "status": pa.int16(),
    "error_code": pa.int32(),
}
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


class Outcome(IntEnum):
    """What an answer says of the write, or of the search."""

    ACKNOWLEDGED = 0  # 201; of a search, 200 with the right total
    REJECTED = 1  # a documented refusal: 400, 409, 413, 415, 429
    INDETERMINATE = 2  # time-out, reset, 5xx, anything else: may or may not be stored


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """All records of one load."""

    records: NDArray[np.void]  # of RECORD, ascending by seq, each seq once
    success: int = ACKNOWLEDGED_STATUS  # what the load's requests are to be answered with
    malformed: int = 0  # lines or rows that are no record (a torn last one is not counted)
    repeated: int = 0  # records with a seq that came before; the first is kept
    truncated: bool = False  # the last record or the .gz is torn: k6 or the writer was killed
    problems: tuple[str, ...] = ()  # the first 10 malformed or repeated ones, in words

    def outcomes(self) -> NDArray[np.uint8]:
        """By record, its Outcome."""
        status = self.records["status"]
        outcomes = np.full(len(status), Outcome.INDETERMINATE, np.uint8)
        outcomes[_served(self.records, self.success)] = Outcome.ACKNOWLEDGED
        outcomes[np.isin(status, REJECTED_STATUSES)] = Outcome.REJECTED
        return outcomes

    def by_status(self) -> dict[str, int]:
        """Number of records by HTTP status; "0" = no answer."""
        values, counts = np.unique(self.records["status"], return_counts=True)
        return {str(value): int(count) for value, count in zip(values, counts, strict=True)}

    def by_error(self) -> dict[str, int]:
        """Number of records by kind of error in words; of 201s, only those with a wrong ack are in it."""
        records = self.records
        sound = _served(records, self.success) & (records["error_code"] != WRONG_ACK)
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


def _served(rows: NDArray[np.void], success: int) -> NDArray[np.bool_]:
    """A wrong ack is an acknowledgement all the same: it must be stored. A wrong total is no answer."""
    served: NDArray[np.bool_] = (rows["status"] == success) & (rows["error_code"] != WRONG_TOTAL)
    return served


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Neighbouring lines of a ledger, in the file's order."""

    number: int  # of the first line
    records: NDArray[np.void]  # of RECORD; empty where the line is none
    bad: str | None = None  # that line


class Parts:
    """The kept table part by part, whole or torn. AuditError where there is no file."""

    def __init__(self, path: Path) -> None:
        """Opens nothing yet."""
        self._path = path
        self._blocks = Blocks(path, HEADER)

    @property
    def torn(self) -> bool:
        """The last line or the .gz; known after the last part."""
        return self._blocks.torn

    def __iter__(self) -> Iterator[Part]:
        """Each line once."""
        try:
            for first, block in self._blocks:
                number = first
                for lines, records in sifted(block, _table):
                    if records is None:
                        yield Part(number=number, records=_NONE, bad=_line_of(block, number - first))
                    else:
                        yield Part(number=number, records=records)
                    number += lines
        except OSError as error:
            raise AuditError(
                f"{self._path.name}: the load's ledger cannot be read ({error.strerror})"
            ) from error


@dataclass(frozen=True, kw_only=True, eq=False)
class _Taken:
    """What a file gave, in its order."""

    unit: str  # what a record is there
    records: NDArray[np.void]
    numbers: NDArray[np.int64]  # of the records in the file
    bad: list[tuple[int, str]]  # number, and what is wrong
    torn: bool


def read(path: Path, success: int = ACKNOWLEDGED_STATUS) -> Ledger:
    """Reads what k6 recorded (.rec) or the table that is kept (.gz), whole or torn. AuditError where there is none.

    success: what the load's requests are to be answered with, which no ledger says.
    """
    taken = _recorded(path) if path.suffix == _RECORDED else _kept(path)
    order = np.argsort(taken.records["seq"], kind="stable")
    records = np.take(taken.records, order)  # six times as fast as an index, with fields
    again = np.zeros(len(records), np.bool_)
    again[1:] = records["seq"][1:] == records["seq"][:-1]
    problems = [f"{taken.unit} {number}: not a record{words}" for number, words in taken.bad[:NAMED_PROBLEMS]]
    repeated = np.flatnonzero(again)
    problems += [
        f"{taken.unit} {taken.numbers[order[index]]}: seq {records['seq'][index]} is repeated"
        for index in repeated[:NAMED_PROBLEMS]
    ]
    return Ledger(
        records=records[~again] if len(repeated) else records,
        success=success,
        malformed=len(taken.bad),
        repeated=len(repeated),
        truncated=taken.torn,
        problems=tuple(problems[:NAMED_PROBLEMS]),
    )


def _recorded(path: Path) -> _Taken:
    found = recorded.read(path, SEQUENCES)
    records = np.empty(len(found.rows), RECORD)
    for name in ("seq", "status", "error_code"):
        records[name] = found.rows[name]
    for name in _TIMES:
        records[name] = found.rows[name.replace("_ms", "_us")] / _US_PER_MS
    return _Taken(
        unit="record",
        records=records,
        numbers=found.numbers,
        bad=[(number, "") for number in found.bad],
        torn=found.torn,
    )


def _kept(path: Path) -> _Taken:
    parts = Parts(path)
    known, bad = [], []
    for part in parts:
        if part.bad is None:
            known.append(part)
        else:
            bad.append((part.number, f": {part.bad!r}"))
    starts = [part.number + np.arange(len(part.records)) for part in known]
    return _Taken(
        unit="line",
        records=np.concatenate([_NONE, *(part.records for part in known)]),
        numbers=np.concatenate([np.empty(0, np.int64), *starts]),
        bad=bad,
        torn=parts.torn,
    )


def write(ledger: Ledger, path: Path) -> None:
    """Writes ledger.csv.gz with its header; appears complete or not at all."""
    lines = [HEADER, *map(_line, ledger.records.tolist()), ""]
    part = path.with_name(path.name + ".part")
    part.write_bytes(gzip.compress("\n".join(lines).encode(), _LEVEL, mtime=0))
    part.replace(path)


def _line(record: tuple[int, float, float, float, int, int]) -> str:
    seq, start_ms, blocked_ms, duration_ms, status, error_code = record
    if start_ms != start_ms:  # noqa: PLR0124 - NaN: interrupted
        return f"{seq},,,,{status},{error_code}"
    return f"{seq},{start_ms:.3f},{blocked_ms:.3f},{duration_ms:.3f},{status},{error_code}"


def concluded(ledger: Ledger, started: int) -> Ledger:
    """Adds the started iterations that left no record: status 0, no times (NaN), indeterminate.

    In a whole ledger they were interrupted; in one that is not, nobody knows what their records said.
    """
    known = ledger.records["seq"]
    missing = np.setdiff1d(np.arange(max(started, int(known.max(initial=-1)) + 1)), known, assume_unique=True)
    added = np.zeros(len(missing), RECORD)
    added["seq"] = missing
    for times in _TIMES:
        added[times] = np.nan
    added["error_code"] = UNREAD if ledger.truncated or ledger.malformed else INTERRUPTED
    records = np.concatenate([ledger.records, added])
    return replace(ledger, records=records[np.argsort(records["seq"], kind="stable")])


def _line_of(block: bytes, index: int) -> str:
    """The start of a block's line of that number, from 0."""
    line = block.split(b"\n", index + 1)[index]
    return line[:_NAMED_BYTES].decode("ascii", errors="replace")


def _table(block: bytes) -> NDArray[np.void]:
    """ValueError where any line is no record."""
    found = columns(block, _TYPES, quoted=False)
    table = np.empty(found.num_rows, RECORD)
    for name in _TYPES:
        column = found.column(name)
        if column.null_count and name not in _TIMES:
            raise ValueError("empty field")
        table[name] = column.to_numpy()  # a null becomes NaN: interrupted, no times
    timed = np.logical_and.reduce([np.isfinite(table[name]) & (table[name] >= 0) for name in _TIMES])
    timeless = np.logical_and.reduce([np.isnan(table[name]) for name in _TIMES]) & (table["status"] == 0)
    if not ((timed | timeless) & (table["seq"] >= 0) & (table["seq"] < SEQUENCES)).all():
        raise ValueError("out of range")
    return table


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What the ledger holds so far."""

    finished: int
    acknowledged: int
    errors: int  # everything else


class Tail:
    """Follows what k6 records at the cost of reading each byte once."""

    def __init__(self, path: Path, success: int = ACKNOWLEDGED_STATUS) -> None:
        """Starts at the beginning; the file may not exist yet."""
        self._path, self._success = path, success
        self._offset = recorded.HEADER.itemsize
        self._finished = 0
        self._acknowledged = 0

    def poll(self) -> Progress:
        """Reads what is new; totals since the start."""
        if self._path.exists():
            rows = recorded.rows_from(self._path, self._offset)
            self._offset += rows.nbytes
            self._finished += len(rows)
            self._acknowledged += int(np.count_nonzero(_served(rows, self._success)))
        return Progress(
            finished=self._finished,
            acknowledged=self._acknowledged,
            errors=self._finished - self._acknowledged,
        )
