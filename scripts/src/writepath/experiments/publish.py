"""Publishes finished runs of every kind with the data that every figure is derived from, and regenerates the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from writepath.errors import UsageError
from writepath.experiments import publishable, read
from writepath.experiments.registry import kind_of
from writepath.records.capacity import CAPACITY_FILE
from writepath.records.faults import FAULTS_FILE
from writepath.records.index import INDEX_FILE, load_index
from writepath.records.queries import QUERIES_FILE
from writepath.report import (
    capacity_publish,
    capacity_raw,
    faults,
    faults_page,
    front,
    manifest,
    markers,
    queries_publish,
    queries_raw,
    render,
)
from writepath.report.capacity_figures import by_host
from writepath.report.facts import CAPACITY, LOAD, SEARCH, Facts
from writepath.report.queries_figures import by_host as of_hosts
from writepath.report.queries_figures import queries_figures
from writepath.report.render import escape
from writepath.report.staging import PAGES, PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from writepath.report.data import SuiteData

README, ANSWER = "README.md", "results:answer"  # and the name of its generated part
DURABILITY = "docs/durability.md"
CLASSES, EVIDENCE = "results:classes", "faults:evidence"
LIMIT_BYTES = 5_000_000
INDEX = "README.md"


def publish(root: Path, folder: Path, *, add: bool = False) -> list[Path]:
    """Copies the evidence of a run of any kind, regenerates every page; the files that changed.

    add: appends its blocks to those that are published. InvalidRunError when a cell of it does not count, UsageError
    when it is not finished, too large, or not to be added.
    """
    # missing markers are an error before a change
    _documents(root, dict.fromkeys((ANSWER, CLASSES, EVIDENCE), ""))
    if (folder / INDEX_FILE).is_file():
        target = root / PUBLISHED / load_index(folder).suite
        publishable.publish(target, folder, LIMIT_BYTES, add=add)
    elif (folder / FAULTS_FILE).is_file():
        if add:
            raise UsageError(f"ADD=1: {folder} is a matrix of faults, which has no blocks to add; omit ADD")
        faults_page.publish(root, folder)
    elif (folder / CAPACITY_FILE).is_file():
        capacity_publish.publish(root, folder, LIMIT_BYTES, add=add)
    elif (folder / QUERIES_FILE).is_file():
        queries_publish.publish(root, folder, LIMIT_BYTES, add=add)
    return write_pages(root)


def published_suites(root: Path) -> tuple[Path, ...]:
    """Folders of what is published, by name."""
    folder = root / PUBLISHED
    return tuple(
        sorted(path.parent for path in folder.glob(f"*/{INDEX_FILE}") if path.parent.suffix != ".part")
    )


def published(root: Path) -> tuple[Path, ...]:
    """Folders of all that is published, whatever was measured."""
    return (
        *published_suites(root),
        *capacity_publish.published(root),
        *queries_publish.published(root),
        *faults_page.published(root),
    )


def derived(root: Path) -> dict[str, bytes]:
    """By path below root, everything that is generated from the published data: pages, plots, index, README."""
    from writepath.report import front_plot  # noqa: PLC0415 - matplotlib takes half a second to load

    loads = {folder.name: read.published(folder) for folder in published_suites(root)}
    files: dict[str, bytes] = {}
    titles = {name: data.index.title for name, data in loads.items()}
    for data in loads.values():
        files |= _page(data)
    for made in (capacity_publish.derived(root, PAGES), queries_publish.derived(root, PAGES)):
        files |= made.files
        titles |= made.titles
    matrices = [faults.read(folder) for folder in faults_page.published(root)]
    files |= faults_page.derived(root, matrices)
    files[f"{PAGES}/{INDEX}"] = _index(titles, faults=bool(matrices)).encode()
    known = published_facts(root, loads)
    if known.load is not None:
        files |= {f"{PAGES}/{name}": drawn for name, drawn in front_plot.pictures(known).items()}
    if (guide := front.choosing(known)) is not None:
        files[front.CHOOSING_PAGE] = guide.encode()
    parts = {
        ANSWER: front.answer(known),
        CLASSES: front.classes(known, loads.values(), matrices),
    }
    return files | _documents(root, {**parts, EVIDENCE: faults_page.evidence_of(matrices)})


def _page(data: SuiteData[Any]) -> dict[str, bytes]:
    """Of a suite of the engine: Markdown and its pictures."""
    publishable.refuse(data)
    name = data.index.suite
    report = kind_of(data.index.kind).report(data)
    links = {"assets": name, "reading": "../reading-results.md", "raw": f"../../{PUBLISHED}/{name}"}
    drawn = {f"{PAGES}/{name}/{plot.file}": plot.svg for plot in report.plots}
    return {f"{PAGES}/{name}.md": render.markdown(report, links).encode(), **drawn}


def published_facts(root: Path, loads: Mapping[str, SuiteData[Any]]) -> Facts:
    """What README and guide quote. loads: the published load suites, by name."""
    capacity, search = root / PUBLISHED / CAPACITY, root / PUBLISHED / SEARCH
    matrices = faults_page.published(root)
    return Facts(
        load=loads.get(LOAD),
        capacity=by_host(capacity_raw.read(capacity)) if capacity.is_dir() else (),
        search=of_hosts(queries_figures(queries_raw.read(search)))[0][1] if search.is_dir() else None,
        faults=faults.read(matrices[0]) if matrices else None,
    )


def _documents(root: Path, parts: Mapping[str, str]) -> dict[str, bytes]:
    """README and durability page with their generated parts; UsageError where their markers are missing."""
    readme = markers.filled(root / README, {ANSWER: parts[ANSWER]})
    durability = markers.filled(root / DURABILITY, {name: parts[name] for name in (CLASSES, EVIDENCE)})
    return {README: readme.encode(), DURABILITY: durability.encode()}


def write_pages(root: Path) -> list[Path]:
    """Writes what derived() says and removes pages of what is no longer published; the files that changed."""
    wanted = derived(root)
    changed = []
    for name, content in wanted.items():
        path = root / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            changed.append(path)
    for path in manifest.files(root / PAGES):
        if path.relative_to(root).as_posix() not in wanted:
            path.unlink()
            changed.append(path)
    return changed


def differences(root: Path) -> list[str]:
    """What in the checkout is not as the published raw data say; empty when all is well."""
    found = [problem for folder in published(root) for problem in manifest.problems(folder)]
    if found:
        return found
    wanted = derived(root)
    for name, content in wanted.items():
        path = root / name
        if not path.is_file():
            found.append(f"{name}: missing")
        elif path.read_bytes() != content:
            found.append(f"{name}: differs from what the published raw data give")
    stale = [path.relative_to(root).as_posix() for path in manifest.files(root / PAGES)]
    return found + [f"{name}: nothing published gives this file" for name in stale if name not in wanted]


def _index(titles: dict[str, str], *, faults: bool) -> str:
    entries = [f"- [{escape.markdown(titles[name])}]({name}.md): suite {name}" for name in titles]
    if faults:
        entries.append(f"- [{faults_page.TITLE}](faults.md): `make bench-faults`")
    return (
        "# Published results\n\n"
        "Tables and plots that `make publish` generates from the raw data in `results/published/`;"
        " `make verify` recomputes them.\n\n"
        + ("\n".join(entries) if entries else "Nothing is published yet.")
        + "\n"
    )
