"""Adds blocks of a later suite run behind those that are published, if the design is the same.

Ratios are taken within a block, so what all of it shares (the day) does not affect them.
"""

from __future__ import annotations

import dataclasses
import shutil
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from writepath.errors import UsageError
from writepath.load.dataset import EMBEDDED
from writepath.records.base import inside
from writepath.records.cell import load_cell, save_cell
from writepath.records.index import load_index, save_index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.records.index import CellEntry, Index


def _texts(index: Index) -> object:
    """What is written; the generator's texts are drawn from the seed, in which blocks must differ."""
    drawn = index.dataset.name == EMBEDDED
    return (EMBEDDED, index.dataset.lines) if drawn else index.dataset


def _settings(index: Index) -> dict[str, dict[str, str]]:
    return {variant.name: variant.settings for variant in index.variants}


DESIGN: tuple[tuple[str, Callable[[Index], Any]], ...] = (
    ("kind", attrgetter("kind")),
    ("RUNTIME", attrgetter("runtime")),
    ("the suite's load in suites.yaml", attrgetter("params")),
    ("the references", attrgetter("references")),
    ("the baseline", attrgetter("baseline")),
    ("settings", attrgetter("settings")),
    ("factors", lambda index: {factor.name: ",".join(factor.levels) for factor in index.factors}),
    ("DATASET", _texts),
    ("VARIANTS", lambda index: sorted({name for block in index.order for name in block})),
    ("settings in variants.yaml", _settings),
)


def join(published: Path, staged: Path) -> None:
    """Puts the published blocks before those of the staged folder and renumbers these; UsageError where they differ."""
    kept, added = load_index(published), load_index(staged)
    _refuse(kept, added)
    _refuse_same(published, kept, staged, added)
    later_first = sorted(
        added.cells, key=lambda line: -line.block
    )  # no block takes the place of one not moved yet
    moved = {(line.name, line.block): _moved(line, kept.repetitions, staged) for line in later_first}
    for line in kept.cells:
        shutil.copytree(inside(published, line.folder), staged / line.folder)
    whole = dataclasses.replace(
        kept,
        finished_at=added.finished_at,
        repetitions=kept.repetitions + added.repetitions,
        order=(*kept.order, *added.order),
        cells=(*kept.cells, *(moved[line.name, line.block] for line in added.cells)),
    )
    save_index(whole, staged)


def _refuse(kept: Index, added: Index) -> None:
    for name, value in DESIGN:
        old, now = value(kept), value(added)
        if old != now:
            raise UsageError(
                f"ADD=1: {name} differs: published {old}, now {now}; publish without ADD, or run with the former"
            )


def _refuse_same(published: Path, kept: Index, staged: Path, added: Index) -> None:
    known = [load_cell(inside(published, line.folder)) for line in kept.cells]
    if {cell.run_id for cell in known} & {load_cell(staged / line.folder).run_id for line in added.cells}:
        raise UsageError(f"ADD=1: suite run {added.stamp} is already published")
    seeds = {cell.seed for cell in known}
    if added.seed in seeds:
        raise UsageError(
            f"ADD=1: SEED={added.seed} already gave the order of published blocks;"
            f" run with another seed, SEED={max(seeds) + 1}"
        )


def _moved(line: CellEntry, first: int, staged: Path) -> CellEntry:
    """The line of a cell whose folder now bears the number of its later block."""
    block = line.block + first
    folder = f"{line.name}/block-{block:02d}"
    (staged / line.folder).rename(staged / folder)
    save_cell(dataclasses.replace(load_cell(staged / folder), block=block), staged / folder)
    return dataclasses.replace(line, block=block, folder=folder)
