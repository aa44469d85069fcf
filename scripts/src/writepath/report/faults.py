"""What is shown of a matrix of faults that was run? Tables in the terminal and beside the raw data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.errors import InvalidRunError, UsageError
from writepath.report import exports
from writepath.report.fault_tables import Matrix, tables
from writepath.report.terminal import console, print_tables
from writepath.result.faults import exit_code, load_cell, load_faults

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from writepath.result.faults import Cell


def read(folder: Path) -> Matrix:
    """A raw or published matrix; UsageError where it is none."""
    index = load_faults(folder)
    wanted = {entry.folder for entry in index.cells}
    cells = [load_cell(folder / name) for name in index.wanted if name in wanted]
    return Matrix(index=index, cells=tuple(cells))


def order(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Of the faults, as they were asked for."""
    return tuple(dict.fromkeys(one.fault for one in cells))


def print_matrix(folder: Path) -> int:
    """The tables; also written beside faults.json as report.md. The worst exit code of the cells."""
    matrix = read(folder)
    built = tables(matrix, order(matrix.cells))
    to = console()
    print_tables(built, to)
    (folder / "report.md").write_text("\n\n".join(map(exports.markdown, built)), encoding="utf-8")
    to.print(f"\nAlso as Markdown in {folder / 'report.md'}", markup=False)
    return exit_code(matrix.index.cells)


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
