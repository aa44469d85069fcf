"""Reads a store while its system is there: after the drain, and again after every store was killed and restarted.

What fails on the way is a sentence of what was not read, never an error: what it means is for the audit to say.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from writepath.analysis.audit import Counts
from writepath.errors import AuditError
from writepath.measure import crash as crashing
from writepath.measure import stored as stored_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.analysis.audit import Stored
    from writepath.load.dataset import Dataset
    from writepath.measure.truth import Truth
    from writepath.records import Reading
    from writepath.runtime.base import Stack


@dataclass(kw_only=True)
class Auditing:
    """The reads of one run, in their order: read, crash, read_again."""

    run_id: str
    dataset: Dataset
    say: Callable[[str], None]
    stored: list[Stored] = field(default_factory=list)  # one entry a read
    readings: list[Reading] = field(default_factory=list)  # what the system said of itself meanwhile
    suppressed_duplicates: int | None = None
    unread: list[str] = field(default_factory=list)  # what failed, in words
    seconds: float = 0.0  # of reading, without the restart

    def __post_init__(self) -> None:
        self._lines = stored_rows.content_hashes(self.dataset.lines)

    def read(self, truth: Truth) -> None:
        """After the drain. A store that cannot be read is a result too."""
        began = time.monotonic()
        try:
            stored, reading = truth.read(self.run_id, self._lines), truth.reading()
            suppressed = truth.store.gauges().get("suppressed_duplicates")
        except AuditError as error:
            self._failed(error)
        else:
            self._add(stored, reading)
            self.suppressed_duplicates = None if suppressed is None else int(suppressed)
        finally:
            self.seconds += time.monotonic() - began

    def crash(self, stack: Stack, truth: Truth) -> None:
        """Every store dies and comes back. Not where the first read failed: there is nothing to compare with."""
        if not self.stored:
            return
        try:
            crashing.crash(stack, truth)
        except AuditError as error:
            self._failed(error)

    def read_again(self, truth: Truth) -> None:
        """After the crash, where there was one that all stores came back from."""
        if not self.stored or self.unread:
            return
        began = time.monotonic()
        try:
            self._add(*crashing.read_again(truth, self.run_id, self._lines))
        except AuditError as error:
            self._failed(error)
        finally:
            self.seconds += time.monotonic() - began

    @property
    def first(self) -> Stored:
        """The read after the drain; without a row where it failed."""
        return self.stored[0] if self.stored else stored_rows.nothing()

    def counts(self, *, planned: int, dropped: int) -> Counts:
        """What the audit lays beside the rows."""
        return Counts(
            planned=planned,
            dropped=dropped,
            reads=tuple(self.readings),
            suppressed_duplicates=self.suppressed_duplicates,
            unread=tuple(self.unread),
        )

    def _add(self, stored: Stored, reading: Reading) -> None:
        self.stored.append(stored)
        self.readings.append(reading)

    def _failed(self, error: AuditError) -> None:
        self.unread.append(str(error))
        self.say(f"    {error}")
