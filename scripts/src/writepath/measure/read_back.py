"""After a load: waits until nothing is on its way, kills and restarts every store, and reads it before and after."""

import dataclasses
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from writepath import poll
from writepath.analysis import raw
from writepath.analysis.raw import Stored
from writepath.errors import AuditError, WritepathError
from writepath.load.dataset import Dataset
from writepath.measure import inspector
from writepath.measure.inspector import Pending
from writepath.measure.truth import Truth
from writepath.progress import Progress
from writepath.records.load_facts import DrainFacts, LoadFacts
from writepath.records.measures import Reading
from writepath.runtime.base import Stack

QUIET_S = 5.0
CAP_S = 120.0
DRAIN_POLL_S = 0.25
UNSEEN = -1


class Store(Protocol):
    """What the drain asks."""

    def pending(self) -> Pending:
        """Messages on their way."""

    def count(self) -> int:
        """Rows in the final store, refreshed."""


@dataclass(frozen=True, kw_only=True)
class Drained:
    """How the wait ended."""

    pending: Pending
    rows: int
    waited_seconds: float  # all of it, the quiet stretch too
    busy_seconds: float  # until the last change seen; exact to one poll
    capped: bool


def drain(
    store: Store,
    *,
    report: Callable[[int, int], None],
    cap_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Drained:
    """Waits at most cap_s, or else CAP_S. report gets rows stored and messages waiting at each poll."""
    cap_s = CAP_S if cap_s is None else cap_s
    start = changed = clock()
    rows = UNSEEN
    while True:
        pending, now_rows = store.pending(), store.count()
        now = clock()
        if pending.waiting or rows not in (UNSEEN, now_rows):
            changed = now
        rows = now_rows
        report(rows, pending.waiting)
        quiet, capped = now - changed >= QUIET_S, now - start >= cap_s
        if quiet or capped:
            return Drained(
                pending=pending,
                rows=rows,
                waited_seconds=now - start,
                busy_seconds=changed - start,
                capped=not quiet,
            )
        sleep(DRAIN_POLL_S)


READY_TIMEOUT_S = 90.0
POLL_S = 0.25


def crash(stack: Stack, truth: Truth) -> None:
    """SIGKILL for all stores first, then a start of each; returns when all of them and the inspectors serve.

    AuditError where they do not within 90 s, or cannot be killed or started.
    """
    _again(stack, stack.kill, truth.serves)


def restart_stores(stack: Stack, serves: Callable[[], bool]) -> None:
    """As crash, but each store is asked to end in order: all is written, and what its own memory held is gone.

    serves: whether the path is as it was; to be asked without reading what is to stay unread.
    """
    _again(stack, stack.terminate, serves)


def _again(stack: Stack, end: Callable[[str], None], serves: Callable[[], bool]) -> None:
    try:
        for component in stack.stores:
            end(component)
        for component in stack.stores:
            stack.revive(component)
    except WritepathError as error:
        raise AuditError(f"the stores could not be restarted: {error}") from error
    waiting = list(stack.stores)

    def serve_again() -> bool:
        waiting[:] = [component for component in waiting if not stack.is_ready(component)]
        return not waiting and serves()

    if not poll.until(serve_again, READY_TIMEOUT_S, every_s=POLL_S):
        who = ", ".join(waiting) or "the application"
        raise AuditError(
            f"{who} was not ready {READY_TIMEOUT_S:.0f} s after the restart of the stores;"
            " see the logs in the folder of the run"
        )


def read_again(truth: Truth, run_id: str, lines: NDArray[np.uint64]) -> tuple[Stored, Reading]:
    """The second read, once nothing is on its way any more. AuditError where it cannot be made within 90 s.

    Pools may hold dead connections and a queue may deliver again what was on its way: both mend themselves in time.
    """

    def read() -> tuple[Stored, Reading]:
        return truth.read(run_id, lines), truth.reading()

    def read_at_rest() -> tuple[Stored, Reading] | None:
        try:
            return None if truth.pending().waiting else read()
        except AuditError:
            return None

    return poll.until(read_at_rest, READY_TIMEOUT_S, every_s=POLL_S) or read()


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
        self._lines = inspector.content_hashes(self.dataset.lines)

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
            crash(stack, truth)
        except AuditError as error:
            self._failed(error)

    def read_again(self, truth: Truth) -> None:
        """After the crash, where there was one that all stores came back from."""
        if not self.stored or self.unread:
            return
        began = time.monotonic()
        try:
            self._add(*read_again(truth, self.run_id, self._lines))
        except AuditError as error:
            self._failed(error)
        finally:
            self.seconds += time.monotonic() - began

    def _add(self, stored: Stored, reading: Reading) -> None:
        self.stored.append(stored)
        self.readings.append(reading)

    def _failed(self, error: AuditError) -> None:
        self.unread.append(str(error))
        self.say(f"    {error}")


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
            drained = drain(self.truth, report=self.progress.drain)
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
