"""What may the world see of a matrix of faults? The records, one page, and the evidence beside each promise."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.report import escape, exports, manifest
from writepath.report.fault_tables import Matrix, evidence, tables
from writepath.report.faults import order, read, refuse
from writepath.report.scrub import copy_json
from writepath.result.faults import CELL_FILE, FAULTS_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PUBLISHED = "results/published/faults"  # one folder a runtime
PAGE = "docs/results/faults.md"
PROMISES = "docs/durability.md"
BEGIN, END = "<!-- faults:evidence:begin -->", "<!-- faults:evidence:end -->"
TITLE = "Faults under load"
NAMES = ("timeline.json",)  # of a cell, beside its record
INTRODUCTION = (
    "Each cell is one load at a steady rate, during which the fault strikes again and again; every 201 is looked up"
    " afterwards, twice, the second time after `kill -9` of every store. The crash model is a killed process, not"
    " a power cut. Made from the published records by `make publish`; do not edit."
    " [What a 201 promises](../durability.md). [How it is measured](../methodology.md)."
    f" [Records](../../{PUBLISHED})."
)


def publish(root: Path, folder: Path) -> None:
    """Copies index and cells to the runtime's folder; InvalidRunError, UsageError where it says too little."""
    matrix = read(folder)
    refuse(matrix)
    place = root / PUBLISHED / matrix.index.runtime
    staged = place.with_name(f"{place.name}.part")
    shutil.rmtree(staged, ignore_errors=True)
    names = [FAULTS_FILE]
    for entry in matrix.index.cells:
        names += [f"{entry.folder}/{name}" for name in (CELL_FILE, *NAMES)]
    for name in names:
        copy_json(folder / name, staged / name)
    manifest.write(staged)
    _with_evidence(root, "")  # missing markers are an error before anything is replaced
    shutil.rmtree(place, ignore_errors=True)
    staged.rename(place)


def published(root: Path) -> tuple[Path, ...]:
    """Folders of what is published, native before docker: the one with all trials before the one that confirms it."""
    found = (path.parent for path in (root / PUBLISHED).glob(f"*/{FAULTS_FILE}"))
    return tuple(
        sorted((path for path in found if path.suffix != ".part"), key=lambda path: path.name, reverse=True)
    )


def derived(root: Path) -> dict[str, bytes]:
    """By path below root, what is made from the published matrices; nothing where none is."""
    matrices = [read(folder) for folder in published(root)]
    if not matrices:
        return {}
    return {PAGE: page(matrices).encode(), PROMISES: _with_evidence(root, _evidence(matrices)).encode()}


def page(matrices: Sequence[Matrix]) -> str:
    """One part a runtime."""
    parts = ["# Results: faults under load", INTRODUCTION]
    for matrix in matrices:
        index = matrix.index
        controls = sum(len(one.effective) for one in matrix.cells if one.fault == "none")
        faults = sum(len(one.effective) for one in matrix.cells) - controls
        versions = {f"{name} {version}" for one in matrix.cells for name, version in one.versions.items()}
        parts.append(
            f"## {index.runtime} runtime\n\n{len(matrix.cells)} cells, {faults} effective faults,"
            f" {controls} trials without one as control, {index.rate_per_s:g} requests a second, seed {index.seed},"
            f" {escape.markdown(index.started_at)}. {escape.markdown(', '.join(sorted(versions)))}."
        )
        parts += [_deeper(exports.markdown(table)) for table in tables(matrix, order(matrix.cells))]
    return "\n\n".join(parts) + "\n"


def _evidence(matrices: Sequence[Matrix]) -> str:
    parts = []
    for matrix in matrices:
        table = evidence(matrix, order(matrix.cells))
        parts += [f"{matrix.index.runtime} runtime. {escape.markdown(table.caption)}", exports.bare(table)]
    return "\n\n".join(parts)


def _with_evidence(root: Path, block: str) -> str:
    text = (root / PROMISES).read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UsageError(
            f"{PROMISES}: the markers {BEGIN} and {END} are missing; put them where the evidence goes"
        )
    return f"{before}{begin}\n{block}\n{end}{after}"


def _deeper(section: str) -> str:
    """A table's heading, one level below the runtime's."""
    return f"#{section}".rstrip("\n")
