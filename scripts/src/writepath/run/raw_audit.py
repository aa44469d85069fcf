"""What does the audit say when it is made again from a run's raw files alone? In little memory, and never by guess.

Ledger and reads are streamed; counts that only the running system knew come from run.json, or from the cell.json of a
fault run. Whatever is missing, torn or malformed becomes a sentence of what was not read: the verdict is UNKNOWN.
"""

from __future__ import annotations

import dataclasses
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from writepath import result
from writepath.errors import AuditError, UsageError
from writepath.load import ledger as ledgers
from writepath.load.plan import encode_id
from writepath.result.faults import CELL_FILE, load_cell
from writepath.run import offenders
from writepath.run import stored as stored_rows
from writepath.run.audit import Attempts, Comparison, Counts, Held, compare, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from writepath.result.faults import Cell
    from writepath.run.offenders import Event

LEDGER_FILE = "ledger.csv.gz"
PLAN_FILE = "plan.json"
NAMED_LINES = 5
NOT_COMPARED = ("verdict", "unread", "seconds")
READS = 2
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Recomputed:
    """The audit of one folder."""

    comparison: Comparison
    attempts: Attempts
    run: result.Run | Cell | None  # None where its record cannot be read
    events: tuple[Event, ...]

    @property
    def audit(self) -> result.Audit:
        """With the verdict."""
        return self.comparison.audit

    def beside(self, name: str) -> Iterator[str]:
        """Members of a class as intervals, each line with its time and the nearest fault."""
        seq = self.comparison.members[name]
        return offenders.beside(seq, self.attempts.start_ms, self.attempts.answer_ms, self.events)


def recompute(folder: Path) -> Recomputed:
    """Never raises for what lies in the folder: a file that cannot be read is a sentence."""
    began = time.monotonic()
    unread: list[str] = []
    name = CELL_FILE if (folder / CELL_FILE).is_file() else result.RUN_FILE
    run = _said(unread, lambda: _record(folder, name))
    planned = _said(unread, lambda: _planned(folder)) if name == result.RUN_FILE else None
    events = _said(unread, lambda: offenders.timeline(folder)) or ()
    known = run.requests if run else None
    if run is not None and known is None:
        unread.append(f"{name}: the run ended before its audit ({run.outcome})")
    expected = planned if planned is not None else known.planned if known else 0
    attempts = Attempts(min(expected, ledgers.SEQUENCES))
    _said(unread, lambda: _take_ledger(folder / LEDGER_FILE, attempts, unread))
    held = [
        _held(folder / name, attempts, unread) for name in (stored_rows.FIRST_FILE, stored_rows.SECOND_FILE)
    ]
    before = run.audit if run else None
    counts = Counts(
        planned=expected,
        dropped=known.dropped if known else 0,
        reads=before.reads if before else (),
        suppressed_duplicates=before.suppressed_duplicates if before else None,
        unread=tuple(unread),
    )
    run_id = run.run_id if run else "0" * 15
    first, second = held
    comparison = compare(
        attempts, first or Held(attempts.size), second, counts, lambda s: encode_id(run_id, s)
    )
    audit = dataclasses.replace(comparison.audit, seconds=round(time.monotonic() - began, 3))
    audit = _beside_record(audit, before, name)
    comparison = dataclasses.replace(comparison, audit=audit)
    return Recomputed(comparison=comparison, attempts=attempts, run=run, events=events)


def _record(folder: Path, name: str) -> result.Run | Cell:
    return load_cell(folder) if name == CELL_FILE else result.load_run(folder)


def _beside_record(audit: result.Audit, before: result.Audit | None, name: str) -> result.Audit:
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
        words = (f"the raw files contradict {name}: {'; '.join(differing)[:400]}",) if differing else ()
        unread = tuple(dict.fromkeys((*audit.unread, *before.unread, *words)))
    audit = dataclasses.replace(audit, unread=unread)
    return dataclasses.replace(audit, verdict=verdict(audit))


def _said(unread: list[str], read: Callable[[], T]) -> T | None:
    try:
        return read()
    except (AuditError, UsageError) as error:
        unread.append(str(error))
        return None


def _planned(folder: Path) -> int:
    try:
        planned = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8"))["planned"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AuditError(f"{PLAN_FILE}: cannot be read ({type(error).__name__}: {error})") from error
    if not isinstance(planned, int) or isinstance(planned, bool) or planned < 0:
        raise AuditError(f"{PLAN_FILE}: planned={planned!r} is not a number of requests")
    return planned


def _take_ledger(path: Path, attempts: Attempts, unread: list[str]) -> None:
    parts = ledgers.Parts(path)
    bad = []
    for part in parts:
        if part.bad is not None:
            bad.append(part.number)
        attempts.add(part.records)
    _say_damage(path.name, bad, parts.torn, unread)


def _held(path: Path, attempts: Attempts, unread: list[str]) -> Held | None:
    if not path.is_file():
        unread.append(f"{path.name}: missing; either the store was not read, or the file was removed")
        return None
    parts, held = stored_rows.SavedParts(path), Held(attempts.size)

    def take() -> None:
        for part in parts:
            held.add(part)

    _said(unread, take)
    _say_damage(path.name, parts.bad_lines, parts.torn, unread)
    return held


def _say_damage(name: str, bad: list[int], torn: bool, unread: list[str]) -> None:
    if bad:
        numbers = ", ".join(map(str, bad[:NAMED_LINES])) + (", ..." if len(bad) > NAMED_LINES else "")
        unread.append(f"{name}: {len(bad)} lines cannot be read (line {numbers})")
    if torn:
        unread.append(f"{name}: cut off; the rest is unknown")
