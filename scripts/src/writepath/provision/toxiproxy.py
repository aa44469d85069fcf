"""How does Toxiproxy get here? From the PATH if it is the right one, else built from its Go module."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from writepath import process
from writepath.errors import SetupError
from writepath.provision import golang, state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VERSION = "2.12.0"
_MODULE = "github.com/Shopify/toxiproxy/v2"
_PROGRAM = "toxiproxy-server"


def find(root: Path) -> Path | None:
    """The one to use: built here before, else on the PATH in this version."""
    built = _built(root)
    if built.exists():
        return built
    on_path = process.find(_PROGRAM)
    if on_path is not None:
        said = re.search(r"\d+\.\d+\.\d+", process.attempt(on_path, "-version").stdout)
        return on_path if said and said[0] == VERSION else None
    return None


def ensure(root: Path, say: Callable[[str], None]) -> Path:
    """Builds it unless there is one; SetupError without Go."""
    with state.lock(root, "toxiproxy"):
        found = find(root)
        if found is not None:
            return found
        compiler = golang.find()
        if compiler is None:
            raise SetupError(
                f"{_PROGRAM} {VERSION} is not on the PATH, and Go, which could build it, was not found. Install "
                f"one of them: {_PROGRAM} {VERSION} from the releases of Toxiproxy, or Go 1.25 or newer."
            )
        say(f"toxiproxy: building {VERSION} from its Go module (once)")
        flags = f"-s -w -X {_MODULE}.Version={VERSION}"
        module = f"{_MODULE}/cmd/server@v{VERSION}"
        try:
            golang.install(root, compiler, module, _built(root), flags=flags)
        except process.CallError as error:
            raise SetupError(f"Toxiproxy {VERSION} could not be built with {compiler}.\n{error}") from error
        return _built(root)


def _built(root: Path) -> Path:
    return state.binaries(root) / f"{_PROGRAM}-{VERSION}"
