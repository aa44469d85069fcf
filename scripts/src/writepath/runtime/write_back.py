"""Holds off the kernel's periodic write-back, so that a disk gets only what a program flushes, and lets it go on.

The setting is the host's, and so is the list of the stacks that need it off, whichever checkout or command they are of,
with what it was before. It is put back with the last of them: by whoever removes a stack's folder, after a killed
command too.
"""

import fcntl
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from writepath.errors import SetupError

PERIOD = Path("/proc/sys/vm/dirty_writeback_centisecs")
NOTES = Path("/run/writepath/write-back")  # gone with the next start of the host, as the setting is
OFF = "0"  # no periodic write-back at all: docs.kernel.org/admin-guide/sysctl/vm.html


def hold_off(folder: Path, notes: Path, period: Path) -> None:
    """Until release() of the folder, a stack's. SetupError where this machine does not allow it.

    Where it is off already, and for no other stack, nothing is changed, and nothing is put back.
    """
    with _changing(notes):
        known = [json.loads(path.read_text(encoding="utf-8")) for path in notes.glob("*.json")]
        before = known[0]["before"] if known else _value(period)
        if before == OFF:
            return
        note, part = _note(folder, notes), notes / "part"
        noted = {"folder": str(folder), "file": str(period), "before": before}
        part.write_text(json.dumps(noted), encoding="utf-8")
        part.replace(note)
        _set(period, OFF)


def release(folder: Path, notes: Path) -> None:
    """Puts back what was before, unless another stack needs it off; nothing where this one does not."""
    note = _note(folder, notes)
    if not note.is_file():
        return
    with _changing(notes):
        noted = json.loads(note.read_text(encoding="utf-8"))
        note.unlink()
        if not _others(notes):
            _set(Path(noted["file"]), noted["before"])


def require_allowed() -> None:
    """SetupError where this machine does not let it be changed; its value stays the same."""
    _set(PERIOD, _value(PERIOD))


@contextmanager
def _changing(notes: Path) -> Iterator[None]:
    """One at a time on this host."""
    try:
        notes.mkdir(parents=True, exist_ok=True)
        with (notes / "lock").open("w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except PermissionError as error:
        raise SetupError(f"{notes}: {error.strerror}; a power cut needs root") from error


def _note(folder: Path, notes: Path) -> Path:
    return notes / f"{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}.json"


def _others(notes: Path) -> bool:
    """Whether another stack needs it off. Without the notes of those whose folder is gone: nobody releases them."""
    for note in notes.glob("*.json"):
        if not Path(json.loads(note.read_text(encoding="utf-8"))["folder"]).is_dir():
            note.unlink()
    return any(notes.glob("*.json"))


def _value(period: Path) -> str:
    try:
        return period.read_text(encoding="ascii").strip()
    except OSError as error:
        raise SetupError(f"{period}: cannot be read ({error.strerror}); a power cut needs Linux") from error


def _set(period: Path, value: str) -> None:
    try:
        period.write_text(value, encoding="ascii")
    except OSError as error:
        raise SetupError(
            f"{period}: cannot be changed ({error.strerror}); a power cut needs root, outside of a container"
        ) from error
