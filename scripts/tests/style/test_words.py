"""Finds phrases of scripts/words.toml in what people read: documents, templates, registries, messages."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING

import pytest

from style.test_tidy import ROOT, text_of, tracked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = ROOT / "scripts" / "words.toml"
WHOLE = (".md", ".j2", ".yaml", ".yml", ".html")  # read as they are
QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'")
CODE = re.compile(r"`[^`]*`")  # names of the code in a document
SHOWN = ("title", "unit")  # keywords whose value people read, however short
RECORDS = "results/published/"  # what a run wrote; its sentences reach the pages, which are read


@cache
def phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    given = tomllib.loads(WORDS.read_text(encoding="utf-8"))["phrase"]
    return tuple((re.compile(one["pattern"], re.IGNORECASE), one["write"]) for one in given)


def odd(text: str) -> Iterator[str]:
    """What to write in the place of each phrase found."""
    for pattern, write in phrases():
        for match in pattern.finditer(text):
            yield f"'{match.group()}': write {write}"


def read_by_people(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and text of whatever a file shows to a person."""
    name = path.relative_to(ROOT).as_posix()
    if name.startswith(RECORDS) and path.suffix != ".md":
        return
    if path.suffix in WHOLE or path.name == "Makefile":
        for number, line in enumerate(text_of(path).splitlines(), 1):
            yield number, CODE.sub("", line) if path.suffix == ".md" else line
    elif path.suffix == ".py" and name.startswith("scripts/src/"):
        yield from strings(ast.parse(text_of(path)))
    elif path.suffix in (".java", ".js", ".go") and "/test/" not in name and "tests/" not in name:
        for number, line in enumerate(text_of(path).splitlines(), 1):
            yield from ((number, quoted) for quoted in QUOTED.findall(line) if " " in quoted)


def strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Literals with a space in them or shown as they are, without docstrings; of an f-string its fixed parts."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values),
            )
        elif isinstance(node, ast.keyword) and node.arg in SHOWN and isinstance(node.value, ast.Constant):
            yield node.value.lineno, str(node.value.value)
        elif isinstance(node, ast.Constant) and id(node) not in docstrings | parts and " " in str(node.value):
            yield node.lineno, str(node.value)


def found_in(path: Path) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {words}"
        for number, text in read_by_people(path)
        for words in odd(text)
    ]


def test_what_people_read_is_in_plain_words() -> None:
    assert not [line for path in tracked() for line in found_in(path)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("the hold was made again", "the load step was retried"),
        ("JPA, as tutorials have it", "JPA, Spring Boot defaults"),
        ("2,000 requests a second", "2,000/s"),
        ("the planned moment", "the scheduled send time"),
        ("What a 201 promises", "What a 201 guarantees"),
    ],
)
def test_an_old_phrase_is_found_and_its_plain_form_is_not(old: str, new: str) -> None:
    assert list(odd(old))
    assert not list(odd(new))


def test_a_planted_phrase_is_found_in_a_message_and_not_in_a_name() -> None:
    tree = ast.parse(
        '"""Made again."""\nkey = "beside_ms"\nsay(f"{n} runs made again")\nc = Column(key="hold", title="held")'
    )
    assert [number for number, text in strings(tree) if list(odd(text))] == [3, 4]
