"""How does a program get here that is a Go module, ours or a published one? Go builds it, once a version."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from writepath import process
from writepath.errors import SetupError
from writepath.provision import state

BUILD_SECONDS = 1500.0
_FOLDERS = ("/usr/local/go/bin", "/usr/lib/go/bin", "~/go/bin", "~/sdk/go/bin", "/snap/bin")


def find() -> Path | None:
    """The Go that would build it."""
    return process.find("go", *(Path(folder).expanduser() for folder in _FOLDERS))


def ensure(
    root: Path,
    name: str,
    target: Path,
    say: Callable[[str], None],
    *package: str,
    remedy: str,
    cwd: Path | None = None,
) -> Path:
    """The package's program, built unless it is there: whole or not at all. SetupError; without Go, the remedy."""
    with state.lock(root, "go"):
        if target.exists():  # another command has built it meanwhile
            return target
        compiler = find()
        if compiler is None:
            raise SetupError(remedy)
        say(f"{name}: building from its Go module (once, a few minutes)")
        folder = state.folder(root) / f"go-install-{target.name}"
        try:
            process.call(
                compiler,
                *("install", "-trimpath", *package),
                cwd=cwd or state.folder(root),
                env={**os.environ, "GOBIN": str(folder), "CGO_ENABLED": "0"},
                timeout_s=BUILD_SECONDS,
            )
            target.parent.mkdir(exist_ok=True)
            next(folder.iterdir()).replace(target)
        except process.CallError as error:
            raise SetupError(f"{name} could not be built with {compiler}.\n{error}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return target
