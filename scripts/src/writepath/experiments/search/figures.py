"""Figures of a search suite that tables and sentences share: lines by keyword, pairs of variants, the data sets."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from writepath.analysis.comparison import Estimate, paired
from writepath.analysis.stats import Spread, spread
from writepath.records.search import KINDS, Hits, SearchKind, SearchResult, Times
from writepath.report import rows
from writepath.report.comparison import by_block, reference
from writepath.report.data import RowKey, SuiteData, published_figures
from writepath.report.model import ABSENT

Suite = SuiteData[SearchResult]
UNSET = "default"


def keywords(data: Suite) -> tuple[str, ...]:
    """Of the rounds."""
    return tuple(data.index.params["keywords"])


@dataclass(frozen=True, kw_only=True)
class Line:
    """A keyword of a row of the suite."""

    row: RowKey
    keyword: str
    results: tuple[SearchResult, ...]  # of the row's cells, block by block
    mark: str  # of the row

    @property
    def mode(self) -> str:
        """How its variant searches."""
        return ", ".join(dict.fromkeys(one.data_set.mode for one in self.results)) or ABSENT

    @property
    def hits(self) -> list[Hits]:
        """Of the keyword, block by block."""
        return [hits for one in self.results for hits in one.hits if hits.keyword == self.keyword]

    @property
    def found(self) -> set[int]:
        """How many posts the keyword finds, over the blocks."""
        return {one.found for one in self.hits}

    def times(self, kind: SearchKind) -> list[Times]:
        """Of the keyword, block by block."""
        return [found for one in self.results if (found := one.times_of(self.keyword, kind)) is not None]

    def warm_mean_ms(self, kind: SearchKind) -> Spread | None:
        """Of the rounds that were not cold."""
        return spread(one.warm_mean_ms for one in self.times(kind))


def line(data: Suite, row: RowKey, keyword: str = "") -> Line:
    """Of a row; keyword: where it matters."""
    cells = data.shown(row)
    results = tuple(one.result for one in cells if one.result is not None)
    return Line(row=row, keyword=keyword, results=results, mark=rows.mark(cells))


def lines(data: Suite) -> list[Line]:
    """Row by row, of the keywords of the rounds."""
    return [line(data, row, keyword) for row in data.rows for keyword in keywords(data)]


def ratio(data: Suite, row: RowKey, other: RowKey, keyword: str, kind: SearchKind) -> Estimate:
    """Of the means of the warm rounds, block by block: above 1 is slower. A row ÷ itself: its A/A control."""
    sides = by_block(data, row, control=row == other), by_block(data, other)
    mine, theirs = (
        [None if one is None else _warm_mean_ms(one, keyword, kind) for one in side] for side in sides
    )
    return paired(mine, theirs, "lower")


def _warm_mean_ms(result: SearchResult, keyword: str, kind: SearchKind) -> float | None:
    times = result.times_of(keyword, kind)
    return None if times is None else times.warm_mean_ms


def control_times(data: Suite) -> tuple[float, ...]:
    """The A/A control's times ÷ the baseline's, of each keyword and kind: ratios that noise alone gives."""
    row = reference(data)
    if row is None or not data.of(row, control=True):
        return ()
    found = (ratio(data, row, row, keyword, kind).ratio for keyword in keywords(data) for kind in KINDS)
    return tuple(one for one in found if one is not None)


def apart_beyond(data: Suite) -> tuple[float, float]:
    """Ratios between these two are within noise: as near to 1 as the A/A control's; 0 and ∞ without one."""
    furthest = max((abs(math.log(one)) for one in control_times(data)), default=math.inf)
    return math.exp(-furthest), math.exp(furthest)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two variants of one store that differ in one setting."""

    row: RowKey
    base: RowKey  # the first of the suite's with another value
    words: str  # the setting, and both values


def pairs(data: Suite) -> Iterator[Pair]:
    """Setting by setting: each variant by the first one before it that differs in nothing else."""
    for setting in dict.fromkeys(name for row in data.rows for name in row.variant.settings):
        for index, row in enumerate(data.rows):
            base = next((other for other in data.rows[:index] if _differ_in(setting, row, other)), None)
            if base is not None:
                values = (side.variant.settings.get(setting, UNSET) for side in (row, base))
                yield Pair(row=row, base=base, words=f"{setting} {' vs. '.join(values)}")


def _differ_in(setting: str, row: RowKey, other: RowKey) -> bool:
    """In this alone; a replica's node is a second profile, and belongs to its setting."""
    mine, theirs = dict(row.variant.settings), dict(other.variant.settings)
    differ = mine.pop(setting, None) != theirs.pop(setting, None)
    same_levels = mine == theirs and row.levels == other.levels
    return differ and same_levels and row.variant.profiles[:1] == other.variant.profiles[:1]


def digests(data: Suite) -> dict[int, tuple[str, ...]]:
    """Of the posts, by block, each once: one where all variants had the same; ids are drawn from the seed."""
    known: dict[int, dict[str, None]] = {}
    for one in data.cells:
        if one.result is not None:
            known.setdefault(one.record.block, {})[one.result.data_set.loading.digest] = None
    return {block: tuple(found) for block, found in sorted(known.items())}


def original(variant: str, keyword: str) -> dict[str, Any] | None:
    """Of the experiment of 2022: its rounds and their mean as published; None where it has none."""
    found: dict[str, Any] | None = published_figures()["search"]["variants"].get(variant, {}).get(keyword)
    return found
