"""Copies what is published of a suite run, if every cell counts: index, records and evidence."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from writepath.analysis import evidence as files
from writepath.errors import InvalidRunError, UsageError
from writepath.experiments import join, read
from writepath.experiments.registry import kind_of
from writepath.records.base import inside, to_data, write_json
from writepath.records.cell import CELL_FILE
from writepath.records.index import INDEX_FILE
from writepath.report import staging
from writepath.report.fingerprint import hosts
from writepath.report.scrub import copy_json, scrubbed

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.records.index import Index
    from writepath.report.data import CellData, SuiteData

SETTINGS_FILE = "settings.json"


def publish(target: Path, folder: Path, limit_bytes: int, *, add: bool) -> None:
    """Puts a suite run in the place of what is published; add: its blocks behind those that are published."""
    data = read.raw(folder)
    refuse(data)
    place = staging.Place(target=target, source=folder, limit_bytes=limit_bytes)

    def fill(staged: Path) -> None:
        _copy(folder, data, staged)
        if add and target.is_dir():
            join.join(target, staged)
            refuse(read.published(staged))

    staging.put(place, fill, less="blocks or variants")


def refuse(data: SuiteData[Any]) -> None:
    """UsageError where cells are missing or hosts differ, InvalidRunError naming each cell that does not count."""
    _refuse_unfinished(data.index)
    bad = [
        f"{_name(cell)}: {'; '.join(cell.reasons) or _verdict(cell)}"
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


def _verdict(cell: CellData[Any]) -> str:
    return f"{cell.record.outcome}, verdict {cell.record.verdict.status}"


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
