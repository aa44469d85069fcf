"""The tables a load leaves in its folder, beside its ledger: rows read back, samples, moments of visibility.

They are written while the system runs, and read by reports and `make verify`. UsageError where a file is missing, cut
or edited.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis.samples import SAMPLES_SCHEMA, Series, series
from writepath.load import ledger, parquet

STORED_FILE = "stored.parquet"
SAMPLES_FILE = "samples.parquet"
VISIBLE_FILE = "visible.parquet"
STORED_SCHEMA = pa.schema(
    [
        ("read", pa.int8()),  # 1: after the drain; 2: after all stores were killed and restarted
        ("sequence", pa.int64()),  # null: an id that is not of this load
        ("content_ok", pa.bool_()),  # null where the sequence is
        ("durable_at_us", pa.int64()),
        ("foreign_id", pa.string()),
    ]
)
VISIBLE_SCHEMA = pa.schema(  # epoch: the last question that missed the write, the first answer that had it
    [("sequence", pa.int64()), ("not_before_us", pa.int64()), ("visible_at_us", pa.int64())]
)


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the store held: one entry a row of this run, in any order, and the ids that are not of this run."""

    seq: NDArray[np.int64]
    content_ok: NDArray[np.bool_]
    durable_at_us: NDArray[np.int64]  # epoch; NO_TIME where unknown
    foreign_ids: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """All rows, foreign ones too."""
        return len(self.seq) + len(self.foreign_ids)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One value at one moment."""

    at_us: int  # epoch
    component: str
    metric: str
    value: float


def tables(folder: Path) -> dict[str, Iterator[pa.Table]]:
    """By name, the parts of the raw tables of a load's folder that are there; the ledger must be."""
    found = {"requests": parquet.parts(folder / ledger.FILE, ledger.SCHEMA)}
    others = {
        STORED_FILE: STORED_SCHEMA,
        SAMPLES_FILE: SAMPLES_SCHEMA,
        VISIBLE_FILE: VISIBLE_SCHEMA,
        ledger.REQUESTS_FILE: ledger.SCHEMA,
    }
    for name, schema in others.items():
        if (folder / name).is_file():
            found[name.removesuffix(parquet.SUFFIX)] = parquet.parts(folder / name, schema)
    return found


def save_stored(reads: Sequence[Stored], path: Path) -> None:
    """The first read of the store, or both; replaces what was there."""
    tables = [STORED_SCHEMA.empty_table()]
    for number, one in enumerate(reads, 1):
        own = {
            "read": np.full(len(one.seq), number, np.int8),
            "sequence": one.seq,
            "content_ok": one.content_ok,
            "durable_at_us": parquet.moments(one.durable_at_us),
        }
        foreign_ids = pa.array(one.foreign_ids, pa.string())
        foreign = {"read": np.full(len(foreign_ids), number, np.int8), "foreign_id": foreign_ids}
        tables += [pa.table(own), pa.table(foreign)]
    parquet.save_table(pa.concat_tables(tables, promote_options="default"), path)


def save_samples(samples: Sequence[Sample], path: Path) -> None:
    """In the order sampled."""
    parquet.save_table(pa.Table.from_pylist([*map(vars, samples)], schema=SAMPLES_SCHEMA), path)


def read_samples(path: Path) -> Series:
    """By component and metric, in the order sampled."""
    return series(parquet.load_table(path))


def save_visible(
    sequence: NDArray[np.int64],
    not_before_us: NDArray[np.int64],
    visible_at_us: NDArray[np.int64],
    path: Path,
) -> None:
    """When a search found each sampled write. NO_TIME: no question missed it, or no answer had it."""
    columns = {
        "sequence": sequence,
        "not_before_us": parquet.moments(not_before_us),
        "visible_at_us": parquet.moments(visible_at_us),
    }
    parquet.save_table(pa.table(columns, schema=VISIBLE_SCHEMA), path)
