"""What this machine gives the native runtime: an unprivileged account to run as, small file systems that fill up."""

import contextlib
import os
import pwd
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import psutil

from writepath import poll, process
from writepath.errors import SetupError, StartError
from writepath.runtime import write_back
from writepath.runtime.base import FILL, FILL_SECONDS
from writepath.runtime.native import quota

_UNPRIVILEGED = "nobody"
_DAC_OVERRIDE = 1  # bit of CAP_DAC_OVERRIDE in /proc/<pid>/status
_BUSY_SECONDS = 2.0
_BLOCK_DEVICES = Path("/sys/block")


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose name a process runs under, and the setpriv flags that get it there (none: as ourselves)."""

    uid: int
    gid: int
    privileges: tuple[str, ...] = ()

    @property
    def prefix(self) -> list[str]:
        """Of a command that runs under this name."""
        return ["setpriv", *self.privileges, "--"] if self.privileges else []

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

    def write(self, path: Path, text: str, mode: int = 0o600) -> Path:
        """A file for this account alone."""
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        self.own(path)
        return path


def account(needed: Iterable[Path]) -> Account:
    """Whom processes run as that must reach the needed paths: ourselves, but never root, which stores refuse.

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


@dataclass(frozen=True, kw_only=True)
class SmallDisk:
    """One mounted tmpfs."""

    kind: ClassVar[str] = "a small disk"
    folder: Path
    device: int  # its number: what fill checks before it writes

    @property
    def ballast(self) -> Path:
        """What fills it."""
        return self.folder / "ballast"

    def fill(self) -> int:
        """Writes until nothing more fits; the bytes left. StartError, before a byte, on any other file system."""
        device = self.folder.stat().st_dev
        if device != self.device or device == self.folder.parent.stat().st_dev:
            raise StartError(f"{self.folder}: not the small disk that was mounted there; nothing was written")
        process.call("sh", "-c", FILL, self.ballast, timeout_s=FILL_SECONDS)
        return shutil.disk_usage(self.folder).free


def mount(folder: Path, size: int, account: Account) -> SmallDisk:
    """A tmpfs of so many bytes on a folder; SetupError where this machine does not allow it."""
    if os.geteuid() != 0:
        raise SetupError(
            "a fault that fills a disk mounts a small one, which needs root: run as root, or in containers"
            " (RUNTIME=docker)"
        )
    options = f"size={size},mode=700,uid={account.uid},gid={account.gid},nosuid,nodev"
    try:
        process.call("mount", "-t", "tmpfs", "-o", options, "writepath", folder)
    except process.CallError as error:
        raise SetupError(
            f"{folder.name}: this machine does not let root mount a small disk (tmpfs) for a store. Use containers "
            f"(RUNTIME=docker), or leave out this fault.\n{error}"
        ) from error
    return SmallDisk(folder=folder, device=folder.stat().st_dev)


def remove(folder: Path) -> None:
    """Removes a stack's folder; first its control groups, what is mounted below it, and what it changed of the host.

    It stays with what of these stays, for the next attempt; nothing is removed through a file system that stays.
    """
    for point in _mounted_below(folder):
        unmount(point)
    _detach_below(folder)
    write_back.release(folder, write_back.NOTES)
    if quota.removed(folder) and not _mounted_below(folder):
        shutil.rmtree(folder, ignore_errors=True)


def unmount(point: Path) -> None:
    """At last without waiting for who still holds a file there: the name goes at once, the memory with the holder."""
    if not poll.until(lambda: process.attempt("umount", point).returncode == 0, _BUSY_SECONDS):
        process.attempt("umount", "--lazy", point)


def _mounted_below(folder: Path) -> list[Path]:
    """Mount points at or below a folder, the deepest first."""
    inside = folder.resolve()
    points = [Path(mounted.mountpoint) for mounted in psutil.disk_partitions(all=True)]
    found = [point for point in points if point.is_relative_to(inside)]
    return sorted(found, key=lambda point: len(point.parts), reverse=True)


def _detach_below(folder: Path) -> None:
    """Loop devices on files below a folder: of a command that was killed before it mounted one."""
    inside = folder.resolve()
    for known in _BLOCK_DEVICES.glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):  # gone meanwhile
            if Path(known.read_text(encoding="utf-8").strip()).is_relative_to(inside):
                process.attempt("losetup", "--detach", f"/dev/{known.relative_to(_BLOCK_DEVICES).parts[0]}")
