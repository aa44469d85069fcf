"""What do run.json and suite.json look like, for other languages? Derives their JSON Schemas from the records.

`python -m writepath.result.schema` rewrites the committed files; a test fails where they differ. The comment beside a
field is its description, so that a unit is written once.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import json
import tokenize
import types
import typing
from pathlib import Path
from typing import Any

from writepath import result
from writepath.result import capacity, queries

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}
ROOT = Path(__file__).parents[4]


def json_schema(record: type, title: str) -> dict[str, Any]:
    """The JSON Schema of one dataclass; nested ones become $defs."""
    definitions: dict[str, Any] = {}
    body = _object(record, definitions)
    return (
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
        | body
        | {"$defs": definitions}
    )


def files() -> dict[str, str]:
    """Name below schemas/ and text of each file."""
    pairs = (
        ("run", result.Run),
        ("suite", result.SuiteResult),
        ("capacity", capacity.CapacitySuite),
        ("search", capacity.Search),
        ("ceilings", capacity.Ceilings),
        ("queries", queries.QueriesSuite),
        ("read", queries.Read),
    )
    return {
        f"{name}.schema.json": json.dumps(json_schema(record, f"{name}.json"), indent=2) + "\n"
        for name, record in pairs
    }


def _version(record: type) -> int:
    if inspect.getmodule(record) is capacity:
        return capacity.CAPACITY_SCHEMA_VERSION
    return queries.QUERIES_SCHEMA_VERSION if inspect.getmodule(record) is queries else result.SCHEMA_VERSION


def _object(record: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(record)
    comments = _comments(record)
    properties = {}
    for field in dataclasses.fields(record):
        name = "class" if record is result.Durability and field.name == "level" else field.name
        schema = (
            {"const": _version(record)} if name == "schema_version" else _of(hints[field.name], definitions)
        )
        described = {"description": comments[field.name]} if field.name in comments else {}
        properties[name] = described | schema
    return {
        "description": inspect.cleandoc(record.__doc__ or ""),
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        name = typing.cast("type", kind).__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _object(typing.cast("type", kind), definitions)
        return {"$ref": f"#/$defs/{name}"}
    if origin in (typing.Union, types.UnionType):
        (inner,) = (part for part in arguments if part is not type(None))
        return {"anyOf": [_of(inner, definitions), {"type": "null"}]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    return {"type": PLAIN[kind]}


def _comments(record: type) -> dict[str, str]:
    """By field, the comment on its line."""
    source = inspect.getsource(record)
    by_line = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    (definition,) = ast.parse(source).body
    fields = [
        node for node in typing.cast("ast.ClassDef", definition).body if isinstance(node, ast.AnnAssign)
    ]
    return {ast.unparse(node.target): by_line[node.lineno] for node in fields if node.lineno in by_line}


def main() -> None:
    """Rewrites the committed schemas."""
    for name, text in files().items():
        (ROOT / "schemas" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
