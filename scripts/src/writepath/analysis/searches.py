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
from writepath.records.search import KINDS, Hits, SearchFacts, SearchResult, Times

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


def reduce_searches(path: Path, facts: SearchFacts) -> Evidence:
    """path: of the raw table."""
    table = load_table(path).select(EVIDENCE_SCHEMA.names)
    return Evidence(tables={SEARCHES: table}, facts=base.to_data(facts))


def derive_searches(evidence: Evidence) -> SearchResult:
    """Times of each keyword and kind of search, and whether they count."""
    facts = base.from_data(SearchFacts, dict(evidence.facts), "facts")
    rows = evidence.tables[SEARCHES].cast(EVIDENCE_SCHEMA).to_pylist()
    times = tuple(_times(rows, keyword, kind) for keyword in facts.keywords for kind in KINDS)
    broken, noise = tuple(_broken(facts, rows)), tuple(_noise(facts))
    return SearchResult(
        data_set=facts.data_set,
        hits=facts.hits,
        times=times,
        verdict=Verdict(
            status="invalid" if broken else "unknown" if noise else "valid",
            reasons=(*broken, *noise),
            noise=bool(noise) and not broken,
        ),
    )


def _times(rows: Sequence[dict[str, Any]], keyword: str, kind: Any) -> Times:
    own = sorted((row for row in rows if (row["keyword"], row["kind"]) == (keyword, kind)), key=_round)
    ms = tuple(row["duration_us"] / 1000 for row in own)
    return Times(
        keyword=keyword,
        kind=kind,
        rounds_ms=ms,
        warm_mean_ms=statistics.fmean(ms[1:]) if ms[1:] else None,
        mean_ms=statistics.fmean(ms) if ms else None,
    )


def _round(row: dict[str, Any]) -> int:
    return int(row["round"])


def _broken(facts: SearchFacts, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Why the figures are not those of the searches that the suite asks for."""
    yield from (f"component lost: {component}" for component in facts.lost_components)
    hits = {one.keyword: one for one in facts.hits}
    for one in facts.hits:
        if not one.explained:
            yield f"the hits of '{one.keyword}' are not explained ({_in_words(one)})"
    for keyword in facts.keywords:
        if keyword not in hits:
            yield f"the hits of '{keyword}' are missing"
        for kind, words in KINDS.items():
            own = [row for row in rows if (row["keyword"], row["kind"]) == (keyword, kind)]
            if sorted(map(_round, own)) != list(range(1, facts.rounds + 1)):
                yield f"'{keyword}', {words}: {len(own)} of {facts.rounds} rounds"
            yield from (_wrong_count(row, hits[keyword]) for row in own if not _fits(row, hits.get(keyword)))


def _fits(row: dict[str, Any], hits: Hits | None) -> bool:
    """A first page is one request; every match has all posts, in at least one."""
    if hits is None:
        return True
    if row["kind"] == "first-page":
        return bool(row["pages"] == 1 and row["posts"] <= hits.found)
    return bool(row["pages"] >= 1 and row["posts"] == hits.found)


def _wrong_count(row: dict[str, Any], hits: Hits) -> str:
    return (
        f"'{hits.keyword}', {KINDS[row['kind']]}, round {row['round']}: {row['posts']:,} posts in {row['pages']}"
        f" pages of {hits.found:,} found"
    )


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
