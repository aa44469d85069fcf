"""A store's disk from which the power can be cut: ext4 on a loop device, whose blocks are a file.

What a store writes is at first in the page cache of its file system. A killed process leaves it there, and the
kernel writes it to the disk later: `kill -9` takes nothing that was passed to write(). A power cut takes all of it.
Here the cut is a copy of the file below, taken while the store is frozen: it has what the file system had sent to its
disk, because a program flushed it (fsync) or because ext4 needed it for that, and nothing else. The store starts on
the copy; ext4 replays its journal when it is mounted, as after a power cut.

- Direct I/O (losetup(8), --direct-io): a block that the file system has sent is in the file, not in a second page
  cache.
- Nobody else sends blocks: the kernel's periodic write-back is held off (runtime/write_back.py), the journal is
  committed for whoever flushes and not every 5 s (ext4(5), commit=), no table is initialized later (mke2fs(8)).
- Nothing is under way while the file is copied, by the kernel's own counters (Documentation/block/stat.rst).
- Each cut has two witnesses: a file that was flushed is there afterwards, one that was only written is not. Both were
  written before the store started: whatever had the kernel write back meanwhile (too little memory, a sync(1) by
  somebody else) would have begun with the oldest, and the cut has no proof.

What it does not imitate:

- a drive with a volatile cache: here a block counts once it was sent, though no flush of the drive followed. A store
  that writes past the page cache and never flushes the drive would pass;
- blocks that arrive out of order or half (torn sectors): the copy has each as it was sent last;
- the end of everything at the same moment: applications, proxy and the other stores go on.
"""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from writepath import poll, process
from writepath.errors import SetupError, StartError, WritepathError
from writepath.runtime import deadman, write_back
from writepath.runtime.native import host
from writepath.runtime.native.host import Account

NEEDS_ROOT = "a power cut needs root, which mounts the store's disk: run as root"
SIZE_BYTES = 4 << 30  # the file is sparse: it takes what was written
TRIED_BYTES = 64 << 20
HELD_OFF_SECONDS = 3600.0  # at most, whatever becomes of this process
_BLOCK_BYTES = 4096
_INODES = 16_384
_OPTIONS = "noatime,nodev,nosuid,noinit_itable,commit=3600"
_DEVICES = Path("/sys/block")
_WRITES, _UNDER_WAY, _DISCARDS = 4, 8, 11  # fields of /sys/block/<device>/stat
_REST_SECONDS, _LOOK_SECONDS, _CALM_LOOKS = 5.0, 0.05, 3
_COPIES = 3


@dataclass(kw_only=True)
class PowerDisk:
    """One mounted file system. One cut at a time."""

    kind: ClassVar[str] = "a disk whose power can be cut"
    folder: Path  # where it is mounted
    image: Path  # the file below; another one after each cut
    _device: str = field(default="", init=False)  # loop0
    _flushed: str = field(default="", init=False)  # the witness that each cut must leave
    _written: str = field(default="", init=False)  # and the one that it must take

    def flush(self) -> None:
        """Has all that was written so far reach the disk: a cut takes only what comes after."""
        process.call("sync", "--file-system", self.folder)
        self._written = self._witness(flush=False)

    def cut(self, freeze: Callable[[], None], kill: Callable[[], None]) -> str:
        """The disk is afterwards what it was when the power went; the proof in words, empty where there is none.

        freeze, kill: of all that write to it; who does not stand still makes it a StartError.
        """
        freeze()
        copy = self._copied()
        kill()
        host.unmount(self.folder)
        self.image.unlink()
        flushed, written, self.image = self._flushed, self._written, copy
        self.mount()
        if not self._is_there(flushed) or self._is_there(written):
            return ""
        return "a file that was flushed before is on the disk, one that was written and not flushed is not"

    def mount(self) -> None:
        """Mounts the image. SetupError where this machine does not allow it."""
        try:
            with self._attached() as device:
                process.call("mount", "-t", "ext4", "-o", _OPTIONS, f"/dev/{device}", self.folder)
        except process.CallError as error:
            raise SetupError(f"this machine gives no loop device for a power cut: {error}") from error
        self._device = device
        self._flushed = self._witness(flush=True)  # now: later it would commit the journal for the store
        self._written = self._witness(flush=False)

    @contextmanager
    def _attached(self) -> Iterator[str]:
        """A loop device, which goes with the last who uses it: from here on that is the mount, or nobody."""
        choices = ("--find", "--show", "--direct-io=on", f"--sector-size={_BLOCK_BYTES}")
        path = Path(process.call("losetup", *choices, self.image).strip())
        try:
            if (_DEVICES / path.name / "loop/dio").read_text(encoding="ascii").strip() != "1":
                raise SetupError(
                    f"the file system of {self.image.parent} allows no direct I/O, which a power cut needs;"
                    " use a checkout on ext4 or XFS"
                )
            yield path.name
        finally:
            process.attempt("losetup", "--detach", path)

    def _witness(self, *, flush: bool) -> str:
        """A new file that has its name in it; the name."""
        name = f"witness-{secrets.token_hex(8)}"
        with (self.folder / name).open("w", encoding="ascii") as file:
            file.write(name)
            file.flush()
            if flush:
                os.fsync(file.fileno())
        return name

    def _is_there(self, witness: str) -> bool:
        """With its content: the journal may have brought the name alone."""
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / witness).read_text(encoding="ascii", errors="replace") == witness
        return False

    def _copied(self) -> Path:
        copy = self.image.with_name(
            f"{self.image.stem.partition('-cut-')[0]}-cut-{secrets.token_hex(4)}.ext4"
        )
        for _ in range(_COPIES):
            before = self._at_rest()
            process.call("cp", "--sparse=auto", self.image, copy)
            if self._activity() == before:
                return copy
        raise StartError(
            f"{self.folder}: blocks were written while it was copied, though its store stood still"
        )

    def _at_rest(self) -> tuple[int, ...]:
        """What was done so far, once nothing is done: the last thread of a frozen program may still be in an fsync."""
        looks = [self._activity()]

        def is_calm() -> bool:
            looks.append(self._activity())
            return len(looks) >= _CALM_LOOKS and len({*looks[-_CALM_LOOKS:]}) == 1 and not looks[-1][1]

        if not poll.until(is_calm, _REST_SECONDS, every_s=_LOOK_SECONDS):
            raise StartError(
                f"{self.folder}: blocks are written {_REST_SECONDS:.0f} s after its store was frozen"
            )
        return looks[-1]

    def _activity(self) -> tuple[int, ...]:
        """Writes, requests under way and discards, as the kernel counts them."""
        fields = (_DEVICES / self._device / "stat").read_text(encoding="ascii").split()
        return tuple(int(fields[index]) for index in (_WRITES, _UNDER_WAY, _DISCARDS))


def made(folder: Path, image: Path, account: Account, size_bytes: int = SIZE_BYTES) -> PowerDisk:
    """A new one on a folder, for this account. SetupError where this machine does not allow it."""
    if os.geteuid() != 0:
        raise SetupError(NEEDS_ROOT)
    with image.open("wb") as file:
        file.truncate(size_bytes)
    journal_mib = max(4, size_bytes >> 26)
    extended = f"lazy_itable_init=0,lazy_journal_init=0,root_owner={account.uid}:{account.gid}"
    sizes = ("-b", f"{_BLOCK_BYTES}", "-N", f"{_INODES}", "-m", "0", "-J", f"size={journal_mib}")
    try:
        process.call("mkfs.ext4", "-q", "-F", *sizes, "-E", extended, image)
    except process.CallError as error:
        raise SetupError(f"no ext4 file system can be made for a power cut: {error}") from error
    disk = PowerDisk(folder=folder, image=image)
    disk.mount()
    return disk


@contextmanager
def write_back_held_off(folder: Path) -> Iterator[None]:
    """For the stack of a folder: until the folder is removed, or this process has died, however it did."""
    heal = ("write-back", str(folder), str(write_back.NOTES))
    with deadman.armed([heal], HELD_OFF_SECONDS, folder):
        write_back.hold_off(folder, write_back.NOTES, write_back.PERIOD)
        yield


def why_not(folder: Path) -> str:
    """Why no power can be cut on this machine, in words; empty where it can. Tried on a small disk below the folder."""
    if os.geteuid() != 0:
        return NEEDS_ROOT
    try:
        write_back.require_allowed()
        place = Path(tempfile.mkdtemp(dir=folder))
        owner = Account(uid=os.geteuid(), gid=os.getegid())
        disk = made(place, place.with_suffix(".ext4"), owner, TRIED_BYTES)
        proof = disk.cut(lambda: None, lambda: None)
        host.unmount(place)
    except WritepathError as error:
        return str(error)
    return "" if proof else "a trial cut left on the disk what was not flushed, or took what was"
