"""How are blocks of a later run added to those that are published? Renumbered after them, if the design is the same.

Ratios are taken within a block, so what all of it shares (the day, the host) does not affect them. So the blocks of one
suite may be measured on several days.
"""

from __future__ import annotations

import dataclasses
import shutil
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from writepath.errors import UsageError
from writepath.load.dataset import EMBEDDED
from writepath.records import capacity, queries
from writepath.records.base import inside
from writepath.report import capacity_raw, queries_raw
from writepath.report.manifest import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from writepath.records.capacity import CapacitySuite, Ceilings, SearchLine
    from writepath.records.queries import QueriesSuite

Design: TypeAlias = (
    "Sequence[tuple[str, Callable[[Any], object]]]"  # what a user sets, and its value of an index
)


def _texts(suite: CapacitySuite) -> object:
    """What is written; the generator's texts are drawn from the seed, in which blocks must differ."""
    drawn = suite.dataset.name == EMBEDDED
    return (EMBEDDED, suite.dataset.lines) if drawn else suite.dataset


DESIGN: Design = (
    ("RUNTIME", attrgetter("runtime")),
    ("SLO_MS", attrgetter("slo_ms")),
    ("HOLD_SECONDS", attrgetter("hold_seconds")),
    ("the baseline", attrgetter("baseline")),
    ("settings", attrgetter("overrides")),
)
OF_CAPACITY: Design = (*DESIGN, ("DATASET", _texts))
OF_QUERIES: Design = (
    *DESIGN,
    ("DATASET", attrgetter("dataset")),  # what a keyword finds is compared, so the texts must be the same
    ("DOCS", attrgetter("documents")),
    ("ROUNDS", attrgetter("rounds")),
    ("the suite's keywords", attrgetter("keywords")),
)


class Record(Protocol):
    """One variant in one block."""

    @property
    def run_id(self) -> str:
        """Of no other record."""

    @property
    def seed(self) -> int:
        """That drew the order of its block."""


S = TypeVar("S", "CapacitySuite", "QueriesSuite")
R = TypeVar("R", "capacity.Search", "queries.Read")


def join_capacity(published: Path, staged: Path) -> None:
    """Puts the published blocks before those of the staged folder and renumbers these; UsageError where they differ."""
    kept, added = capacity_raw.read(published), capacity_raw.read(staged)
    records = [one.search for one in added.searches]
    refuse(kept.suite, added.suite, [one.search for one in kept.searches], records, OF_CAPACITY)
    first = kept.suite.repetitions
    with _whole(published, staged) as place:
        lines = [
            _moved(record, line, first, staged, place, capacity.save_search)
            for record, line in zip(records, added.suite.searches, strict=True)
        ]
        tools = [
            _ceilings(made, name, first, staged, place)
            for name, made in zip(added.suite.ceilings, added.ceilings, strict=True)
        ]
        index = dataclasses.replace(
            _longer(kept.suite, added.suite),
            searches=(*kept.suite.searches, *lines),
            ceilings=(*kept.suite.ceilings, *tools),
        )
        capacity.save_suite(index, place)


def join_queries(published: Path, staged: Path) -> None:
    """As join_capacity, of searches over posts."""
    kept, added = queries_raw.read(published), queries_raw.read(staged)
    records = [one.read for one in added.reads]
    refuse(kept.suite, added.suite, [one.read for one in kept.reads], records, OF_QUERIES)
    first = kept.suite.repetitions
    with _whole(published, staged) as place:
        lines = [
            _moved(record, line, first, staged, place, queries.save_read)
            for record, line in zip(records, added.suite.reads, strict=True)
        ]
        index = dataclasses.replace(_longer(kept.suite, added.suite), reads=(*kept.suite.reads, *lines))
        queries.save_suite(index, place)


def refuse(
    kept: S,
    added: S,
    known: Sequence[Record],
    new: Sequence[Record],
    design: Design,
) -> None:
    """UsageError where the blocks are not of one design, or are there already.

    design: by what a user sets, what must be the same of both indexes.
    """
    if {one.run_id for one in known} & {one.run_id for one in new}:
        raise UsageError(f"ADD=1: suite run {added.stamp} is already published")
    for name, value in design:
        old, now = value(kept), value(added)
        if old != now:
            raise UsageError(
                f"ADD=1: {name} differs: published {old}, now {now}; publish without ADD, or run with the former"
            )
    if different := _names(kept) ^ _names(added):
        raise UsageError(
            f"ADD=1: VARIANTS differ in {', '.join(sorted(different))}; each block must have all of them"
        )
    if changed := sorted(_settings(kept).items() ^ _settings(added).items()):
        named = ", ".join(sorted({f"{variant}: {key}" for (variant, key), _ in changed}))
        raise UsageError(f"ADD=1: settings in variants.yaml differ ({named}); publish without ADD")
    seeds = {one.seed for one in known}
    if added.seed in seeds:
        raise UsageError(
            f"ADD=1: SEED={added.seed} already gave the order of published blocks;"
            f" run with another seed, SEED={max(seeds) + 1}"
        )


def _names(suite: CapacitySuite | QueriesSuite) -> set[str]:
    return {name for block in suite.blocks for name in block}


def _settings(suite: CapacitySuite | QueriesSuite) -> dict[tuple[str, str], str]:
    return {(one.name, key): value for one in suite.variants for key, value in one.settings.items()}


@contextmanager
def _whole(published: Path, staged: Path) -> Iterator[Path]:
    """A copy of what is published, to be filled; then it takes the staged folder's place."""
    place = staged.with_suffix(".joined")
    shutil.rmtree(place, ignore_errors=True)
    try:
        # of the whole there will be one manifest
        shutil.copytree(published, place, ignore=shutil.ignore_patterns(MANIFEST))
        yield place
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    shutil.rmtree(staged)
    place.rename(staged)


def _longer(kept: S, added: S) -> S:
    """The index of both, still without the added lines."""
    return dataclasses.replace(
        kept,
        finished_at=added.finished_at,
        repetitions=kept.repetitions + added.repetitions,
        blocks=(*kept.blocks, *added.blocks),
    )


def _folder(name: str, block: int) -> str:
    """Of a variant in a block, below the suite's folder."""
    return f"{name.partition('/')[0]}/block-{block:02d}"


def _moved(
    record: R, line: SearchLine, first: int, staged: Path, place: Path, save: Callable[[R, Path], None]
) -> SearchLine:
    block = line.block + first
    folder = _folder(line.folder, block)
    shutil.copytree(inside(staged, line.folder), place / folder)
    save(dataclasses.replace(record, block=block), place / folder)
    return dataclasses.replace(line, block=block, folder=folder)


def _ceilings(tools: Ceilings, name: str, first: int, staged: Path, place: Path) -> str:
    block = tools.block + first
    folder = _folder(name, block)
    shutil.copytree(inside(staged, name), place / folder)
    capacity.save_ceilings(dataclasses.replace(tools, block=block), place / folder)
    return folder
