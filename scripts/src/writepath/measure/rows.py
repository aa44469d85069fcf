"""Rows of a store as inspectors send them: CSV with ids, hashes of contents and moments."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from writepath.analysis.raw import Stored
from writepath.errors import AuditError
from writepath.load.ledger import NO_TIME
from writepath.load.plan import encode_id

COMMITS = {"id": pa.string(), "durable_at_us": pa.int64()}
POSTS = {"id": pa.string(), "content_hash": pa.binary(16), "durable_at_us": pa.int64()}
_PREFIX_LENGTH = 20  # rrrrrrrr-rrrr-8rrr-8, then the sequence: sss-ssssssssssss


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Rows of one run in the order read, and the ids that are not of this run."""

    own: pa.Table  # sequence; content_hash, but in commits; durable_at_us, null where unknown
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
        if "content_hash" in types:
            hashes = pa.array(_numbers(table.column("content_hash")))
            table = table.set_column(1, "content_hash", hashes)
    except ValueError as error:
        raise AuditError(f"the inspector sent a line in another form ({error})") from error
    prefix = encode_id(run_id, 0)[:_PREFIX_LENGTH]
    ours = pc.match_substring_regex(table.column("id"), f"^{prefix}[0-9a-f]{{3}}-[0-9a-f]{{12}}$")
    own = table.filter(ours)
    digits = pc.replace_substring(pc.utf8_slice_codeunits(own.column("id"), _PREFIX_LENGTH), "-", "")
    sequence = pa.array(_numbers(pc.utf8_lpad(digits, 16, "0")).astype(np.int64))
    return Rows(
        own=own.set_column(0, "sequence", sequence),
        foreign_ids=tuple(table.column("id").filter(pc.invert(ours)).to_pylist()),
    )


def _numbers(hexadecimal: pa.ChunkedArray) -> NDArray[np.uint64]:
    """Of words of 16 digits each. ValueError where they are none."""
    digits = b"".join(hexadecimal.cast(pa.binary()).to_pylist())
    return np.frombuffer(bytes.fromhex(digits.decode("ascii")), ">u8").astype(np.uint64)


def assemble(posts: Rows, commits: Sequence[Rows], lines: NDArray[np.uint64]) -> Stored:
    """Rows of the store, with the moments that only the writing processes know filled in; lines: content_hashes."""
    sequence, durable_at_us = posts.own.column("sequence"), posts.own.column("durable_at_us")
    if commits:
        dated = pa.concat_tables([each.own for each in commits]).filter(pc.field("durable_at_us").is_valid())
        first = dated.group_by("sequence").aggregate([("durable_at_us", "min")])
        place = pc.index_in(sequence, value_set=first.column("sequence"))
        durable_at_us = pc.coalesce(durable_at_us, first.column("durable_at_us_min").take(place))
    seq = sequence.to_numpy()
    return Stored(
        seq=seq,
        content_ok=posts.own.column("content_hash").to_numpy() == lines[seq % len(lines)],
        durable_at_us=durable_at_us.fill_null(NO_TIME).to_numpy(),
        foreign_ids=posts.foreign_ids,
    )
