"""Ends every store, starts all again and reads a second time: what was stored must outlive its store.

The crash model is the death of processes. The machine goes on, and with it the page cache of its operating system: a
store that answers before it flushes, and leaves the flushing to the kernel, passes. Power loss is not tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath import poll
from writepath.errors import AuditError, WritepathError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from writepath.analysis.audit import Stored
    from writepath.measure.truth import Truth
    from writepath.records import Reading
    from writepath.runtime.base import Stack

READY_TIMEOUT_S = 90.0
POLL_S = 0.25


def crash(stack: Stack, truth: Truth) -> None:
    """SIGKILL for all stores first, then a start of each; returns when all of them and the inspectors serve.

    AuditError where they do not within 90 s, or cannot be killed or started.
    """
    _again(stack, stack.kill, truth.serves)


def restart(stack: Stack, serves: Callable[[], bool]) -> None:
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
