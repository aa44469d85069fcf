"""Audits a fault cell again from its raw files alone: in little memory, and never by guess.

Ledger and reads are streamed; counts that only the running system knew come from cell.json. Whatever is missing, torn
or malformed becomes a sentence of what was not read: the verdict is UNKNOWN.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from writepath.analysis import offenders, raw
from writepath.analysis.audit import Attempts, Comparison, Counts, Held, compare, verdict
from writepath.errors import AuditError, UsageError
from writepath.load import ledger as ledgers
from writepath.load.plan import encode_id
from writepath.records.faults import CELL_FILE, load_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from writepath.analysis.offenders import Event
    from writepath.records import Audit, Reading
    from writepath.records.faults import Cell

NOT_COMPARED = ("verdict", "unread", "seconds")
READS = 2
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Recomputed:
    """The audit of one folder."""

    comparison: Comparison
    attempts: Attempts
    run: Cell | None  # None where its record cannot be read
    events: tuple[Event, ...]

    @property
    def audit(self) -> Audit:
        """With the verdict."""
        return self.comparison.audit

    def beside(self, name: str) -> Iterator[str]:
        """Members of a class as intervals, each line with its time and the nearest fault."""
        seq = self.comparison.members[name]
        return offenders.beside(seq, self.attempts.start_us, self.attempts.answer_us, self.events)


def recompute(folder: Path) -> Recomputed:
    """Never raises for what lies in the folder: a file that cannot be read is a sentence."""
    began = time.monotonic()
    unread: list[str] = []
    run = _said(unread, lambda: load_cell(folder))
    events = _said(unread, lambda: offenders.timeline(folder)) or ()
    known = run.requests if run else None
    if run is not None and known is None:
        unread.append(f"{CELL_FILE}: the run ended before its audit ({run.outcome})")
    expected = known.planned if known else 0
    before = run.audit if run else None
    attempts = _said(unread, lambda: _attempts(folder, expected)) or Attempts()
    held = _said(unread, lambda: _held(folder, attempts, before.reads if before else ())) or []
    counts = Counts(
        planned=expected,
        dropped=known.dropped if known else 0,
        reads=before.reads if before else (),
        suppressed_duplicates=before.suppressed_duplicates if before else None,
        unread=tuple(unread),
    )
    run_id = run.run_id if run else "0" * 15
    first, second = (*held, None, None)[:READS]
    comparison = compare(
        attempts, first or Held(attempts.size), second, counts, lambda s: encode_id(run_id, s)
    )
    audit = dataclasses.replace(comparison.audit, seconds=round(time.monotonic() - began, 3))
    audit = _beside_record(audit, before)
    comparison = dataclasses.replace(comparison, audit=audit)
    return Recomputed(comparison=comparison, attempts=attempts, run=run, events=events)


def _beside_record(audit: Audit, before: Audit | None) -> Audit:
    """What contradicts the record is no pass: one of the two was changed after the run."""
    if before is None or len(before.reads) != READS:
        words = () if before is None else before.unread
        unread = tuple(dict.fromkeys((*audit.unread, *words)))
    else:
        differing = [
            f"{field.name} {getattr(audit, field.name)}, in the record {getattr(before, field.name)}"
            for field in dataclasses.fields(audit)
            if field.name not in NOT_COMPARED and getattr(audit, field.name) != getattr(before, field.name)
        ]
        words = (f"the raw files contradict {CELL_FILE}: {'; '.join(differing)[:400]}",) if differing else ()
        unread = tuple(dict.fromkeys((*audit.unread, *before.unread, *words)))
    audit = dataclasses.replace(audit, unread=unread)
    return dataclasses.replace(audit, verdict=verdict(audit))


def _said(unread: list[str], read: Callable[[], T]) -> T | None:
    try:
        return read()
    except (AuditError, UsageError) as error:
        unread.append(str(error))
        return None


def _attempts(folder: Path, expected: int) -> Attempts:
    attempts = Attempts(min(expected, ledgers.SEQUENCES))
    for part in ledgers.parts(folder / ledgers.FILE):
        attempts.add(part)
    return attempts


def _held(folder: Path, attempts: Attempts, readings: Sequence[Reading]) -> list[Held]:
    """Each read of the store, as many as there were; a read that found no row is known of by its record alone."""
    held: dict[int, Held] = {}
    for number, part in raw.stored_parts(folder / raw.STORED_FILE):
        held.setdefault(number, Held(attempts.size)).add(part)
    for number, reading in enumerate(readings, raw.FIRST):
        if not reading.store_rows:
            held.setdefault(number, Held(attempts.size))
    found = [held[number] for number in sorted(held)]
    if sorted(held) != [raw.FIRST, raw.SECOND][: len(found)]:
        raise AuditError(f"{raw.STORED_FILE}: has reads {sorted(held)}, not those of a run; it was edited")
    return found
