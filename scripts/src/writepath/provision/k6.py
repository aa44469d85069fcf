"""How does k6 get here? From the PATH if it is the right one, else built from its Go module."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from writepath import process
from writepath.errors import SetupError
from writepath.provision import golang, state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VERSION = "1.8.1"


@cache
def find(root: Path) -> Path | None:
    """The k6 to use: built here before, else on the PATH with the same major and minor version."""
    built = _built(root)
    if built.exists():
        return built
    on_path = process.find("k6")
    if on_path is not None and version(on_path).rpartition(".")[0] == VERSION.rpartition(".")[0]:
        return on_path
    return None


def version(program: Path) -> str:
    """1.8.1, or `unknown`."""
    if program.name == f"k6-{VERSION}":
        return VERSION
    found = re.search(r"v(\d+\.\d+\.\d+)", process.attempt(program, "version").stdout)
    return found[1] if found else "unknown"


def ensure(root: Path, say: Callable[[str], None]) -> Path:
    """Builds k6 unless there is one; SetupError without Go."""
    found = find(root)
    if found is not None:
        return found
    compiler = go()
    if compiler is None:
        raise SetupError(
            f"k6 {VERSION} is not on the PATH, and there is no Go to build it with. Install one of them: "
            f"k6 {VERSION} from its project's packages, or Go 1.25 or newer."
        )
    say(f"k6: building {VERSION} from its Go module (once, a few minutes)")
    try:
        golang.install(root, compiler, f"go.k6.io/k6@v{VERSION}", _built(root))
    except process.CallError as error:
        raise SetupError(f"k6 {VERSION} could not be built with {compiler}.\n{error}") from error
    find.cache_clear()
    return _built(root)


def go() -> Path | None:
    """The Go that would build it."""
    return golang.find()


def _built(root: Path) -> Path:
    return state.binaries(root) / f"k6-{VERSION}"
