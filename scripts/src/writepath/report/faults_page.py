"""What may the world see of a matrix of faults? The records, one page, and the evidence beside each promise."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from writepath.records.faults import CELL_FILE, FAULTS_FILE
from writepath.records.index import INDEX_FILE, load_index
from writepath.report import manifest
from writepath.report.fault_tables import Matrix, coverage_in_words, evidence, tables
from writepath.report.fault_words import NO_FAULT
from writepath.report.faults import order, read, refuse
from writepath.report.render import escape
from writepath.report.render import tables as exports
from writepath.report.scrub import copy_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from writepath.records.index import VariantRecord

PUBLISHED = "results/published/faults"  # one folder per runtime
MAIN = "results/published/default"  # the suite whose variants faults should cover
PAGE = "docs/results/faults.md"
TITLE = "Faults under load"
NAMES = ("timeline.json",)  # of a cell, next to its record
INTRODUCTION = (
    "Each cell runs one steady load and repeats one fault. Afterwards an audit looks up every acknowledged write"
    " twice, the second time after `kill -9` of every store. A fault counts if the record proves that it happened. The"
    " crash model is a killed process, not a power cut. `make publish` generates this page from the published records;"
    " do not edit. [What a 201 guarantees](../durability.md). [Methodology](../methodology.md)."
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
    shutil.rmtree(place, ignore_errors=True)
    staged.rename(place)


def published(root: Path) -> tuple[Path, ...]:
    """Folders of what is published, native before docker: the one with all trials before the one that confirms it."""
    found = (path.parent for path in (root / PUBLISHED).glob(f"*/{FAULTS_FILE}"))
    return tuple(
        sorted((path for path in found if path.suffix != ".part"), key=lambda path: path.name, reverse=True)
    )


def derived(root: Path, matrices: Sequence[Matrix]) -> dict[str, bytes]:
    """By path below root, the page of the published matrices; nothing where none is."""
    return {PAGE: page(matrices, _main_variants(root)).encode()} if matrices else {}


def _main_variants(root: Path) -> tuple[VariantRecord, ...]:
    """Of the published suite that compares all paths; none where it is not published."""
    folder = root / MAIN
    variants = load_index(folder).variants if (folder / INDEX_FILE).is_file() else ()
    return tuple(one for one in variants if one.naive_twin_of is None and one.control_of is None)


def page(matrices: Sequence[Matrix], main: Sequence[VariantRecord] = ()) -> str:
    """One part per runtime. main: the variants that faults should cover."""
    parts = ["# Results: faults under load", INTRODUCTION]
    for matrix in matrices:
        index = matrix.index
        plain = sum(len(one.effective) for one in matrix.cells if one.fault == NO_FAULT)
        versions = {f"{name} {version}" for one in matrix.cells for name, version in one.versions.items()}
        parts += [f"## {index.runtime} runtime", *map(escape.markdown, coverage_in_words(matrix, main))]
        parts.append(
            f"{len(matrix.cells)} cells, {plain} trials without a fault, {index.rate_per_s:g}/s, seed {index.seed},"
            f" {escape.markdown(index.started_at)}. {escape.markdown(', '.join(sorted(versions)))}."
        )
        parts += [_deeper(exports.markdown(table)) for table in tables(matrix, order(matrix.cells))]
    return "\n\n".join(parts) + "\n"


def evidence_of(matrices: Sequence[Matrix]) -> str:
    """What each guarantee is worth, for docs/durability.md."""
    parts = []
    for matrix in matrices:
        table = evidence(matrix, order(matrix.cells))
        parts += [f"{matrix.index.runtime} runtime. {escape.markdown(table.caption)}", exports.bare(table)]
    return "\n\n".join(parts)


def _deeper(section: str) -> str:
    """A table's heading, one level below the runtime's."""
    return f"#{section}".rstrip("\n")
