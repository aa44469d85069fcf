"""Undoes a fault when the runner is killed in the middle of it: a process that outlives the runner.

It is told what to undo and within how many seconds, and waits for a line on its input. Without one, because time has
passed or the runner has died, it heals.
"""

import contextlib
import json
import os
import select
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from writepath import poll
from writepath.errors import StartError
from writepath.process import Daemon
from writepath.runtime import heals
from writepath.runtime.heals import Heal

NAME = "deadman"
ARMED = "armed"
_ANSWER_SECONDS = 20.0  # to start, on a busy machine
_END_SECONDS = 60.0
_POLL_SECONDS = 0.005
_ATTEMPTS = 3


@contextlib.contextmanager
def armed(what: Sequence[Heal], within_s: float, folder: Path) -> Iterator[None]:
    """While it lasts, `what` is done when this process dies, or in within_s. folder: for its pid file and log.

    Make the fault inside. StartError where the process does not come up: then no fault may be made. Left by an error,
    it heals: whoever failed may not have.
    """
    if not what:
        yield
        return
    source = Path(__file__).resolve().parents[2]
    path = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
    daemon = Daemon(
        NAME,
        [
            sys.executable,
            "-m",
            "writepath.runtime.deadman",
            json.dumps([dict(heal) for heal in what]),
            str(within_s),
        ],
        pid_folder=folder,
        log=folder / f"{NAME}.log",
        env={**os.environ, "PYTHONPATH": path},
        death_signal=None,  # it is there for the time after this process
        fed=True,
    )
    try:
        _await_armed(daemon)
        yield
        with contextlib.suppress(OSError):  # it has healed, and ended
            daemon.feed("disarm\n")
    finally:
        daemon.end_feed()
        try:
            daemon.wait(_END_SECONDS)
        finally:
            daemon.stop()


def _await_armed(daemon: Daemon) -> None:
    def answered() -> bool:
        return daemon.exit_code() is not None or _armed(daemon)

    poll.until(answered, _ANSWER_SECONDS, every_s=_POLL_SECONDS)
    if not _armed(daemon):
        raise StartError(f"the deadman process does not start. End of its log:\n{daemon.log_tail()}")


def _armed(daemon: Daemon) -> bool:
    return f"{ARMED} {daemon.pid}" in daemon.log.read_text(encoding="utf-8").splitlines()


def watch(what: Sequence[Heal], within_s: float) -> None:
    """Until a line comes, the input ends or time has passed: the last two heal. One that fails keeps no other back."""
    print(f"{ARMED} {os.getpid()}", flush=True)
    readable, _, _ = select.select([sys.stdin], [], [], within_s)
    if readable and sys.stdin.readline():
        return
    for heal in what:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                heals.perform(heal)
                break
            except Exception as error:  # noqa: BLE001 - whatever it is, the next one comes
                print(f"attempt {attempt} at {heal} failed: {error!r}", flush=True)
                time.sleep(0.1 * attempt)
    print("healed", flush=True)


if __name__ == "__main__":
    watch(json.loads(sys.argv[1]), float(sys.argv[2]))
