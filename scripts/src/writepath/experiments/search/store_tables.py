"""Tables of what the variants find, how large their stores are, what loading took, and which cells count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.experiments.search import figures
from writepath.experiments.search.figures import KEYWORD, MODE
from writepath.report import rows
from writepath.report.model import ABSENT, Column, Row, Table, cell, number, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.experiments.search.figures import Suite
    from writepath.records.search import Loading, SearchResult
    from writepath.report.data import CellData
    from writepath.report.model import Cell, Value

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


def _by_document(get: Callable[[Loading], int | None], loading: Loading) -> float | None:
    size_bytes = get(loading)
    return None if size_bytes is None else size_bytes / loading.documents


def _mib(get: Callable[[Loading], int | None], loading: Loading) -> float | None:
    size_bytes = get(loading)
    return None if size_bytes is None else size_bytes / MIB


def _store(loading: Loading) -> int:
    return loading.store_bytes


def _index(loading: Loading) -> int | None:
    return loading.search_index_bytes


LOADED: tuple[tuple[Column, Callable[[Loading], Value]], ...] = (
    (Column(key="loaded_documents", title="documents", exact=True), lambda loading: loading.documents),
    (Column(key="loading_s", title="loading", unit="s"), lambda loading: loading.seconds),
    (
        Column(key="loaded_per_s", title="loaded", unit="1/s"),
        lambda loading: loading.documents / loading.seconds if loading.seconds else None,
    ),
    (Column(key="build_s", title="index build", unit="s"), lambda loading: loading.build_seconds),
    (Column(key="settle_s", title="settling", unit="s"), lambda loading: loading.settle_seconds),
    (Column(key="store_mib", title="store", unit="MiB"), lambda loading: _mib(_store, loading)),
    (
        Column(key="store_bytes_per_document", title="store per document", unit="B"),
        lambda loading: _by_document(_store, loading),
    ),
    (Column(key="search_index_mib", title="search index", unit="MiB"), lambda loading: _mib(_index, loading)),
    (
        Column(key="index_bytes_per_document", title="index per document", unit="B"),
        lambda loading: _by_document(_index, loading),
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
