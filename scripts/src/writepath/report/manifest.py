"""Is what was published still what was published? A file of digests beside it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "manifest.sha256"


def write(folder: Path) -> None:
    """Of every other file below the folder."""
    manifest = folder / MANIFEST
    listed = [path for path in files(folder) if path != manifest]
    lines = [f"{_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in listed]
    manifest.write_text("".join(lines), encoding="utf-8")


def problems(folder: Path) -> list[str]:
    """What in the folder differs from what was published."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return [f"{manifest}: missing"]
    lines = [line.partition("  ") for line in manifest.read_text(encoding="utf-8").splitlines()]
    listed = {name: digest for digest, _, name in lines}
    present = {path.relative_to(folder).as_posix(): path for path in files(folder) if path != manifest}
    found = [f"{folder.name}/{name}: missing" for name in listed if name not in present]
    for name, path in present.items():
        if name not in listed:
            found.append(f"{folder.name}/{name}: not in {MANIFEST}")
        elif _sha256(path) != listed[name]:
            found.append(f"{folder.name}/{name}: changed since it was published")
    return found


def files(folder: Path) -> list[Path]:
    """All below it, in order; none where it is missing."""
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
