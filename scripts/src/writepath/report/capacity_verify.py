"""Does every published number of a capacity run follow from raw values, and those from the raw run?"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from writepath.records.base import inside
from writepath.report import capacity_compact, capacity_publish
from writepath.report.capacity_raw import Found, read
from writepath.report.hold_verify import of_hold
from writepath.report.overload_verify import of_overload
from writepath.report.scrub import scrubbed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from writepath.records.capacity import Bracket, Hold, Search
    from writepath.report.capacity_compact import SearchData


def problems(root: Path) -> list[str]:
    """Of everything published; empty when each number the compact files carry is derived again."""
    return [
        f"{folder.name}/{found.folder}: {problem}"
        for folder in capacity_publish.published(root)
        for found in read(folder).searches
        for problem in of_search(found, capacity_compact.read(inside(folder, found.folder)))
    ]


def of_raw(root: Path, folder: Path) -> list[str]:
    """Of a raw suite run: each record against its ledgers and samples; and what is published of it against both."""
    data = read(folder)
    found = []
    for one in data.searches:
        kept = capacity_compact.from_raw(one.search, inside(folder, one.folder))
        found += [f"{one.folder}: {problem}" for problem in of_search(one, kept)]
    return found + [
        problem for path in capacity_publish.published(root) for problem in against_raw(path, folder)
    ]


def of_search(found: Found, kept: SearchData) -> Iterator[str]:
    """One capacity run against the values of its load steps and its overload."""
    search = found.search
    cores = search.host.cores if search.host is not None else None
    for hold in search.holds:
        if hold.number not in kept.holds:
            yield f"step {hold.number}: no raw values"
            continue
        for problem in of_hold(hold, kept.holds[hold.number], search.slo_ms, cores):
            yield f"step {hold.number}: {problem}"
    for name, bracket in (("sustained", search.sustained), ("burst", search.burst)):
        if bracket is not None:
            yield from of_bracket(name, bracket, found.counted, burst=name == "burst")
    if kept.overload is not None:
        yield from (f"overload: {problem}" for problem in of_overload(search, kept.overload))
    elif search.overload is not None:
        yield "overload: no raw values"


def of_bracket(name: str, bracket: Bracket, counted: tuple[Hold, ...], *, burst: bool) -> Iterator[str]:
    """Whether steps at its rates had the verdicts it says; burst: a backlog may grow."""
    good = {hold.rate_per_s for hold in counted if hold.verdict == "pass" or (burst and hold.burst)}
    bad = {hold.rate_per_s for hold in counted if hold.verdict == "fail" and not (burst and hold.burst)}
    if bracket.last_pass_per_s is not None and bracket.last_pass_per_s not in good:
        yield f"{name}.last_pass_per_s={bracket.last_pass_per_s}: no counted step of that rate passed"
    if bracket.first_fail_per_s is not None and bracket.first_fail_per_s not in bad:
        yield f"{name}.first_fail_per_s={bracket.first_fail_per_s}: no counted step of that rate failed"


def against_raw(published: Path, raw: Path) -> list[str]:
    """What of a published suite differs from a raw run that it was copied from, whole or in some of its blocks."""
    found = []
    originals = {one.search.run_id: one for one in read(raw).searches}
    for one in read(published).searches:
        if one.search.run_id not in originals:
            continue
        copied = originals[one.search.run_id]
        source, copy = inside(raw, copied.folder), inside(published, one.folder)
        original = dataclasses.replace(copied.search, block=one.search.block)
        if scrubbed_search(original) != scrubbed_search(one.search):
            found.append(f"{one.folder}/search.json: differs from the raw run's")
        mine = capacity_compact.from_raw(original, source).lines()
        found += [f"{one.folder}: {words}" for words in differing(mine, capacity_compact.read(copy).lines())]
    return found


def differing(mine: Mapping[str, Sequence[str]], theirs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Of what the published values are not the raw run's."""
    for whose in sorted(mine.keys() | theirs.keys()):
        if mine.get(whose) != theirs.get(whose):
            words = f"step {int(whose)}" if whose.isdecimal() else f"'{whose}'"
            yield f"the raw values of {words} differ from the raw run's"


def scrubbed_search(search: Search) -> object:
    """In the form in which two can be compared."""
    return scrubbed(json.loads(json.dumps(dataclasses.asdict(search))))
