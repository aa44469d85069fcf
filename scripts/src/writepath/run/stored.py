"""What did the store hold? Parses the inspector's rows into arrays; a million rows take about a second.

stored.csv.gz keeps the first read, after the drain; stored-after-crash.csv.gz the second, after the restart.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from writepath.errors import AuditError
from writepath.load.blocks import Blocks, columns, sifted
from writepath.run.audit import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

FIRST_FILE = "stored.csv.gz"
SECOND_FILE = "stored-after-crash.csv.gz"
FILE_HEADER = "seq,content_ok,durable_at_ms,foreign_id"
FILE_TYPES = {
    "seq": pa.int64(),
    "content_ok": pa.int8(),
    "durable_at_ms": pa.float64(),
    "foreign_id": pa.string(),
}
POSTS_HEADER = b"id,content_hash,durable_at_us"
COMMITS_HEADER = b"id,durable_at_us"
ID_LENGTH = 36
PREFIX_LENGTH = 20  # rrrrrrrr-rrrr-8rrr-8
HASH_LENGTH = 16
HEX = np.full(256, -1, dtype=np.int64)
HEX[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)
SEQ_COLUMNS = np.array([20, 21, 22, *range(24, 36)])


def content_hashes(lines: Sequence[str]) -> NDArray[np.uint64]:
    """First 64 bits of the SHA-256 of each line's UTF-8."""
    return np.array(
        [int.from_bytes(hashlib.sha256(line.encode()).digest()[:8], "big") for line in lines], dtype=np.uint64
    )


class Rows:
    """Collects the lines of one or more inspectors' CSV; a run's ids become sequences, the rest stay as they are."""

    def __init__(self, run_prefix: str, *, hashed: bool) -> None:
        """run_prefix: the first 20 characters of the run's ids; hashed: lines of /posts, not of /commits."""
        self._prefix = np.frombuffer(run_prefix.encode(), dtype=np.uint8)
        if len(self._prefix) != PREFIX_LENGTH:
            raise ValueError(run_prefix)
        self._hashed = hashed
        self._seq: list[NDArray[np.int64]] = []
        self._hash: list[NDArray[np.uint64]] = []
        self._durable_at_us: list[NDArray[np.int64]] = []
        self.foreign_ids: list[str] = []

    def read(self, chunks: Iterable[bytes]) -> None:
        """Takes the body of one answer. AuditError where it is cut or not in the agreed form."""
        header, rest = None, b""
        for chunk in chunks:
            data = rest + chunk
            cut = data.rfind(b"\n") + 1
            rest, block = data[cut:], data[:cut]
            if header is None and block:
                header, _, block = block.partition(b"\n")
                self._expect_header(header)
            if block:
                self._parse(block.replace(b"\r\n", b"\n"))
        if header is None:
            self._expect_header(rest)
        elif rest:
            raise AuditError(
                f"the inspector's answer ends in the middle of a line ({rest[:60]!r}); the store may be down"
            )

    def _expect_header(self, header: bytes) -> None:
        wanted = POSTS_HEADER if self._hashed else COMMITS_HEADER
        if header.strip() != wanted:
            raise AuditError(f"the inspector sent {header[:60]!r}, expected the header {wanted.decode()!r}")

    def _parse(self, block: bytes) -> None:
        data = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        starts = np.concatenate(([0], ends[:-1] + 1))
        fixed = ID_LENGTH + 1 + (HASH_LENGTH + 1 if self._hashed else 0)
        if (ends - starts < fixed).any():
            bad = int(np.flatnonzero(ends - starts < fixed)[0])
            raise AuditError(
                f"the inspector sent a line that is too short: {block[starts[bad] : ends[bad]]!r}"
            )
        ids = data[starts[:, None] + np.arange(ID_LENGTH)]
        digits = HEX[ids[:, SEQ_COLUMNS]]
        ours = (ids[:, :PREFIX_LENGTH] == self._prefix).all(axis=1) & (digits >= 0).all(axis=1)
        self.foreign_ids += [bytes(i).decode("ascii", "replace") for i in ids[~ours]]
        starts, ends = starts[ours], ends[ours]
        self._seq.append(_number(digits[ours], 16))
        if self._hashed:
            self._hash.append(_hash(data, starts + ID_LENGTH + 1))
        self._durable_at_us.append(_moments(data, starts + fixed, ends))

    @property
    def seq(self) -> NDArray[np.int64]:
        """Sequence numbers, in the order read."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._seq])

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Content hashes, in the order read."""
        return np.concatenate([np.empty(0, dtype=np.uint64), *self._hash])

    @property
    def durable_at_ms(self) -> NDArray[np.float64]:
        """Moments, epoch milliseconds; NaN where the line had none."""
        moments = np.concatenate([np.empty(0, dtype=np.int64), *self._durable_at_us])
        return np.where(moments < 0, np.nan, moments / 1000.0)


def assemble(posts: Rows, commits: Rows, lines: NDArray[np.uint64]) -> Stored:
    """Rows of the store, with the moments that only the writing process knows filled in; lines: content_hashes."""
    seq, durable_at_ms = posts.seq, posts.durable_at_ms
    missing = np.isnan(durable_at_ms)
    if missing.any() and len(commits.seq):
        order = np.lexsort((commits.durable_at_ms, commits.seq))
        known, first = np.unique(commits.seq[order], return_index=True)
        at = np.minimum(np.searchsorted(known, seq), len(known) - 1)
        moment = commits.durable_at_ms[order][first][at]
        durable_at_ms = np.where(missing & (known[at] == seq), moment, durable_at_ms)
    return Stored(
        seq=seq,
        content_ok=posts.hashes == lines[seq % len(lines)],
        durable_at_ms=durable_at_ms,
        foreign_ids=tuple(posts.foreign_ids),
    )


def save(stored: Stored, path: Path) -> None:
    """Writes stored.csv.gz: seq,content_ok,durable_at_ms,foreign_id."""
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8", newline="") as file:
        file.write(FILE_HEADER + "\n")
        columns = zip(
            stored.seq.tolist(), stored.content_ok.tolist(), stored.durable_at_ms.tolist(), strict=True
        )
        file.writelines(f"{s},{int(ok)},{'' if at != at else f'{at:.3f}'},\n" for s, ok, at in columns)  # noqa: PLR0124
        csv.writer(file, lineterminator="\n").writerows(
            ["", "", "", foreign] for foreign in stored.foreign_ids
        )


class SavedParts:
    """What `save` wrote, part by part. AuditError where there is no file."""

    def __init__(self, path: Path) -> None:
        """Opens nothing yet."""
        self._path = path
        self._blocks = Blocks(path, FILE_HEADER)
        self.bad_lines: list[int] = []  # numbers of those that are no row

    @property
    def torn(self) -> bool:
        """Cut, damaged or without its header; known after the last part."""
        return self._blocks.torn or not self._blocks.headed

    def __iter__(self) -> Iterator[Stored]:
        """Each row once."""
        try:
            for first, block in self._blocks:
                number = first
                for lines, part in sifted(block, _saved):
                    if part is None:
                        self.bad_lines.append(number)
                    else:
                        yield part
                    number += lines
        except OSError as error:
            raise AuditError(f"{self._path.name}: cannot be read ({error.strerror})") from error


def _saved(block: bytes) -> Stored:
    """ValueError where any line is no row."""
    found = columns(block, FILE_TYPES, quoted=True)
    seq, content, durable, foreign = (found.column(name) for name in FILE_TYPES)
    theirs = foreign.is_valid().to_numpy()
    for column in (seq, content):
        if (column.is_valid().to_numpy() == theirs).any():
            raise ValueError("needs either a sequence or a foreign id")
    ours = ~theirs
    numbers = seq.fill_null(0).to_numpy()[ours]
    flags, moments = content.fill_null(0).to_numpy()[ours], durable.to_numpy()
    if (numbers < 0).any() or ((flags != 0) & (flags != 1)).any() or np.isfinite(moments[theirs]).any():
        raise ValueError("out of range")
    return Stored(
        seq=numbers,
        content_ok=flags == 1,
        durable_at_ms=moments[ours],
        foreign_ids=tuple(foreign.drop_null().to_pylist()),
    )


def _number(digits: NDArray[np.int64], base: int) -> NDArray[np.int64]:
    number = np.zeros(len(digits), dtype=np.int64)
    for column in range(digits.shape[1]):
        number = number * base + digits[:, column]
    return number


def _hash(data: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    digits = HEX[data[starts[:, None] + np.arange(HASH_LENGTH)]]
    if (digits < 0).any():
        raise AuditError("the inspector sent a content hash that is not 16 hex digits")
    high, low = _number(digits[:, :8], 16), _number(digits[:, 8:], 16)
    return (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)


def _moments(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """-1 where empty. Moments of one answer mostly have one length: a pass for each length."""
    moments = np.full(len(starts), -1, dtype=np.int64)
    lengths = ends - starts
    for length in np.unique(lengths[lengths > 0]):
        of = np.flatnonzero(lengths == length)
        digits = data[starts[of][:, None] + np.arange(length)].astype(np.int64) - ord("0")
        if ((digits < 0) | (digits > 9)).any():  # noqa: PLR2004 - a decimal digit
            raise AuditError("the inspector sent a durable_at_us that is not epoch microseconds")
        moments[of] = _number(digits, 10)
    return moments


def nothing() -> Stored:
    """No rows: of a store that could not be read."""
    empty = np.empty(0)
    return Stored(seq=empty.astype(np.int64), content_ok=empty.astype(np.bool_), durable_at_ms=empty)
