"""Saved records are read as they were written, strictly, and their committed schemas describe them."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from planted_records import CELL, INDEX, QUERIES, READ
from writepath.errors import UsageError
from writepath.records import base, capacity, cell, faults, index, queries, schema
from writepath.records.load import LoadResult

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "results" / "published"
NEWER: dict[str, object] = {  # fields that some published file is older than, by name their default
    "digest": None,
    "taken_along": 0,
    "warm_up_seconds": None,
    "noise": [],
    "host": None,
    "code": None,
}
LOADS: dict[str, Callable[[Path], object]] = {
    "capacity": capacity.load_suite,
    "search": capacity.load_search,
    "ceilings": capacity.load_ceilings,
    "queries": queries.load_suite,
    "read": queries.load_read,
    "faults-index": faults.load_faults,
    "faults-cell": faults.load_cell,
    "index": index.load_index,
    "cell": cell.load_cell,
}
SAVES: dict[str, Callable[[Any, Path], None]] = {
    "capacity": capacity.save_suite,
    "search": capacity.save_search,
    "ceilings": capacity.save_ceilings,
    "queries": queries.save_suite,
    "read": queries.save_read,
    "faults-index": faults.save_faults,
    "faults-cell": faults.save_cell,
    "index": index.save_index,
    "cell": cell.save_cell,
}
FOLDERS = {  # of published records
    "capacity": "capacity",
    "search": "*/*/block-*",
    "ceilings": "*/**",
    "queries": "search",
    "read": "search/*/block-*",
    "faults-index": "faults/*",
    "faults-cell": "faults/*/*/*",
}


def published(name: str) -> list[Path]:
    """The folders of every published record of that name."""
    file = schema.SAVED[name][1]
    found = [path.parent for path in sorted(PUBLISHED.glob(f"{FOLDERS[name]}/{file}"))]
    assert found, f"no {file} is published"
    return found


def example(name: str) -> Any:
    """A record of that name."""
    planted = {"cell": CELL, "index": INDEX}
    return planted[name] if name in planted else LOADS[name](published(name)[0])


def without_newer(read: Any, file: Any) -> Any:
    """What was read, without defaults of fields that are newer than the file."""
    if isinstance(file, dict):
        return {
            key: without_newer(value, file.get(key))
            for key, value in read.items()
            if key in file or NEWER.get(key, ...) != value
        }
    if isinstance(file, list):
        return [without_newer(*pair) for pair in zip(read, file, strict=True)]
    return read


@pytest.mark.parametrize("name", FOLDERS)
def test_every_published_record_is_saved_as_it_was_read(name: str) -> None:
    for folder in published(name):
        data = json.loads((folder / schema.SAVED[name][1]).read_text(encoding="utf-8"))
        assert without_newer(base.to_data(LOADS[name](folder)), data) == data, folder


@pytest.mark.parametrize("name", LOADS)
def test_a_record_is_read_as_it_was_saved(name: str, tmp_path: Path) -> None:
    record = example(name)
    SAVES[name](record, tmp_path)
    assert LOADS[name](tmp_path) == record


def test_a_search_run_and_its_index_with_every_part_are_read_as_they_were_saved(tmp_path: Path) -> None:
    queries.save_read(READ, tmp_path)
    queries.save_suite(QUERIES, tmp_path)
    assert queries.load_read(tmp_path) == READ
    assert queries.load_suite(tmp_path) == QUERIES


def test_a_durability_class_is_saved_as_class_and_read_by_no_other_name(tmp_path: Path) -> None:
    queries.save_read(READ, tmp_path)
    text = (tmp_path / queries.READ_FILE).read_text(encoding="utf-8")
    assert '"class": "A"' in text
    (tmp_path / queries.READ_FILE).write_text(text.replace('"class"', '"level"'), encoding="utf-8")
    with pytest.raises(UsageError, match=r"read\.json: durability\.class: missing"):
        queries.load_read(tmp_path)


@pytest.mark.parametrize("name", LOADS)
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
    SAVES[name](example(name), tmp_path)
    path = tmp_path / schema.SAVED[name][1]
    data = json.loads(path.read_text(encoding="utf-8")) | changed
    data = {key: value for key, value in data.items() if value is not ...}
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(f"{path}: {message}")):
        LOADS[name](tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("planned", "7", "holds[0].requests.planned='7': Input should be a valid integer"),
        ("planned", True, "holds[0].requests.planned=True: Input should be a valid integer"),
        ("planned", 7.0, "holds[0].requests.planned=7.0: Input should be a valid integer"),
        ("planned", None, "holds[0].requests.planned=None: Input should be a valid integer"),
        ("by_status", [], "holds[0].requests.by_status=[]: Input should be an object"),
        ("extra", 1, "holds[0].requests.extra: no such field"),
    ],
)
def test_a_nested_field_is_named_with_its_place(
    field: str, value: object, message: str, tmp_path: Path
) -> None:
    data = base.to_data(example("search"))
    data["holds"][0]["requests"][field] = value
    base.write_json(data, tmp_path / capacity.SEARCH_FILE)
    with pytest.raises(UsageError, match=re.escape(message)):
        capacity.load_search(tmp_path)


def test_a_whole_number_is_read_where_a_number_is_declared() -> None:
    data = base.to_data(example("search")) | {"slo_ms": 100}
    assert base.from_data(capacity.Search, data, "search.json").slo_ms == 100.0


def test_a_cell_result_is_validated_by_its_kind() -> None:
    assert isinstance(cell.result_of(CELL, LoadResult), LoadResult)
    broken = replace(CELL, result={**(CELL.result or {}), "completed": "many"})
    with pytest.raises(UsageError, match="jpa: result: completed='many'"):
        cell.result_of(broken, LoadResult)


def test_what_cannot_be_written_as_json_leaves_the_file_before_it(tmp_path: Path) -> None:
    index.save_index(INDEX, tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        index.save_index(replace(INDEX, params={"rate_per_s": float("nan")}), tmp_path)
    assert index.load_index(tmp_path) == INDEX


@pytest.mark.parametrize("name", LOADS)
def test_a_folder_without_the_file_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{schema.SAVED[name][1]}: cannot be read"):
        LOADS[name](tmp_path)


def test_the_committed_schemas_are_those_of_the_records() -> None:
    for name, text in schema.files().items():
        assert (ROOT / "schemas" / name).read_text(encoding="utf-8") == text, (
            "run: python -m writepath.records.schema"
        )


def committed(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize("name", LOADS)
def test_what_is_saved_satisfies_its_schema(name: str) -> None:
    jsonschema.Draft202012Validator(committed(name)).validate(base.to_data(example(name)))


@pytest.mark.parametrize("name", LOADS)
def test_the_schema_refuses_a_missing_and_an_unknown_field(name: str) -> None:
    validator = jsonschema.Draft202012Validator(committed(name))
    data = base.to_data(example(name))
    assert not validator.is_valid(data | {"surprise": 1})
    for field in fields(example(name)):
        assert not validator.is_valid({key: data[key] for key in data if key != field.name}), field.name


def test_the_schema_of_a_cell_describes_the_result_of_its_kind() -> None:
    validator = jsonschema.Draft202012Validator(committed("cell"))
    data = base.to_data(CELL)
    assert validator.is_valid(data | {"result": None})
    assert not validator.is_valid(data | {"result": {"completed": 1}})


def test_a_schema_describes_a_field_by_the_comment_next_to_it() -> None:
    definitions = committed("search")["$defs"]
    assert definitions["Resource"]["properties"]["write_bytes"]["description"] == (
        "null if the runtime does not report it"
    )
    assert definitions["Durability"]["properties"]["class"]["description"] == (
        "A on disk, B in memory or one copy, C handed over"
    )
    one_line_below_its_name = definitions["LimitedBy"]["properties"]["nearest"]["description"]
    assert one_line_below_its_name.startswith("if none was saturated")
