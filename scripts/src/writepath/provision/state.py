"""Where does a checkout keep what it made or fetched? Everything is below <root>/.writepath."""

import contextlib
import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from writepath.errors import SetupError

FREE_BYTES_NEEDED = 3 * 1024**3


def folder(root: Path) -> Path:
    """<root>/.writepath, made if it is not there."""
    found = root / ".writepath"
    found.mkdir(exist_ok=True)
    return found


def check_disk(root: Path) -> None:
    """SetupError unless there is room for what set-up fetches and a run writes."""
    free = shutil.disk_usage(folder(root)).free
    if free < FREE_BYTES_NEEDED:
        raise SetupError(
            f"{free / 1024**3:.1f} GB free on the disk of this checkout; setup and a run need "
            f"{FREE_BYTES_NEEDED / 1024**3:.0f} GB. Free some space, for example with `make clean`."
        )


def digest(base: Path, paths: Iterable[Path], salt: str = "") -> str:
    """SHA-256 over names and contents of the files among the paths: another one when any of them changes."""
    found = hashlib.sha256(salt.encode())
    for path in sorted(path for path in paths if path.is_file()):
        found.update(str(path.relative_to(base)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def made_once(root: Path, target: Path, lock: str, make: Callable[[Path], Path]) -> Path:
    """Target; where it is missing, what `make` returns from the empty folder it is given: whole or not at all.

    lock: a name; of all that have the same one, over threads and commands of this checkout, one is made at a time.
    """
    if not target.exists():
        with _locked(root, lock), tempfile.TemporaryDirectory(prefix="made-", dir=folder(root)) as work:
            if not target.exists():  # another command has made it meanwhile
                made = make(Path(work))
                target.parent.mkdir(exist_ok=True)
                made.rename(target)
    return target


@contextlib.contextmanager
def _locked(root: Path, name: str) -> Iterator[None]:
    with (folder(root) / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
