"""Which tables show how long a search takes, and how shards, replicas and indexes change that?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from writepath.analysis import stats
from writepath.report.comparison import ratio_cell
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, number, text
from writepath.report.original import published_figures
from writepath.report.queries_figures import KINDS, mean_ms, pairs, rounds_ms, warm_mean_ms
from writepath.report.rows import VARIANT

if TYPE_CHECKING:
    from writepath.records.queries import RoundKind
    from writepath.report.queries_figures import QueriesFigures, VariantFigures

MODE = Column(key="search_mode", title="mode")
KEYWORD = Column(key="keyword", title="keyword")
ORIGINAL = "original"
MOST_SHOWN = 10  # rounds; the means are of all, and the records have every one
COLD = "cold "
MODES = (
    "Mode substring: every post that contains the keyword. Mode native: the store's own word search, which finds other"
    " posts; the table of hits shows what it finds and misses."
)
BLOCKS = "Several blocks: median (lowest–highest)."


def rounds(figures: QueriesFigures) -> Table:
    """Keyword by keyword, one client: each round and the means; the original experiment's rounds above ours."""
    last = min(figures.suite.rounds, MOST_SHOWN)
    columns = (
        VARIANT,
        MODE,
        KEYWORD,
        Column(key="measured", title="measured"),
        *(Column(key=f"round_{number}_ms", title=f"round {number}", unit="ms") for number in _to(last)),
        Column(key="warm_mean_ms", title="mean of warm rounds", unit="ms"),
        Column(key="mean_ms", title="mean of all", unit="ms"),
    )
    body, quoted = [], False
    for one in figures.variants:
        for keyword in figures.suite.keywords:
            if (theirs := original(one.variant.name, keyword)) is not None:
                quoted = True
                body.append(Row(cells=(*_who(one, keyword, mode=ABSENT), *_quoted(theirs, last))))
            body += [Row(cells=(*_who(one, keyword), *_measured(one, keyword, kind, last))) for kind in KINDS]
    remarks = str(published_figures()["search"]["remarks"]).strip()
    return Table(
        key="rounds",
        title="Search times, round by round",
        caption="One client, one keyword per request, one request at a time. First page: the latest posts and the"
        " number of hits. Every match: all pages, one after the other. Cold: the stores had just been restarted; not"
        f" part of the mean of warm rounds. The mean of all is computed like the original experiment's. {BLOCKS}",
        columns=columns,
        rows=tuple(body),
        notes=(MODES, remarks) if quoted else (MODES,),
    )


def original(variant: str, keyword: str) -> dict[str, Any] | None:
    """Of the experiment of 2022: its rounds and their mean as published; None where it has none."""
    found: dict[str, Any] | None = published_figures()["search"]["variants"].get(variant, {}).get(keyword)
    return found


def _to(last: int) -> range:
    return range(1, last + 1)


def _who(one: VariantFigures, keyword: str, mode: str | None = None) -> tuple[Cell, ...]:
    return text(one.label), text(one.mode if mode is None else mode), text(keyword)


def _quoted(theirs: dict[str, Any], last: int) -> tuple[Cell, ...]:
    given = dict(enumerate(theirs["rounds_ms"], 1))
    return (
        text(ORIGINAL),
        *(Cell(figure=stats.spread([given.get(number)]), exact=True) for number in _to(last)),
        Cell(),
        Cell(figure=stats.spread([theirs["mean_ms"]]), exact=True),
    )


def _measured(one: VariantFigures, keyword: str, kind: RoundKind, last: int) -> tuple[Cell, ...]:
    reads = [found.read for found in one.reads]
    by_block = [rounds_ms(read, keyword, kind) for read in reads]
    return (
        text(KINDS[kind]),
        *(_round([own[number] for own in by_block if number in own]) for number in _to(last)),
        Cell(figure=stats.spread(warm_mean_ms(read, keyword, kind) for read in reads)),
        Cell(figure=stats.spread(mean_ms(read, keyword, kind) for read in reads)),
    )


def _round(of_blocks: list[tuple[float, bool]]) -> Cell:
    cold = any(cold for _, cold in of_blocks)
    return Cell(figure=stats.spread(latency for latency, _ in of_blocks), prefix=COLD if cold else "")


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
NOTHING = "none (A/A control)"


def ratios(figures: QueriesFigures) -> Table | None:
    """Each variant ÷ the first that differs in one setting; the A/A control ÷ the baseline. None without any."""
    found = [(pair.variant, pair.base, pair.words) for pair in pairs(figures.variants)]
    if figures.twin is not None:
        name = figures.twin.variant.name
        found += [(figures.twin, one, NOTHING) for one in figures.variants if one.variant.name == name]
    body = [
        Row(cells=_ratio_cells(figures, variant, base, words, keyword))
        for variant, base, words in found
        for keyword in figures.suite.keywords
    ]
    if not body:
        return None
    return Table(
        key="search_ratios",
        title="Effect of shards, replicas and indexes",
        caption="The mean of warm rounds ÷ that of the other variant in the same block: geometric mean over the blocks,"
        " with its 95 % interval if there are several (Student's t on the logarithms). Below 1 is faster. Variants that"
        " find different numbers of posts do not do the same work.",
        columns=RATIO_COLUMNS,
        rows=tuple(body),
        notes=(resolution_in_words(figures),),
    )


def resolution_in_words(figures: QueriesFigures) -> str:
    """From the A/A control's times."""
    times = figures.twin_times
    if not times:
        return "There is no A/A control: the smallest detectable difference is not known."
    low, high = figures.apart_beyond
    return (
        f"A/A control: measured twice in each block, the baseline took {number(min(times))} to {number(max(times))}"
        f" times as long. Ratios from {number(low)} to {number(high)} are within noise."
    )


def _ratio_cells(
    figures: QueriesFigures, one: VariantFigures, base: VariantFigures, words: str, keyword: str
) -> tuple[Cell, ...]:
    first, every = (figures.ratio(one, base, keyword, kind) for kind in KINDS)
    return (
        text(one.label),
        text(base.label),
        text(words),
        text(one.mode if one.mode == base.mode else f"{one.mode} vs. {base.mode}"),
        text(keyword),
        text(_posts(one, base, keyword)),
        ratio_cell(first),
        ratio_cell(every),
        _original_ratio(one, base, keyword),
        cell([min(first.pairs, every.pairs)]),
    )


def _posts(one: VariantFigures, base: VariantFigures, keyword: str) -> str:
    """`the same, 12,345`; else both numbers."""
    mine, theirs = ({hits.found for hits in side.hits(keyword)} for side in (one, base))
    if not mine or not theirs:
        return ABSENT
    counts = [" or ".join(f"{found:,}" for found in sorted(side)) for side in (mine, theirs)]
    return f"the same, {counts[0]}" if mine == theirs else " vs. ".join(counts)


def _original_ratio(one: VariantFigures, base: VariantFigures, keyword: str) -> Cell:
    if one.again:
        return Cell()
    mine, theirs = (original(side.variant.name, keyword) for side in (one, base))
    if mine is None or theirs is None:
        return Cell()
    return Cell(figure=stats.spread([mine["mean_ms"] / theirs["mean_ms"]]))
