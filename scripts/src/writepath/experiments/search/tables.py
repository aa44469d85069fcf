"""Tables of how long a search takes, what it finds, how large the stores are, and which cells count."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from writepath.analysis.comparison import Estimate, paired
from writepath.analysis.stats import spread
from writepath.records.search import KINDS, Hits, Loading, SearchKind, SearchResult, Times
from writepath.report import rows
from writepath.report.comparison import by_block, ratio_cell, reference
from writepath.report.data import CellData, RowKey, SuiteData, published_figures
from writepath.report.model import ABSENT, Cell, Column, Row, Table, Value, cell, number, row_of
from writepath.report.rows import Field, field

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
        return [one.times_of(self.keyword, kind) for one in self.results]


def line_of(data: Suite, row: RowKey, keyword: str = "") -> Line:
    """Of a row; keyword: where it matters."""
    results = tuple(one.result for one in data.shown(row) if one.result is not None)
    return Line(row=row, keyword=keyword, results=results)


def lines(data: Suite) -> list[Line]:
    """Row by row, of the keywords of the rounds."""
    return [line_of(data, row, keyword) for row in data.rows for keyword in keywords(data)]


def ratio(data: Suite, row: RowKey, other: RowKey, keyword: str, kind: SearchKind) -> Estimate:
    """Of the means of the warm rounds, block by block: above 1 is slower. A row ÷ itself: its A/A control."""

    def warm_mean_ms(results: Iterable[SearchResult | None]) -> list[float | None]:
        return [None if one is None else one.times_of(keyword, kind).warm_mean_ms for one in results]

    mine, theirs = by_block(data, row, control=row == other), by_block(data, other)
    return paired(warm_mean_ms(mine), warm_mean_ms(theirs), "lower")


def control_times(data: Suite) -> tuple[float, ...]:
    """The A/A control's times ÷ the baseline's, of each keyword and kind: ratios that noise alone gives."""
    row = reference(data)
    if row is None or not data.of(row, control=True):
        return ()
    found = (ratio(data, row, row, keyword, kind).ratio for keyword in keywords(data) for kind in KINDS)
    return tuple(one for one in found if one is not None)


def apart_beyond(data: Suite) -> tuple[float, float]:
    """Ratios between these two are within noise: as near to 1 as the A/A control's, of which there is one."""
    furthest = max(abs(math.log(one)) for one in control_times(data))
    return math.exp(-furthest), math.exp(furthest)


def pairs(data: Suite) -> Iterator[tuple[RowKey, RowKey, str]]:
    """Two variants that differ in one setting, and that setting with both values.

    Setting by setting: each variant by the first one before it that differs in nothing else.
    """
    for setting in dict.fromkeys(name for row in data.rows for name in row.variant.settings):
        for index, row in enumerate(data.rows):
            base = next((other for other in data.rows[:index] if _differ_in(setting, row, other)), None)
            if base is not None:
                values = (side.variant.settings.get(setting, UNSET) for side in (row, base))
                yield row, base, f"{setting} {' vs. '.join(values)}"


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


def _original(row: RowKey, keyword: str) -> dict[str, Any] | None:
    """Of the experiment of 2022: its rounds and their mean as published; None where it has none."""
    own: dict[str, Any] = published_figures()["search"]["variants"].get(row.variant.name, {})
    return own.get(keyword)


MOST_SHOWN = 10  # rounds; the means are of all, and the records have every one
COLD = "cold "
NO_PAIR = "none (A/A control)"
MIB = 1 << 20
MODES = (
    "Mode substring: every post that contains the keyword. Mode native: the store's own word search, which finds other"
    " posts; the table of hits shows what it finds and misses."
)


def _of_hits(key: str, title: str, name: str, unit: str = "") -> Field[Line]:
    """name: of Hits."""
    return field(key, title, lambda line: cell(map(attrgetter(name), line.hits)), unit, exact=not unit)


def _warm_mean(key: str, kind: SearchKind) -> Field[Line]:
    """Of the rounds that were not cold."""
    return field(key, KINDS[kind], lambda line: cell(one.warm_mean_ms for one in line.times(kind)), "ms")


VARIANT: Field[Line] = field("variant", "variant", attrgetter("row.title"))
MODE: Field[Line] = field("search_mode", "mode", attrgetter("mode"))
KEYWORD: Field[Line] = field("keyword", "keyword", attrgetter("keyword"))
MAIN: tuple[Field[Line], ...] = (
    VARIANT,
    MODE,
    KEYWORD,
    _of_hits("found", "posts found", "found"),
    _of_hits("recall_percent", "recall", "recall_percent", "%"),
    _warm_mean("first_page_ms", "first-page"),
    _warm_mean("every_match_ms", "every-match"),
)


def main(data: Suite) -> Table:
    """What each keyword finds and how long one client waits for it."""
    return rows.table(
        "searches",
        "Search times",
        "One client, one search at a time: mean of the warm rounds. First page: the latest posts and the number"
        f" of hits. Every match: all pages, one after the other. {rows.spread_note(data.index)}",
        MAIN,
        lines(data),
        mark=lambda line: rows.mark(data.shown(line.row)),
        notes=(MODES,),
        names=3,
        compared=True,
    )


def rounds(data: Suite) -> Table:
    """Each round and the means; the original experiment's rounds above ours."""
    numbers = range(min(data.index.params["rounds"], MOST_SHOWN))
    body, quoted = [], False
    for line in lines(data):
        if (theirs := _original(line.row, line.keyword)) is not None:
            quoted = True
            given = dict(enumerate(theirs["rounds_ms"]))
            own = (_exact(given.get(number)) for number in numbers)
            named = (line.row.title, ABSENT, line.keyword, "original")
            body.append(row_of(*named, *own, None, _exact(theirs["mean_ms"])))
        for kind, words in KINDS.items():
            times = line.times(kind)
            own = (_round(times, number) for number in numbers)
            means = (cell(one.warm_mean_ms for one in times), cell(one.mean_ms for one in times))
            named = (line.row.title, line.mode, line.keyword, words)
            body.append(row_of(*named, *own, *means, about=rows.subject_of(line)))
    remarks = str(published_figures()["search"]["remarks"]).strip()
    return Table(
        key="rounds",
        title="Search times, round by round",
        caption="Cold: the stores had just been restarted; not part of the mean of warm rounds. The mean of all is"
        f" computed like the original experiment's. {rows.spread_note(data.index)}",
        columns=(
            VARIANT,
            MODE,
            KEYWORD,
            Column(key="measured", title="measured"),
            *(Column(key=f"round_{at + 1}_ms", title=f"round {at + 1}", unit="ms") for at in numbers),
            Column(key="warm_mean_ms", title="mean of warm rounds", unit="ms"),
            Column(key="mean_ms", title="mean of all", unit="ms"),
        ),
        rows=tuple(body),
        notes=(remarks,) if quoted else (),
        names=4,
    )


def _exact(value: float | None) -> Cell:
    return Cell(figure=spread([value]), exact=True)


def _round(times: Sequence[Times], number: int) -> Cell:
    """Of the blocks that had as many."""
    figure = spread(one.rounds_ms[number] for one in times if number < len(one.rounds_ms))
    return Cell(figure=figure, prefix="" if number else COLD)


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
    found = list(pairs(data))
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
            for keyword in keywords(data)
        ),
        notes=(_resolution(data),),
        names=5,
    )


def _ratio_row(data: Suite, row: RowKey, other: RowKey, words: str, keyword: str) -> Row:
    mine, base = (line_of(data, side, keyword) for side in (row, other))
    first, every = (ratio(data, row, other, keyword, kind) for kind in KINDS)
    theirs = [_original(side, keyword) for side in (row, other)]
    control = row == other
    return row_of(
        f"{row.title}{rows.AGAIN if control else ''}",
        other.title,
        words,
        " vs. ".join(dict.fromkeys((mine.mode, base.mode))),
        keyword,
        _posts(mine.found, base.found),
        ratio_cell(first),
        ratio_cell(every),
        theirs[0]["mean_ms"] / theirs[1]["mean_ms"] if theirs[0] and theirs[1] and not control else None,
        min(first.pairs, every.pairs),
        about=rows.subject_of(row),
    )


def _posts(mine: set[int], base: set[int]) -> str:
    """`the same, 12,345`; else both numbers."""
    if not mine or not base:
        return ABSENT
    counts = [" or ".join(f"{found:,}" for found in sorted(side)) for side in (mine, base)]
    return f"the same, {counts[0]}" if mine == base else " vs. ".join(counts)


def _resolution(data: Suite) -> str:
    times = control_times(data)
    if not times:
        return "There is no A/A control: the smallest detectable difference is not known."
    low, high = apart_beyond(data)
    return (
        f"A/A control: measured twice in each block, the baseline took {number(min(times))} to {number(max(times))}"
        f" times as long. Ratios from {number(low)} to {number(high)} are within noise."
    )


def _explained(line: Line) -> str:
    bad = sum(not one.explained for one in line.hits)
    return f"no, in {bad} of {len(line.hits)}" if bad else "yes"


HITS = (
    VARIANT,
    MODE,
    KEYWORD,
    _of_hits("hits_expected", "contain the keyword", "expected"),
    _of_hits("hits_found", "found", "found"),
    _of_hits("hits_recall_percent", "recall", "recall_percent", "%"),
    _of_hits("hits_missed", "missed", "missed"),
    _of_hits("hits_surplus", "surplus", "surplus"),
    _of_hits("hits_as_word", "contain it as a word", "as_word"),
    field("hits_explained", "explained", _explained),
)


def hits(data: Suite) -> Table:
    """What each keyword found, against a scan of all posts."""
    found = []
    for row in data.rows:
        known = (hits.keyword for one in line_of(data, row).results for hits in one.hits)
        asked = dict.fromkeys((*keywords(data), *known))
        found += [line for keyword in asked if (line := line_of(data, row, keyword)).hits]
    return rows.table(
        "hits",
        "Hits: what each search found",
        "Posts that contain the keyword, counted by a scan of all posts without an index, and the posts that"
        " the variant returned as every match. Explained: in mode substring no missed and no surplus posts; in mode"
        " native exactly the posts that the analyzer's rule finds.",
        HITS,
        found,
        names=3,
    )


def _loaded(key: str, title: str, name: str, unit: str = "") -> Field[Line]:
    """name: of Loading. A size is of all posts in MiB, of each in bytes."""

    def get(loading: Loading) -> float | None:
        value: float | None = getattr(loading, name)
        return None if value is None else value / {"MiB": MIB, "B": loading.documents}.get(unit, 1)

    def of(line: Line) -> Value:
        return cell(get(one.data_set.loading) for one in line.results)

    return field(key, title, of, unit, exact=not unit)


def _parts(line: Line) -> str:
    """Largest first, of the first block."""
    parts = line.results[0].data_set.loading.parts_bytes.items() if line.results else ()
    ordered = sorted(parts, key=lambda part: (-part[1], part[0]))
    return ", ".join(f"{name} {number(size / MIB)} MiB" for name, size in ordered) or ABSENT


LOADED: tuple[Field[Line], ...] = (
    VARIANT,
    MODE,
    field(
        "search_index", "search index", lambda line: cell(one.data_set.search_index for one in line.results)
    ),
    _loaded("loaded_documents", "documents", "documents"),
    _loaded("loading_s", "loading", "seconds", "s"),
    _loaded("loaded_per_s", "loaded", "per_s", "1/s"),
    _loaded("build_s", "index build", "build_seconds", "s"),
    _loaded("settle_s", "settling", "settle_seconds", "s"),
    _loaded("store_mib", "store", "store_bytes", "MiB"),
    _loaded("store_bytes_per_document", "store per document", "store_bytes", "B"),
    _loaded("search_index_mib", "search index", "search_index_bytes", "MiB"),
    _loaded("index_bytes_per_document", "index per document", "search_index_bytes", "B"),
    field("store_parts", "parts", _parts),
)
RECOVERY = "_recovery_source"
PASSING = (
    f"{RECOVERY}: if an index omits a field from _source (here the bigrams), Elasticsearch stores each whole document a"
    " second time for shard recovery, until a merge removes it. It is part of the store only for some time after a"
    " load."
)


def loading(data: Suite) -> Table:
    """How the posts came in, and what they take up."""
    found = [line_of(data, row) for row in data.rows]
    passing = any(one.data_set.loading.parts_bytes.get(RECOVERY) for line in found for one in line.results)
    return rows.table(
        "loading",
        "Loading, building, size",
        "Bulk load: COPY, or _bulk without refresh and replicas; then the search index is built, if it can"
        " be built afterwards; settling: replicas and refresh, or VACUUM ANALYZE. –: built during the load, or not"
        f" reported by the store. Sizes as the store reports them, primaries only. {rows.spread_note(data.index)}",
        LOADED,
        found,
        notes=(PASSING,) if passing else (),
        names=2,
        compared=True,
    )


SHORT_DIGEST = 8
VALIDITY_COLUMNS = (
    rows.VARIANT,
    Column(key="validity_reads", title="blocks"),
    Column(key="validity_hits", title="hits explained"),
    Column(key="validity_posts", title="data set"),
    Column(key="validity_reads_lost", title="reasons"),
)


def validity(data: Suite) -> Table:
    """Whether every variant searched the same posts and found what it must; the A/A control too."""
    groups: dict[str, list[CellData[SearchResult]]] = {}
    for one in data.cells:
        mode = "" if one.result is None else f" ({one.result.data_set.mode})"
        groups.setdefault(rows.cell_title(one, mode), []).append(one)
    same = all(len(found) == 1 for found in digests(data).values())
    return Table(
        key="search_validity",
        title="Validity of the search runs",
        caption="Data set: a digest of every stored id and content; figures of different data sets are not compared."
        f" The ids are drawn from the seed, so each seed has its own digest. {rows.replaced_note(data.index)}".rstrip(),
        columns=VALIDITY_COLUMNS,
        rows=tuple(row_of(title, *_validity(own, same=same)) for title, own in groups.items()),
    )


def _validity(cells: Sequence[CellData[SearchResult]], *, same: bool) -> tuple[str, ...]:
    results = [one.result for one in cells if one.result is not None]
    found = [one.explained for result in results for one in result.hits]
    finished = sum(one.record.outcome == "finished" for one in cells)
    digests = dict.fromkeys(result.data_set.loading.digest[:SHORT_DIGEST] for result in results)
    posts = f"{'the same for all' if same else 'not the same for all'}, {', '.join(digests)}…"
    reasons = (f"block {one.record.block}: {'; '.join(one.reasons)}" for one in cells if one.reasons)
    return (
        f"{finished} of {len(cells)} finished",
        f"{sum(found)} of {len(found)}" if found else ABSENT,
        posts if digests else ABSENT,
        "; ".join(reasons) or "none",
    )
