"""Puts a suite into what is published: whole or not at all, scrubbed, with digests, and never too large for git."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writepath.errors import UsageError

PUBLISHED = "results/published"  # folders below a checkout
PAGES = "docs/results"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where from, where to."""

    source: Path  # named in the error
    target: Path
    limit_bytes: int


def put(place: Place, copy: Callable[[Path], None], less: str) -> None:
    """Copies into a folder next to the place, with digests of all files, then moves it there.

    UsageError where it is larger than it may be; less: what a smaller one has fewer of.
    """
    staged = place.target.with_name(f"{place.target.name}.part")
    shutil.rmtree(staged, ignore_errors=True)
    try:
        copy(staged)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    write_manifest(staged)
    size = sum(path.stat().st_size for path in files_below(staged))
    if size > place.limit_bytes:
        shutil.rmtree(staged)
        raise UsageError(
            f"{place.source}: {size:,} bytes when compressed, more than the {place.limit_bytes:,} a suite may take in"
            f" git; publish a run with fewer {less}"
        )
    shutil.rmtree(place.target, ignore_errors=True)
    staged.rename(place.target)


MANIFEST = "manifest.sha256"


def write_manifest(folder: Path) -> None:
    """Of every other file below the folder."""
    manifest = folder / MANIFEST
    listed = [path for path in files_below(folder) if path != manifest]
    lines = [f"{_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in listed]
    manifest.write_text("".join(lines), encoding="utf-8")


def manifest_problems(folder: Path) -> list[str]:
    """What in the folder differs from what was published."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return [f"{manifest}: missing"]
    lines = [line.partition("  ") for line in manifest.read_text(encoding="utf-8").splitlines()]
    listed = {name: digest for digest, _, name in lines}
    present = {path.relative_to(folder).as_posix(): path for path in files_below(folder) if path != manifest}
    found = [f"{folder.name}/{name}: missing" for name in listed if name not in present]
    for name, path in present.items():
        if name not in listed:
            found.append(f"{folder.name}/{name}: not in {MANIFEST}")
        elif _sha256(path) != listed[name]:
            found.append(f"{folder.name}/{name}: changed since it was published")
    return found


def files_below(folder: Path) -> list[Path]:
    """All below it, in order; none where it is missing."""
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


PERSONAL = {"HOME", "HOSTNAME", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "USER", "USERNAME"}
SECRET = re.compile(r"(?i)password|passwd|secret|token|credential|cookie")
MACHINE_PATH = re.compile(r"(?<![\w./])/(?:[\w.+@-]+/)*[\w.+@-]+")


def scrubbed(value: Any) -> Any:
    """As the world may see it: no paths of this machine, nothing about its user, no secrets."""
    if isinstance(value, dict):
        kept = {key: entry for key, entry in value.items() if key.upper() not in PERSONAL}
        return {key: "***" if SECRET.search(key) else scrubbed(entry) for key, entry in kept.items()}
    if isinstance(value, list):
        return [scrubbed(entry) for entry in value]
    return MACHINE_PATH.sub("(path)", value) if isinstance(value, str) else value


def copy_json(source: Path, target: Path) -> None:
    """Parsed, scrubbed, and written so that a diff of two can be read."""
    data = scrubbed(json.loads(source.read_text(encoding="utf-8")))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
