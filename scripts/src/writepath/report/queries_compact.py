"""How do the raw values of a variant's searches fit into git? One file of lines, of load steps and last loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis import raw, stats
from writepath.config.registry import Phase
from writepath.errors import UsageError
from writepath.load.ledger import Outcome
from writepath.load.plan import arrival_plan
from writepath.report import hold_values, packed
from writepath.report.capacity_compact import HOLDS_FILE
from writepath.report.hold_values import answers_of, histogram_of, read_ledger, times_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from writepath.analysis.histogram import Histogram
    from writepath.load.ledger import Ledger
    from writepath.records.queries import Beside, Read
    from writepath.report.hold_values import HoldData
    from writepath.report.packed import Lines

BESIDE = "beside"  # stands where a hold's number does
ALONE, SEARCHES, WRITES = "alone", "beside", "beside-writes"  # folders below a reading's
LOADS = ("alone", "searches", "writes")
VISIBLE = "visible"


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadData:
    """Of a load of which answers and latency count."""

    answers: Mapping[tuple[int, ...], int]  # by status and error code
    planned: Histogram  # from the scheduled send time


@dataclass(frozen=True, kw_only=True, eq=False)
class BesideData:
    """Of searches alone, and during writes."""

    alone: LoadData
    searches: LoadData
    writes: LoadData
    visible: (
        Histogram | None
    )  # of the sampled writes, from sending until a search found them; None: nobody looked

    def lines(self) -> Iterator[str]:
        """For the file."""
        for name in LOADS:
            load: LoadData = getattr(self, name)
            yield f"{name}/answers {packed.of_counts(load.answers)}"
            yield f"{name}/planned {packed.of_histogram(load.planned)}"
        if self.visible is not None:
            yield f"{VISIBLE} {packed.of_histogram(self.visible)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadData:
    """What is published of one variant in one block with its record."""

    holds: Mapping[int, HoldData]  # by number
    beside: BesideData | None = None  # None where there was no such load

    def lines(self) -> dict[str, list[str]]:
        """By what they are of."""
        found = {f"{number:02}": [*hold_values.to_lines(data)] for number, data in self.holds.items()}
        if self.beside is not None:
            found[BESIDE] = [*self.beside.lines()]
        return found


def from_raw(read: Read, folder: Path) -> ReadData:
    """Of a reading's raw folder; UsageError where a file is missing or torn."""
    return ReadData(
        holds={hold.number: hold_values.from_raw(folder, hold) for hold in read.holds},
        beside=None if read.beside is None else _beside(read.beside, folder),
    )


def _beside(beside: Beside, folder: Path) -> BesideData:
    written = read_ledger(folder / WRITES)
    return BesideData(
        alone=_load(read_ledger(folder / ALONE), beside.search_rate_per_s, beside.seconds),
        searches=_load(read_ledger(folder / SEARCHES), beside.search_rate_per_s, beside.seconds),
        writes=_load(written, beside.write_rate_per_s, beside.seconds),
        visible=_visible(written, folder / WRITES / raw.VISIBLE_FILE),
    )


def _load(ledger: Ledger, rate_per_s: float, seconds: float) -> LoadData:
    plan = arrival_plan([Phase(name="load", seconds=seconds, from_per_s=rate_per_s, to_per_s=rate_per_s)])
    behind_ms = times_of(ledger, plan).behind_ms
    return LoadData(answers=answers_of(ledger), planned=histogram_of(behind_ms, plan.planned))


def _visible(ledger: Ledger, path: Path) -> Histogram | None:
    """From sending until a search found the write; sampled ones that were not acknowledged or found are beyond."""
    if not path.is_file():
        return None
    seen = raw.read_visible(path)
    records = ledger.records[ledger.outcomes() == Outcome.ACKNOWLEDGED]
    sampled = records[np.isin(records["seq"], seen.seq)]
    delays = stats.delays_us(sampled["seq"], sampled["start_us"], seen.seq, seen.visible_at_us)
    return histogram_of(stats.finite_ms(delays), len(seen.seq))


def write(read: Read, source: Path, target: Path) -> None:
    """holds.txt.xz of a reading, from its raw folder."""
    packed.save(packed.named(from_raw(read, source).lines()), target / HOLDS_FILE)


def read(folder: Path) -> ReadData:
    """What write() kept; UsageError where it is anything else."""
    found = packed.load(folder / HOLDS_FILE)
    beside = found.pop(BESIDE, None)
    try:
        return ReadData(
            holds={int(whose): hold_values.from_lines(lines) for whose, lines in found.items()},
            beside=None if beside is None else _to_beside(beside),
        )
    except (LookupError, ValueError) as error:
        raise UsageError(
            f"{folder / HOLDS_FILE}: its lines do not fit together ({error}); it was edited"
        ) from error


def _to_beside(lines: Lines) -> BesideData:
    loads = {
        name: LoadData(
            answers=packed.to_counts(lines[f"{name}/answers"], 2),
            planned=packed.to_histogram(lines[f"{name}/planned"]),
        )
        for name in LOADS
    }
    visible = packed.to_histogram(lines[VISIBLE]) if VISIBLE in lines else None
    return BesideData(**loads, visible=visible)
