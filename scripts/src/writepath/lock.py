"""Does another command of this checkout run already? Two at once would disturb each other's measurements."""

import contextlib
import fcntl
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from writepath import poll
from writepath.errors import WritepathError

STOP_TIMEOUT_S = 60.0
POLL_S = 0.1


class BusyError(WritepathError):
    """The lock is held."""

    exit_code = 14


@contextlib.contextmanager
def exclusive(state: Path, doing: str) -> Iterator[None]:
    """Held until the block ends or the process dies. BusyError names the holder's pid."""
    state.mkdir(parents=True, exist_ok=True)
    with (state / "lock").open("a+", encoding="utf-8") as file:
        if not _locked(file, fcntl.LOCK_EX):
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise BusyError(
                f"another command is running in this checkout ({holder}); two at once would distort the results."
                " Wait for it, or stop it with Ctrl-C (kill -INT)."
            )
        file.truncate(0)
        file.write(f"pid {os.getpid()}, {doing}")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def interrupt(state: Path, doing: str) -> None:
    """Sends Ctrl-C to the holder where it does such a thing, and waits until it has ended.

    The file's text is the holder's as long as the lock is held: the pid cannot be another process's.
    """
    path = state / "lock"
    if path.is_file() and _held(path):
        match = re.fullmatch(rf"pid (\d+), {re.escape(doing)}.*", path.read_text(encoding="utf-8"))
        if match is not None:
            os.kill(int(match[1]), signal.SIGINT)
            poll.until(lambda: not _held(path), STOP_TIMEOUT_S, every_s=POLL_S)


def _held(path: Path) -> bool:
    with path.open("a+", encoding="utf-8") as file:
        return not _locked(file, fcntl.LOCK_SH)


def _locked(file: TextIO, how: int) -> bool:
    """Whether the lock could be had at once."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
