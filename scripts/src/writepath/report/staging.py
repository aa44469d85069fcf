"""What is published is scrubbed and has digests of all files."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

PUBLISHED = "results/published"  # folders below a checkout
PAGES = "docs/results"


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
