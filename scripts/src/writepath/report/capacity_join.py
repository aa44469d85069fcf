"""How do blocks that were made at another time join those that are published? Renumbered behind them, if alike.

A block is compared within itself: what was the same for all of its searches (the day, the machine) does not weigh on
ratios, and differs from block to block as it would for a reader. So hours of one suite may be spread over several days.
"""

from __future__ import annotations

import dataclasses
import shutil
from typing import TYPE_CHECKING

from writepath.errors import UsageError
from writepath.report.capacity_raw import read
from writepath.report.manifest import MANIFEST
from writepath.report.raw import inside
from writepath.result.capacity import Ceilings, Search, SearchLine, save_ceilings, save_search, save_suite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from writepath.report.capacity_raw import CapacityData, Found
    from writepath.result.capacity import CapacitySuite

DESIGN = (
    ("runtime", "RUNTIME"),
    ("slo_ms", "SLO_MS"),
    ("hold_seconds", "HOLD_SECONDS"),
    ("baseline", "the baseline"),
    ("overrides", "settings"),
    ("dataset", "DATASET"),
)


def join(published: Path, staged: Path) -> None:
    """Puts the published blocks before those of the staged folder and renumbers these; UsageError where they differ."""
    kept, added = read(published), read(staged)
    refuse(kept, added)
    first = kept.suite.repetitions
    place = staged.with_suffix(".joined")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(
        published, place, ignore=shutil.ignore_patterns(MANIFEST)
    )  # of the whole there will be one
    searches = tuple(_search(one.search, line, first, staged, place) for one, line in _searches(added))
    ceilings = tuple(
        _ceilings(tools, name, first, staged, place)
        for name, tools in zip(added.suite.ceilings, added.ceilings, strict=True)
    )
    save_suite(_index(kept.suite, added.suite, searches, ceilings), place)
    shutil.rmtree(staged)
    place.rename(staged)


def refuse(kept: CapacityData, added: CapacityData) -> None:
    """UsageError where the blocks are not of one design, or are there already."""
    known = {found.search.run_id for found in kept.searches}
    if any(found.search.run_id in known for found in added.searches):
        raise UsageError(f"ADD=1: suite run {added.suite.stamp} is published already")
    for field, name in DESIGN:
        old, new = getattr(kept.suite, field), getattr(added.suite, field)
        if old != new:
            raise UsageError(
                f"ADD=1: {name} differs: published {old}, now {new}; publish it alone (without ADD), or run it alike"
            )
    if (old := _names(kept.suite)) != (new := _names(added.suite)):
        different = ", ".join(sorted(old ^ new))
        raise UsageError(f"ADD=1: VARIANTS differ in {different}; a block holds all of them")
    seeds = {found.search.seed for found in kept.searches}
    if added.suite.seed in seeds:
        raise UsageError(
            f"ADD=1: SEED={added.suite.seed} drew the order of published blocks already, and would repeat it;"
            f" run with another, SEED={max(seeds) + 1}"
        )


def _names(suite: CapacitySuite) -> set[str]:
    return {name for block in suite.blocks for name in block}


def _searches(data: CapacityData) -> Iterator[tuple[Found, SearchLine]]:
    return zip(data.searches, data.suite.searches, strict=True)


def _folder(name: str, block: int) -> str:
    """Of a variant's search in a block, below the suite's folder."""
    return f"{name.partition('/')[0]}/block-{block:02d}"


def _search(search: Search, line: SearchLine, first: int, staged: Path, place: Path) -> SearchLine:
    block = line.block + first
    folder = _folder(line.folder, block)
    shutil.copytree(inside(staged, line.folder), place / folder)
    save_search(dataclasses.replace(search, block=block), place / folder)
    return dataclasses.replace(line, block=block, folder=folder)


def _ceilings(tools: Ceilings, name: str, first: int, staged: Path, place: Path) -> str:
    block = tools.block + first
    folder = _folder(name, block)
    shutil.copytree(inside(staged, name), place / folder)
    save_ceilings(dataclasses.replace(tools, block=block), place / folder)
    return folder


def _index(
    kept: CapacitySuite, added: CapacitySuite, searches: tuple[SearchLine, ...], ceilings: tuple[str, ...]
) -> CapacitySuite:
    return dataclasses.replace(
        kept,
        finished_at=added.finished_at,
        repetitions=kept.repetitions + added.repetitions,
        blocks=(*kept.blocks, *added.blocks),
        searches=(*kept.searches, *searches),
        ceilings=(*kept.ceilings, *ceilings),
    )
