"""What does a YAML file say, without YAML's surprises? Words as in YAML 1.2, and no key twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from writepath.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_PREFIX = "tag:yaml.org,2002:"
_MERGE = "<<"


class _Loader(yaml.SafeLoader):
    """Resolves plain words as YAML 1.2 does: `on` and `no` are words, `010` is ten, `1e3` is a number."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own name


for _kind, _pattern in (
    ("null", r"~|null|Null|NULL|"),
    ("bool", r"true|True|TRUE|false|False|FALSE"),
    ("int", r"[-+]?[0-9]+"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
):
    _Loader.add_implicit_resolver(_PREFIX + _kind, re.compile(f"^(?:{_pattern})$"), None)


def load(path: Path, *, verbatim: frozenset[str] = frozenset()) -> Any:
    """Reads one document. Values below the keys in `verbatim` stay as written (`1e3` is "1e3").

    UsageError names file and line of what is not YAML, of a key that stands twice, of a tag and of a loop.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        node = yaml.compose(text, Loader=_Loader)
    except OSError as error:
        raise UsageError(
            f"{path.name}: cannot be read ({error.strerror}); it must be in the directory of the Makefile"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path.name}: not YAML: {_in_one_line(error)}") from error
    return _Builder(path.name, verbatim).build(node)


def _in_one_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return (
        f"{problem} (line {mark.line + 1}, column {mark.column + 1})"
        if mark
        else " ".join(str(problem).split())
    )


class _Builder:
    def __init__(self, file: str, verbatim: frozenset[str]) -> None:
        self.file = file
        self.verbatim = verbatim
        self.open: list[yaml.Node] = []  # from the root down to the current node

    def build(self, node: yaml.Node | None, *, as_text: bool = False) -> Any:
        if node is None:
            return None
        if any(node is outer for outer in self.open):
            raise self._error(node, "an alias is inside the value that it names")
        self.open.append(node)
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, as_text=as_text)
            if isinstance(node, yaml.SequenceNode):
                return [self.build(entry, as_text=as_text) for entry in node.value]
            return self._scalar(node, as_text=as_text)
        finally:
            self.open.pop()

    def _mapping(self, node: yaml.MappingNode, *, as_text: bool) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key, str):
                raise self._error(key_node, "a key must be a string")
            if key in own or (key == _MERGE and merged):
                raise self._error(key_node, f"key '{key}' is defined twice")
            if key == _MERGE:
                merged = self._merged(value_node, as_text=as_text)
            else:
                own[key] = self.build(value_node, as_text=as_text or key in self.verbatim)
        return merged | own

    def _merged(self, node: yaml.Node, *, as_text: bool) -> dict[str, Any]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for source in sources:
            if not isinstance(source, yaml.MappingNode):
                raise self._error(source, "'<<' needs a mapping or a list of mappings")
            merged = self.build(source, as_text=as_text) | merged  # the earlier one wins
        return merged

    def _scalar(self, node: yaml.Node, *, as_text: bool) -> Any:
        text = node.value
        match node.tag.removeprefix(_PREFIX):
            case "null":
                return None
            case "str":
                return text
            case _ if as_text:
                return text
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text)
            case "float":
                return float(text)
            case _:
                raise self._error(node, f"tag {node.tag} is not supported")

    def _error(self, node: yaml.Node, problem: str) -> UsageError:
        return UsageError(f"{self.file}: {problem} (line {node.start_mark.line + 1})")
