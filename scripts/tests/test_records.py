"""Saved records are read as they were written, strictly, and their committed schemas describe them."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from writepath.errors import UsageError
from writepath.records import base, cell, index, schema
from writepath.records.cell import result_of
from writepath.records.load import LoadResult

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "results/published"
SAVED = sorted(schema.SAVED)


def published(name: str) -> list[Path]:
    """Every published record of that name."""
    found = sorted(PUBLISHED.rglob(schema.SAVED[name][1]), key=lambda path: "default" not in path.parts)
    assert found, f"no {schema.SAVED[name][1]} is published"
    return found


def load(name: str, path: Path) -> Any:
    kind, _, version = schema.SAVED[name]
    return base.load(kind, path, version)


def example(name: str) -> Any:
    return load(name, published(name)[0])


def holds(saved: Any, written: Any) -> bool:
    """Whether everything is there that was written; a field that is younger than the file has its default."""
    if isinstance(saved, dict) and isinstance(written, dict):
        return all(key in saved and holds(saved[key], value) for key, value in written.items())
    if isinstance(saved, list) and isinstance(written, list):
        return len(saved) == len(written) and all(map(holds, saved, written))
    return bool(saved == written)


@pytest.mark.parametrize("name", SAVED)
def test_every_published_record_is_saved_as_it_was_read(name: str, tmp_path: Path) -> None:
    for path in published(name):
        record, data = load(name, path), json.loads(path.read_text(encoding="utf-8"))
        assert holds(base.to_data(record), data), path
        base.save(record, tmp_path / path.name)
        assert load(name, tmp_path / path.name) == record


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"surprise": 1}, "surprise: no such field; the file was edited or is of another version"),
        ({"started_at": ...}, "started_at: missing"),
        ({"started_at": 5}, "started_at=5: Input should be a valid string"),
        ({"schema_version": 99}, "schema_version=99, this Writepath reads"),
        ({"schema_version": ...}, "schema_version=None, this Writepath reads"),
    ],
)
def test_a_file_in_another_form_is_an_error_that_names_file_and_field(
    name: str, changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / schema.SAVED[name][1]
    data = base.to_data(example(name)) | changed
    path.write_text(
        json.dumps({key: value for key, value in data.items() if value is not ...}), encoding="utf-8"
    )
    with pytest.raises(UsageError, match=re.escape(f"{path}: {message}")):
        load(name, path)
    path.unlink()
    with pytest.raises(UsageError, match=f"{path.name}: cannot be read"):
        load(name, path)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("planned", "7", "requests.planned='7': Input should be a valid integer"),
        ("planned", True, "requests.planned=True: Input should be a valid integer"),
        ("planned", 7.0, "requests.planned=7.0: Input should be a valid integer"),
        ("planned", None, "requests.planned=None: Input should be a valid integer"),
        ("by_status", [], "requests.by_status=[]: Input should be an object"),
        ("extra", 1, "requests.extra: no such field"),
    ],
)
def test_a_nested_field_of_a_result_is_named_with_its_place(field: str, value: object, message: str) -> None:
    of_load = cell.load_cell(next(PUBLISHED.glob("default/jpa/block-*")))
    assert isinstance(cell.result_of(of_load, LoadResult), LoadResult)
    assert of_load.result is not None
    requests = of_load.result["requests"] | {field: value}
    with pytest.raises(UsageError, match=re.escape(f"jpa: result: {message}")):
        cell.result_of(replace(of_load, result={**of_load.result, "requests": requests}), LoadResult)
    whole = {**of_load.result, "planned_per_s": 100}  # a whole number is a number
    result = cell.result_of(replace(of_load, result=whole), LoadResult)
    assert result is not None
    assert result.planned_per_s == 100.0


def test_what_cannot_be_written_as_json_leaves_the_file_before_it(tmp_path: Path) -> None:
    record = example("index")
    index.save_index(record, tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        index.save_index(replace(record, params={"rate_per_s": float("nan")}), tmp_path)
    assert index.load_index(tmp_path) == record


def test_the_committed_schemas_are_those_of_the_records() -> None:
    for name, text in schema.files().items():
        assert (ROOT / "schemas" / name).read_text(encoding="utf-8") == text, (
            "run: python -m writepath.records.schema"
        )


@pytest.mark.parametrize("name", SAVED)
def test_a_schema_accepts_what_is_saved_and_refuses_a_missing_and_an_unknown_field(name: str) -> None:
    schema_of = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema_of)
    record = example(name)
    if name == "cell":  # as it is saved now: what was published before a field was added is read without it
        record = replace(record, result=base.to_data(result_of(record, LoadResult)))
    data = base.to_data(record)
    validator.validate(data)
    assert not validator.is_valid(data | {"surprise": 1})
    for field in fields(record):
        assert not validator.is_valid({key: data[key] for key in data if key != field.name}), field.name
    if name == "cell":
        assert not validator.is_valid(data | {"result": {"completed": 1}})
        described = schema_of["$defs"]["Resource"]["properties"]["write_bytes"]["description"]
        assert described == "null if the runtime does not report it"
