"""Rows of a store as inspectors send them: CSV with ids, hashes of contents and moments."""

import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from writepath.analysis.raw import Stored
from writepath.errors import AuditError
from writepath.load import parquet
from writepath.load.ledger import NO_TIME
from writepath.load.plan import encode_id

COMMITS = {"id": pa.binary(36), "durable_at_us": pa.int64()}
POSTS = {"id": pa.binary(36), "content_hash": pa.binary(16), "durable_at_us": pa.int64()}
_PREFIX_LENGTH = 20  # rrrrrrrr-rrrr-8rrr-8
_DIGITS = np.full(256, -1, dtype=np.int64)
_DIGITS[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)
_SEQ_COLUMNS = np.array([20, 21, 22, *range(24, 36)])
_POWERS = 16 ** np.arange(len(_SEQ_COLUMNS) - 1, -1, -1, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Rows of one run in the order read, in parallel arrays, and the ids that are not of this run."""

    seq: NDArray[np.int64]
    hashes: NDArray[np.uint64]  # of contents; empty in commits
    durable_at_us: NDArray[np.int64]  # epoch; NO_TIME where unknown
    foreign_ids: tuple[str, ...]


def content_hashes(lines: Sequence[str]) -> NDArray[np.uint64]:
    """First 64 bits of the SHA-256 of each line's UTF-8."""
    return np.array(
        [int.from_bytes(hashlib.sha256(line.encode()).digest()[:8], "big") for line in lines], dtype=np.uint64
    )


def parse(body: bytes, run_id: str, types: dict[str, Any]) -> Rows:
    """One answer. types: POSTS or COMMITS. AuditError where it is cut or not in the agreed form."""
    header, wanted = body[:200].partition(b"\n")[0], ",".join(types)
    if header.strip() != wanted.encode():
        raise AuditError(f"the inspector sent {header[:60]!r}, expected the header {wanted!r}")
    if not body.endswith(b"\n"):
        raise AuditError(
            f"the inspector's answer ends in the middle of a line ({body[-60:]!r}); the store may be down"
        )
    try:
        table = csv.read_csv(pa.BufferReader(body), convert_options=csv.ConvertOptions(column_types=types))
        hashes = np.empty(0, np.uint64)
        if "content_hash" in types:
            hexadecimal = _characters(table.column("content_hash")).tobytes()
            hashes = np.frombuffer(binascii.unhexlify(hexadecimal), ">u8").astype(np.uint64)
    except (pa.ArrowInvalid, binascii.Error) as error:
        raise AuditError(f"the inspector sent a line in another form ({error})") from error
    ids = _characters(table.column("id"))
    prefix = np.frombuffer(encode_id(run_id, 0)[:_PREFIX_LENGTH].encode(), np.uint8)
    digits = _DIGITS[ids[:, _SEQ_COLUMNS]]
    ours = (ids[:, :_PREFIX_LENGTH] == prefix).all(axis=1) & (digits >= 0).all(axis=1)
    return Rows(
        seq=(digits @ _POWERS)[ours],
        hashes=hashes[ours] if len(hashes) else hashes,
        durable_at_us=parquet.whole(table, "durable_at_us")[ours],
        foreign_ids=tuple(bytes(each).decode("ascii", "replace") for each in ids[~ours]),
    )


def _characters(column: Any) -> NDArray[np.uint8]:
    """Of a column of words of one length: a row each."""
    width = column.type.byte_width
    chunks = [np.frombuffer(chunk.buffers()[1], np.uint8, len(chunk) * width) for chunk in column.chunks]
    return np.concatenate([np.empty(0, np.uint8), *chunks]).reshape(-1, width)


def assemble(posts: Rows, commits: Sequence[Rows], lines: NDArray[np.uint64]) -> Stored:
    """Rows of the store, with the moments that only the writing processes know filled in; lines: content_hashes."""
    seq, durable_at_us = posts.seq, posts.durable_at_us
    missing = durable_at_us == NO_TIME
    dated_seq, dated_us = (
        np.concatenate([np.empty(0, np.int64), *(getattr(one, name) for one in commits)])
        for name in ("seq", "durable_at_us")
    )
    known_us = dated_us != NO_TIME
    if missing.any() and known_us.any():
        dated_seq, dated_us = dated_seq[known_us], dated_us[known_us]
        order = np.lexsort((dated_us, dated_seq))
        known, first = np.unique(dated_seq[order], return_index=True)
        at = np.minimum(np.searchsorted(known, seq), len(known) - 1)
        durable_at_us = np.where(missing & (known[at] == seq), dated_us[order][first][at], durable_at_us)
    return Stored(
        seq=seq,
        content_ok=posts.hashes == lines[seq % len(lines)],
        durable_at_us=durable_at_us,
        foreign_ids=posts.foreign_ids,
    )
