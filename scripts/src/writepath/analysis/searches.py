"""Figures of searches: hits against what must be found, and times of the rounds."""

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from writepath.analysis.evidence import Evidence
from writepath.analysis.verdict import noise_reasons, slower_reasons
from writepath.load.parquet import load_table
from writepath.records import base
from writepath.records.measures import Verdict
from writepath.records.search import KINDS, Hits, SearchFacts, SearchKind, SearchResult, Times

SEARCHES = "searches"  # the table of evidence
SEARCHES_FILE = f"{SEARCHES}.parquet"
EVIDENCE_SCHEMA = pa.schema(
    [
        ("round", pa.int64()),  # from 1
        ("keyword", pa.string()),
        ("kind", pa.string()),
        ("duration_us", pa.int64()),
        ("pages", pa.int64()),
        ("posts", pa.int64()),  # returned, over all pages
    ]
)
RAW_SCHEMA = EVIDENCE_SCHEMA.append(pa.field("start_us", pa.int64()))
Row = dict[str, Any]
Searches = dict[tuple[str, SearchKind], list[Row]]  # by keyword and kind, round by round


def reduce_searches(path: Path, facts: SearchFacts) -> Evidence:
    """path: of the raw table."""
    table = load_table(path).select(EVIDENCE_SCHEMA.names)
    return Evidence(tables={SEARCHES: table}, facts=base.to_data(facts))


def derive_searches(evidence: Evidence) -> SearchResult:
    """Times of each keyword and kind of search, and whether they count."""
    facts = base.from_data(SearchFacts, dict(evidence.facts), "facts")
    table = evidence.tables[SEARCHES].cast(EVIDENCE_SCHEMA).sort_by("round")
    searches: Searches = {(keyword, kind): [] for keyword in facts.keywords for kind in KINDS}
    for row in table.to_pylist():
        searches[row["keyword"], row["kind"]].append(row)
    broken, noise = tuple(_broken(facts, searches)), tuple(_noise(facts))
    return SearchResult(
        data_set=facts.data_set,
        hits=facts.hits,
        times=tuple(_times(keyword, kind, rows) for (keyword, kind), rows in searches.items()),
        verdict=Verdict(
            status="invalid" if broken else "unknown" if noise else "valid",
            reasons=(*broken, *noise),
            noise=bool(noise) and not broken,
        ),
    )


def _times(keyword: str, kind: SearchKind, rows: Sequence[Row]) -> Times:
    ms = tuple(row["duration_us"] / 1000 for row in rows)
    return Times(
        keyword=keyword,
        kind=kind,
        rounds_ms=ms,
        warm_mean_ms=statistics.fmean(ms[1:]) if ms[1:] else None,
        mean_ms=statistics.fmean(ms) if ms else None,
    )


def _broken(facts: SearchFacts, searches: Searches) -> Iterator[str]:
    """Why the figures are not those of the searches that the suite asks for."""
    yield from (f"component lost: {component}" for component in facts.lost_components)
    hits = {one.keyword: one for one in facts.hits}
    for one in facts.hits:
        if not one.explained:
            yield f"the hits of '{one.keyword}' are not explained ({_in_words(one)})"
    for (keyword, kind), rows in searches.items():
        if [row["round"] for row in rows] != list(range(1, facts.rounds + 1)):
            yield f"'{keyword}', {KINDS[kind]}: {len(rows)} of {facts.rounds} rounds"
        for row in rows:
            pages, posts, found = row["pages"], row["posts"], hits[keyword].found
            # A first page is one request; every match has all posts, in at least one.
            fits = (
                (pages == 1 and posts <= found) if kind == "first-page" else (pages >= 1 and posts == found)
            )
            if not fits:
                words = f"{posts:,} posts in {pages} pages of {found:,} found"
                yield f"'{keyword}', {KINDS[kind]}, round {row['round']}: {words}"


def _in_words(hits: Hits) -> str:
    return (
        f"mode {hits.mode}: {hits.found:,} found, {hits.expected:,} contain it, {hits.missed:,} missed,"
        f" {hits.surplus:,} surplus"
    )


def _noise(facts: SearchFacts) -> Iterator[str]:
    if facts.withheld is not None:
        yield from noise_reasons(facts.withheld)
    host = facts.host
    if host is not None and host.before is not None and host.after is not None:
        yield from slower_reasons(host.before, host.after)
