"""What did a suite run leave behind? Reads run folders into arrays; computes nothing."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from writepath.errors import UsageError
from writepath.load import archived
from writepath.load.blocks import Blocks, columns
from writepath.result import Run, SuiteResult, load_run, load_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from writepath.load.ledger import Ledger
    from writepath.stats import Floats, Ints

LEDGER_FILE = "ledger.csv.gz"
STORED_FILE = "stored.csv.gz"
SAMPLES_FILE = "samples.csv.gz"
VISIBLE_FILE = "visible.csv.gz"
STORED_TYPES = {
    "seq": pa.int64(),
    "content_ok": pa.int8(),
    "durable_at_ms": pa.float64(),
    "foreign_id": pa.string(),
}
STORED_ROW = np.dtype([("seq", np.int64), ("durable_at_ms", np.float64), ("content_ok", np.int8)])


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredRows:
    """What the store held of this run, one entry a row."""

    seq: Ints
    durable_at_ms: Floats  # epoch; NaN where unknown
    content_ok: NDArray[np.bool_]  # as it was sent
    foreign_rows: int  # rows of ids that are not of this run


@dataclass(frozen=True, kw_only=True, eq=False)
class VisibleRows:
    """Which writes were asked for, one entry each, ascending by sequence, and when a search found them."""

    seq: Ints
    not_before_ms: Floats  # epoch: the last question that missed it; NaN where none did
    visible_at_ms: Floats  # epoch: the first answer that had it; NaN where none did


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Readings of one metric of one component, in the order of time."""

    at_ms: Floats  # epoch
    value: Floats


Series = dict[tuple[str, str], Samples]  # by (component, metric)


@dataclass(frozen=True, kw_only=True, eq=False)
class RunData:
    """One run: its record, and its raw values where it got that far."""

    run: Run
    ledger: Ledger | None
    stored: StoredRows | None
    series: Series
    visible: VisibleRows | None = None  # of runs before it was measured, too


@dataclass(frozen=True, kw_only=True, eq=False)
class SuiteData:
    """All runs of a suite run, in the order they ran. Runs are read one at a time: a ledger may be large."""

    suite: SuiteResult
    read: tuple[Callable[[], RunData], ...]


def read_suite(folder: Path) -> SuiteData:
    """The suite run of a folder that holds suite.json. UsageError where a listed run is missing."""
    suite = load_suite(folder)
    for entry in suite.runs:
        inside(folder, entry.folder)
    return SuiteData(suite=suite, read=tuple(_reader(inside(folder, entry.folder)) for entry in suite.runs))


def inside(folder: Path, name: str) -> Path:
    """The folder of that name below `folder`; UsageError for a name that leads out of it."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise UsageError(f"{folder / 'suite.json'}: runs.folder={name!r} leads out of the suite's folder")
    return path


def _reader(folder: Path) -> Callable[[], RunData]:
    return lambda: read_run(folder)


def read_run(folder: Path) -> RunData:
    """One run's folder. A failed run may lack raw files; a finished one may not."""
    run = load_run(folder)
    ledger, stored, samples = (folder / name for name in (LEDGER_FILE, STORED_FILE, SAMPLES_FILE))
    if run.requests is not None and not ledger.is_file():
        raise UsageError(f"{ledger}: missing; the run's figures cannot be derived without it")
    return RunData(
        run=run,
        ledger=archived.read(ledger) if ledger.is_file() else None,
        stored=read_stored(stored) if stored.is_file() else None,
        series=read_samples(samples) if samples.is_file() else {},
        visible=read_visible(seen) if (seen := folder / VISIBLE_FILE).is_file() else None,
    )


def read_stored(path: Path) -> StoredRows:
    """`seq,content_ok,durable_at_ms,foreign_id`; the lines of foreign ids have no seq."""
    blocks = Blocks(path, ",".join(STORED_TYPES))
    foreign = 0

    def own() -> Iterator[NDArray[np.void]]:
        nonlocal foreign
        for _, block in blocks:
            table = columns(block, STORED_TYPES, quoted=True)
            ours = table.column("seq").is_valid().to_numpy()
            rows = np.empty(int(ours.sum()), STORED_ROW)
            for name in STORED_ROW.names or ():
                values = table.column(name)
                rows[name] = (values if name == "durable_at_ms" else values.fill_null(0)).to_numpy()[ours]
            foreign += len(ours) - len(rows)
            yield rows

    try:
        rows = archived.grown(own(), STORED_ROW)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read ({error}); the file was edited") from error
    if blocks.torn or not blocks.headed:
        raise UsageError(f"{path}: cannot be read; it is truncated or not gzip, or its header differs")
    return StoredRows(
        seq=rows["seq"],
        content_ok=rows["content_ok"] == 1,
        durable_at_ms=rows["durable_at_ms"],
        foreign_rows=foreign,
    )


def read_visible(path: Path) -> VisibleRows:
    """`seq,not_before_ms,visible_at_ms`; an empty field is no moment."""
    body = _body(path, b"seq,not_before_ms,visible_at_ms").replace(b",,", b",nan,").replace(b",\n", b",nan\n")
    columns = _numbers(body, (0, 1, 2))
    return VisibleRows(
        seq=columns[:, 0].astype(np.int64), not_before_ms=columns[:, 1], visible_at_ms=columns[:, 2]
    )


def read_samples(path: Path) -> Series:
    """`at_ms,component,metric,value`, long format, into one series for each component and metric."""
    body = _body(path, b"at_ms,component,metric,value")
    points: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    for line in body.decode("utf-8").splitlines():
        at, component, metric, value = line.split(",")
        times, values = points.setdefault((component, metric), ([], []))
        times.append(float(at))
        values.append(float(value) if value else np.nan)
    return {key: Samples(at_ms=np.array(at), value=np.array(value)) for key, (at, value) in points.items()}


def _body(path: Path, header: bytes) -> bytes:
    try:
        with gzip.open(path) as file:
            first, _, body = file.read().partition(b"\n")
    except (OSError, EOFError) as error:
        raise UsageError(f"{path}: cannot be read ({error}); it is truncated or not gzip") from error
    if first.strip() != header:
        raise UsageError(f"{path}: header {first[:80]!r}, expected {header.decode()!r}")
    return body


def _numbers(body: bytes, columns: tuple[int, ...]) -> Floats:
    if not body.strip():
        return np.empty((0, len(columns)))
    return np.loadtxt(io.BytesIO(body), delimiter=",", usecols=columns, ndmin=2, dtype=np.float64)
