"""Parses the rows of the store, as the inspector sends them, into arrays; a million rows take about a second."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis.audit import Stored
from writepath.errors import AuditError
from writepath.load.ledger import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

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
    def durable_at_us(self) -> NDArray[np.int64]:
        """Moments, epoch; NO_TIME where the line had none."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._durable_at_us])


def assemble(posts: Rows, commits: Rows, lines: NDArray[np.uint64]) -> Stored:
    """Rows of the store, with the moments that only the writing process knows filled in; lines: content_hashes."""
    seq, durable_at_us = posts.seq, posts.durable_at_us
    missing = durable_at_us == NO_TIME
    dated = commits.durable_at_us != NO_TIME
    if missing.any() and dated.any():
        theirs, at_us = commits.seq[dated], commits.durable_at_us[dated]
        order = np.lexsort((at_us, theirs))
        known, first = np.unique(theirs[order], return_index=True)
        at = np.minimum(np.searchsorted(known, seq), len(known) - 1)
        durable_at_us = np.where(missing & (known[at] == seq), at_us[order][first][at], durable_at_us)
    return Stored(
        seq=seq,
        content_ok=posts.hashes == lines[seq % len(lines)],
        durable_at_us=durable_at_us,
        foreign_ids=tuple(posts.foreign_ids),
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
    """NO_TIME where empty. Moments of one answer mostly have one length: a pass for each length."""
    moments = np.full(len(starts), NO_TIME, dtype=np.int64)
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
    empty = np.empty(0, dtype=np.int64)
    return Stored(seq=empty, content_ok=empty.astype(np.bool_), durable_at_us=empty)
