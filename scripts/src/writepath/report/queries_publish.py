"""Which search suites may be published? Finished ones that searched the same posts and found what they must."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.records.base import inside
from writepath.records.index import CONTROL
from writepath.records.queries import QUERIES_FILE, READ_FILE
from writepath.report import capacity_publish, join, queries_compact, queries_page, staging, whole
from writepath.report.capacity_publish import SETTINGS_FILE
from writepath.report.queries_figures import KINDS, by_host, digests, queries_figures, rounds_ms, same_posts
from writepath.report.queries_raw import finished, read
from writepath.report.scrub import copy_json
from writepath.report.staging import PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from writepath.records.queries import Hits, QueriesSuite, Read
    from writepath.report.queries_raw import Found, QueriesData

CURVES = "search-curves.svg"


def publish(root: Path, folder: Path, limit_bytes: int, *, add: bool = False) -> None:
    """Copies records and compact values; an error where it is not for the world.

    add: behind the blocks that are published already, if any are.
    """
    data = read(folder)
    refuse(data)
    place = staging.Place(target=root / PUBLISHED / data.suite.suite, source=folder, limit_bytes=limit_bytes)

    def fill(staged: Path) -> None:
        _copy(folder, data, staged)
        if add and place.target.is_dir():
            join.join_queries(place.target, staged)

    staging.put(place, fill, less="blocks or variants")


def refuse(data: QueriesData) -> None:
    """UsageError where it is not finished, InvalidRunError naming what cannot be believed."""
    suite = data.suite
    bad = [problem for found in data.reads for problem in problems(found, suite)]
    if not same_posts(data):
        bad.append(_different_posts(data))
    whole.refuse_unsound(bad)
    made = {(_name(found), found.read.block) for found in data.reads}
    whole.refuse_unfinished(suite, made, "variants and blocks")


def problems(found: Found, suite: QueriesSuite) -> Iterator[str]:
    """Why a record says too little or something false, in words."""
    given = found.read
    where = f"{_name(found)}, block {given.block}"
    if not finished(found):
        yield f"{where}: {given.error or f'search run {given.outcome}'}"
        return
    yield from (f"{where}: {words}" for words in _wanting(given, suite))
    for hits in given.hits:
        if not hits.explained:
            yield f"{where}: the hits of '{hits.keyword}' are not explained ({_found_in_words(hits)})"
    yield from whole.left_as_noise(where, given.holds)
    if given.beside is not None and given.beside.noise:
        yield f"{where}: searches during writes were noisy and not rerun ({'; '.join(given.beside.noise)})"


def _wanting(given: Read, suite: QueriesSuite) -> Iterator[str]:
    """What a finished record must have."""
    if given.loading is None:
        yield "the record of its bulk load is missing"
    elif given.loading.documents != suite.documents:
        yield f"{given.loading.documents:,} posts were loaded, not {suite.documents:,}"
    if given.capacity is None:
        yield "its maximum sustainable rate was not measured"
    known = {hits.keyword for hits in given.hits}
    for keyword in suite.keywords:
        if keyword not in known:
            yield f"the hits of '{keyword}' are missing"
        for kind, words in KINDS.items():
            made = len(rounds_ms(given, keyword, kind))
            if made != suite.rounds:
                yield f"'{keyword}', {words}: {made} of {suite.rounds} rounds"


def _found_in_words(hits: Hits) -> str:
    return (
        f"mode {hits.mode}: {hits.found:,} found, {hits.expected:,} contain it, {hits.missed:,} missed,"
        f" {hits.surplus:,} surplus"
    )


def _different_posts(data: QueriesData) -> str:
    """Which variants hold which posts."""
    of: dict[str, list[str]] = {}
    for found in data.reads:
        if found.read.loading is not None and len(digests(data).get(found.read.block, ())) > 1:
            of.setdefault(found.read.loading.digest[:8], []).append(
                f"{_name(found)} block {found.read.block}"
            )
    words = "; ".join(f"{digest}…: {', '.join(names)}" for digest, names in of.items())
    return f"the variants searched different posts ({words})"


def _name(found: Found) -> str:
    return found.read.variant + (CONTROL if found.read.again else "")


def _copy(folder: Path, data: QueriesData, target: Path) -> None:
    copy_json(folder / QUERIES_FILE, target / QUERIES_FILE)
    for found in data.reads:
        source, copy = inside(folder, found.folder), target / found.folder
        copy_json(source / READ_FILE, copy / READ_FILE)
        if (source / SETTINGS_FILE).is_file():
            copy_json(source / SETTINGS_FILE, copy / SETTINGS_FILE)
        queries_compact.write(found.read, source, copy)


def published(root: Path) -> tuple[Path, ...]:
    """Folders of what is published, by name."""
    found = (path.parent for path in (root / PUBLISHED).glob(f"*/{QUERIES_FILE}"))
    return tuple(sorted(path for path in found if path.suffix != ".part"))


def derived(root: Path, pages: str) -> staging.Derived:
    """Pages and curves of all published suites."""
    made = staging.Derived(files={}, titles={})
    for folder in published(root):
        from writepath.report.capacity_plots import curves  # noqa: PLC0415 - matplotlib takes half a second to load

        data = read(folder)
        refuse(data)
        writes = capacity_publish.that_made_most_of(data.names, root)
        figures = queries_figures(data, writes)
        name, built = figures.suite.suite, queries_page.tables(figures)
        drawn = curves([(host, own.carried) for host, own in by_host(figures)], CURVES)
        links = queries_page.Links(
            assets=name,
            reading="../reading-results.md",
            method="../methodology.md",
            raw=f"../../{PUBLISHED}/{name}",
            writes=None if writes is None else f"{writes.suite.suite}.md",
        )
        made.files[f"{pages}/{name}.md"] = queries_page.markdown(figures, built, drawn, links).encode()
        made.files.update({f"{pages}/{name}/{file}": content for file, content in drawn.items()})
        made.titles[name] = figures.suite.title
    return made
