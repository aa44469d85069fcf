"""What is shown of a matrix of faults that was run? Tables in the terminal and beside the raw data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.errors import InvalidRunError, UsageError
from writepath.records.faults import exit_code, load_cell, load_faults
from writepath.report.fault_tables import Matrix, coverage_in_words, tables
from writepath.report.render import console, escape
from writepath.report.render import tables as exports
from writepath.report.render.terminal import print_tables

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from writepath.records.faults import Cell


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
    """Coverage and tables, also written to report.md next to faults.json. The worst exit code of the cells."""
    matrix = read(folder)
    built = tables(matrix, order(matrix.cells))
    words = coverage_in_words(matrix)
    to = console()
    for sentence in words:
        to.print(escape.terminal(sentence), markup=False)
    print_tables(built, to)
    parts = [*map(escape.markdown, words), *map(exports.markdown, built)]
    (folder / "report.md").write_text("\n\n".join(parts), encoding="utf-8")
    to.print(f"\nMarkdown: {folder / 'report.md'}", markup=False)
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
        raise InvalidRunError(f"not published: {' | '.join(unknown)}; rerun these cells with RESUME=1")
