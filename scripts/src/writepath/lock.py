"""Does another command of this checkout run already? Two at once would disturb each other's measurements."""

import contextlib
import fcntl
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

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
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise BusyError(
                f"another command is running in this checkout ({holder}); two at once would distort the results."
                " Wait for it, or stop it with Ctrl-C (kill -INT)."
            ) from error
        file.truncate(0)
        file.write(f"pid {os.getpid()}, {doing}")
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def interrupt(state: Path, doing: str) -> bool:
    """Sends Ctrl-C to the holder where it does such a thing, and waits until it has ended. True where it did.

    The file's text is the holder's as long as the lock is held: the pid cannot be another process's.
    """
    path = state / "lock"
    if not path.is_file() or not _held(path):
        return False
    match = re.fullmatch(r"pid (\d+), (.*)", path.read_text(encoding="utf-8"))
    if match is None or not match[2].startswith(doing):
        return False
    os.kill(int(match[1]), signal.SIGINT)
    poll.until(lambda: not _held(path), STOP_TIMEOUT_S, every_s=POLL_S)
    return True


def _held(path: Path) -> bool:
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
