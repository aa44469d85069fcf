"""What do the writes contain? Seeded Korean one-line reviews, or the lines of the user's own file (DATASET=)."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from writepath.errors import UsageError
from writepath.load.reviews import reviews

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DEFAULT_LINES = 1000  # as many as the original experiment cycled through
MAX_CHARACTERS = 1000  # what POST /api/posts accepts, in UTF-16 units as Java counts
REPORTED_LINES = 10
CONTENT_COLUMNS = ("document", "content", "review", "text")
EMBEDDED = "embedded"
_REMEDY = "use a .csv or .tsv file of one-line texts (plain or .gz), or omit DATASET"


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Lines in their order; request n carries line n modulo their number."""

    name: str  # "embedded" or the file's name, never a path
    sha256: str  # of the lines, each ended by a line feed
    lines: tuple[str, ...]
    skipped: int = 0  # lines that could not be used, up to the last one that was taken
    skipped_reasons: tuple[str, ...] = ()  # the first 10: "line 7: 2 columns instead of 3"

    def content(self, sequence: int) -> str:
        """What request `sequence` writes."""
        return self.lines[sequence % len(self.lines)]

    def hashes(self) -> tuple[str, ...]:
        """By line, the first 16 hex digits of SHA-256 over its UTF-8 bytes, as /inspector/posts gives them."""
        return tuple(hashlib.sha256(line.encode()).hexdigest()[:16] for line in self.lines)

    def only(self, numbers: Iterable[int]) -> Dataset:
        """Of these lines alone."""
        return _dataset(self.name, tuple(self.lines[number] for number in numbers))

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
    skipped = _Skipped()
    with _opened(path) as text:
        rows = _rows_of_csv(text, skipped) if _kind(path) == ".csv" else _rows_of_tsv(text)
        lines = tuple(islice(_usable(rows, skipped, path), count))
    if not lines:
        why = f"; {skipped.reasons[0]}" if skipped.reasons else ""
        raise UsageError(f"DATASET={path}: no usable line ({skipped.total} invalid{why}); {_REMEDY}")
    return _dataset(path.name, lines, skipped.total, tuple(skipped.reasons))


def _dataset(
    name: str, lines: Iterator[str] | tuple[str, ...], skipped: int = 0, reasons: tuple[str, ...] = ()
) -> Dataset:
    lines = tuple(lines)
    digest = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
    return Dataset(name=name, sha256=digest, lines=lines, skipped=skipped, skipped_reasons=reasons)


class _Skipped:
    """Lines left out: all counted, the first ones named."""

    def __init__(self) -> None:
        self.total = 0
        self.reasons: list[str] = []

    def add(self, number: int, reason: str) -> None:
        self.total += 1
        if len(self.reasons) < REPORTED_LINES:
            self.reasons.append(f"line {number}: {reason}")


def _kind(path: Path) -> str:
    """`.csv` or `.tsv`, or whatever else the name ends in, without regard to .gz."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower()


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    """The file's text; what is not UTF-8 comes as surrogates, so that one bad line costs one line."""
    if _kind(path) not in (".csv", ".tsv"):
        raise UsageError(f"DATASET={path}: '{path.suffix}' is not a known file type; {_REMEDY}")
    unpack = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with unpack(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="\n") as text:
            yield text
    except OSError as error:  # a broken .gz too
        raise UsageError(f"DATASET={path}: cannot be read ({error.strerror or error}); {_REMEDY}") from error
    except (EOFError, zlib.error) as error:
        raise UsageError(
            f"DATASET={path}: the archive is damaged ({error}); create it anew, or use fewer lines (DATASET_LINES)"
        ) from error


def _rows_of_tsv(text: IO[str]) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and columns. A quote is a character like any other: corpora as TSV do not escape."""
    for number, line in enumerate(text, 1):
        yield number, line.rstrip("\r\n").split("\t")


def _rows_of_csv(text: IO[str], skipped: _Skipped) -> Iterator[tuple[int, list[str]]]:
    """As RFC 4180 has it: quoted columns may hold commas, doubled quotes and line feeds."""
    reader = csv.reader(text, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            yield number, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            skipped.add(number, str(error))


def _usable(rows: Iterator[tuple[int, list[str]]], skipped: _Skipped, path: Path) -> Iterator[str]:
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
            skipped.add(number, problem)


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
