"""What is shown of a matrix of faults? Tables in the terminal, beside the raw data, and as a published page."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from writepath.errors import InvalidRunError, UsageError
from writepath.report import escape, exports
from writepath.report.fault_tables import Matrix, tables
from writepath.report.terminal import console, print_tables
from writepath.result.faults import CELL_FILE, FAULTS_FILE, load_cell, load_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from writepath.result.faults import Cell

PAGE = "faults.md"
PUBLISHED = "faults"  # below results/published, by runtime
NAMES = ("timeline.json",)
INTRODUCTION = (
    "Each cell is one load at a steady rate, during which the fault strikes again and again; every 201 is looked up"
    " afterwards, twice, the second time after `kill -9` of every store. The crash model is a killed process, not"
    " a power cut. Made from the published data by `make publish`; do not edit."
    " [What a 201 promises](../durability.md). [How it is measured](../methodology.md). [Raw data]({})."
)


def read(folder: Path) -> Matrix:
    """A raw or published matrix; UsageError where it is none."""
    index = load_faults(folder)
    wanted = {entry.folder for entry in index.cells}
    cells = [load_cell(folder / name) for name in index.wanted if name in wanted]
    return Matrix(index=index, cells=tuple(cells))


def order(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Of the faults, as they were asked for."""
    return tuple(dict.fromkeys(one.fault for one in cells))


def print_matrix(folder: Path) -> None:
    """The tables; also written beside faults.json as report.md."""
    matrix = read(folder)
    built = tables(matrix, order(matrix.cells))
    to = console()
    print_tables(built, to)
    (folder / "report.md").write_text("\n\n".join(map(exports.markdown, built)), encoding="utf-8")
    to.print(f"\nAlso as Markdown in {folder / 'report.md'}", markup=False)


def refuse(matrix: Matrix) -> None:
    """A matrix is published with whatever it found; not unfinished, and not with cells that say nothing."""
    index = matrix.index
    missing = set(index.wanted) - {entry.folder for entry in index.cells}
    unknown = [
        f"{one.variant}/{one.fault}: {'; '.join(one.reasons)}"
        for one in matrix.cells
        if one.status == "unknown"
    ]
    if index.status != "finished" or missing:
        raise UsageError(
            f"the matrix {index.stamp} is {index.status}, {len(missing)} cells are missing; finish it with RESUME=1"
        )
    if unknown:
        raise InvalidRunError(f"not published: {' | '.join(unknown)}; run these cells again with RESUME=1")


def publish(folder: Path, target: Path, scrub: Callable[[object], object]) -> None:
    """Copies index and cells to target/<runtime>. scrub takes paths and secrets out of parsed JSON."""
    matrix = read(folder)
    refuse(matrix)
    place = target / matrix.index.runtime
    staged = place.with_name(f"{place.name}.part")
    shutil.rmtree(staged, ignore_errors=True)
    names = [FAULTS_FILE, *(f"{entry.folder}/{CELL_FILE}" for entry in matrix.index.cells)]
    names += [f"{entry.folder}/{name}" for entry in matrix.index.cells for name in NAMES]
    for name in names:
        data = scrub(json.loads((folder / name).read_text(encoding="utf-8")))
        (staged / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(place, ignore_errors=True)
    staged.rename(place)


def page(folders: Iterable[Path], raw: str) -> str:
    """docs/results/faults.md: one part a runtime. raw: link to the published data."""
    parts = [
        "# Results: faults under load",
        INTRODUCTION.format(raw),
    ]
    for folder in folders:
        matrix = read(folder)
        index, faults = matrix.index, sum(len(one.effective) for one in matrix.cells)
        versions = {f"{k} {v}" for one in matrix.cells for k, v in one.versions.items()}
        parts.append(
            f"## {index.runtime} runtime\n\n{len(matrix.cells)} cells, {faults} effective faults,"
            f" {index.rate_per_s:g} requests a second, seed {index.seed}, {escape.markdown(index.started_at)}."
            f" {escape.markdown(', '.join(sorted(versions)))}."
        )
        parts += [_deeper(exports.markdown(table)) for table in tables(matrix, order(matrix.cells))]
    return "\n\n".join(parts) + "\n"


def _deeper(section: str) -> str:
    """A table's heading, one level below the runtime's."""
    return f"#{section}".rstrip("\n")
