"""Reads what k6 records of each request: records of fixed size, readable at every moment of a load.

k6/recorder/ledger/format.go writes them and says what each field means; a test on each side has the same bytes.
A file that ends within a record, or in one whose check is wrong, was torn by a crash: what comes before it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.errors import AuditError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FILE = "ledger.rec"
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


def read(path: Path, *, sequences: int, operations: int) -> Recording:
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
