"""Figures of a search suite that several tables share: times by keyword, pairs of variants, the data sets."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from writepath.analysis.comparison import Estimate, paired
from writepath.records.search import KINDS, Hits, SearchKind, SearchResult
from writepath.report.comparison import by_block, reference
from writepath.report.data import RowKey, SuiteData, published_figures
from writepath.report.model import Cell, Column, cell

Suite = SuiteData[SearchResult]
Results = Sequence[SearchResult]

MODE = Column(key="search_mode", title="mode")
KEYWORD = Column(key="keyword", title="keyword")
MODES = (
    "Mode substring: every post that contains the keyword. Mode native: the store's own word search, which finds other"
    " posts; the table of hits shows what it finds and misses."
)
UNSET = "default"


def keywords(data: Suite) -> tuple[str, ...]:
    """Of the rounds."""
    return tuple(data.index.params["keywords"])


def results(data: Suite, row: RowKey) -> list[SearchResult]:
    """Of the row's cells, block by block."""
    return [one.result for one in data.shown(row) if one.result is not None]


def mode(found: Results) -> Cell:
    """How they search."""
    return cell(one.data_set.mode for one in found)


def hits(found: Results, keyword: str) -> list[Hits]:
    """Of a keyword, block by block."""
    return [hits for one in found for hits in one.hits if hits.keyword == keyword]


def warm_mean_ms(keyword: str, kind: SearchKind) -> Callable[[SearchResult], float | None]:
    """Of the rounds that were not cold."""

    def get(result: SearchResult) -> float | None:
        times = result.times_of(keyword, kind)
        return None if times is None else times.warm_mean_ms

    return get


def ratio(data: Suite, row: RowKey, other: RowKey, keyword: str, kind: SearchKind) -> Estimate:
    """Of the means of the warm rounds, block by block: above 1 is slower. A row ÷ itself: its A/A control."""
    get = warm_mean_ms(keyword, kind)
    sides = by_block(data, row, control=row == other), by_block(data, other)
    mine, theirs = ([None if one is None else get(one) for one in side] for side in sides)
    return paired(mine, theirs, "lower")


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
    rows = data.rows
    for setting in dict.fromkeys(name for row in rows for name in row.variant.settings):
        for index, row in enumerate(rows):
            base = next((other for other in rows[:index] if _differ_in(setting, row, other)), None)
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
