"""How is a run audited while its system is there? Read, crash, read again; what fails on the way is UNKNOWN."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from writepath.errors import AuditError
from writepath.load.plan import encode_id
from writepath.run import crash as crashing
from writepath.run import stored as stored_rows
from writepath.run.audit import Attempts, Counts, Held, compare, not_read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from writepath.load.dataset import Dataset
    from writepath.load.ledger import Ledger
    from writepath.result import Audit
    from writepath.run.audit import Stored
    from writepath.run.truth import Truth
    from writepath.runtime.base import Stack


@dataclass(kw_only=True)
class Auditing:
    """One run's audit, in its order: read, crash, read_again; audit at any moment says what is known."""

    run_id: str
    dataset: Dataset
    say: Callable[[str], None]
    unread: list[str] = field(default_factory=list)  # what failed, in words
    seconds: float = 0.0
    members: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)  # of the last audit's classes
    _attempts: Attempts = field(default_factory=Attempts)
    _first: Held | None = None
    _second: Held | None = None
    _counts: Counts = field(default_factory=lambda: Counts(planned=0, dropped=0, reads=()))

    def __post_init__(self) -> None:
        """The hashes are of every line, once."""
        self._lines = stored_rows.content_hashes(self.dataset.lines)

    def read(self, truth: Truth, ledger: Ledger, *, planned: int, dropped: int) -> Stored:
        """After the drain. A store that cannot be read is a result too."""
        began = time.monotonic()
        self._attempts = Attempts.of(ledger)
        self._counts = dataclasses.replace(self._counts, planned=planned, dropped=dropped)
        try:
            stored, reading = truth.read(self.run_id, self._lines), truth.reading()
            gauges = truth.store.gauges()
        except AuditError as error:
            self._failed(error)
            return stored_rows.nothing()
        finally:
            self.seconds += time.monotonic() - began
        suppressed = gauges.get("suppressed_duplicates")
        self._first = Held.of(stored, self._attempts)
        self._counts = dataclasses.replace(
            self._counts,
            reads=(reading,),
            suppressed_duplicates=None if suppressed is None else int(suppressed),
        )
        return stored

    def crash(self, stack: Stack, truth: Truth) -> None:
        """Every store dies and comes back. Not where the first read failed: there is nothing to compare with."""
        if self._first is None:
            return
        try:
            crashing.crash(stack, truth)
        except AuditError as error:
            self._failed(error)

    def read_again(self, truth: Truth) -> Stored | None:
        """After the crash; None where it came to nothing."""
        if self._first is None or self.unread:
            return None
        began = time.monotonic()
        try:
            stored, reading = crashing.read_again(truth, self.run_id, self._lines)
        except AuditError as error:
            self._failed(error)
            return None
        finally:
            self.seconds += time.monotonic() - began
        self._second = Held.of(stored, self._attempts)
        self._counts = dataclasses.replace(self._counts, reads=(*self._counts.reads, reading))
        return stored

    def audit(self) -> Audit:
        """Of what was read so far."""
        if self._first is None:
            return not_read(*self.unread)
        began = time.monotonic()
        counts = dataclasses.replace(self._counts, unread=tuple(self.unread))
        found = compare(
            self._attempts, self._first, self._second, counts, lambda seq: encode_id(self.run_id, seq)
        )
        self.seconds += time.monotonic() - began
        self.members = found.members
        return dataclasses.replace(found.audit, seconds=round(self.seconds, 3))

    def _failed(self, error: AuditError) -> None:
        self.unread.append(str(error))
        self.say(f"    {error}")
