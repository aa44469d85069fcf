"""Do the variants find the same posts, how large is what they search, and what did it take to load it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.report import hosts
from writepath.report.capacity_tables import bound_notes, rate, resolution_in_words
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, number, text
from writepath.report.queries_tables import BLOCKS, KEYWORD, MODE
from writepath.report.rows import VARIANT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.records.queries import Hits, Loading
    from writepath.report.capacity_figures import CapacityFigures
    from writepath.report.model import Value
    from writepath.report.queries_figures import QueriesFigures, VariantFigures

MIB = 1 << 20
HITS_COLUMNS = (
    VARIANT,
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


def hits(figures: QueriesFigures) -> Table:
    """What each keyword found, against a scan of all posts."""
    body = [
        Row(cells=(text(one.label), text(one.mode), text(keyword), *_hits_cells(found)))
        for one in figures.variants
        for keyword in figures.keywords
        if (found := one.hits(keyword))
    ]
    return Table(
        key="hits",
        title="Hits: what each search found",
        caption="Posts that contain the keyword, counted by a scan of all posts without an index, and the posts that"
        " the variant returned as every match. Explained: in mode substring no missed and no surplus posts; in mode"
        " native exactly the posts that the analyzer's rule finds.",
        columns=HITS_COLUMNS,
        rows=tuple(body),
    )


def _hits_cells(found: Sequence[Hits]) -> tuple[Cell, ...]:
    def counted(name: str) -> Cell:
        return cell(getattr(one, name) for one in found)

    bad = sum(not one.explained for one in found)
    return (
        counted("expected"),
        counted("found"),
        Cell(figure=stats.spread(recall_percent(one) for one in found)),
        counted("missed"),
        counted("surplus"),
        counted("as_word"),
        text(f"no, in {bad} of {len(found)}" if bad else "yes"),
    )


def recall_percent(hits: Hits) -> float | None:
    """Of the posts that hold the keyword, those that were returned; None where there is none."""
    return 100 * (hits.expected - hits.missed) / hits.expected if hits.expected else None


LOADING_COLUMNS = (
    VARIANT,
    MODE,
    Column(key="search_index", title="search index"),
    Column(key="loaded_documents", title="documents", exact=True),
    Column(key="loading_s", title="loading", unit="s"),
    Column(key="loaded_per_s", title="loaded", unit="1/s"),
    Column(key="build_s", title="index build", unit="s"),
    Column(key="settle_s", title="settling", unit="s"),
    Column(key="store_mib", title="store", unit="MiB"),
    Column(key="store_bytes_per_document", title="store per document", unit="B"),
    Column(key="search_index_mib", title="search index", unit="MiB"),
    Column(key="index_bytes_per_document", title="index per document", unit="B"),
    Column(key="store_parts", title="parts"),
)


RECOVERY = "_recovery_source"
PASSING = (
    f"{RECOVERY}: if an index omits a field from _source (here the bigrams), Elasticsearch stores each whole document a"
    " second time for shard recovery, until a merge removes it. It is part of the store only for some time after a"
    " load."
)


def loading(figures: QueriesFigures) -> Table:
    """How the posts came in, and what they take up."""
    return Table(
        key="loading",
        title="Loading, building, size",
        caption="Bulk load: COPY, or _bulk without refresh and replicas; then the search index is built, if it can"
        " be built afterwards; settling: replicas and refresh, or VACUUM ANALYZE. –: built during the load, or not"
        f" reported by the store. Sizes as the store reports them, primaries only. {BLOCKS}",
        columns=LOADING_COLUMNS,
        rows=tuple(
            Row(cells=(text(one.label), text(one.mode), *_loading_cells(one))) for one in figures.variants
        ),
        notes=(PASSING,) if any(_keeps_for_recovery(one) for one in figures.variants) else (),
    )


def _keeps_for_recovery(one: VariantFigures) -> bool:
    return any(loading.parts_bytes.get(RECOVERY) for loading in loadings(one))


def loadings(one: VariantFigures) -> list[Loading]:
    """By block."""
    return [found.read.loading for found in one.reads if found.read.loading is not None]


def index_of(one: VariantFigures) -> Cell:
    """As read back from the running store."""
    return cell(found.read.search_index for found in one.reads)


def _loading_cells(one: VariantFigures) -> tuple[Cell, ...]:
    known = loadings(one)

    def of(get: Callable[[Loading], Value]) -> Cell:
        return cell(get(loading) for loading in known)

    return (
        index_of(one),
        of(lambda loading: loading.documents),
        of(lambda loading: loading.seconds),
        of(loaded_per_s),
        of(lambda loading: loading.build_seconds),
        of(lambda loading: loading.settle_seconds),
        of(lambda loading: loading.store_bytes / MIB),
        of(lambda loading: _by_document(loading.store_bytes, loading)),
        of(lambda loading: None if loading.search_index_bytes is None else loading.search_index_bytes / MIB),
        of(lambda loading: _by_document(loading.search_index_bytes, loading)),
        text(_parts(known[0]) if known else ABSENT),
    )


def loaded_per_s(loading: Loading) -> float | None:
    """Documents per second of the bulk load alone."""
    return loading.documents / loading.seconds if loading.seconds else None


def _by_document(size_bytes: int | None, loading: Loading) -> float | None:
    return None if size_bytes is None or not loading.documents else size_bytes / loading.documents


def _parts(loading: Loading) -> str:
    """Largest first, of the first block."""
    parts = sorted(loading.parts_bytes.items(), key=lambda part: (-part[1], part[0]))
    return ", ".join(f"{name} {number(size / MIB)} MiB" for name, size in parts) or ABSENT


COST_COLUMNS = (
    VARIANT,
    MODE,
    Column(key="cost_index", title="search index"),
    Column(key="cost_loaded_per_s", title="bulk load", unit="1/s"),
    Column(key="cost_build_s", title="index build", unit="s"),
    Column(key="cost_write_p99_ms", title="write p99 during searches", unit="ms"),
    Column(key="cost_sustained_per_s", title="sustained writes", unit="1/s"),
)
NOWHERE = (
    "No write capacity is published for these variants. make bench-all SUITE=index-cost measures it, with and without"
    " each index."
)


def _elsewhere(written: CapacityFigures) -> str:
    where = hosts.name(written.data.searches[0].search.host)
    return (
        f"Sustained writes are from a published suite of write capacity, measured in other runs on {where}."
        f" {resolution_in_words(written)}"
    )


def writes(figures: QueriesFigures) -> Table:
    """What each index costs where posts come in."""
    body, shown = [], []
    for one in figures.variants:
        written = None if figures.writes is None else figures.writes.one(one.variant.name)
        shown += [] if written is None else [written]
        body.append(
            Row(
                cells=(
                    text(one.label),
                    text(one.mode),
                    index_of(one),
                    cell(loaded_per_s(loading) for loading in loadings(one)),
                    cell(loading.build_seconds for loading in loadings(one)),
                    cell(load.write_latency_ms.p99 for load in one.warm_beside),
                    Cell() if written is None else rate(written.sustained),
                )
            )
        )
    return Table(
        key="index_cost",
        title="Write cost of each index",
        caption=f"An index makes searches faster and writes more expensive. {BLOCKS}",
        columns=COST_COLUMNS,
        rows=tuple(body),
        notes=(NOWHERE,) if figures.writes is None else (_elsewhere(figures.writes), *bound_notes(shown)),
    )
