"""The requests of a load as arrays, merged with both reads of the store; in microseconds, part by part.

Read from the raw tables or from the published one. Of several rows of one request, the first durable one counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis.audit import ACKNOWLEDGED, INDETERMINATE, READS, REJECTED, UNREAD
from writepath.analysis.stats import Ints, Marks
from writepath.errors import UsageError
from writepath.load import ledger
from writepath.load.ledger import NO_TIME
from writepath.load.parquet import column_of, whole
from writepath.records.load_facts import OperationFacts

Parts = Iterable[pa.Table]  # of one table, in any order

UNKNOWN = -1  # of an operation
NEVER = np.iinfo(np.int64).max
MOST_COPIES = np.iinfo(np.uint16).max
REQUESTS = {  # as small as the values allow: of ten million requests, 8 bytes each take 80 MB
    "sequence": pa.int32(),
    "start_us": pa.int64(),
    "blocked_us": pa.int32(),
    "duration_us": pa.int32(),
    "status": pa.int16(),
    "error_code": pa.int32(),
}
WORD = pa.dictionary(pa.int32(), pa.string())
UNEXPECTED = pa.schema([("read", pa.int8()), ("sequence", pa.int64()), ("foreign_id", pa.string())])


@dataclass(kw_only=True, eq=False)
class StoreRead:
    """What one read of the store had, one entry a request."""

    copies: NDArray[np.uint16]
    differs: Marks  # content is not what was sent

    @classmethod
    def nothing(cls, requests: int) -> Self:
        """Of a store without rows."""
        return cls(copies=np.zeros(requests, np.uint16), differs=np.zeros(requests, np.bool_))


@dataclass(kw_only=True, eq=False)
class Rows:
    """Arrays are parallel, one entry a request, ascending by sequence."""

    sequence: NDArray[Any]  # whole numbers
    operation: NDArray[np.int8]  # index into the load's operations
    start_us: Ints  # epoch
    blocked_us: NDArray[np.int32]
    duration_us: NDArray[np.int32]
    status: NDArray[np.int16]
    error_code: NDArray[np.int32]
    durable_at_us: Ints  # epoch, as the first read has it
    first: StoreRead
    second: StoreRead | None  # None where the store was read once
    unexpected: pa.Table  # stored rows that no request sent

    @property
    def timed(self) -> Marks:
        """Which requests have times: one that was interrupted has none."""
        known: Marks = self.start_us != NO_TIME
        return known

    def took_us(self, part: slice) -> Ints:
        """From sending to the end of the answer, of requests with times."""
        took: Ints = self.blocked_us[part].astype(np.int64)
        took += self.duration_us[part]
        return took

    def keep_times(self, marks: Marks) -> None:
        """Leaves nothing but the times of these requests, in place: of ten million, a copy takes 280 MB."""
        for name in ("operation", "status", "error_code"):
            setattr(self, name, getattr(self, name)[:0].copy())
        self.first, self.second = StoreRead.nothing(0), None
        if not marks.all():
            for name in ("sequence", "start_us", "blocked_us", "duration_us", "durable_at_us"):
                setattr(self, name, getattr(self, name)[marks])

    def client(self, served: Sequence[Sequence[int]]) -> NDArray[np.uint8]:
        """What the client saw of each, as in audit_classes; served: by operation."""
        saw = np.full(len(self.status), INDETERMINATE, np.uint8)
        saw[np.isin(self.status, ledger.REJECTED_STATUSES)] = REJECTED
        saw[self.error_code == ledger.UNREAD] = UNREAD
        for operation, statuses in enumerate(served):
            own = (self.operation == operation) & np.isin(self.status, statuses)
            saw[own & (self.error_code != ledger.WRONG_TOTAL)] = ACKNOWLEDGED
        return saw


def of_raw(requests: Parts, stored: Parts | None, operations: Sequence[OperationFacts], reads: int) -> Rows:
    """Rows of the raw tables. reads: how often the store was read."""
    columns = _requests(requests, operations)
    sequence = columns["sequence"]
    found = [StoreRead.nothing(len(sequence)) for _ in range(max(reads, 1))]
    durable_at_us = np.full(len(sequence), NEVER)
    others = [_take(part, sequence, found, durable_at_us) for part in stored or ()]
    durable_at_us[durable_at_us == NEVER] = NO_TIME
    unexpected = pa.concat_tables([UNEXPECTED.empty_table(), *others])
    return Rows(
        **columns,
        durable_at_us=durable_at_us,
        first=found[0],
        second=found[1] if reads == READS else None,
        unexpected=unexpected.sort_by([(name, "ascending") for name in UNEXPECTED.names]),
    )


def of_published(table: pa.Table, unexpected: pa.Table, operations: Sequence[OperationFacts]) -> Rows:
    """Rows of the table that published() made."""
    columns = _requests([table], operations)
    delay, copies = table.column("durable_us"), table.column("copies_2")
    known = delay.is_valid().to_numpy()
    since = _since(columns["start_us"])
    first, second = (
        StoreRead(
            copies=whole(table, f"copies_{read}", 0).astype(np.uint16),
            differs=~table.column(f"content_ok_{read}").fill_null(True).to_numpy(),
        )
        for read in (1, 2)
    )
    return Rows(
        **columns,
        durable_at_us=np.where(known, since + whole(table, "durable_us"), NO_TIME),
        first=first,
        second=second if copies.null_count < len(copies) else None,
        unexpected=unexpected.cast(UNEXPECTED),
    )


def published(rows: Rows, operations: Sequence[OperationFacts]) -> pa.Table:
    """One row a request: what the client saw, and what either read of the store had."""
    known = rows.durable_at_us != NO_TIME
    untimed = ~rows.timed
    words = pa.DictionaryArray.from_arrays(
        rows.operation.astype(np.int32), [operation.name for operation in operations]
    )
    columns: dict[str, Any] = {"sequence": rows.sequence.astype(np.int64), "operation": words}
    for name in ("start_us", "blocked_us", "duration_us"):
        columns[name] = pa.array(getattr(rows, name).astype(np.int64), mask=untimed)
    columns |= {"status": rows.status, "error_code": rows.error_code}
    columns["durable_us"] = pa.array(rows.durable_at_us - _since(rows.start_us), mask=~known)
    for number, read in ((1, rows.first), (2, rows.second)):
        there = np.zeros(len(known), np.bool_) if read is None else read.copies > 0
        copies = rows.first.copies if read is None else read.copies
        missing = np.full(len(known), read is None)
        columns[f"copies_{number}"] = pa.array(copies.astype(np.int32), mask=missing)
        differs = rows.first.differs if read is None else read.differs
        columns[f"content_ok_{number}"] = pa.array(~differs, mask=~there)
    return pa.table(columns)


def _requests(parts: Parts, operations: Sequence[OperationFacts]) -> dict[str, Any]:
    """The columns of Rows that no store says, ascending by sequence."""
    kinds = {**REQUESTS, "operation": pa.int8()}
    taken: dict[str, list[Any]] = {
        name: [np.empty(0, kind.to_pandas_dtype())] for name, kind in kinds.items()
    }
    for part in parts:
        for name, kind in REQUESTS.items():
            taken[name].append(_narrow(part, name, kind))
        taken["operation"].append(_operations(column_of(part, "operation"), operations))
    columns = {name: np.concatenate(taken.pop(name)) for name in [*taken]}
    sequence = columns["sequence"]
    if not (sequence[1:] > sequence[:-1]).all():
        order = np.argsort(sequence, kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
        again = np.flatnonzero(np.diff(columns["sequence"]) == 0)
        if len(again):
            raise UsageError(
                f"sequence {columns['sequence'][again[0]]} has two requests; the table was edited"
            )
    return columns


def _narrow(part: pa.Table, name: str, kind: pa.DataType) -> NDArray[Any]:
    column = column_of(part, name)
    try:
        column = column.cast(kind)
    except pa.ArrowInvalid as error:
        raise UsageError(f"{name} of a request is out of range ({error}); the table was edited") from error
    found: NDArray[Any] = (column.fill_null(NO_TIME) if column.null_count else column).to_numpy()
    return found


def _operations(column: Any, operations: Sequence[OperationFacts]) -> NDArray[np.int8]:
    """By row, the operation's index."""
    encoded = column.combine_chunks().cast(WORD)
    known = {operation.name: index for index, operation in enumerate(operations)}
    words, used = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    indices: NDArray[np.int8] = np.array([known.get(word, UNKNOWN) for word in words], np.int8)[used]
    if (indices == UNKNOWN).any():
        word = words[used[int((indices == UNKNOWN).argmax())]]
        raise UsageError(f"operation={word} in the requests, but the facts name {', '.join(known)}")
    return indices


def _take(
    part: pa.Table, sequence: NDArray[Any], found: Sequence[StoreRead], durable_at_us: Ints
) -> pa.Table:
    """Adds rows of the store to the reads; the rows that no request sent."""
    read, at = whole(part, "read"), places(sequence, whole(part, "sequence"))
    for number, into in enumerate(found, 1):
        mine = (read == number) & (at >= 0)
        own = at[mine]
        into.copies[own] = np.minimum(into.copies[own], MOST_COPIES - 1)
        np.add.at(into.copies, own, np.uint16(1))
        content_ok = column_of(part, "content_ok").fill_null(True).to_numpy()[mine]
        into.differs[own[~content_ok]] = True
        if number == 1:
            moments = whole(part, "durable_at_us")[mine]
            known = moments != NO_TIME
            np.minimum.at(durable_at_us, own[known], moments[known])
    others = part.filter(pa.array((at < 0) & (read <= len(found))))
    return others.select(UNEXPECTED.names).cast(UNEXPECTED)


def places(sequence: NDArray[Any], own: Ints) -> Ints:
    """By entry of `own`, its place in the ascending sequences; -1 where it is none of them."""
    if not len(sequence):
        return np.full(len(own), -1)
    if sequence[-1] - sequence[0] + 1 == len(sequence):
        found: Ints = own - sequence[0]
        found[(found < 0) | (found >= len(sequence)) | (own < 0)] = -1
        return found
    found = np.searchsorted(sequence, own).clip(max=len(sequence) - 1)
    found[sequence[found] != own] = -1
    return found


def _since(start_us: Ints) -> Ints:
    """From where delays count: the request's start; of one without, the load's first start."""
    known = start_us[start_us != NO_TIME]
    return np.where(start_us != NO_TIME, start_us, known.min() if len(known) else 0)
