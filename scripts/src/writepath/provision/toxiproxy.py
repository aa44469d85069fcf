"""How does Toxiproxy get here? Built from its Go module, once a version."""

from collections.abc import Callable
from pathlib import Path

from writepath.provision import golang, state

VERSION = "2.12.0"
_MODULE = "github.com/Shopify/toxiproxy/v2"
_REMEDY = f"Go was not found; Toxiproxy {VERSION} is built with it. Install Go 1.25 or newer."


def find(root: Path) -> Path | None:
    """The one that was built here, if it was."""
    built = _built(root)
    return built if built.exists() else None


def ensure(root: Path, say: Callable[[str], None]) -> Path:
    """Builds it unless it is there; SetupError without Go."""
    package = (f"-ldflags=-s -w -X {_MODULE}.Version={VERSION}", f"{_MODULE}/cmd/server@v{VERSION}")
    return golang.ensure(root, f"Toxiproxy {VERSION}", _built(root), say, *package, remedy=_REMEDY)


def _built(root: Path) -> Path:
    return state.binaries(root) / f"toxiproxy-server-{VERSION}"
