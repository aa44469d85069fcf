"""Does every published number of searches follow from raw values, and those from the raw run?

Rounds and hits are raw values themselves: means, ratios and recall are made of them where the page is. What they say
must fit together.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.analysis.step_verdict import BROKEN
from writepath.load.ledger import ACKNOWLEDGED_STATUS, SEARCH, WRONG_TOTAL
from writepath.records.base import inside
from writepath.report import packed, queries_compact, queries_publish
from writepath.report.capacity_verify import differing, of_bracket
from writepath.report.hold_verify import near, of_hold, of_latency
from writepath.report.queries_figures import KINDS, rounds_ms
from writepath.report.queries_raw import read
from writepath.report.scrub import scrubbed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from writepath.records.queries import Beside, Hits, QueriesSuite, Read, Round
    from writepath.report.queries_compact import BesideData, LoadData, ReadData
    from writepath.report.queries_raw import QueriesData

WORDS = "words"  # the one index whose searches are of words
INDEXED = ("variant", "block", "position", "again", "outcome")  # of a line of queries.json, as in the record


def problems(root: Path) -> list[str]:
    """Of everything published; empty when each number the compact files carry is derived again."""
    return [
        f"{folder.name}/{problem}"
        for folder in queries_publish.published(root)
        for problem in of_suite(read(folder), _published, folder)
    ]


def _published(_: Read, place: Path) -> ReadData:
    return queries_compact.read(place)


def of_raw(root: Path, folder: Path) -> list[str]:
    """Of a raw suite run: each record against its raw files; and what is published of it against both."""
    data = read(folder)
    found = [*of_suite(data, queries_compact.from_raw, folder)]
    return found + [
        problem for path in queries_publish.published(root) for problem in against_raw(path, folder)
    ]


def of_suite(data: QueriesData, kept: Callable[[Read, Path], ReadData], folder: Path) -> Iterator[str]:
    """Every record against its values, and against its line of the index."""
    for found, line in zip(data.reads, data.suite.reads, strict=True):
        for name in INDEXED:
            mine, theirs = getattr(found.read, name), getattr(line, name)
            if mine != theirs:
                yield f"{found.folder}: {name}={mine}, in queries.json {theirs}"
        values = kept(found.read, inside(folder, found.folder))
        yield from (f"{found.folder}: {problem}" for problem in of_read(found.read, values, data.suite))


def of_read(given: Read, kept: ReadData, suite: QueriesSuite) -> Iterator[str]:
    """One record."""
    cores = given.host.cores if given.host is not None else None
    for hold in given.holds:
        data = kept.holds.get(hold.number)
        if data is None:
            yield f"step {hold.number}: no raw values"
            continue
        for problem in of_hold(hold, data, suite.slo_ms, cores, SEARCH):
            yield f"step {hold.number}: {problem}"
        wrong = sum(count for (_, code), count in data.answers.items() if code == WRONG_TOTAL)
        if wrong and not any(reason.startswith(BROKEN) for reason in hold.reasons):
            yield f"step {hold.number}: {wrong} answers with a wrong total, but no reason says that it is broken"
    counted = tuple(hold for hold in given.holds if hold.kind != "ramp" and hold.verdict != "noise")
    if given.capacity is not None:
        yield from of_bracket("capacity", given.capacity, counted, burst=False)
    yield from _of_rounds(given, suite)
    for hits in given.hits:
        yield from (f"'{hits.keyword}': {problem}" for problem in _of_hits(hits, given))
    if given.beside is not None:
        if kept.beside is None:
            yield "searches during writes: no raw values"
        else:
            yield from (
                f"searches during writes: {problem}" for problem in _of_beside(given.beside, kept.beside)
            )


def _of_rounds(given: Read, suite: QueriesSuite) -> Iterator[str]:
    """Each keyword once in each round, of each kind; of the first rounds alone it is said that they were cold."""
    if len({(one.keyword, one.kind, one.round) for one in given.rounds}) != len(given.rounds):
        yield "rounds: one occurs twice"
    for keyword in suite.keywords:
        for kind, words in KINDS.items():
            known = rounds_ms(given, keyword, kind)
            cold = sorted(number for number, (_, is_cold) in known.items() if is_cold)
            if known and (sorted(known) != list(range(1, len(known) + 1)) or cold != [1]):
                yield f"rounds of '{keyword}', {words}: {sorted(known)}, cold {cold}"


def _of_hits(hits: Hits, given: Read) -> Iterator[str]:
    """What one keyword found, by itself and against what its rounds fetched."""
    if hits.mode != given.mode or (given.mode == "native") != (given.search_index == WORDS):
        yield f"mode={hits.mode}, the index '{given.search_index}' has mode {given.mode}"
    if hits.found != hits.expected - hits.missed + hits.surplus:
        yield f"found={hits.found} ≠ {hits.expected} - {hits.missed} missed + {hits.surplus} surplus"
    if not (0 <= hits.as_word <= hits.expected and 0 <= hits.missed <= hits.expected):
        yield f"as_word={hits.as_word}, missed={hits.missed} of {hits.expected} that contain it"
    if hits.explained and hits.mode == "substring" and (hits.missed or hits.surplus):
        yield f"explained, with {hits.missed} missed and {hits.surplus} surplus"
    for one in given.rounds:
        if one.keyword == hits.keyword and not _fetched(one, hits.found):
            yield f"{KINDS[one.kind]}, round {one.round}: {one.posts} posts in {one.requests} pages of {hits.found}"


def _fetched(one: Round, found: int) -> bool:
    """A first page is one request; every match has all posts, in at least one."""
    if one.kind == "first-page":
        return one.requests == 1 and one.posts <= found
    return one.requests >= 1 and one.posts == found


def _of_beside(beside: Beside, data: BesideData) -> Iterator[str]:
    for name, load, latency in (
        ("search_latency_ms", data.searches, beside.search_latency_ms),
        ("write_latency_ms", data.writes, beside.write_latency_ms),
        ("alone_latency_ms", data.alone, beside.alone_latency_ms),
    ):
        if latency is not None:
            yield from of_latency(name, latency, load.planned)
    for name, quantile in (("median", 0.5), ("p95", 0.95)):
        recorded = getattr(beside, f"visible_ms_{name}")
        derived = None if data.visible is None else data.visible.percentile(quantile)
        if not near(recorded, None if derived == stats.UNSERVED else derived, packed.COARSE):
            yield f"visible_ms_{name}={recorded} ≠ {derived} of the histogram"
    acknowledged = _answered(data.writes, ACKNOWLEDGED_STATUS)
    if beside.writes_acknowledged != acknowledged:
        yield f"writes_acknowledged={beside.writes_acknowledged} ≠ {acknowledged} of the answers"
    if beside.writes_found > acknowledged:
        yield f"writes_found={beside.writes_found} of {acknowledged} acknowledged"
    wrong = _wrong(data.alone) + _wrong(data.searches)
    if beside.wrong_answers != wrong:
        yield f"wrong_answers={beside.wrong_answers} ≠ {wrong} of the answers"


def _answered(load: LoadData, success: int) -> int:
    return sum(count for (status, _), count in load.answers.items() if status == success)


def _wrong(load: LoadData) -> int:
    return sum(count for (_, code), count in load.answers.items() if code == WRONG_TOTAL)


def against_raw(published: Path, raw: Path) -> list[str]:
    """What of a published suite differs from a raw run that it was copied from, whole or in some of its blocks."""
    found = []
    originals = {one.read.run_id: one for one in read(raw).reads}
    for one in read(published).reads:
        if one.read.run_id not in originals:
            continue
        copied = originals[one.read.run_id]
        source, copy = inside(raw, copied.folder), inside(published, one.folder)
        original = dataclasses.replace(copied.read, block=one.read.block)
        if _scrubbed(original) != _scrubbed(one.read):
            found.append(f"{one.folder}/read.json: differs from the raw run's")
        mine = queries_compact.from_raw(original, source).lines()
        found += [f"{one.folder}: {words}" for words in differing(mine, queries_compact.read(copy).lines())]
    return found


def _scrubbed(given: Read) -> object:
    """In the form in which two can be compared."""
    return scrubbed(json.loads(json.dumps(dataclasses.asdict(given))))
