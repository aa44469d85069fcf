"""May the figures of searches be believed, and on what were they measured?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report import capacity_evidence
from writepath.report import fingerprint as common
from writepath.report.capacity_evidence import HOLDS_COUNTED, ended_in_words, holds_counted, lost_in_words
from writepath.report.model import ABSENT, Cell, Column, Row, Table, cell, text
from writepath.report.queries_figures import digests, same_posts
from writepath.report.rows import VARIANT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.records.queries import Read
    from writepath.report.fingerprint import Fact
    from writepath.report.queries_figures import QueriesFigures

VALIDITY_COLUMNS = (
    VARIANT,
    Column(key="validity_reads", title="blocks"),
    Column(key="validity_hits", title="hits explained"),
    Column(key="validity_posts", title="data set"),
    *HOLDS_COUNTED,
    Column(key="validity_wrong", title="wrong answers during writes", exact=True),
    Column(key="validity_reads_lost", title="failed runs"),
)
SHORT_DIGEST = 8


def validity(figures: QueriesFigures) -> Table:
    """Whether every variant searched the same posts and found what it must, and how many steps were noisy."""
    reads = {found.folder: found.read for found in figures.data.reads}
    body = []
    for title, own in capacity_evidence.by_name(figures.carried).items():
        of_it = [reads[one.folder] for one in own]
        cells = (
            text(ended_in_words(own)),
            text(_explained(of_it)),
            text(_posts(of_it, figures)),
            *holds_counted(own),
            _wrong(of_it),
            text(lost_in_words(own)),
        )
        body.append(Row(cells=(text(title), *cells)))
    return Table(
        key="search_validity",
        title="Validity of the search runs",
        caption="Data set: a digest of every stored id and content; figures of different data sets are not compared."
        f" The ids are drawn from the seed, so each seed has its own digest. {capacity_evidence.NOISY}",
        columns=VALIDITY_COLUMNS,
        rows=tuple(body),
    )


def _explained(reads: list[Read]) -> str:
    hits = [hits for read in reads for hits in read.hits]
    return f"{sum(one.explained for one in hits)} of {len(hits)}" if hits else ABSENT


def _posts(reads: list[Read], figures: QueriesFigures) -> str:
    mine = dict.fromkeys(read.loading.digest for read in reads if read.loading is not None)
    if not mine:
        return ABSENT
    same = "the same for all" if same_posts(figures.data) else "not the same for all"
    return f"{same}, {', '.join(digest[:SHORT_DIGEST] for digest in mine)}…"


def _wrong(reads: list[Read]) -> Cell:
    known = [read.beside.wrong_answers for read in reads if read.beside is not None]
    return cell([sum(known)]) if known else Cell()


def fingerprint(figures: QueriesFigures) -> Table:
    """One line a fact; facts that all share are one line."""
    searches = [one.search for one in figures.carried.data.searches]
    facts = [
        *capacity_evidence.of_hosts(searches),
        *(
            (one.read.variant, fact)
            for one, search in zip(figures.data.reads, searches, strict=True)
            for fact in (*capacity_evidence.search_facts(search), *_of_read(one.read))
        ),
    ]
    suite = (*capacity_evidence.suite_facts(figures.carried), *_of_suite(figures))
    return common.of_blocks(suite, facts, *capacity_evidence.names(searches))


def _of_suite(figures: QueriesFigures) -> Iterator[tuple[str, str]]:
    suite = figures.suite
    yield "posts", f"{suite.documents:,}, the same in every store"
    yield "rounds", f"{suite.rounds} of each keyword: {', '.join(suite.keywords)}"
    for digest in dict.fromkeys(one for found in digests(figures.data).values() for one in found):
        yield "posts, ids and contents", f"sha256 {digest[: common.SHORT_HASH]}…"


def _of_read(read: Read) -> Iterator[Fact]:
    yield "setting", "search index", read.search_index
    yield "setting", "search mode", read.mode
    later = read.beside
    if later is not None and later.host is not None and later.code is not None:
        words = f"{later.host.cpu_model}, commit {common.of_code(later.code)}"
        yield "setting", f"searches during writes, block {read.block}, rerun on", words
