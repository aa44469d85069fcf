"""How does a record become a file that is never half there, and how is it read again?"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from writepath.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def write_json(data: dict[str, Any], path: Path) -> None:
    """Writes a temporary file in the same folder, flushes it, then renames it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".json.part")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, indent=2, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_json(path: Path, *versions: int) -> dict[str, Any]:
    """A record's data. UsageError where it is missing, broken, or its schema_version is none of these."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); is it a folder of results?") from error
    except ValueError as error:
        raise UsageError(f"{path}: not JSON ({error}); the file was cut or edited") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version not in versions:
        known = " and ".join(map(str, versions))
        raise UsageError(f"{path}: schema_version={version}, this Writepath reads {known}")
    return dict(data)


def level_to_class(record: dict[str, Any]) -> dict[str, Any]:
    """A durability's `level` as the page calls it: `class` is a keyword in Python. Changes and returns the record."""
    return _renamed(record, "level", "class")


def class_to_level(record: dict[str, Any]) -> dict[str, Any]:
    """The other way round, after reading."""
    return _renamed(record, "class", "level")


def _renamed(record: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    durability = record.get("durability")
    if isinstance(durability, dict) and old in durability:
        durability[new] = durability.pop(old)
    return record
