"""Copies what is published of a suite run, if every cell counts; ADD=1 puts its blocks behind the published ones.

Ratios are taken within a block, so what all of it shares (the day) does not affect them.
"""

import dataclasses
import shutil
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

from writepath.analysis import evidence as files
from writepath.errors import InvalidRunError, UsageError
from writepath.experiments import read
from writepath.experiments.registry import kind_of
from writepath.load.dataset import EMBEDDED
from writepath.records.base import inside, to_data, write_json
from writepath.records.cell import CELL_FILE, load_cell, save_cell
from writepath.records.index import INDEX_FILE, CellEntry, Index, load_index, save_index
from writepath.report import staging
from writepath.report.data import CellData, SuiteData
from writepath.report.fingerprint import hosts
from writepath.report.staging import copy_json, scrubbed


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


SETTINGS_FILE = "settings.json"


def publish(target: Path, folder: Path, limit_bytes: int, *, add: bool) -> None:
    """Puts a suite run in the place of what is published; add: its blocks behind those that are published."""
    data = read.raw(folder)
    refuse(data)
    place = staging.Place(target=target, source=folder, limit_bytes=limit_bytes)

    def fill(staged: Path) -> None:
        _copy(folder, data, staged)
        if add and target.is_dir():
            join(target, staged)
            refuse(read.published(staged))

    staging.put(place, fill, less="blocks or variants")


def refuse(data: SuiteData[Any]) -> None:
    """UsageError where cells are missing or hosts differ, InvalidRunError naming each cell that does not count."""
    _refuse_unfinished(data.index)
    bad = [
        f"{_name(cell)}: "
        + ("; ".join(cell.reasons) or f"{cell.record.outcome}, verdict {cell.record.verdict.status}")
        for cell in data.all_cells
        if not cell.counts
    ]
    if bad:
        raise InvalidRunError(
            f"not published: {' | '.join(bad)}. A suite is published only if all its cells are valid;"
            " rerun these with RESUME=1"
        )
    _refuse_several_hosts(data)


def _refuse_unfinished(index: Index) -> None:
    made = {(cell.name, cell.block) for cell in index.cells}
    wanted = {(name, block) for block, order in enumerate(index.order, 1) for name in order}
    missing = sorted(wanted - made)
    if index.status != "finished" or missing:
        first = f"; missing: {missing[0][0]}, block {missing[0][1]}" if missing else ""
        raise UsageError(
            f"suite {index.suite} {index.stamp} is {index.status}, {len(made)} of {len(wanted)} cells finished{first};"
            " finish it with RESUME=1, then publish"
        )


def _refuse_several_hosts(data: SuiteData[Any]) -> None:
    """A median would mix them, unless the kind reports each host by itself."""
    found = hosts(data)
    if len(found) > 1 and not kind_of(data.index.kind).by_host:
        raise UsageError(
            f"suite {data.index.suite} {data.index.stamp} ran on several hosts: {' and '.join(found)}. Medians"
            " would mix them; rerun the whole suite on one host, then publish"
        )


def _name(cell: CellData[Any]) -> str:
    return f"{cell.entry.name}, block {cell.entry.block}"


def _copy(folder: Path, data: SuiteData[Any], target: Path) -> None:
    target.mkdir(parents=True)
    copy_json(folder / INDEX_FILE, target / INDEX_FILE)
    for cell in data.all_cells:
        source, copy = inside(folder, cell.entry.folder), target / cell.entry.folder
        evidence = cell.evidence
        if evidence is None:
            raise InvalidRunError(f"not published: {_name(cell)}: it has no evidence")
        files.save(dataclasses.replace(evidence, facts=scrubbed(dict(evidence.facts))), copy)
        write_json(scrubbed(to_data(cell.record)), copy / CELL_FILE)
        if (source / SETTINGS_FILE).is_file():
            copy_json(source / SETTINGS_FILE, copy / SETTINGS_FILE)
