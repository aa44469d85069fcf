"""Is the tree as STYLE.md and words.toml say? The rules that no other tool checks."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from writepath.config import registry
from writepath.runtime.choose import choose

ROOT = Path(__file__).resolve().parents[3]
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 50
CODE = (".py", ".java", ".js", ".sh")
# Spelled in pieces, so that this file does not hold what it forbids.
BUILT = "site/dist/"  # of packages, too; `make lint` builds it and compares
FORBIDDEN = re.compile(
    "|".join(
        [
            "pypi" + r"\.org",
            "repo1?" + r"\.maven\.",
            "registry" + r"\.npmjs",
            "proxy" + r"\.golang",
            "deb" + r"\.debian",
            "distribution" + "Url",
            r'"resolved": *"http',
            "--(extra-)?" + "index" + "-url",
            "(^|[^a-z])/(work|root|home)" + "/[a-z]",
        ]
    )
)
REMINDER = re.compile(
    rf"\b({'|'.join(['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'])})\b"
)  # whole words: a hash may hold one


def tracked(*suffixes: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    paths = [ROOT / name for name in listing.split("\0") if name and not name.startswith(BUILT)]
    return [path for path in paths if path.is_file() and (not suffixes or path.suffix in suffixes)]


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_code_files_are_at_most_500_lines() -> None:
    lines = {place(path): len(text_of(path).splitlines()) for path in tracked(*CODE)}
    assert {name: number for name, number in lines.items() if number > MAX_FILE_LINES} == {}


def test_python_functions_fit_a_screen() -> None:
    long = []
    for path in tracked(".py"):
        for node in ast.walk(ast.parse(text_of(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    long.append(f"{place(path)}:{node.lineno} {node.name} {lines}")
    assert not long


METHOD = re.compile(r"^    (?! )[^;=*/@]*\) (?:throws [\w, ]+ )?\{$")


def test_java_methods_fit_a_screen() -> None:
    long = []
    for path in tracked(".java"):
        lines = text_of(path).splitlines()
        for start, line in enumerate(lines):
            if METHOD.match(line):
                end = next((i for i in range(start, len(lines)) if lines[i] == "    }"), start)
                if end - start + 1 > MAX_FUNCTION_LINES:
                    long.append(f"{place(path)}:{start + 1} {end - start + 1}")
    assert not long


def test_python_modules_open_with_a_docstring() -> None:
    sources = [p for p in tracked(".py") if "scripts/src" in str(p)]
    assert sources
    assert not [place(p) for p in sources if not ast.get_docstring(ast.parse(text_of(p)))]


@pytest.mark.parametrize(
    ("name", "pattern"), [("registry hosts and machine paths", FORBIDDEN), ("reminders", REMINDER)]
)
def test_no_file_holds(name: str, pattern: re.Pattern[str]) -> None:
    binary = {".gz", ".xz", ".png", ".svg", ".npz", ".parquet"}
    found = [
        f"{place(path)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        if path.suffix not in binary and path.name != "LICENSE"
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, name


def test_every_document_has_one_title() -> None:
    fenced = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    titles = {
        place(p): len(re.findall(r"^# ", fenced.sub("", text_of(p)), re.MULTILINE)) for p in tracked(".md")
    }
    assert titles
    assert {name: n for name, n in titles.items() if n != 1} == {}


def test_every_document_is_linked_and_every_link_leads_somewhere() -> None:
    documents = tracked(".md")
    targets: set[Path] = set()
    broken = []
    for document in documents:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text_of(document)):
            if "://" in link:
                continue
            target = (document.parent / link).resolve()
            targets.add(target)
            if not target.exists():
                broken.append(f"{place(document)}: {link}")
    assert not broken
    roots = {ROOT / "README.md"}
    assert not [place(d) for d in documents if d not in targets | roots]


@pytest.mark.parametrize("runtime", ["native", "docker"])
def test_a_test_without_a_mark_starts_no_stack(runtime: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writepath.runtime.choose.why_not_docker", lambda *_: "")
    variant = registry.load(ROOT).variant("jpa")
    with (
        pytest.raises(pytest.fail.Exception, match="native, docker, contract"),
        choose(ROOT, runtime, print).start(variant, overrides={}, say=print),
    ):
        pass


WORDS = ROOT / "scripts" / "words.toml"
WHOLE = (".md", ".j2", ".yaml", ".yml", ".html")  # read as they are
QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'")
NAMES = re.compile(r"`[^`]*`")  # names of the code in a document
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
            yield number, NAMES.sub("", line) if path.suffix == ".md" else line
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
