"""Tables of how long a search takes, what it finds, how large the stores are, and which cells count."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from writepath.analysis import stats
from writepath.experiments.search import figures
from writepath.experiments.search.figures import KEYWORD, MODE, MODES, Results, Suite, original
from writepath.records.search import KINDS, Loading, SearchResult
from writepath.report import rows
from writepath.report.comparison import ratio_cell, reference
from writepath.report.data import CellData, RowKey, published_figures
from writepath.report.model import ABSENT, Cell, Column, Row, Table, Value, cell, number, text

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


MIB = 1 << 20
HITS_COLUMNS = (
    rows.VARIANT,
    MODE,
    KEYWORD,
    Column(key="hits_expected", title="contain the keyword", exact=True),
    Column(key="hits_found", title="found", exact=True),
    Column(key="hits_recall_percent", title="recall", unit="%"),
    Column(key="hits_missed", title="missed", exact=True),
    Column(key="hits_surplus", title="surplus", exact=True),
    Column(key="hits_as_word", title="contain it as a word", exact=True),
    Column(key="hits_explained", title="explained"),
)


def hits(data: Suite) -> Table:
    """What each keyword found, against a scan of all posts."""
    body = []
    for row in data.rows:
        results = figures.results(data, row)
        known = dict.fromkeys(one.keyword for result in results for one in result.hits)
        for keyword in dict.fromkeys((*figures.keywords(data), *known)):
            found = figures.hits(results, keyword)
            if not found:
                continue
            bad = sum(not one.explained for one in found)
            cells = (
                cell(one.expected for one in found),
                cell(one.found for one in found),
                cell(one.recall_percent for one in found),
                cell(one.missed for one in found),
                cell(one.surplus for one in found),
                cell(one.as_word for one in found),
                text(f"no, in {bad} of {len(found)}" if bad else "yes"),
            )
            body.append(Row(cells=(text(row.title), figures.mode(results), text(keyword), *cells)))
    return Table(
        key="hits",
        title="Hits: what each search found",
        caption="Posts that contain the keyword, counted by a scan of all posts without an index, and the posts that"
        " the variant returned as every match. Explained: in mode substring no missed and no surplus posts; in mode"
        " native exactly the posts that the analyzer's rule finds.",
        columns=HITS_COLUMNS,
        rows=tuple(body),
        names=3,
    )


def _per(size_bytes: int | None, unit: int) -> float | None:
    return None if size_bytes is None else size_bytes / unit


LOADED: tuple[tuple[Column, Callable[[Loading], Value]], ...] = (
    (Column(key="loaded_documents", title="documents", exact=True), lambda loading: loading.documents),
    (Column(key="loading_s", title="loading", unit="s"), lambda loading: loading.seconds),
    (
        Column(key="loaded_per_s", title="loaded", unit="1/s"),
        lambda loading: loading.documents / loading.seconds if loading.seconds else None,
    ),
    (Column(key="build_s", title="index build", unit="s"), lambda loading: loading.build_seconds),
    (Column(key="settle_s", title="settling", unit="s"), lambda loading: loading.settle_seconds),
    (Column(key="store_mib", title="store", unit="MiB"), lambda loading: _per(loading.store_bytes, MIB)),
    (
        Column(key="store_bytes_per_document", title="store per document", unit="B"),
        lambda loading: _per(loading.store_bytes, loading.documents),
    ),
    (
        Column(key="search_index_mib", title="search index", unit="MiB"),
        lambda loading: _per(loading.search_index_bytes, MIB),
    ),
    (
        Column(key="index_bytes_per_document", title="index per document", unit="B"),
        lambda loading: _per(loading.search_index_bytes, loading.documents),
    ),
)
RECOVERY = "_recovery_source"
PASSING = (
    f"{RECOVERY}: if an index omits a field from _source (here the bigrams), Elasticsearch stores each whole document a"
    " second time for shard recovery, until a merge removes it. It is part of the store only for some time after a"
    " load."
)


def loading(data: Suite) -> Table:
    """How the posts came in, and what they take up."""
    body, known = [], []
    for row in data.rows:
        results = figures.results(data, row)
        loadings = [one.data_set.loading for one in results]
        known += loadings
        named = (text(row.title), figures.mode(results), cell(one.data_set.search_index for one in results))
        values = (cell(map(get, loadings)) for _, get in LOADED)
        body.append(Row(cells=(*named, *values, text(_parts(loadings)))))
    return Table(
        key="loading",
        title="Loading, building, size",
        caption="Bulk load: COPY, or _bulk without refresh and replicas; then the search index is built, if it can"
        " be built afterwards; settling: replicas and refresh, or VACUUM ANALYZE. –: built during the load, or not"
        f" reported by the store. Sizes as the store reports them, primaries only. {rows.spread_note(data.index)}",
        columns=(
            rows.VARIANT,
            MODE,
            Column(key="search_index", title="search index"),
            *(column for column, _ in LOADED),
            Column(key="store_parts", title="parts"),
        ),
        rows=tuple(body),
        notes=(PASSING,) if any(one.parts_bytes.get(RECOVERY) for one in known) else (),
        names=2,
        compared=True,
    )


def _parts(loadings: Sequence[Loading]) -> str:
    """Largest first, of the first block."""
    if not loadings:
        return ABSENT
    parts = sorted(loadings[0].parts_bytes.items(), key=lambda part: (-part[1], part[0]))
    return ", ".join(f"{name} {number(size / MIB)} MiB" for name, size in parts) or ABSENT


VALIDITY_COLUMNS = (
    rows.VARIANT,
    Column(key="validity_reads", title="blocks"),
    Column(key="validity_hits", title="hits explained"),
    Column(key="validity_posts", title="data set"),
    Column(key="validity_reads_lost", title="reasons"),
)
SHORT_DIGEST = 8


def validity(data: Suite) -> Table:
    """Whether every variant searched the same posts and found what it must; the A/A control too."""
    groups: dict[str, list[CellData[SearchResult]]] = {}
    for one in data.cells:
        mode = "" if one.result is None else f" ({one.result.data_set.mode})"
        control = rows.AGAIN if one.record.role == "A/A control" else ""
        levels = "".join(f", {name}={level}" for name, level in one.record.levels.items())
        groups.setdefault(f"{one.record.title}{levels}{mode}{control}", []).append(one)
    same = all(len(found) == 1 for found in figures.digests(data).values())
    return Table(
        key="search_validity",
        title="Validity of the search runs",
        caption="Data set: a digest of every stored id and content; figures of different data sets are not compared."
        f" The ids are drawn from the seed, so each seed has its own digest. {rows.replaced_note(data.index)}".rstrip(),
        columns=VALIDITY_COLUMNS,
        rows=tuple(Row(cells=(text(title), *_validity(own, same=same))) for title, own in groups.items()),
    )


def _validity(cells: Sequence[CellData[SearchResult]], *, same: bool) -> tuple[Cell, ...]:
    results = [one.result for one in cells if one.result is not None]
    found = [one for result in results for one in result.hits]
    finished = sum(one.record.outcome == "finished" for one in cells)
    digests = dict.fromkeys(result.data_set.loading.digest[:SHORT_DIGEST] for result in results)
    posts = f"{'the same for all' if same else 'not the same for all'}, {', '.join(digests)}…"
    reasons = (f"block {one.record.block}: {'; '.join(one.reasons)}" for one in cells if one.reasons)
    return (
        text(f"{finished} of {len(cells)} finished"),
        text(f"{sum(one.explained for one in found)} of {len(found)}" if found else ABSENT),
        text(posts if digests else ABSENT),
        text("; ".join(reasons) or "none"),
    )
