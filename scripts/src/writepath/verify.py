"""Recomputes every published number from its evidence for `make verify`: any difference fails.

Each problem is in words, with file, figure and both values.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from writepath.errors import UsageError, WritepathError
from writepath.experiments import publish, read
from writepath.records.cell import CELL_FILE
from writepath.report.data import SuiteData

OK, DIFFERS = 0, 1


def run(root: Path, path: Path | None, say: Callable[[str], None]) -> int:
    """What is published and, where a path is given, a raw suite run: 0 where all agrees, else 1."""
    problems = [problem for check in (pages, cells) for problem in _said(partial(check, root))]
    if path is not None:
        problems += raw(root, path)
    for problem in problems:
        say(problem)
    if problems:
        say(f"{len(problems)} differences; change published figures only with `make publish`")
        return DIFFERS
    names = ", ".join(folder.name for folder in publish.published_suites(root))
    also = "" if path is None else f"; {path}"
    say(f"all published figures match their raw data: {names}, and their pages{also}")
    return OK


def pages(root: Path) -> list[str]:
    """Digests of what is published, and every page, table and plot, byte by byte."""
    return publish.differences(root)


def cells(root: Path) -> list[str]:
    """Every figure of every published cell, and what the index says of it."""
    return [
        problem
        for folder in publish.published_suites(root)
        for problem in _problems(read.published(folder), str(folder.relative_to(root)))
    ]


def raw(root: Path, path: Path) -> list[str]:
    """Of a raw folder of results/: every digit of its cells' figures."""
    suite = read.suite_folder(root, path)
    if suite is None:
        raise UsageError(f"RUN={path}: not the folder of a suite run; use RUN=results/<suite>/<stamp>")
    name = str(suite.relative_to(root)) if suite.is_relative_to(root) else str(suite)
    return _said(lambda: list(_problems(read.raw(suite), name)))


def _problems(data: SuiteData[Any], name: str) -> Iterator[str]:
    for cell in data.all_cells:
        yield from (f"{name}/{cell.entry.folder}/{CELL_FILE}: {problem}" for problem in cell.problems)


def _said(check: Callable[[], list[str]]) -> list[str]:
    """Data that cannot be read any more, or contradicts itself, is a difference too."""
    try:
        return check()
    except (WritepathError, ValueError, LookupError) as error:
        return [f"cannot be recomputed ({error})"]
