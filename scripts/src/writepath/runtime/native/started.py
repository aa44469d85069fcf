"""What became of one started process? Its present life, and how earlier ones ended."""

import contextlib
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from writepath.errors import StartError
from writepath.process import Daemon
from writepath.runtime.native.part import Part, Place


@dataclass(kw_only=True)
class Started:
    """One part, and the daemon that it runs as; another one after each revival."""

    part: Part
    place: Place
    daemon: Daemon
    excused: bool = False  # its end was, or may be, our doing
    falls: list[str] = field(default_factory=list)  # ends that were not, before it was started again

    def excuse(self) -> None:
        """What ends it from now on is our doing; not what has ended it already."""
        if self.daemon.exit_code() is None:
            self.excused = True

    def losses(self) -> list[str]:
        """In words: every end that was not our doing, and one after which it was not started again."""
        code = self.daemon.exit_code()
        if code is None:
            return list(self.falls)
        why = "was stopped and not restarted" if self.excused else _ending(code)
        return [*self.falls, f"{self.part.name}: {why}"]

    def revive(self, launch: Callable[[Part, Place], Daemon]) -> bool:
        """Restarts it if it has ended; whether it had."""
        code = self.daemon.exit_code()
        if code is None:
            return False
        if not self.excused:
            self.falls.append(f"{self.part.name}: {_ending(code)}, and was restarted")
        self.daemon.kill()  # what it left behind: a worker that outlived its master holds the port
        self.keep()
        self.part = self.part.again()
        self.daemon = launch(self.part, self.place)
        self.excused = False
        return True

    def await_end(self, seconds: float) -> None:
        """Waits until the signal that asks it has ended it; StartError where it does not."""
        try:
            self.daemon.wait(seconds)
        except TimeoutError as error:
            asked = self.part.orderly_signal.name
            raise StartError(
                f"{self.part.name}: still running {seconds:.0f} s after {asked}. End of its log:\n"
                f"{self.daemon.log_tail()}"
            ) from error
        self.daemon.kill()
        self.keep()

    def keep(self) -> None:
        """Puts away what it has written for later starts, unless it ended in the middle of that."""
        if self.part.keeps and self.daemon.exit_code() != -signal.SIGKILL and self.part.keeps[0].exists():
            _keep(*self.part.keeps)


def _keep(made: Path, kept: Path) -> None:
    """Copies under another name first: a half file must never be there under the real one."""
    whole = kept.with_name(f"{kept.name}.part")
    with contextlib.suppress(OSError):  # a full disk, a build that is gone: the next start is slow, not wrong
        shutil.copyfile(made, whole)
        whole.replace(kept)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name
    hint = " (out of memory?)" if code == -signal.SIGKILL else ""
    return f"was ended by {name}{hint}"
