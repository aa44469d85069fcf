"""The end of a cell that wrote: the store drains, is read, is killed and read again. Leaves files and facts.

Files are written by a thread while the store drains and restarts. What is known so far is saved at every moment.
"""

from __future__ import annotations

import dataclasses
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from writepath.analysis import raw
from writepath.measure import drain as draining
from writepath.measure.auditing import Auditing
from writepath.records.load_facts import DrainFacts, LoadFacts

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from writepath.load.dataset import Dataset
    from writepath.measure.truth import Truth
    from writepath.progress import Progress
    from writepath.runtime.base import Stack


@dataclass(kw_only=True)
class ReadBack:
    """A context manager: leaving it waits for all files, and raises what kept one from being written."""

    folder: Path
    run_id: str
    dataset: Dataset
    stack: Stack
    truth: Truth
    progress: Progress
    step: Callable[[str], AbstractContextManager[None]]
    keep: Callable[[LoadFacts], None]  # saves the facts
    facts: LoadFacts | None = None  # once the load has ended
    _saves: list[Future[None]] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Starts the thread."""
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="writer")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """An error that is under way is more than that of a file."""
        self._pool.shutdown()
        if kind is None:
            with self.step("save"):
                for save in self._saves:
                    save.result()

    def submit(self, save: Callable[..., None], *args: object) -> None:
        """Has the thread write a file."""
        self._saves.append(self._pool.submit(save, *args))

    def know(self, first: LoadFacts | None = None, **more: Any) -> None:
        """Saves the facts, now and with what comes to be known."""
        known = first or self.facts
        if known is None:
            raise AssertionError("a load comes before its drain and its audit")
        self.facts = dataclasses.replace(known, **more)
        self.keep(self.facts)

    def drain(self) -> None:
        """Until no row comes any more."""
        with self.step("drain"):
            drained = draining.drain(self.truth, report=self.progress.drain)
        pending = drained.pending
        self.know(
            drain=DrainFacts(
                waited_seconds=round(drained.waited_seconds, 3),
                busy_seconds=round(drained.busy_seconds, 3),
                capped=drained.capped,
                queue_ready_left=pending.ready,
                queue_unacknowledged_left=pending.unacknowledged,
                dead_letters=pending.dead,
            ),
            lost_components=tuple(self.stack.lost_components()),
        )

    def audit(self, redelivered: Callable[[], int | None]) -> None:
        """Both reads, with the death and restart of every store between them. redelivered: of a queue path."""
        auditing = Auditing(run_id=self.run_id, dataset=self.dataset, say=self.progress.say)
        with self.step("audit"):
            auditing.read(self.truth)
            # Only where another service than the ingress writes to the store is anything delivered.
            queued = self.truth.store is not self.truth.ingress
            self._read(auditing, redelivered=redelivered() if queued else None)
        with self.step("crash"):
            auditing.crash(self.stack, self.truth)
        with self.step("audit"):
            auditing.read_again(self.truth)
            self._read(auditing)

    def _read(self, auditing: Auditing, **more: Any) -> None:
        self.submit(raw.save_stored, tuple(auditing.stored), self.folder / raw.STORED_FILE)
        self.know(
            reads=tuple(auditing.readings),
            unread=tuple(auditing.unread),
            suppressed_duplicates=auditing.suppressed_duplicates,
            audit_seconds=round(auditing.seconds, 3),
            **more,
        )
