"""How does k6 get here? Built from k6/recorder, once a version: only this k6 can record what our scripts send."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from writepath.provision import golang, state

VERSION = "1.8.1"  # as k6/recorder/go.mod has it
_MODULE = "k6/recorder"
REMEDY = f"Go was not found; k6 {VERSION} with the recorder is built with it. Install Go 1.25 or newer."


@cache
def find(root: Path) -> Path | None:
    """The k6 to use, if it was built from the sources as they are now. One on the PATH has no recorder."""
    built = _built(root)
    return built if built.exists() else None


def ensure(root: Path, say: Callable[[str], None]) -> Path:
    """Builds k6 unless there is one; SetupError without Go."""
    if (found := find(root)) is not None:
        return found
    find.cache_clear()
    name, package = f"k6 {VERSION} with the recorder", ("-ldflags=-s -w", ".")
    return golang.ensure(root, name, _built(root), say, *package, remedy=REMEDY, cwd=root / _MODULE)


def source_hash(root: Path) -> str:
    """Of everything that goes into the program: k6's version is in it, too."""
    sources = (path for path in (root / _MODULE).rglob("*") if not path.name.endswith("_test.go"))
    return state.digest(root / _MODULE, sources)


def _built(root: Path) -> Path:
    return state.binaries(root) / f"k6-{VERSION}-{source_hash(root)[:12]}"
