"""How does a program get here that is a Go module, ours or a published one? Go builds it, once a version."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from writepath import process
from writepath.provision import state

BUILD_SECONDS = 1500.0
_FOLDERS = ("/usr/local/go/bin", "/usr/lib/go/bin", "~/go/bin", "~/sdk/go/bin", "/snap/bin")


def find() -> Path | None:
    """The Go that would build it."""
    return process.find("go", *(Path(folder).expanduser() for folder in _FOLDERS))


def install(root: Path, compiler: Path, module: str, target: Path, *, flags: str = "-s -w") -> None:
    """Builds a module's program as the target, which is either whole or not there; CallError where it fails."""
    folder = state.folder(root) / f"go-install-{target.name}"
    environment = {**os.environ, "GOBIN": str(folder), "CGO_ENABLED": "0"}
    try:
        process.call(
            compiler,
            *("install", "-trimpath", f"-ldflags={flags}", module),
            cwd=state.folder(root),
            env=environment,
            timeout_s=BUILD_SECONDS,
        )
        target.parent.mkdir(exist_ok=True)
        next(folder.iterdir()).replace(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def build(root: Path, compiler: Path, module: Path, target: Path) -> None:
    """Builds the program of a module that lies here, as its go.sum has it; whole or not there, as above."""
    part = state.folder(root) / f"{target.name}.part"
    environment = {**os.environ, "CGO_ENABLED": "0"}
    try:
        process.call(
            compiler,
            *("build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", part, "."),
            cwd=module,
            env=environment,
            timeout_s=BUILD_SECONDS,
        )
        target.parent.mkdir(exist_ok=True)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
