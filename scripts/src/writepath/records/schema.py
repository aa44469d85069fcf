"""Generates the JSON Schemas of the saved records and of the YAML files, for other languages and editors.

`python -m writepath.records.schema` rewrites the committed files; a test fails where they differ. The comment next to a
field is its description, so that a unit is written once.
"""

import inspect
import json
import re
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from writepath.config.registry import SuitesFile, VariantsFile
from writepath.records import capacity_run, ceilings, cell, faults, index, load, pair, search, site

ROOT = Path(__file__).parents[4]
RESULTS = (
    load.LoadResult,
    capacity_run.CapacityResult,
    pair.PairResult,
    ceilings.CeilingsResult,
    search.SearchResult,
    faults.FaultResult,
)  # of the kinds, in cell.json
SAVED: dict[str, tuple[type, str, int]] = {  # by name in schemas/: record, file, version
    "index": (index.Index, index.INDEX_FILE, index.SCHEMA_VERSION),
    "cell": (cell.CellRecord, cell.CELL_FILE, index.SCHEMA_VERSION),
}
EXPORTED: dict[str, tuple[type, str, int]] = {  # as SAVED, but written alone: for the results site
    "site": (site.Site, site.DATA_FILE, site.SCHEMA_VERSION)
}
YAML_FILES = {"variants": VariantsFile, "suites": SuitesFile}
DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


def files() -> dict[str, str]:
    """Name below schemas/ and text of each file."""
    schemas = {name: _schema(*written) for name, written in (SAVED | EXPORTED).items()}
    schemas |= {name: _schema_of_yaml(name, kind) for name, kind in YAML_FILES.items()}
    return {
        f"{name}.schema.json": json.dumps(DIALECT | schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas.items()
    }


def _schema(record: type, file: str, version: int) -> dict[str, Any]:
    kinds = (record, *RESULTS) if record is cell.CellRecord else (record,)
    references, schema = TypeAdapter.json_schemas(
        [(kind, "serialization", TypeAdapter(kind)) for kind in kinds], schema_generator=_Generator
    )
    body: dict[str, Any] = schema["$defs"].pop(record.__name__)
    body["properties"]["schema_version"] = {"const": version}
    if record is cell.CellRecord:
        results = [references[kind, "serialization"] for kind in RESULTS]
        body["properties"]["result"]["anyOf"] = [*results, {"type": "null"}]
    del body["title"]
    return {"title": file} | body | schema


def _schema_of_yaml(name: str, kind: type) -> dict[str, Any]:
    schema = TypeAdapter(kind).json_schema(schema_generator=_Generator)
    if suite := schema["$defs"].get("SuiteEntry"):
        # Only the kind knows what the part with its name may hold.
        description = "The part named like the kind, as in `capacity: {slo_ms: 100}`."
        suite["additionalProperties"] = {"type": "object", "description": description}
    return schema | {"title": f"{name}.yaml"}


class _Generator(GenerateJsonSchema):
    """As pydantic's, with the comment next to a field as its description."""

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        made = super().dataclass_schema(schema)
        comments = _comments(schema["cls"])
        fields = cast("core_schema.DataclassArgsSchema", schema["schema"])["fields"]
        for field in fields:
            if field["name"] in comments:
                name = field.get("serialization_alias", field["name"])
                made["properties"][name]["description"] = comments[field["name"]]
        return made

    def field_title_should_be_set(self, *_: object) -> bool:
        return False  # it would repeat the name

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])  # no field of a file is left to its default


def _comments(record: type) -> dict[str, str]:
    """By field, the comment behind it, or behind its last line."""
    found: dict[str, str] = {}
    field = None
    for line in inspect.getsource(record).splitlines():
        if begins := re.match(r" {4}(?:(\w+): |[@\w])", line):  # a field, or a method
            field = begins[1]
        code, _, comment = line.partition("  # ")
        if field and comment and code.strip():
            found[field] = comment
    return found


def main() -> None:
    """Rewrites the committed schemas."""
    for name, text in files().items():
        (ROOT / "schemas" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
