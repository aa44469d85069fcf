"""The texts that are written: the built-in reviews, or a file of lines."""

import csv
import gzip
import hashlib
import json
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import IO, Any, TypeVar

import numpy as np

from writepath.errors import UsageError

T = TypeVar("T")

# Share of reviews and length in characters; straight lines in between.
SHARES, LENGTHS = np.array((
    (0.0, 1), (0.01, 3), (0.05, 7), (0.1, 11), (0.2, 14), (0.3, 18), (0.4, 23), (0.5, 27), (0.6, 32), (0.7, 39),
    (0.8, 46), (0.85, 56), (0.9, 73), (0.95, 105), (0.975, 129), (0.99, 138), (1.0, 140),
)).T  # fmt: skip
MEAN_LENGTH = float(np.trapezoid(LENGTHS, SHARES))
KEYWORD_SHARES = {"영화": 0.304, "재미": 0.070, "스토리": 0.033, "감동": 0.034}

_PARTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("reviews.toml").read_text(encoding="utf-8"))
_PARTICLES = (("이", "가"), ("은", "는"), ("도", "도"))  # after a final consonant, after a vowel
_ENDINGS = ("", "", "", "", ".", ".", "..", "...", "!", "!!", "~", ",")
_JAMO = "ㅋㅋㅋㅎㅠㅜ"
_JAMO_SHARE = 0.10
_RUNS = ".!~"
_MARKS = _JAMO + _RUNS + ","
_TRIES = 4


def reviews(seed: int) -> Iterator[str]:
    """Without end; the same seed gives the same reviews."""
    random = Random(seed)  # noqa: S311 - repeatable on purpose
    while True:
        yield _review(random)


def _review(random: Random) -> str:
    length = round(float(np.interp(random.random(), SHARES, LENGTHS)))
    parts: list[str] = []
    left = length
    for keyword, share in KEYWORD_SHARES.items():
        # A long review has room for more words: the share grows with the length, and keeps its mean.
        if random.random() < share * (0.45 + 0.55 * length / MEAN_LENGTH):
            fitting = [clause for clause in _PARTS["with_keyword"][keyword] if len(clause) <= left]
            if fitting:
                parts.append(_one_of(random, fitting))
                left -= len(parts[-1]) + 1
    while left > 0:
        part = _part(random, left)
        if part is None:
            break
        parts.insert(int(random.random() * (len(parts) + 1)), part)
        left -= len(part) + 1
    text = " ".join(parts)
    return text + _run(random, text[-1:], length - len(text))


def _part(random: Random, left: int) -> str | None:
    """A clause of at most `left` characters, or None where a run of marks closes the line better."""
    for _ in range(_TRIES):
        clause = _sentence(random) if random.random() < 0.6 else _one_of(random, _PARTS["clauses"])  # noqa: PLR2004
        if random.random() < _JAMO_SHARE / 2:
            clause += _one_of(random, _JAMO) * (2 + int(random.random() * 3))
        else:
            clause += _one_of(random, _ENDINGS)
        if len(clause) <= left:
            return clause
    fitting = [word for word in _PARTS["short"] if len(word) <= left]
    return _one_of(random, fitting) if fitting and left > 2 else None  # noqa: PLR2004


def _sentence(random: Random) -> str:
    subject = _one_of(random, _PARTS["subjects"])
    closed = (ord(subject[-1]) - ord("가")) % 28 != 0  # Hangul syllables: 28 endings, the first of them none
    after_consonant, after_vowel = _one_of(random, _PARTICLES)
    words = [subject + (after_consonant if closed else after_vowel)]
    if random.random() < 0.5:  # noqa: PLR2004
        words.append(_one_of(random, _PARTS["adverbs"]))
    return " ".join([*words, _one_of(random, _PARTS["predicates"])])


def _run(random: Random, before: str, length: int) -> str:
    """Exactly so many marks (`ㅋㅋ`, `...`, `!`), more of the one before it where there is one."""
    if length <= 0:
        return ""
    if before and before in _MARKS:
        return before * length
    mark = _one_of(random, _JAMO) if random.random() < _JAMO_SHARE else _one_of(random, _RUNS)
    return mark * length


def _one_of(random: Random, choices: Sequence[T]) -> T:
    return choices[int(random.random() * len(choices))]


DEFAULT_LINES = 1000  # as many as the original experiment cycled through
MAX_CHARACTERS = 1000  # what POST /api/posts accepts, in UTF-16 units as Java counts
CONTENT_COLUMNS = ("document", "content", "review", "text")
EMBEDDED = "embedded"
_DIALECTS: dict[str, dict[str, Any]] = {  # CSV as RFC 4180 has it; corpora as TSV do not escape quotes
    ".csv": {"strict": True},
    ".tsv": {"delimiter": "\t", "quoting": csv.QUOTE_NONE},
}
_REMEDY = "use a .csv or .tsv file of one-line texts (plain or .gz), or omit DATASET"


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Lines in their order; request n carries line n modulo their number."""

    name: str  # "embedded" or the file's name, never a path
    sha256: str  # of the lines, each ended by a line feed
    lines: tuple[str, ...]

    def content(self, sequence: int) -> str:
        """What request `sequence` writes."""
        return self.lines[sequence % len(self.lines)]

    def only(self, numbers: Iterable[int]) -> "Dataset":
        """Of these lines alone."""
        return _dataset(self.name, (self.lines[number] for number in numbers))

    def write(self, path: Path) -> None:
        """Writes the file that k6 reads: a JSON array of strings."""
        path.write_text(json.dumps(self.lines, ensure_ascii=False), encoding="utf-8")


def choose(dataset: str | None, lines: int | None, seed: int) -> Dataset:
    """DATASET= where given, else the embedded generator; lines is DATASET_LINES= (1,000 where None)."""
    count = DEFAULT_LINES if lines is None else lines
    if count < 1:
        raise UsageError(f"DATASET_LINES={count}: must be at least 1")
    return load(Path(dataset), count) if dataset else generate(seed, count)


def generate(seed: int, count: int = DEFAULT_LINES) -> Dataset:
    """The embedded generator: the same seed and count give the same lines on every machine."""
    return _dataset(EMBEDDED, islice(reviews(seed), count))


def load(path: Path, count: int = DEFAULT_LINES) -> Dataset:
    """The first `count` usable lines of a .csv or .tsv file, plain or .gz; the rest of the file is not read.

    The first line is a header where one of its columns is named document, content, review or text; a file of one
    column needs none. UsageError names DATASET, value and remedy where there is nothing to take.
    """
    packed = path.suffix.lower() == ".gz"
    kind = (path.with_suffix("") if packed else path).suffix.lower()
    if kind not in _DIALECTS:
        raise UsageError(f"DATASET={path}: '{path.suffix}' is not a known file type; {_REMEDY}")
    unpack = gzip.open if packed else open
    problems: list[str] = []
    try:
        # What is not UTF-8 comes as surrogates, so that one bad line costs one line.
        with unpack(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="\n") as text:
            lines = tuple(islice(_usable(_rows(text, kind, problems), problems, path), count))
    except OSError as error:  # a broken .gz too
        raise UsageError(f"DATASET={path}: cannot be read ({error.strerror or error}); {_REMEDY}") from error
    except (EOFError, zlib.error) as error:
        raise UsageError(
            f"DATASET={path}: the archive is damaged ({error}); create it anew, or use fewer lines (DATASET_LINES)"
        ) from error
    if not lines:
        why = f"; {problems[0]}" if problems else ""
        raise UsageError(f"DATASET={path}: no usable line ({len(problems)} invalid{why}); {_REMEDY}")
    return _dataset(path.name, lines)


def _dataset(name: str, lines: Iterable[str]) -> Dataset:
    lines = tuple(lines)
    digest = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
    return Dataset(name=name, sha256=digest, lines=lines)


def _rows(text: IO[str], kind: str, problems: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and columns."""
    reader = csv.reader(text, **_DIALECTS[kind])
    while True:
        number = reader.line_num + 1
        try:
            yield number, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append(f"line {number}: {error}")


def _usable(rows: Iterator[tuple[int, list[str]]], problems: list[str], path: Path) -> Iterator[str]:
    """Contents; what is wrong with the other lines is added to the problems."""
    column, columns = 0, 0
    for number, row in rows:
        if columns == 0 and any(cell.strip() for cell in row):
            columns = len(row)
            names = [cell.strip().lower() for cell in row]
            named = [names.index(name) for name in CONTENT_COLUMNS if name in names]
            if named:
                column = named[0]
                continue
            if columns > 1:
                raise UsageError(
                    f"DATASET={path}: {columns} columns, but the first line names none of them "
                    f"{' or '.join(CONTENT_COLUMNS)}; add a header line, or remove the other columns"
                )
        problem = _problem(row, column, columns)
        if problem is None:
            yield row[column]
        else:
            problems.append(f"line {number}: {problem}")


def _problem(row: list[str], column: int, columns: int) -> str | None:
    if not any(cell.strip() for cell in row):
        return "blank"
    if len(row) != columns:
        return f"{len(row)} columns instead of {columns}"
    text = row[column]
    try:
        units = len(text.encode("utf-16-le")) // 2
    except UnicodeEncodeError:
        return "not UTF-8"
    if not text.strip():
        return "blank"
    if units > MAX_CHARACTERS:
        return f"{units} characters, more than {MAX_CHARACTERS}"
    return "a NUL character" if "\0" in text else None
