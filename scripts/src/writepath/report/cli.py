"""What do `report`, `publish` and `compare` do? Finds the folders, builds the tables, writes and prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.report import capacity_cli, exports, queries_cli
from writepath.report import publish as publishing
from writepath.report.compare import compared
from writepath.report.faults import print_matrix
from writepath.report.figures import suite_figures
from writepath.report.page import page
from writepath.report.raw import SuiteData, read_suite
from writepath.report.tables import tables
from writepath.report.terminal import console, print_tables
from writepath.result import SUITE_FILE, load_suite
from writepath.result.faults import FAULTS_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from writepath.report.figures import SuiteFigures

LATEST = "results/latest"
FOLDER = "report"  # next to suite.json
READING = "docs/reading-results.md"
OK, INVALID, UNKNOWN = 0, 1, 3


def cli_report(root: Path, path: Path | None) -> int:
    """Prints and writes the tables of a suite run of any kind or of a fault matrix. Its worst verdict."""
    if (matrix := matrix_folder(root, path)) is not None:
        return print_matrix(matrix)
    if (found := capacity_cli.newest(root, path, LATEST)) is not None:
        return capacity_cli.report(root, found, READING)
    if (found := queries_cli.newest(root, path, LATEST)) is not None:
        return queries_cli.report(root, found, READING)
    folder = suite_folder(root, path)
    figures = suite_figures(read_suite(folder))
    from writepath.report.plots import plots  # noqa: PLC0415 - matplotlib takes half a second to load, and 30 MB

    built, drawn = tables(figures), plots(figures)
    target = folder / FOLDER
    links = {"assets": ".", "reading": (root / READING).resolve().as_uri()}
    exports.save(target, built, drawn, {"report.md": page(figures, built, drawn, links)})
    to = console()
    suite = figures.suite
    wanted = sum(len(block) for block in suite.blocks)
    to.print(
        f"{suite.title}: {suite.suite} {suite.stamp}, {suite.status}, {len(figures.runs)} of {wanted} runs",
        markup=False,
    )
    print_tables(built, to)
    to.print(f"\nMarkdown, CSV, JSON and SVG: {_short(root, target)}")
    return exit_code(figures)


def cli_publish(root: Path, path: Path | None = None, *, add: bool = False) -> int:
    """Publishes a suite run; add: its blocks behind those that are published."""
    to = console()
    folder = (
        matrix_folder(root, path)
        or capacity_cli.newest(root, path, LATEST)
        or queries_cli.newest(root, path, LATEST)
        or suite_folder(root, path)
    )
    for changed in publishing.publish(root, folder, add=add):
        to.print(f"wrote {_short(root, changed)}", markup=False)
    return OK


def cli_compare(root: Path, paths: Sequence[Path], labels: Sequence[str] = ()) -> int:
    """Prints in what suite runs differ from the first one."""
    figures = [suite_figures(_any_suite(root, path)) for path in paths]
    print_tables(compared(*figures, labels=labels), console())
    return OK


def _any_suite(root: Path, path: Path) -> SuiteData:
    folder = suite_folder(root, path)
    published = folder.resolve().is_relative_to((root / publishing.PUBLISHED).resolve())
    return publishing.read_published(folder) if published else read_suite(folder)


def matrix_folder(root: Path, path: Path | None) -> Path | None:
    """The folder of a matrix of faults, or the newest one in the folder that is given; None where it is none."""
    if path is None:
        return None
    for given in (root / path, root / "results" / path):
        found = sorted(file.parent for name in (FAULTS_FILE, f"*/{FAULTS_FILE}") for file in given.glob(name))
        if found:
            return found[-1]
    return None


def suite_folder(root: Path, path: Path | None) -> Path:
    """The folder of a suite run: given, or above what is given, or the newest below it, or results/latest."""
    given = root / (LATEST if path is None else path)
    if not given.exists() and path is not None and (root / "results" / path).exists():
        given = root / "results" / path
    if not given.exists():
        what = "no results yet" if path is None else f"RUN={path}: no such folder"
        raise UsageError(f"{what}; `make bench-all` writes results to results/<suite>/<stamp>")
    for folder in (given, *given.parents):
        if (folder / SUITE_FILE).is_file():
            return folder
        if folder == root:
            break
    below = sorted((p.parent for p in given.glob(f"*/{SUITE_FILE}")), key=lambda p: load_suite(p).started_at)
    if not below:
        raise UsageError(
            f"RUN={path}: no {SUITE_FILE} in this folder, above it or one level below it;"
            " name a folder results/<suite>/<stamp>"
        )
    return below[-1]


def exit_code(figures: SuiteFigures) -> int:
    """0 when every run counts, 1 when one is invalid or failed, else 3."""
    bad = [one for one in figures.runs if not one.counts]
    if not bad:
        return OK
    return UNKNOWN if all(one.run.verdict.status == "unknown" for one in bad) else INVALID


def _short(root: Path, path: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
