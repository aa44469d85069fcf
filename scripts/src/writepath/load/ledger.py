"""What became of each request? k6's ledger: one line a finished iteration, read into arrays."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from writepath.errors import AuditError
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
UNREAD = 9004  # no line, in a ledger that is torn or has lines that are none: it may have said 201
ACKNOWLEDGED_STATUS = 201
REJECTED_STATUSES = (400, 409, 413, 415, 429)
SEQUENCES = 10**8  # of one run; more digits are two lines run together
NAMED_PROBLEMS = 10
_NAMED_BYTES = 80
_LEVEL = 6
_NONE = np.empty(0, RECORD)
_TIMES = ("start_ms", "blocked_ms", "duration_ms")
_TYPES = {
    "seq": pa.int64(),
    **dict.fromkeys(_TIMES, pa.float64()),
    "status": pa.int16(),
    "error_code": pa.int32(),
}
_ACKNOWLEDGED_FIELD = b",201,"  # no other field of a line can read so: times have three decimals
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
}


class Outcome(IntEnum):
    """What an answer says of the write."""

    ACKNOWLEDGED = 0  # 201
    REJECTED = 1  # a documented refusal: 400, 409, 413, 415, 429
    INDETERMINATE = 2  # time-out, reset, 5xx, anything else: may or may not be stored


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledger:
    """All lines of one load."""

    records: NDArray[np.void]  # of RECORD, ascending by seq, each seq once
    malformed: int = 0  # lines that are no record (a torn last line is not counted)
    repeated: int = 0  # lines with a seq that came before; the first is kept
    truncated: bool = False  # the last line or the .gz is torn: k6 or the writer was killed
    problems: tuple[str, ...] = ()  # the first 10 malformed or repeated lines, in words

    def outcomes(self) -> NDArray[np.uint8]:
        """By record, its Outcome."""
        status = self.records["status"]
        outcomes = np.full(len(status), Outcome.INDETERMINATE, np.uint8)
        outcomes[status == ACKNOWLEDGED_STATUS] = Outcome.ACKNOWLEDGED
        outcomes[np.isin(status, REJECTED_STATUSES)] = Outcome.REJECTED
        return outcomes

    def by_status(self) -> dict[str, int]:
        """Number of records by HTTP status; "0" = no answer."""
        values, counts = np.unique(self.records["status"], return_counts=True)
        return {str(value): int(count) for value, count in zip(values, counts, strict=True)}

    def by_error(self) -> dict[str, int]:
        """Number of records by kind of error in words; of 201s, only those with a wrong ack are in it."""
        records = self.records
        sound = (records["status"] == ACKNOWLEDGED_STATUS) & (records["error_code"] != WRONG_ACK)
        kinds = np.stack([records["status"][~sound], records["error_code"][~sound]]).astype(np.int64)
        pairs, counts = np.unique(kinds, axis=1, return_counts=True)
        totals: dict[str, int] = {}
        for (status, code), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            kind = error_kind(status, code)
            totals[kind] = totals.get(kind, 0) + count
        return totals


def error_kind(status: int, error_code: int) -> str:
    """In words: "connection refused", "HTTP 503", ...; k6's codes from 1400 to 1599 repeat the status."""
    if status not in (0, ACKNOWLEDGED_STATUS):
        return f"HTTP {status}"
    return _ERRORS.get(error_code, f"k6 error {error_code}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Neighbouring lines of a ledger, in the file's order."""

    number: int  # of the first line
    records: NDArray[np.void]  # of RECORD; empty where the line is none
    bad: str | None = None  # that line


class Parts:
    """A ledger part by part, plain or .gz, whole or torn. AuditError where there is no file."""

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


def read(path: Path) -> Ledger:
    """Reads a ledger, plain or .gz, whole or torn. AuditError where there is no file."""
    parts = Parts(path)
    known, bad = [], []
    for part in parts:
        if part.bad is None:
            known.append(part)
        else:
            bad.append((part.number, part.bad))
    records = np.concatenate([_NONE, *(part.records for part in known)])
    starts = [part.number + np.arange(len(part.records)) for part in known]
    numbers = np.concatenate([np.empty(0, np.int64), *starts])
    order = np.argsort(records["seq"], kind="stable")
    records, numbers = records[order], numbers[order]
    again = np.zeros(len(records), np.bool_)
    again[1:] = records["seq"][1:] == records["seq"][:-1]
    problems = [f"line {number}: no record: {text!r}" for number, text in bad[:NAMED_PROBLEMS]]
    named = zip(numbers[again][:NAMED_PROBLEMS], records["seq"][again][:NAMED_PROBLEMS], strict=True)
    problems += [f"line {number}: seq {seq} again" for number, seq in named]
    return Ledger(
        records=records[~again],
        malformed=len(bad),
        repeated=int(again.sum()),
        truncated=parts.torn,
        problems=tuple(problems[:NAMED_PROBLEMS]),
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
    """Adds the started iterations that left no line: status 0, no times (NaN), indeterminate.

    In a whole ledger they were interrupted; in one that is not, nobody knows what their lines said.
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
    """Follows a growing ledger at the cost of reading each byte once."""

    def __init__(self, path: Path) -> None:
        """Starts at the beginning; the file may not exist yet."""
        self._path = path
        self._offset = 0
        self._finished = 0
        self._acknowledged = 0

    def poll(self) -> Progress:
        """Reads what is new; totals since the start."""
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._offset)
                whole, newline, _ = file.read().rpartition(b"\n")
            self._offset += len(whole) + len(newline)
            self._finished += (whole + newline).count(b"\n")
            self._acknowledged += whole.count(_ACKNOWLEDGED_FIELD)
        return Progress(
            finished=self._finished,
            acknowledged=self._acknowledged,
            errors=self._finished - self._acknowledged,
        )
