"""Where does a checkout keep what it made or fetched? Everything is below <root>/.writepath."""

import contextlib
import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
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


@contextlib.contextmanager
def fetching(root: Path) -> Iterator[Path]:
    """A temporary folder of this checkout, with no second Maven at work: two may corrupt an empty repository."""
    with lock(root, "maven"), tempfile.TemporaryDirectory(prefix="fetch-", dir=folder(root)) as name:
        yield Path(name)


@contextlib.contextmanager
def lock(root: Path, name: str) -> Iterator[None]:
    """One holder at a time, over threads and over commands of this checkout."""
    with (folder(root) / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """A folder to fill that becomes target only when the block succeeds: never half a tree under the real name."""
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        shutil.rmtree(target, ignore_errors=True)
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
