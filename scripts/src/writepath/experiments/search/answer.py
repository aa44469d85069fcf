"""The sentences that a search suite's page opens with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.experiments.search import figures
from writepath.experiments.search.times_tables import found_by
from writepath.report.sentences import listed, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.experiments.search.figures import Pair, Suite
    from writepath.records.search import Loading

SAME = "no measurable difference"


def answer(data: Suite) -> Iterator[str]:
    """What native searches miss, and how fast posts are loaded."""
    yield from _recall(data)
    yield from _loading(data)


def findings(data: Suite) -> Iterator[str]:
    """What one setting changes, where both find the same posts."""
    return (_pair(data, pair) for pair in figures.pairs(data) if _same_posts(data, pair))


def _recall(data: Suite) -> Iterator[str]:
    """Of native searches."""
    found = [
        hits.recall_percent
        for row in data.rows
        for keyword in figures.keywords(data)
        for hits in figures.hits(figures.results(data, row), keyword)
        if hits.mode == "native" and hits.recall_percent is not None
    ]
    if found:
        ends = dict.fromkeys(map(short, (min(found), max(found))))
        yield (
            f"The store's own word search returns {' to '.join(ends)} % of the posts that contain the keyword;"
            " mode substring returns all of them."
        )


def _same_posts(data: Suite, pair: Pair) -> bool:
    """Else they do not do the same work."""
    return bool(figures.control_times(data)) and all(
        found_by(data, pair.row, keyword) == found_by(data, pair.base, keyword)
        for keyword in figures.keywords(data)
    )


def _pair(data: Suite, pair: Pair) -> str:
    """First pages of each keyword; a ratio that the A/A control shows as well is no difference."""
    low, high = figures.apart_beyond(data)
    known = {
        keyword: ratio
        for keyword in figures.keywords(data)
        if (ratio := figures.ratio(data, pair.row, pair.base, keyword, "first-page").ratio) is not None
    }
    differ = [keyword for keyword, ratio in known.items() if not low <= ratio <= high]
    alike = [keyword for keyword in known if keyword not in differ]
    words = []
    if differ:
        times = listed(f"{short(known[keyword])} ({keyword})" for keyword in differ)
        words.append(f"first pages take {times} times as long")
    if alike:
        words.append(f"{SAME} for {listed(alike)}")
    return f"{pair.row.title} compared with {pair.base.title}: {'; '.join(words)}."


def _loading(data: Suite) -> Iterator[str]:
    """The bulk path, its index included: medians over the blocks."""
    known = []
    for row in data.rows:
        rates = stats.spread(_loaded_per_s(one.data_set.loading) for one in figures.results(data, row))
        known += [] if rates is None else [(rates.median, row.title)]
    if len(known) > 1:
        (least, slow), *_, (most, fast) = sorted(known)
        yield (
            f"Bulk load with index and copies: fastest {fast} with {short(most)} posts/s,"
            f" slowest {slow} with {short(least)} posts/s."
        )


def _loaded_per_s(loading: Loading) -> float:
    seconds = loading.seconds + (loading.build_seconds or 0.0) + loading.settle_seconds
    return loading.documents / seconds
