"""As whom do the native processes run? As ourselves, but never as root: PostgreSQL and Elasticsearch refuse it."""

import os
import pwd
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from writepath import process
from writepath.errors import SetupError

_UNPRIVILEGED = "nobody"
_DAC_OVERRIDE = 1  # bit of CAP_DAC_OVERRIDE in /proc/<pid>/status


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose name a process runs under, and the setpriv flags that get it there (none: as ourselves)."""

    uid: int
    gid: int
    privileges: tuple[str, ...] = ()

    def own(self, *paths: Path) -> None:
        """Gives it files that this process made."""
        if os.geteuid() == 0:
            for path in paths:
                os.chown(path, self.uid, self.gid)

    def make_folder(self, path: Path) -> Path:
        """A new folder that only this account may enter."""
        path.mkdir(mode=0o700)
        self.own(path)
        return path


def choose(needed: Iterable[Path]) -> Account:
    """The account for processes that must reach the needed paths.

    In a home folder of root, which nobody else may enter, the unprivileged user keeps one capability, to read and
    search like root; SetupError where the machine does not grant it.
    """
    if os.geteuid() != 0:
        return Account(uid=os.geteuid(), gid=os.getegid())
    entry = pwd.getpwnam(_UNPRIVILEGED)
    if process.find("setpriv") is None:
        raise SetupError(
            "setpriv is needed to drop root privileges. Install it: apt-get install -y util-linux"
        )
    flags = ["--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid), "--clear-groups"]
    closed = [path for path in needed if not _open_to_all(path)]
    if closed:
        if not _may_override():
            raise SetupError(
                f"the user '{_UNPRIVILEGED}' cannot access {closed[0]}; started by root, PostgreSQL and Elasticsearch "
                "run as this user. Move the checkout to a folder that other users can access."
            )
        # access() asks as the user without capabilities, unless this bit is set.
        flags += ["--securebits", "+no_setuid_fixup"]
        flags += ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"]
    return Account(uid=entry.pw_uid, gid=entry.pw_gid, privileges=tuple(flags))


def _open_to_all(path: Path) -> bool:
    """Whether everyone may read it and enter every folder above it."""
    real = path.resolve()
    folders = [*real.parents, *([real] if real.is_dir() else [])]
    return bool(real.stat().st_mode & stat.S_IROTH) and all(
        folder.stat().st_mode & stat.S_IXOTH for folder in folders
    )


def _may_override() -> bool:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    granted = next(line for line in status.splitlines() if line.startswith("CapPrm"))
    return bool(int(granted.split()[1], 16) >> _DAC_OVERRIDE & 1)
