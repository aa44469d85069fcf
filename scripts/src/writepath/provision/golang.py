"""Builds k6 with our recorder, and Toxiproxy, from their Go modules: once a version."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from writepath import process
from writepath.errors import SetupError
from writepath.provision import state

BUILD_SECONDS = 1500.0
_FOLDERS = ("/usr/local/go/bin", "/usr/lib/go/bin", "~/go/bin", "~/sdk/go/bin", "/snap/bin")
_TOXIPROXY = "github.com/Shopify/toxiproxy/v2"


def find() -> Path | None:
    """The Go that would build it."""
    return process.find("go", *(Path(folder).expanduser() for folder in _FOLDERS))


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program that is a Go module, ours or a published one."""

    name: str
    version: str
    package: str
    flags: str = ""  # for the linker
    sources: str = ""  # the folder of a module of this checkout

    @property
    def remedy(self) -> str:
        """What to do where Go is missing."""
        return f"Go was not found; {self.name} {self.version} is built with it. Install Go 1.25 or newer."

    def source_hash(self, root: Path) -> str:
        """Of everything that goes into a module of this checkout; the version is in it, too."""
        files = (path for path in (root / self.sources).rglob("*") if not path.name.endswith("_test.go"))
        return state.digest(root / self.sources, files)

    def find(self, root: Path) -> Path | None:
        """The one that was built from the sources as they are now. A k6 on the PATH has no recorder."""
        built = self._place(root)
        return built if built.exists() else None

    def ensure(self, root: Path, say: Callable[[str], None]) -> Path:
        """Builds it unless it is there; SetupError without Go."""

        def make(work: Path) -> Path:
            compiler = find()
            if compiler is None:
                raise SetupError(self.remedy)
            say(f"{self.name} {self.version}: building from its Go module (once, a few minutes)")
            try:
                process.call(
                    compiler,
                    *("install", "-trimpath", f"-ldflags=-s -w {self.flags}", self.package),
                    cwd=root / self.sources,
                    env={**os.environ, "GOBIN": str(work), "CGO_ENABLED": "0"},
                    timeout_s=BUILD_SECONDS,
                )
            except process.CallError as error:
                raise SetupError(f"{self.name} could not be built with {compiler}.\n{error}") from error
            return next(work.iterdir())

        return state.made_once(root, self._place(root), "go", make)

    def _place(self, root: Path) -> Path:
        suffix = f"-{self.source_hash(root)[:12]}" if self.sources else ""
        return state.folder(root) / "bin" / f"{self.name}-{self.version}{suffix}"


K6 = Program(name="k6", version="1.8.1", package=".", sources="k6/recorder")  # version: its go.mod's
TOXIPROXY = Program(
    name="toxiproxy-server",
    version="2.12.0",
    flags=f"-X {_TOXIPROXY}.Version=2.12.0",
    package=f"{_TOXIPROXY}/cmd/server@v2.12.0",
)
