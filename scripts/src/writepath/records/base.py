"""Makes a class a record: a frozen dataclass that pydantic validates, saved as JSON at once and completely.

Rules: a unit is the last part of a name; times are ISO-8601 UTC with milliseconds; what could not be measured is null,
never absent and never zero.
"""

import json
import os
from pathlib import Path
from typing import Any, TypeVar, cast, dataclass_transform

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from writepath.errors import UsageError

R = TypeVar("R")
CONFIG = ConfigDict(
    extra="forbid",
    strict=True,
    validate_by_name=True,
    validate_by_alias=True,
    serialize_by_alias=True,
    ser_json_inf_nan="constants",  # save() refuses them; the default turns those below an Any into null
    json_schema_serialization_defaults_required=True,  # a saved record has every field
)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def record(cls: type[R]) -> type[R]:
    """Decorates a class whose fields are saved: unknown, missing and mistyped fields are errors."""
    made: Any = dataclass(frozen=True, kw_only=True, config=CONFIG)(cls)
    return cast("type[R]", made)


def to_data(value: object) -> dict[str, Any]:
    """A record as JSON has it."""
    data: dict[str, Any] = TypeAdapter(type(value)).dump_python(value, mode="json")
    return data


def from_data(kind: type[R], data: object, where: str) -> R:
    """The record of parsed JSON. where: file or field, for the UsageError that names what is wrong."""
    try:
        return TypeAdapter(kind).validate_json(json.dumps(data), by_alias=True, by_name=False)
    except ValidationError as error:
        raise UsageError(f"{where}: {_first(error)}; the file was edited or is of another version") from error


def save(value: object, path: Path) -> None:
    """Writes a temporary file in the same folder, flushes it, then renames it: a reader never sees half of it."""
    write_json(to_data(value), path)


def load(kind: type[R], path: Path, version: int) -> R:
    """The record of a file; UsageError where it is missing, broken or of another schema version."""
    return from_data(kind, read_json(path, version), str(path))


def write_json(data: dict[str, Any], path: Path) -> None:
    """As `save`, of data that is not a record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".json.part")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, indent=1, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_json(path: Path, version: int) -> dict[str, Any]:
    """A record's data. UsageError where it is missing, broken, or its schema_version is another."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); is it a folder of results?") from error
    except ValueError as error:
        raise UsageError(f"{path}: not JSON ({error}); the file was cut or edited") from error
    found = data.get("schema_version") if isinstance(data, dict) else None
    if found != version:
        raise UsageError(f"{path}: schema_version={found}, this Writepath reads {version}")
    return dict(data)


def _first(error: ValidationError) -> str:
    """The first fault in words: `holds[0].requests.planned: missing`."""
    fault = error.errors(include_url=False)[0]
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault["loc"])
    field = "".join(steps).removeprefix(".")
    match fault["type"]:
        case "missing":
            return f"{field}: missing"
        case "unexpected_keyword_argument":
            return f"{field}: no such field"
        case _:
            return f"{field}={fault['input']!r:.80}: {fault['msg']}"


def inside(folder: Path, name: str) -> Path:
    """The folder of that name, from an index, below `folder`; UsageError for a name that leads out of it."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise UsageError(
            f"{folder}: its index names the folder {name!r}, which is outside; the index was edited"
        )
    return path
