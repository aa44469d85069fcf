"""Publishes finished runs of every kind with the data that every figure is derived from, and regenerates the pages."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from writepath.experiments import publishable, read
from writepath.experiments.registry import kind_of
from writepath.records.index import INDEX_FILE, Index, load_index
from writepath.report import faults, front, plots, render, staging
from writepath.report.capacity.figures import by_host
from writepath.report.data import SuiteData
from writepath.report.facts import CAPACITY, FAULTS, LOAD, SEARCH, Facts
from writepath.report.render import bare, escaped
from writepath.report.staging import PAGES, PUBLISHED

README, ANSWER = "README.md", "results:answer"  # and the name of its generated part
DURABILITY = "docs/durability.md"
CLASSES, EVIDENCE = "results:classes", "faults:evidence"
NATIVE = "native"
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
        publishable.publish(root / PUBLISHED / name_of(load_index(folder)), folder, LIMIT_BYTES, add=add)
    return write_pages(root)


def name_of(index: Index) -> str:
    """Of what is published: the suite's; of one that did not run natively, with its runtime."""
    return index.suite if index.runtime == NATIVE else f"{index.suite}-{index.runtime}"


def published_suites(root: Path) -> tuple[Path, ...]:
    """Folders of what is published, by name."""
    folder = root / PUBLISHED
    return tuple(
        sorted(path.parent for path in folder.glob(f"*/{INDEX_FILE}") if path.parent.suffix != ".part")
    )


def derived(root: Path) -> dict[str, bytes]:
    """By path below root, everything that is generated from the published data: pages, plots, index, README."""
    suites = {folder.name: read.published(folder) for folder in published_suites(root)}
    files: dict[str, bytes] = {}
    titles = {name: _title(data.index) for name, data in suites.items()}
    for data in suites.values():
        files |= _page(data)
    files[f"{PAGES}/{INDEX}"] = _index(titles).encode()
    known = published_facts(suites)
    if known.load is not None:
        files |= {f"{PAGES}/{name}": drawn for name, drawn in plots.pictures(known).items()}
    if (guide := front.choosing(known)) is not None:
        files[front.CHOOSING_PAGE] = guide.encode()
    parts = {
        ANSWER: front.answer(known),
        CLASSES: front.classes(suites.values()),
    }
    return files | _documents(root, {**parts, EVIDENCE: _evidence(suites.values())})


def _title(index: Index) -> str:
    return index.title if index.runtime == NATIVE else f"{index.title}, {index.runtime} runtime"


def _evidence(suites: Iterable[SuiteData[Any]]) -> str:
    """What each guarantee is worth under faults, for the durability page."""
    parts = []
    for data in suites:
        if data.index.kind == FAULTS:
            table = faults.evidence(faults.struck(data))
            parts += [f"{data.index.runtime} runtime. {escaped(table.caption)}", bare(table)]
    return "\n\n".join(parts)


def _page(data: SuiteData[Any]) -> dict[str, bytes]:
    """Of a suite of the engine: Markdown and its pictures."""
    publishable.refuse(data)
    name = name_of(data.index)
    report = kind_of(data.index.kind).report(data)
    links = {"assets": name, "reading": "../reading-results.md", "raw": f"../../{PUBLISHED}/{name}"}
    drawn = {f"{PAGES}/{name}/{plot.file}": plot.svg for plot in report.plots}
    return {f"{PAGES}/{name}.md": render.markdown(report, links).encode(), **drawn}


def published_facts(suites: Mapping[str, SuiteData[Any]]) -> Facts:
    """What README and guide quote. suites: the published ones, by name."""
    capacity, search = suites.get(CAPACITY), suites.get(SEARCH)
    return Facts(
        load=suites.get(LOAD),
        capacity=() if capacity is None else by_host(capacity),
        search=None if search is None else by_host(search)[0][1],
        faults=faults.struck(suites[FAULTS]) if FAULTS in suites else (),
    )


def _documents(root: Path, parts: Mapping[str, str]) -> dict[str, bytes]:
    """README and durability page with their generated parts; UsageError where their markers are missing."""
    readme = front.filled(root / README, {ANSWER: parts[ANSWER]})
    durability = front.filled(root / DURABILITY, {name: parts[name] for name in (CLASSES, EVIDENCE)})
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
    for path in staging.files_below(root / PAGES):
        if path.relative_to(root).as_posix() not in wanted:
            path.unlink()
            changed.append(path)
    return changed


def differences(root: Path) -> list[str]:
    """What in the checkout is not as the published raw data say; empty when all is well."""
    found = [problem for folder in published_suites(root) for problem in staging.manifest_problems(folder)]
    if found:
        return found
    wanted = derived(root)
    for name, content in wanted.items():
        path = root / name
        if not path.is_file():
            found.append(f"{name}: missing")
        elif path.read_bytes() != content:
            found.append(f"{name}: differs from what the published raw data give")
    stale = [path.relative_to(root).as_posix() for path in staging.files_below(root / PAGES)]
    return found + [f"{name}: nothing published gives this file" for name in stale if name not in wanted]


def _index(titles: dict[str, str]) -> str:
    entries = [f"- [{escaped(titles[name])}]({name}.md): suite {name}" for name in titles]
    return (
        "# Published results\n\n"
        "Tables and plots that `make publish` generates from the raw data in `results/published/`;"
        " `make verify` recomputes them.\n\n"
        + ("\n".join(entries) if entries else "Nothing is published yet.")
        + "\n"
    )
