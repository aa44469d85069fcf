"""Tables of how long a search takes, and of how shards, replicas and indexes change that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.experiments.search import figures
from writepath.experiments.search.figures import KEYWORD, MODE, MODES, original
from writepath.records.search import KINDS
from writepath.report import rows
from writepath.report.comparison import ratio_cell, reference
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, number, text
from writepath.report.original import published_figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from writepath.experiments.search.figures import Results, Suite
    from writepath.report.data import RowKey

MOST_SHOWN = 10  # rounds; the means are of all, and the records have every one
COLD = "cold "
NO_PAIR = "none (A/A control)"
MAIN_COLUMNS = (
    rows.VARIANT,
    MODE,
    KEYWORD,
    Column(key="found", title="posts found", exact=True),
    Column(key="recall_percent", title="recall", unit="%"),
    Column(key="first_page_ms", title="first page", unit="ms"),
    Column(key="every_match_ms", title="every match", unit="ms"),
)


def main(data: Suite) -> Table:
    """What each keyword finds and how long one client waits for it."""
    body = []
    for row in data.rows:
        found = figures.results(data, row)
        for keyword in figures.keywords(data):
            hits = figures.hits(found, keyword)
            cells = (
                cell(one.found for one in hits),
                cell(one.recall_percent for one in hits),
                *(cell(map(figures.warm_mean_ms(keyword, kind), found)) for kind in KINDS),
            )
            named = (text(row.title), figures.mode(found), text(keyword))
            body.append(Row(cells=(*named, *cells), mark=rows.mark(data.shown(row))))
    return Table(
        key="searches",
        title="Search times",
        caption="One client, one search at a time: mean of the warm rounds. First page: the latest posts and the number"
        f" of hits. Every match: all pages, one after the other. {rows.spread_note(data.index)}",
        columns=MAIN_COLUMNS,
        rows=tuple(body),
        notes=(MODES,),
        names=3,
        compared=True,
    )


def rounds(data: Suite) -> Table:
    """Each round and the means; the original experiment's rounds above ours."""
    numbers = range(1, min(data.index.params["rounds"], MOST_SHOWN) + 1)
    body, quoted = [], False
    for row in data.rows:
        for keyword in figures.keywords(data):
            if (theirs := original(row.variant.name, keyword)) is not None:
                quoted = True
                body.append(_quoted(row, keyword, theirs, numbers))
            body += _measured(row, figures.results(data, row), keyword, numbers)
    remarks = str(published_figures()["search"]["remarks"]).strip()
    return Table(
        key="rounds",
        title="Search times, round by round",
        caption="Cold: the stores had just been restarted; not part of the mean of warm rounds. The mean of all is"
        f" computed like the original experiment's. {rows.spread_note(data.index)}",
        columns=(
            rows.VARIANT,
            MODE,
            KEYWORD,
            Column(key="measured", title="measured"),
            *(Column(key=f"round_{number}_ms", title=f"round {number}", unit="ms") for number in numbers),
            Column(key="warm_mean_ms", title="mean of warm rounds", unit="ms"),
            Column(key="mean_ms", title="mean of all", unit="ms"),
        ),
        rows=tuple(body),
        notes=(remarks,) if quoted else (),
        names=4,
    )


def _quoted(row: RowKey, keyword: str, theirs: dict[str, Any], numbers: range) -> Row:
    given = dict(enumerate(theirs["rounds_ms"], 1))
    named = (text(row.title), text(ABSENT), text(keyword), text("original"))
    own = (_exact(given.get(number)) for number in numbers)
    return Row(cells=(*named, *own, Cell(), _exact(theirs["mean_ms"])))


def _exact(value: float | None) -> Cell:
    return Cell(figure=stats.spread([value]), exact=True)


def _measured(row: RowKey, found: Results, keyword: str, numbers: range) -> Iterator[Row]:
    """One row a kind of search."""
    for kind, words in KINDS.items():
        times = [one for result in found if (one := result.times_of(keyword, kind)) is not None]

        def of_round(number: int, times: Any = times) -> Cell:
            own = (one.rounds_ms[number - 1] for one in times if len(one.rounds_ms) >= number)
            return Cell(figure=stats.spread(own), prefix=COLD if number == 1 else "")

        named = (text(row.title), figures.mode(found), text(keyword), text(words))
        means = (cell(one.warm_mean_ms for one in times), cell(one.mean_ms for one in times))
        yield Row(cells=(*named, *map(of_round, numbers), *means))


RATIO_COLUMNS = (
    Column(key="ratio_of", title="variant"),
    Column(key="ratio_by", title="compared with"),
    Column(key="ratio_setting", title="setting that differs"),
    MODE,
    KEYWORD,
    Column(key="ratio_posts", title="posts found"),
    Column(key="ratio_first_page", title="first page", unit="×"),
    Column(key="ratio_every_match", title="every match", unit="×"),
    Column(key="ratio_original", title="original experiment", unit="×"),
    Column(key="ratio_pairs", title="pairs", exact=True),
)


def ratios(data: Suite) -> Table | None:
    """Each variant ÷ the first that differs in one setting; the A/A control ÷ the baseline. None without any."""
    found = [(pair.row, pair.base, pair.words) for pair in figures.pairs(data)]
    base = reference(data)
    if base is not None and data.of(base, control=True):
        found.append((base, base, NO_PAIR))
    if not found:
        return None
    return Table(
        key="search_ratios",
        title="Effect of shards, replicas and indexes",
        caption="The mean of warm rounds ÷ that of the other variant in the same block: geometric mean over the blocks,"
        " with its 95 % interval if there are several (Student's t on the logarithms). Below 1 is faster. Variants that"
        " find different numbers of posts do not do the same work.",
        columns=RATIO_COLUMNS,
        rows=tuple(
            _ratio_row(data, row, other, words, keyword)
            for row, other, words in found
            for keyword in figures.keywords(data)
        ),
        notes=(resolution_in_words(data),),
        names=5,
    )


def resolution_in_words(data: Suite) -> str:
    """From the A/A control's times."""
    times = figures.control_times(data)
    if not times:
        return "There is no A/A control: the smallest detectable difference is not known."
    low, high = figures.apart_beyond(data)
    return (
        f"A/A control: measured twice in each block, the baseline took {number(min(times))} to {number(max(times))}"
        f" times as long. Ratios from {number(low)} to {number(high)} are within noise."
    )


def _ratio_row(data: Suite, row: RowKey, base: RowKey, words: str, keyword: str) -> Row:
    first, every = (figures.ratio(data, row, base, keyword, kind) for kind in KINDS)
    control = row == base
    mine, theirs = (figures.mode(figures.results(data, side)).text for side in (row, base))
    return Row(
        cells=(
            text(f"{row.title}{rows.AGAIN}" if control else row.title),
            text(base.title),
            text(words),
            text(f"{mine}" if mine == theirs else f"{mine} vs. {theirs}"),
            text(keyword),
            text(_posts(data, row, base, keyword)),
            ratio_cell(first),
            ratio_cell(every),
            Cell() if control else _original_ratio(row, base, keyword),
            cell([min(first.pairs, every.pairs)]),
        )
    )


def _posts(data: Suite, row: RowKey, base: RowKey, keyword: str) -> str:
    """`the same, 12,345`; else both numbers."""
    mine, theirs = found_by(data, row, keyword), found_by(data, base, keyword)
    if not mine or not theirs:
        return ABSENT
    counts = [" or ".join(f"{found:,}" for found in sorted(side)) for side in (mine, theirs)]
    return f"the same, {counts[0]}" if mine == theirs else " vs. ".join(counts)


def found_by(data: Suite, row: RowKey, keyword: str) -> set[int]:
    """How many posts a keyword finds, over the blocks."""
    return {one.found for one in figures.hits(figures.results(data, row), keyword)}


def _original_ratio(row: RowKey, base: RowKey, keyword: str) -> Cell:
    mine, theirs = (original(side.variant.name, keyword) for side in (row, base))
    if mine is None or theirs is None:
        return Cell()
    return Cell(figure=stats.spread([mine["mean_ms"] / theirs["mean_ms"]]))
