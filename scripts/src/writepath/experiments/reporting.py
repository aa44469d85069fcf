"""Carries out `report`, `publish`, `compare`, `audit` and `verify` for suite runs of every kind."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from writepath.analysis.audit import EXIT_CODES
from writepath.errors import UsageError, WritepathError, worst
from writepath.experiments import publish as publishing
from writepath.experiments import read
from writepath.experiments.read import suite_folder
from writepath.experiments.registry import kind_of
from writepath.records.cell import CELL_FILE
from writepath.report import render
from writepath.report.comparison import compared
from writepath.report.data import SuiteData
from writepath.report.staging import PUBLISHED
from writepath.report.terminal import console, print_report, print_tables

FOLDER = "report"  # next to the index
READING = "docs/reading-results.md"
OK, INVALID, UNKNOWN = 0, 1, 3


def report(root: Path, path: Path | None) -> int:
    """Prints and writes the tables of a suite run of any kind. Its worst verdict."""
    folder = suite_folder(root, path)
    data = read.raw(folder)
    built = kind_of(data.index.kind).report(data)
    target = folder / FOLDER
    links = {"assets": ".", "reading": (root / READING).resolve().as_uri()}
    render.save(target, built, links)
    to = console()
    index = data.index
    wanted = sum(len(block) for block in index.order)
    to.print(
        f"{index.title}: {index.suite} {index.stamp}, {index.status}, {len(data.all_cells)} of {wanted} cells",
        markup=False,
    )
    print_report(built, to)
    to.print(f"\nHTML, Markdown, CSV and SVG: {_short(root, target)}", markup=False)
    return exit_code(data)


def publish(root: Path, path: Path | None = None, *, add: bool = False) -> int:
    """Publishes a suite run; add: its blocks behind those that are published."""
    to = console()
    for changed in publishing.publish(root, suite_folder(root, path), add=add):
        to.print(f"wrote {_short(root, changed)}", markup=False)
    return OK


def compare(root: Path, paths: Sequence[Path], labels: Sequence[str] = ()) -> int:
    """Prints in what suite runs of one kind differ from the first one."""
    kept = (root / PUBLISHED).resolve()
    folders = [suite_folder(root, path) for path in paths]
    suites = [read.published(one) if one.is_relative_to(kept) else read.raw(one) for one in folders]
    kinds = dict.fromkeys(data.index.kind for data in suites)
    if len(kinds) > 1:
        raise UsageError(
            f"RUNS: suite runs of different kinds ({', '.join(kinds)}) have no figures in common;"
            " compare runs of one kind"
        )
    splits = dict.fromkeys(data.index.processors for data in suites)
    if len(splits) > 1:
        raise UsageError(
            f"RUNS: suite runs with different PROCESSORS ({', '.join(splits)}) are not compared: each system had"
            " another part of the machine; rerun one with the PROCESSORS of the other"
        )
    kind = kind_of(suites[0].index.kind)
    print_tables(compared(suites, kind.report, labels), console())
    return OK


def audit(root: Path, path: Path | None, say: Callable[[str], None]) -> int:
    """Recomputes the audit of every cell from raw files: 0 all PASS, 1 any FAIL, else 3."""
    folder = suite_folder(root, path)
    data = read.raw(folder)
    kind, verdicts = kind_of(data.index.kind), []
    for cell in data.cells:
        say(f"{cell.entry.name}, block {cell.entry.block}")
        found = None if cell.result is None else kind.audit(cell.result)
        missing = "the cell did not get that far" if cell.result is None else "it has no audited writes"
        verdict, lines = found or ("UNKNOWN", (f"no audit: {missing}",))
        for line in (*lines, *cell.problems):
            say(f"  {line}")
        verdicts.append("UNKNOWN" if cell.problems else verdict)
    if not verdicts:
        raise UsageError(f"RUN={folder}: no cell in it has ended yet")
    return worst(EXIT_CODES[verdict] for verdict in verdicts)


def verify(root: Path, path: Path | None, say: Callable[[str], None]) -> int:
    """Recomputes what is published and, where a path is given, a raw suite run: 0 where all agrees, else 1.

    Each problem is said with file, figure and both values.
    """
    checks: list[Callable[[], list[str]]]
    checks = [lambda: publishing.differences(root), lambda: wrong_published(root)]
    if path is not None:
        folder = suite_folder(root, path)
        checks.append(lambda: _problems(read.raw(folder), root, folder))
    problems = list[str]()
    for check in checks:
        try:
            problems += check()
        except (WritepathError, ValueError, LookupError) as error:  # as good as a difference
            problems.append(f"cannot be recomputed ({error})")
    for problem in problems:
        say(problem)
    if problems:
        say(f"{len(problems)} differences; change published figures only with `make publish`")
        return INVALID
    names = ", ".join(folder.name for folder in publishing.published_suites(root))
    also = "" if path is None else f"; {path}"
    say(f"all published figures match their raw data: {names}, and their pages{also}")
    return OK


def wrong_published(root: Path) -> list[str]:
    """Every figure of a published cell that differs, and what the index says otherwise of it."""
    folders = publishing.published_suites(root)
    return [problem for folder in folders for problem in _problems(read.published(folder), root, folder)]


def _problems(data: SuiteData[Any], root: Path, folder: Path) -> list[str]:
    return [
        f"{_short(root, folder)}/{cell.entry.folder}/{CELL_FILE}: {problem}"
        for cell in data.all_cells
        for problem in cell.problems
    ]


def exit_code(data: SuiteData[Any]) -> int:
    """0 when every cell counts and found no failure, 1 when one is invalid or failed, else 3."""
    bad = [cell for cell in data.all_cells if not cell.counts]
    if bad:
        unknown = all(cell.record.verdict.status == "unknown" and not cell.problems for cell in bad)
        return UNKNOWN if unknown else INVALID
    return worst(cell.record.verdict.exit_code for cell in data.all_cells)


def _short(root: Path, path: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
