"""Reads YAML 1.2 files: `on` and `no` are words, `010` is ten, `1e3` is a number, and no key is defined twice."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from writepath.errors import UsageError


def load(path: Path) -> Any:
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
