"""Reads YAML files into annotated dataclasses, and explains what is wrong with one: file, place, value and remedy.

YAML 1.2: `on` and `no` are words, `010` is ten, `1e3` is a number, and no key is defined twice.
"""

import difflib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, dataclass_transform

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from writepath.errors import UsageError

T = TypeVar("T")
CONFIG = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


@dataclass_transform(kw_only_default=True, frozen_default=True)
def entry(cls: type[T]) -> type[T]:
    """Decorates a class whose fields are an entry of a YAML file; they are checked when a file is read."""
    made: Any = dataclass(frozen=True, kw_only=True)(cls)
    made.__pydantic_config__ = CONFIG
    return cast("type[T]", made)


def each_once(values: tuple[str, ...]) -> tuple[str, ...]:
    """The names; ValueError for one that is listed twice."""
    twice = next((value for value, times in Counter(values).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"'{twice}' is listed twice")
    return values


def _thousandths(value: float) -> float:
    if value * 1000 != round(value * 1000):  # k6 is given whole milliseconds, and whole requests per 1,000 s
        raise ValueError(f"{value:g} has more than three decimals; round it")
    return value


def _as_text(value: object) -> object:
    if isinstance(value, float):
        raise ValueError(f'{value:g} may be written in several ways; quote it: "{value:g}"')  # noqa: TRY004 - pydantic's
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else value


Name = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        description="lower-case letters, digits and single hyphens, as in 'rabbitmq-jpa'",
    ),
]
Text = Annotated[str, Field(pattern=r"^\S(.*\S)?$", description="some text on one line")]
Names = Annotated[
    tuple[str, ...], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(each_once)
]
Thousandths = Annotated[float, AfterValidator(_thousandths)]
# A setting's value is text for whoever gets it, whether YAML takes it for a number or not.
Value = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"type": ["string", "integer", "boolean"]}),
    BeforeValidator(_as_text),
]


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'X'?` where one is near, else the known names."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(names)}"


def load_yaml(path: Path) -> Any:
    """One document. UsageError names file and line of what is not YAML, of a key defined twice and of a tag."""
    try:
        return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"{path.name}: cannot be read ({error.strerror}); it must be in the directory of the Makefile"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except YAMLError as error:
        raise UsageError(f"{path.name}: not YAML: {_in_one_line(error)}") from error


def _in_one_line(error: YAMLError) -> str:
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return " ".join(str(error).split())
    return f"{error.problem} (line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1})"


def validated(kind: type[T], data: object, file: str, place: str = "") -> T:
    """The data as a `kind`. file and place: where the data is, for the UsageError."""
    adapter = TypeAdapter(kind)
    try:
        return adapter.validate_json(json.dumps(data, default=str, ensure_ascii=False))
    except ValidationError as error:
        # A misspelt key is also a missing one; the misspelling is what helps.
        found = sorted(error.errors(include_url=False), key=lambda each: not _is_unknown(each))
        raise UsageError(f"{file}: {_explained(found[0], adapter.json_schema(), place)}") from error
    except ValueError as error:
        raise UsageError(f"{file}: an alias is inside the value that it names") from error


def _is_unknown(error: ErrorDetails) -> bool:
    return error["type"] in ("unexpected_keyword_argument", "extra_forbidden")


def _explained(error: ErrorDetails, schema: dict[str, Any], outside: str) -> str:
    """One sentence: where, what, and what would be right."""
    place, kind = [part for part in error["loc"] if part != "[key]"], error["type"]
    shown = "empty" if error["input"] is None else json.dumps(error["input"], ensure_ascii=False)
    key = place.pop() if error["loc"][-1:] == ("[key]",) or _is_unknown(error) or "missing" in kind else None
    around = _schema_at(schema, place)
    if _is_unknown(error):
        problem = f"unknown key '{key}'; {nearest(str(key), around.get('properties', {}))}"
    elif "missing" in kind:
        problem = f"key '{key}' is missing"
    elif kind == "string_pattern_mismatch":
        rule = around if key is None else around["propertyNames"]
        problem = f"{shown} is not {rule.get('description', error['msg'])}"
    elif kind == "too_short":
        problem = f"at least {error['ctx']['min_length']} values are needed"
    elif kind == "value_error":
        problem = error["msg"].removeprefix("Value error, ")
    else:
        problem = f"{shown}: {error['msg']}"
    inside = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return f"{(outside + inside).lstrip('.') or 'top level'}: {problem}"


def _schema_at(schema: dict[str, Any], place: Iterable[int | str]) -> dict[str, Any]:
    here = schema
    for part in place:
        here = _resolved(here, schema)
        named = [here.get("properties", {}).get(part), *here.get("patternProperties", {}).values()]
        here = here.get("items") or next(filter(None, named), None) or here.get("additionalProperties") or {}
    return _resolved(here, schema)


def _resolved(here: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Behind a reference, or the first alternative of a value that may be missing."""
    if "anyOf" in here:
        here = here["anyOf"][0]
    if "$ref" in here:
        found: dict[str, Any] = schema["$defs"][here["$ref"].rpartition("/")[2]]
        return {**found, **{key: value for key, value in here.items() if key != "$ref"}}
    return here
