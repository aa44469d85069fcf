"""How do raw values of a run fit into a few hundred kilobytes of git? One line a column, differences, xz.

Times are kept to 10 microseconds. `requests.txt.xz` holds one line a column, its name first, then whole numbers, one
a request in the order of `seq`; `samples.txt.xz` holds two lines a series, moments and values.
results/published/README.md says the same to readers.
"""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING

import numpy as np

from writepath.errors import UsageError
from writepath.load.ledger import RECORD, Ledger
from writepath.report.raw import Samples, StoredRows, VisibleRows

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.report.raw import RunData, Series
    from writepath.stats import Floats, Ints

REQUESTS_FILE = "requests.txt.xz"
SAMPLES_FILE = "samples.txt.xz"
VISIBLE_FILE = "visible.txt.xz"
PER_MS = 100  # units of 10 microseconds
NOT_STORED, NO_MOMENT, NO_TIMES = -(10**12), -(10**12) - 1, -(10**12) - 2
NOT_SEEN = -(10**12)
COLUMNS = ("seq", "start", "blocked", "duration", "status", "error_code", "durable")
DIFFERENCES = ("seq", "start")
METRICS = (
    "cpu_seconds",
    "rss_bytes",
    "write_bytes",
    "disk_write_bytes",
    "queue_ready",
    "queue_unacknowledged",
)


def problems(data: RunData) -> list[str]:
    """Why this form cannot represent the run: it knows only the one row of each request, as it was sent."""
    ledger, stored = data.ledger, data.stored
    if ledger is None or stored is None:
        return ["the ledger or the rows read back are missing"]
    found = []
    if stored.foreign_rows or not np.isin(stored.seq, ledger.records["seq"]).all():
        found.append("rows in the store were never sent")
    if np.unique(stored.seq).size != stored.seq.size:
        found.append("rows are stored more than once")
    if not stored.content_ok.all():
        found.append("rows are stored with other content")
    return found


def write(data: RunData, folder: Path) -> None:
    """The files of a run without problems."""
    assert data.ledger is not None  # noqa: S101 - problems() said so
    assert data.stored is not None  # noqa: S101
    _save(folder / REQUESTS_FILE, _request_lines(data.ledger, data.stored))
    _save(folder / SAMPLES_FILE, _sample_lines(data.series))
    if data.visible is not None:
        _save(folder / VISIBLE_FILE, _visible_lines(data.visible))


def read(folder: Path) -> tuple[Ledger, StoredRows, Series]:
    """What write() kept."""
    columns = {name: values.astype(np.int64) for name, values in _load(folder / REQUESTS_FILE)}
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise UsageError(f"{folder / REQUESTS_FILE}: no column {missing[0]}; the file was edited")
    for name in DIFFERENCES:
        columns[name] = np.cumsum(columns[name])
    ledger = Ledger(records=_records(columns))
    return ledger, _stored(columns), _series(_load(folder / SAMPLES_FILE))


def read_visible(folder: Path) -> VisibleRows | None:
    """None where it was not measured."""
    if not (folder / VISIBLE_FILE).is_file():
        return None
    columns = dict(_load(folder / VISIBLE_FILE))
    origin = columns["origin"][0]
    return VisibleRows(
        seq=np.cumsum(columns["seq"]).astype(np.int64),
        not_before_ms=_moments(columns["not_before"], origin),
        visible_at_ms=_moments(columns["visible"], origin),
    )


def _moments(units: Floats, origin: float) -> Floats:
    return np.where(units == NOT_SEEN, np.nan, (origin + units) / PER_MS)


def _visible_lines(seen: VisibleRows) -> list[str]:
    moments = np.concatenate([seen.not_before_ms, seen.visible_at_ms])
    known = moments[~np.isnan(moments)]
    origin = int(_units(known.min())) if known.size else 0
    columns = {
        "origin": np.array([origin]),
        "seq": _differences(seen.seq),
        "not_before": _since(seen.not_before_ms, origin),
        "visible": _since(seen.visible_at_ms, origin),
    }
    return [f"{name} {' '.join(map(str, values.tolist()))}" for name, values in columns.items()]


def _since(moments: Floats, origin: int) -> Ints:
    return np.where(np.isnan(moments), NOT_SEEN, _units(np.nan_to_num(moments)) - origin)


def _request_lines(ledger: Ledger, stored: StoredRows) -> list[str]:
    records = ledger.records
    timed = ~np.isnan(records["start_ms"])
    start = _units(_filled(records["start_ms"]))
    columns = {
        "seq": _differences(records["seq"]),
        "start": _differences(start),
        "blocked": np.where(timed, _units(np.nan_to_num(records["blocked_ms"])), NO_TIMES),
        "duration": np.where(timed, _units(np.nan_to_num(records["duration_ms"])), NO_TIMES),
        "status": records["status"],
        "error_code": records["error_code"],
        "durable": _durable(records["seq"], start, stored),
    }
    return [f"{name} {' '.join(map(str, columns[name].tolist()))}" for name in COLUMNS]


def _durable(seq: Ints, start: Ints, stored: StoredRows) -> Ints:
    """From the request's start to its row's moment, in units; or one of the two reasons why there is none."""
    durable = np.full(seq.size, NOT_STORED)
    at = np.searchsorted(seq, stored.seq)
    known = ~np.isnan(stored.durable_at_ms)
    durable[at] = NO_MOMENT
    durable[at[known]] = _units(stored.durable_at_ms[known]) - start[at[known]]
    return durable


def _records(columns: dict[str, Ints]) -> np.ndarray:
    records = np.zeros(columns["seq"].size, dtype=RECORD)
    untimed = columns["duration"] == NO_TIMES
    for name in ("seq", "status", "error_code"):
        records[name] = columns[name]
    for name in ("start", "blocked", "duration"):
        records[f"{name}_ms"] = np.where(untimed, np.nan, columns[name] / PER_MS)
    return records


def _stored(columns: dict[str, Ints]) -> StoredRows:
    there = columns["durable"] != NOT_STORED
    delay, start = columns["durable"][there], columns["start"][there]
    return StoredRows(
        seq=columns["seq"][there],
        durable_at_ms=np.where(delay == NO_MOMENT, np.nan, (start + delay) / PER_MS),
        content_ok=np.ones(int(there.sum()), dtype=np.bool_),
        foreign_rows=0,
    )


def _sample_lines(series: Series) -> list[str]:
    lines = []
    for (component, metric), samples in sorted(series.items()):
        if metric in METRICS:
            moments = _differences(np.rint(samples.at_ms).astype(np.int64))
            lines.append(f"{component}/{metric}/at_ms {' '.join(map(str, moments.tolist()))}")
            lines.append(f"{component}/{metric}/value {' '.join(f'{value:.10g}' for value in samples.value)}")
    return lines


def _series(lines: list[tuple[str, Floats]]) -> Series:
    found = {tuple(name.split("/")): values for name, values in lines}
    return {
        (component, metric): Samples(at_ms=np.cumsum(values), value=found[component, metric, "value"])
        for (component, metric, kind), values in found.items()
        if kind == "at_ms"
    }


def _units(ms: Floats) -> Ints:
    return np.rint(ms * PER_MS).astype(np.int64)


def _differences(values: Ints) -> Ints:
    return np.diff(values, prepend=0)


def _filled(values: Floats) -> Floats:
    """NaN replaced by the value before, so that differences stay small; the first by 0."""
    known = np.where(np.isnan(values), 0, np.arange(values.size))
    return np.nan_to_num(values[np.maximum.accumulate(known)])


def _save(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(line + "\n" for line in lines)
    path.write_bytes(lzma.compress(text.encode(), preset=6 | lzma.PRESET_EXTREME))


def _load(path: Path) -> list[tuple[str, Floats]]:
    try:
        text = lzma.decompress(path.read_bytes()).decode()
    except (OSError, lzma.LZMAError) as error:
        raise UsageError(f"{path}: cannot be read ({error}); it is truncated or was edited") from error
    lines = []
    for line in text.splitlines():
        name, _, values = line.partition(" ")
        lines.append((name, np.fromstring(values, dtype=np.float64, sep=" ")))
    return lines
