"""Parquet files: written complete or not at all, read as one table or one row group at a time.

Whole numbers that ascend or repeat take little room with DELTA_BINARY_PACKED and zstd 19: 66,360 requests took 0.37 MB,
with the writer's defaults 0.95 MB. A Parquet file that is cut cannot be read at all: its index is at its end.
Pages have checksums.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from writepath.errors import UsageError

SUFFIX = ".parquet"
SMALLEST = 19  # level of zstd for what is published
NULL = -1  # in arrays, where a file has a null
WORD = pa.dictionary(pa.int32(), pa.string())  # of a column with few different words
_DAMAGED = (OSError, pa.ArrowException, ValueError, LookupError)  # the last two: of names in a damaged index


def save_table(table: pa.Table, path: Path, *, level: int = 1) -> None:
    """Writes a Parquet file that appears complete or not at all. level: of zstd; 1 while a benchmark runs."""
    whole = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    part = path.with_name(f"{path.name}.part")
    pq.write_table(
        table,
        part,
        compression="zstd",
        compression_level=level,
        use_dictionary=[field.name for field in table.schema if field.name not in whole],
        column_encoding=dict.fromkeys(whole, "DELTA_BINARY_PACKED"),
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
    )
    part.replace(path)


def load_table(path: Path) -> pa.Table:
    """A Parquet file; UsageError where it is missing or damaged."""
    try:
        return pq.read_table(path, page_checksum_verification=True)
    except _DAMAGED as error:
        raise _unreadable(path, error) from error


def parts(path: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """A Parquet file's tables, one a row group, in little memory. UsageError where it is missing or damaged.

    schema: of the columns that are read, which the file must have.
    """
    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    try:
        file = pq.ParquetFile(path, read_dictionary=words, page_checksum_verification=True)
        for group in range(file.num_row_groups):
            found = file.read_row_group(group, columns=schema.names, use_threads=False)
            found.validate(full=True)  # a word may be none of its dictionary's
            yield found.select(schema.names).cast(schema)
            del found
            pa.default_memory_pool().release_unused()
    except _DAMAGED as error:
        raise _unreadable(path, error) from error


def moments(values: NDArray[np.int64]) -> pa.Array:
    """A column of times, null where a value is NULL."""
    return pa.array(values, pa.int64(), mask=values == NULL)


def whole(table: pa.Table, name: str, null: int = NULL) -> NDArray[Any]:
    """A column of whole numbers; UsageError where there is none."""
    column = column_of(table, name)
    values: NDArray[Any] = (column.fill_null(null) if column.null_count else column).to_numpy()
    return values


def column_of(table: pa.Table, name: str) -> Any:
    """A column; UsageError where there is none."""
    if name not in table.column_names:
        raise UsageError(f"a table has no column {name}, only {', '.join(table.column_names)}; it was edited")
    return table.column(name)


def _unreadable(path: Path, error: Exception) -> UsageError:
    words = " ".join(str(error).split()).removesuffix(".")
    return UsageError(f"{path}: cannot be read ({words}); it was cut, edited or removed")
