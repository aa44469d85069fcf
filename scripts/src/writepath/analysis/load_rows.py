"""The requests of a load as arrays, merged with both reads of the store; in microseconds, part by part.

Read from the raw tables or from the published one. Of several rows of one request, the first durable one counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from writepath.analysis.audit import ACKNOWLEDGED, INDETERMINATE, REJECTED, UNREAD
from writepath.analysis.stats import Ints, Marks
from writepath.errors import UsageError
from writepath.load import ledger
from writepath.load.ledger import NO_TIME
from writepath.load.parquet import column_of, moments, whole
from writepath.records.load_facts import OperationFacts

Parts = Iterable[pa.Table]  # of one table, in any order

NEVER = np.iinfo(np.int64).max
MOST_COPIES = np.iinfo(np.uint16).max
REQUESTS = {  # as small as the values allow: of ten million requests, 8 bytes each take 80 MB
    "sequence": np.int32,
    "operation": np.int8,  # index into the load's operations
    "start_us": np.int64,
    "blocked_us": np.int32,
    "duration_us": np.int32,
    "status": np.int16,
    "error_code": np.int32,
}
UNEXPECTED = pa.schema([("read", pa.int8()), ("sequence", pa.int64()), ("foreign_id", pa.string())])


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
    client: NDArray[np.uint8]  # what the client saw of each, as in audit.py
    durable_at_us: Ints  # epoch, as the first read has it
    copies: list[NDArray[np.uint16]]  # by read of the store, one or two
    differs: list[Marks]  # by read, whether the content is not what was sent
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
        for name in ("operation", "status", "error_code", "client"):
            setattr(self, name, getattr(self, name)[:0].copy())
        self.copies, self.differs = [], []
        if not marks.all():
            for name in ("sequence", "start_us", "blocked_us", "duration_us", "durable_at_us"):
                setattr(self, name, getattr(self, name)[marks])


def of_raw(requests: Parts, stored: Parts | None, operations: Sequence[OperationFacts], reads: int) -> Rows:
    """Rows of the raw tables. reads: how often the store was read."""
    columns = _requests(requests, operations)
    sequence = columns["sequence"]
    rows = Rows(
        **columns,
        durable_at_us=np.full(len(sequence), NEVER),
        copies=[np.zeros(len(sequence), np.uint16) for _ in range(max(reads, 1))],
        differs=[np.zeros(len(sequence), np.bool_) for _ in range(max(reads, 1))],
        unexpected=UNEXPECTED.empty_table(),
    )
    others = [_take(part, rows) for part in stored or ()]
    rows.durable_at_us[rows.durable_at_us == NEVER] = NO_TIME
    unexpected = pa.concat_tables([rows.unexpected, *others])
    rows.unexpected = unexpected.sort_by([(name, "ascending") for name in UNEXPECTED.names])
    return rows


def of_published(table: pa.Table, unexpected: pa.Table, operations: Sequence[OperationFacts]) -> Rows:
    """Rows of the table that published() made."""
    columns = _requests([table], operations)
    known = column_of(table, "durable_us").is_valid().to_numpy()
    numbers = (1, 2) if column_of(table, "copies_2").null_count < len(table) else (1,)
    return Rows(
        **columns,
        durable_at_us=np.where(known, _since(columns["start_us"]) + whole(table, "durable_us"), NO_TIME),
        copies=[whole(table, f"copies_{number}", 0).astype(np.uint16) for number in numbers],
        differs=[~table.column(f"content_ok_{number}").fill_null(True).to_numpy() for number in numbers],
        unexpected=unexpected.cast(UNEXPECTED),
    )


def published(rows: Rows, operations: Sequence[OperationFacts]) -> pa.Table:
    """One row a request: what the client saw, and what either read of the store had."""
    known = rows.durable_at_us != NO_TIME
    words = pa.DictionaryArray.from_arrays(
        rows.operation.astype(np.int32), [operation.name for operation in operations]
    )
    columns: dict[str, Any] = {"sequence": rows.sequence.astype(np.int64), "operation": words}
    for name in ("start_us", "blocked_us", "duration_us"):
        columns[name] = moments(getattr(rows, name).astype(np.int64))
    columns |= {"status": rows.status, "error_code": rows.error_code}
    columns["durable_us"] = pa.array(rows.durable_at_us - _since(rows.start_us), mask=~known)
    for number in (1, 2):
        found = pa.nulls(len(known), pa.int32()), pa.nulls(len(known), pa.bool_())
        if number <= len(rows.copies):
            copies, differs = rows.copies[number - 1], rows.differs[number - 1]
            found = pa.array(copies.astype(np.int32)), pa.array(~differs, mask=copies == 0)
        columns[f"copies_{number}"], columns[f"content_ok_{number}"] = found
    return pa.table(columns)


def _requests(parts: Parts, operations: Sequence[OperationFacts]) -> dict[str, Any]:
    """The columns of Rows that no store says, ascending by sequence."""
    taken: dict[str, list[Any]] = {name: [np.empty(0, kind)] for name, kind in REQUESTS.items()}
    for part in parts:
        for name, values in taken.items():
            column = column_of(part, name)
            values.append(_operations(column, operations) if name == "operation" else _narrow(column, name))
    columns = {name: np.concatenate(taken.pop(name)) for name in REQUESTS}
    sequence = columns["sequence"]
    if not (sequence[1:] > sequence[:-1]).all():
        order = np.argsort(sequence, kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
        again = np.flatnonzero(np.diff(columns["sequence"]) == 0)
        if len(again):
            raise UsageError(
                f"sequence {columns['sequence'][again[0]]} has two requests; the table was edited"
            )
    return columns | {"client": _client(columns, operations)}


def _client(columns: Mapping[str, NDArray[Any]], operations: Sequence[OperationFacts]) -> NDArray[np.uint8]:
    status, error_code = columns["status"], columns["error_code"]
    saw = np.full(len(status), INDETERMINATE, np.uint8)
    saw[np.isin(status, ledger.REJECTED_STATUSES)] = REJECTED
    saw[error_code == ledger.UNREAD] = UNREAD
    for index, operation in enumerate(operations):
        own = (columns["operation"] == index) & np.isin(status, operation.served)
        saw[own & ~np.isin(error_code, ledger.UNSERVED)] = ACKNOWLEDGED
    return saw


def _narrow(column: Any, name: str) -> NDArray[Any]:
    try:
        column = column.cast(pa.from_numpy_dtype(REQUESTS[name]))
    except pa.ArrowInvalid as error:
        raise UsageError(f"{name} of a request is out of range ({error}); the table was edited") from error
    found: NDArray[Any] = (column.fill_null(NO_TIME) if column.null_count else column).to_numpy()
    return found


def _operations(column: Any, operations: Sequence[OperationFacts]) -> NDArray[np.int8]:
    """By row, the operation's index."""
    words, names = column.cast(pa.string()), [operation.name for operation in operations]
    indices = pc.index_in(words, pa.array(names, pa.string()))
    if indices.null_count:
        word = words.filter(indices.is_null())[0]
        raise UsageError(f"operation={word} in the requests, but the facts name {', '.join(names)}")
    found: NDArray[np.int8] = indices.cast(pa.int8()).to_numpy()
    return found


def _take(part: pa.Table, rows: Rows) -> pa.Table:
    """Adds rows of the store to the reads; the rows that no request sent."""
    read, at = whole(part, "read"), places(rows.sequence, whole(part, "sequence"))
    for number, (copies, differs) in enumerate(zip(rows.copies, rows.differs, strict=True), 1):
        mine = (read == number) & (at >= 0)
        own = at[mine]
        copies[own] = np.minimum(copies[own], MOST_COPIES - 1)
        np.add.at(copies, own, np.uint16(1))
        content_ok = column_of(part, "content_ok").fill_null(True).to_numpy()[mine]
        differs[own[~content_ok]] = True
        if number == 1:
            at_us = whole(part, "durable_at_us")[mine]
            known = at_us != NO_TIME
            np.minimum.at(rows.durable_at_us, own[known], at_us[known])
    others = part.filter(pa.array((at < 0) & (read <= len(rows.copies))))
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
