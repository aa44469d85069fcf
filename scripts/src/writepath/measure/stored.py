"""Parses the rows of the store, as the inspector sends them, into arrays; a million rows take about a second."""

from __future__ import annotations

import binascii
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from writepath.analysis.audit import Stored
from writepath.errors import AuditError
from writepath.load import parquet
from writepath.load.ledger import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

PREFIX_LENGTH = 20  # rrrrrrrr-rrrr-8rrr-8
_COMMITS = {"id": pa.binary(36), "durable_at_us": pa.int64()}
_POSTS = {"id": pa.binary(36), "content_hash": pa.binary(16), "durable_at_us": pa.int64()}
_DIGITS = np.full(256, -1, dtype=np.int64)
_DIGITS[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)
_SEQ_COLUMNS = np.array([20, 21, 22, *range(24, 36)])
_POWERS = 16 ** np.arange(len(_SEQ_COLUMNS) - 1, -1, -1, dtype=np.int64)
_ROW = np.dtype([("seq", np.int64), ("hash", np.uint64), ("durable_at_us", np.int64)])


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
        self._types = _POSTS if hashed else _COMMITS
        self._rows = [np.empty(0, _ROW)]
        self.foreign_ids: list[str] = []

    def read(self, chunks: Iterable[bytes]) -> None:
        """Takes the body of one answer. AuditError where it is cut or not in the agreed form."""
        body = b"".join(chunks)
        header, wanted = body[:200].partition(b"\n")[0], ",".join(self._types)
        if header.strip() != wanted.encode():
            raise AuditError(f"the inspector sent {header[:60]!r}, expected the header {wanted!r}")
        if not body.endswith(b"\n"):
            raise AuditError(
                f"the inspector's answer ends in the middle of a line ({body[-60:]!r}); the store may be down"
            )
        try:
            options = csv.ConvertOptions(column_types=self._types)
            self._take(csv.read_csv(pa.BufferReader(body), convert_options=options))
        except (pa.ArrowInvalid, binascii.Error) as error:
            raise AuditError(f"the inspector sent a line in another form ({error})") from error

    def _take(self, table: pa.Table) -> None:
        ids = _characters(table.column("id"))
        digits = _DIGITS[ids[:, _SEQ_COLUMNS]]
        ours = (ids[:, :PREFIX_LENGTH] == self._prefix).all(axis=1) & (digits >= 0).all(axis=1)
        self.foreign_ids += [bytes(each).decode("ascii", "replace") for each in ids[~ours]]
        rows = np.zeros(len(ids), _ROW)
        rows["seq"] = digits @ _POWERS
        if "content_hash" in self._types:
            hashes = _characters(table.column("content_hash")).tobytes()
            rows["hash"] = np.frombuffer(binascii.unhexlify(hashes), ">u8")
        rows["durable_at_us"] = parquet.whole(table, "durable_at_us")
        self._rows.append(rows[ours])

    @property
    def rows(self) -> NDArray[np.void]:
        """Sequence, content hash and moment (epoch, NO_TIME where there was none), in the order read."""
        return np.concatenate(self._rows)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """Content hashes, in the order read."""
        found: NDArray[np.uint64] = self.rows["hash"]
        return found

    @property
    def seq(self) -> NDArray[np.int64]:
        """Sequences, in the order read."""
        found: NDArray[np.int64] = self.rows["seq"]
        return found


def _characters(column: Any) -> NDArray[np.uint8]:
    """Of a column of words of one length: a row each."""
    width = column.type.byte_width
    chunks = [np.frombuffer(chunk.buffers()[1], np.uint8, len(chunk) * width) for chunk in column.chunks]
    return np.concatenate([np.empty(0, np.uint8), *chunks]).reshape(-1, width)


def assemble(posts: Rows, commits: Rows, lines: NDArray[np.uint64]) -> Stored:
    """Rows of the store, with the moments that only the writing process knows filled in; lines: content_hashes."""
    rows, dated = posts.rows, commits.rows
    seq, durable_at_us = rows["seq"], rows["durable_at_us"]
    missing = durable_at_us == NO_TIME
    dated = dated[dated["durable_at_us"] != NO_TIME]
    if missing.any() and len(dated):
        dated = dated[np.lexsort((dated["durable_at_us"], dated["seq"]))]
        known, first = np.unique(dated["seq"], return_index=True)
        at = np.minimum(np.searchsorted(known, seq), len(known) - 1)
        durable_at_us = np.where(
            missing & (known[at] == seq), dated["durable_at_us"][first][at], durable_at_us
        )
    return Stored(
        seq=seq,
        content_ok=rows["hash"] == lines[seq % len(lines)],
        durable_at_us=durable_at_us,
        foreign_ids=tuple(posts.foreign_ids),
    )


def nothing() -> Stored:
    """No rows: of a store that could not be read."""
    empty = np.empty(0, dtype=np.int64)
    return Stored(seq=empty, content_ok=empty.astype(np.bool_), durable_at_us=empty)
