"""What did a suite run leave behind? Reads run folders into arrays; computes nothing."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.errors import UsageError
from writepath.load import ledger as ledgers
from writepath.result import Run, SuiteResult, load_run, load_suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.stats import Floats, Ints

LEDGER_FILE = "ledger.csv.gz"
STORED_FILE = "stored.csv.gz"
SAMPLES_FILE = "samples.csv.gz"
VISIBLE_FILE = "visible.csv.gz"


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredRows:
    """What the store held of this run, one entry a row."""

    seq: Ints
    durable_at_ms: Floats  # epoch; NaN where unknown
    content_ok: Ints  # 1: as it was sent
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
    ledger: ledgers.Ledger | None
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
        ledger=ledgers.read(ledger) if ledger.is_file() else None,
        stored=read_stored(stored) if stored.is_file() else None,
        series=read_samples(samples) if samples.is_file() else {},
        visible=read_visible(seen) if (seen := folder / VISIBLE_FILE).is_file() else None,
    )


def read_stored(path: Path) -> StoredRows:
    """`seq,content_ok,durable_at_ms,foreign_id`; the lines of foreign ids have no seq."""
    body = _body(path, b"seq,content_ok,durable_at_ms,foreign_id")
    foreign = body.count(b"\n,") + body.startswith(b",")
    if foreign:
        body = b"\n".join(line for line in body.split(b"\n") if not line.startswith(b","))
    columns = _numbers(body.replace(b",,", b",nan,"), (0, 1, 2))
    return StoredRows(
        seq=columns[:, 0].astype(np.int64),
        content_ok=columns[:, 1].astype(np.int64),
        durable_at_ms=columns[:, 2],
        foreign_rows=int(foreign),
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
        raise UsageError(f"{path}: cannot be read ({error}); it was cut or is not gzip") from error
    if first.strip() != header:
        raise UsageError(f"{path}: header {first[:80]!r}, expected {header.decode()!r}")
    return body


def _numbers(body: bytes, columns: tuple[int, ...]) -> Floats:
    if not body.strip():
        return np.empty((0, len(columns)))
    return np.loadtxt(io.BytesIO(body), delimiter=",", usecols=columns, ndmin=2, dtype=np.float64)
