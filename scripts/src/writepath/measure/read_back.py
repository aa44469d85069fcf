"""After a load: waits until nothing is on its way, kills and restarts every store, and reads it before and after."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from writepath import poll
from writepath.analysis.raw import Stored
from writepath.errors import AuditError, WritepathError
from writepath.load.dataset import Dataset
from writepath.measure.rows import content_hashes
from writepath.measure.truth import Truth
from writepath.records.load_facts import DrainFacts
from writepath.records.measures import Reading
from writepath.runtime.base import READY_S, Stack

QUIET_S = 5.0
SHORT_QUIET_S = 1.0  # before another load on the same stack: a row that came later would be found lost
CAP_S = 120.0
POLL_S = 0.25


def drain(
    truth: Truth,
    *,
    report: Callable[[int, int], None],
    cap_s: float | None = None,
    quiet_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> DrainFacts:
    """Waits until nothing has changed for quiet_s, or else QUIET_S; at most cap_s, or else CAP_S.

    report gets rows stored and posts waiting at each poll.
    """
    start = changed = clock()
    ends = start + (CAP_S if cap_s is None else cap_s)
    rows: int | None = None
    while True:
        pending, now_rows = truth.pending(), truth.count()
        now = clock()
        if pending.waiting or rows not in (None, now_rows):
            changed = now
        rows = now_rows
        report(rows, pending.waiting)
        quiet = now - changed >= (QUIET_S if quiet_s is None else quiet_s)
        if quiet or now >= ends:
            return DrainFacts(
                waited_seconds=round(now - start, 3),
                busy_seconds=round(changed - start, 3),
                capped=not quiet,
                queue_ready_left=pending.ready,
                queue_unacknowledged_left=pending.unacknowledged,
                dead_letters=pending.dead,
            )
        sleep(POLL_S)


def restart_stores(stack: Stack, end: Callable[[str], None], serves: Callable[[], bool]) -> None:
    """Ends all stores first, then starts each; returns when all of them are ready and the path serves.

    end: of the stack, kill or terminate: of a store that ends in order, all is written and its own memory is gone.
    serves: whether the path is as it was; to be asked without reading what is to stay unread.
    AuditError where a store cannot be ended or started, or the path does not serve within 300 s.
    """
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

    if not poll.until(serve_again, READY_S, every_s=POLL_S):
        who = ", ".join(waiting) or "the application"
        raise AuditError(
            f"{who} was not ready {READY_S:.0f} s after the restart of the stores;"
            " see the logs in the folder of the run"
        )


@dataclass(kw_only=True)
class Auditing:
    """The reads of one run, in their order: read, crash, read_again. What fails is a result too."""

    run_id: str
    dataset: Dataset
    say: Callable[[str], None]
    stored: list[Stored] = field(default_factory=list)  # one entry a read
    readings: list[Reading] = field(default_factory=list)  # what the system said of itself meanwhile
    suppressed_duplicates: int | None = None
    unread: list[str] = field(default_factory=list)  # what failed, in words
    seconds: float = 0.0  # of reading, without the restart

    def __post_init__(self) -> None:
        self._lines = content_hashes(self.dataset.lines)

    def read(self, truth: Truth) -> None:
        """After the drain."""
        began = time.monotonic()
        with self._noted():
            found = self._read(truth)
            suppressed = truth.store.gauges().get("suppressed_duplicates")
            self._add(*found)
            self.suppressed_duplicates = None if suppressed is None else int(suppressed)
        self.seconds += time.monotonic() - began

    def crash(self, stack: Stack, truth: Truth) -> None:
        """Every store is killed and started. Not where the first read failed: there is nothing to compare with."""
        if self.stored:
            with self._noted(), stack.spread():
                restart_stores(stack, stack.kill, truth.serves)

    def read_again(self, truth: Truth) -> None:
        """After the crash, where there was one that all stores came back from, once nothing is on its way.

        Pools may have dead connections and a queue may deliver messages again: both recover in time, at most 300 s.
        """
        if not self.stored or self.unread:
            return

        def read_at_rest() -> tuple[Stored, Reading] | None:
            try:
                return None if truth.pending().waiting else self._read(truth)
            except AuditError:
                return None

        began = time.monotonic()
        with self._noted():
            self._add(*(poll.until(read_at_rest, READY_S, every_s=POLL_S) or self._read(truth)))
        self.seconds += time.monotonic() - began

    def _read(self, truth: Truth) -> tuple[Stored, Reading]:
        return truth.read(self.run_id, self._lines), truth.reading()

    def _add(self, stored: Stored, reading: Reading) -> None:
        self.stored.append(stored)
        self.readings.append(reading)

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except AuditError as error:
            self.unread.append(str(error))
            self.say(f"    {error}")
