"""How does k6 get here? Built from k6/recorder, once a version: only this k6 can record what our scripts send."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

from writepath import process
from writepath.errors import SetupError
from writepath.provision import golang, state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VERSION = "1.8.1"  # as k6/recorder/go.mod has it
_MODULE = "k6/recorder"


@cache
def find(root: Path) -> Path | None:
    """The k6 to use, if it was built from the sources as they are now. One on the PATH has no recorder."""
    built = _built(root)
    return built if built.exists() else None


def ensure(root: Path, say: Callable[[str], None]) -> Path:
    """Builds k6 unless there is one; SetupError without Go."""
    found = find(root)
    if found is not None:
        return found
    with state.lock(root, "k6"):
        find.cache_clear()
        found = find(root)  # another command may have built it meanwhile
        if found is not None:
            return found
        compiler = go()
        if compiler is None:
            raise SetupError(
                f"Go was not found; k6 {VERSION} with the recorder is built with it. Install Go 1.25 or newer."
            )
        say(f"k6: building {VERSION} with the recorder from Go modules (once, a few minutes)")
        try:
            golang.build(root, compiler, root / _MODULE, _built(root))
        except process.CallError as error:
            raise SetupError(f"k6 {VERSION} could not be built with {compiler}.\n{error}") from error
        find.cache_clear()
        return _built(root)


def go() -> Path | None:
    """The Go that would build it."""
    return golang.find()


def source_hash(root: Path) -> str:
    """Of everything that goes into the program: k6's version is in it, too."""
    digest = hashlib.sha256()
    module = root / _MODULE
    for path in sorted(module.rglob("*")):
        if path.is_file() and not path.name.endswith("_test.go"):
            digest.update(str(path.relative_to(module)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _built(root: Path) -> Path:
    return state.binaries(root) / f"k6-{VERSION}-{source_hash(root)[:12]}"
