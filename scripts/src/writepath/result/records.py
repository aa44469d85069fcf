"""How does JSON become a frozen dataclass? Strictly: unknown, missing and mistyped fields are errors."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, TypeVar

from writepath.errors import UsageError

R = TypeVar("R")


def from_json(record: type[R], data: Any, where: str = "") -> R:
    """Builds a dataclass from parsed JSON; nested dataclasses, tuples, dicts, literals and optionals are followed."""
    return typing.cast("R", _value(record, data, where or record.__name__))


def _value(kind: Any, data: Any, where: str) -> Any:
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind, data, where)
    if origin in (typing.Union, types.UnionType):
        return _union(kind, data, where)
    if origin is typing.Literal:
        if data not in typing.get_args(kind):
            raise UsageError(f"{where}={data!r}: not one of {', '.join(map(repr, typing.get_args(kind)))}")
        return data
    if origin is tuple:
        _expect(isinstance(data, list), where, data, "a list")
        element = typing.get_args(kind)[0]
        return tuple(_value(element, entry, f"{where}[{i}]") for i, entry in enumerate(data))
    if origin is dict:
        _expect(isinstance(data, dict), where, data, "an object")
        element = typing.get_args(kind)[1]
        return {key: _value(element, entry, f"{where}.{key}") for key, entry in data.items()}
    return _plain(kind, data, where)


def _record(kind: Any, data: Any, where: str) -> Any:
    _expect(isinstance(data, dict), where, data, "an object")
    hints = typing.get_type_hints(kind)
    unknown = sorted(set(data) - set(hints))
    if unknown:
        raise UsageError(f"{where}.{unknown[0]}: no such field")
    for field in dataclasses.fields(kind):
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and field.name not in data:
            raise UsageError(f"{where}.{field.name}: missing")
    return kind(**{key: _value(hints[key], entry, f"{where}.{key}") for key, entry in data.items()})


def _union(kind: Any, data: Any, where: str) -> Any:
    if data is None:
        return None
    (inner,) = (part for part in typing.get_args(kind) if part is not type(None))
    return _value(inner, data, where)


def _plain(kind: Any, data: Any, where: str) -> Any:
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    _expect(
        isinstance(data, kind) and (kind is bool or not isinstance(data, bool)), where, data, kind.__name__
    )
    return data


def _expect(holds: bool, where: str, data: Any, wanted: str) -> None:
    if not holds:
        raise UsageError(f"{where}={data!r}: expected {wanted}")
