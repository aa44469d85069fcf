"""What became of each request? k6's ledger: one line a finished iteration, read into arrays."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from writepath.errors import AuditError

if TYPE_CHECKING:
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
WRONG_ECHO = 9001  # 201, but Location does not name the id that was sent
END_OF_FILE = 9002  # the connection was closed without an answer
INTERRUPTED = 9003  # k6 was stopped before the answer; often there is not even a line
ACKNOWLEDGED_STATUS = 201
REJECTED_STATUSES = (400, 409, 413, 415, 429)
SEQUENCES = 10**8  # of one run; more digits are two lines run together
NAMED_PROBLEMS = 10
_LEVEL = 6
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
    WRONG_ECHO: "wrong echo",
    END_OF_FILE: "connection closed",
    INTERRUPTED: "interrupted",
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
        """Number of records by kind of error in words; of 201s, only those with a wrong echo are in it."""
        records = self.records
        sound = (records["status"] == ACKNOWLEDGED_STATUS) & (records["error_code"] != WRONG_ECHO)
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


def read(path: Path) -> Ledger:
    """Reads a ledger, plain or .gz, whole or torn. AuditError where there is no file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AuditError(f"{path.name}: the load's ledger cannot be read ({error.strerror})") from error
    torn_archive = False
    if path.suffix == ".gz":
        data, torn_archive = _unpacked(data)
    whole, _, rest = data.rpartition(b"\n")
    ledger = _parsed(whole)
    return replace(ledger, truncated=bool(rest) or torn_archive)


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
    """Adds the started iterations that left no line (interrupted): status 0, no times (NaN), indeterminate."""
    known = ledger.records["seq"]
    missing = np.setdiff1d(np.arange(max(started, int(known.max(initial=-1)) + 1)), known, assume_unique=True)
    added = np.zeros(len(missing), RECORD)
    added["seq"] = missing
    for times in ("start_ms", "blocked_ms", "duration_ms"):
        added[times] = np.nan
    added["error_code"] = INTERRUPTED
    records = np.concatenate([ledger.records, added])
    return replace(ledger, records=records[np.argsort(records["seq"], kind="stable")])


def _unpacked(data: bytes) -> tuple[bytes, bool]:
    """What can be unpacked, and whether the archive is torn."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(data) + unpacker.flush(), not unpacker.eof
    except zlib.error:
        return b"", True


def _parsed(data: bytes) -> Ledger:
    text = data.decode("ascii", errors="replace").replace(",,,,", ",nan,nan,nan,")  # interrupted: no times
    lines = text.split("\n") if text else []
    first = 2 if lines and lines[0] == HEADER else 1
    lines = lines[first - 1 :]
    records, numbers, bad = _rows(lines)
    order = np.argsort(records["seq"], kind="stable")
    records, numbers = records[order], numbers[order]
    again = np.zeros(len(records), np.bool_)
    again[1:] = records["seq"][1:] == records["seq"][:-1]
    problems = [f"line {n + first}: no record: {lines[n][:80]!r}" for n in bad]
    problems += [
        f"line {n + first}: seq {s} again" for n, s in zip(numbers[again], records["seq"][again], strict=True)
    ]
    return Ledger(
        records=records[~again],
        malformed=len(bad),
        repeated=int(again.sum()),
        problems=tuple(problems[:NAMED_PROBLEMS]),
    )


def _rows(lines: list[str]) -> tuple[NDArray[np.void], NDArray[np.intp], list[int]]:
    """The records, the index of each one's line, and the indices of lines that are no record."""
    try:
        records = _table(lines)
        return records, np.arange(len(records)), []
    except ValueError:
        if len(lines) == 1:
            return np.empty(0, RECORD), np.empty(0, np.intp), [0]
    half = len(lines) // 2  # finds a few bad lines among a million in the time of reading them twice
    before, after = _rows(lines[:half]), _rows(lines[half:])
    return (
        np.concatenate([before[0], after[0]]),
        np.concatenate([before[1], after[1] + half]),
        before[2] + [index + half for index in after[2]],
    )


def _table(lines: list[str]) -> NDArray[np.void]:
    """ValueError where any line is no record."""
    if not lines:
        return np.empty(0, RECORD)
    if any(not line or line.isspace() for line in lines):
        raise ValueError("empty line")  # which loadtxt would pass over
    table = np.loadtxt(lines, dtype=RECORD, delimiter=",", comments=None, ndmin=1)
    times = (table["start_ms"], table["blocked_ms"], table["duration_ms"])
    timed = np.logical_and.reduce([np.isfinite(values) & (values >= 0) for values in times])
    timeless = np.logical_and.reduce([np.isnan(values) for values in times]) & (table["status"] == 0)
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
