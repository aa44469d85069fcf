"""Which figures may the world see? Valid, finished suites, with the raw data every one of them is derived from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.errors import InvalidRunError, UsageError
from writepath.report import (
    capacity_publish,
    capacity_raw,
    compact,
    escape,
    faults,
    faults_page,
    front,
    manifest,
    markers,
    queries_publish,
    queries_raw,
    staging,
)
from writepath.report.capacity_figures import by_host
from writepath.report.facts import CAPACITY, LOAD, SEARCH, Facts
from writepath.report.figures import SuiteFigures, suite_figures
from writepath.report.page import page, refuse_several_hosts
from writepath.report.queries_figures import by_host as of_hosts
from writepath.report.queries_figures import queries_figures
from writepath.report.raw import RunData, SuiteData, inside, read_suite
from writepath.report.scrub import copy_json
from writepath.report.tables import tables
from writepath.result import RUN_FILE, SUITE_FILE, cell_name, load_run, load_suite
from writepath.result.capacity import CAPACITY_FILE
from writepath.result.faults import FAULTS_FILE
from writepath.result.queries import QUERIES_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from writepath.result import SuiteResult

PUBLISHED = "results/published"
PAGES = "docs/results"
README, ANSWER = "README.md", "results:answer"  # and the name of its generated part
DURABILITY = "docs/durability.md"
CLASSES, EVIDENCE = "results:classes", "faults:evidence"
SETTINGS_FILE = "settings.json"
LIMIT_BYTES = 5_000_000
INDEX = "README.md"


def publish(root: Path, folder: Path, *, add: bool = False) -> list[Path]:
    """Copies the compact data of a run of any kind, regenerates every page; the files that changed.

    add: appends its blocks to those that are published. InvalidRunError when a run of it does not count, UsageError
    when it is not finished, too large, or not to be added.
    """
    if add and not any((folder / file).is_file() for file in (CAPACITY_FILE, QUERIES_FILE)):
        raise UsageError(
            f"ADD=1: {folder} has no blocks of searches, for capacity or over posts; only those are added to others"
        )
    _documents(
        root, dict.fromkeys((ANSWER, CLASSES, EVIDENCE), "")
    )  # missing markers are an error before a change
    if (folder / FAULTS_FILE).is_file():
        faults_page.publish(root, folder)
    elif (folder / CAPACITY_FILE).is_file():
        capacity_publish.publish(root, folder, LIMIT_BYTES, add=add)
    elif (folder / QUERIES_FILE).is_file():
        queries_publish.publish(root, folder, LIMIT_BYTES, add=add)
    else:
        _publish_suite(root, folder)
    return write_pages(root)


def _publish_suite(root: Path, folder: Path) -> None:
    data = read_suite(folder)
    refuse_unfinished(data.suite)
    figures = suite_figures(data)
    refuse_invalid(figures)
    refuse_several_hosts(figures)
    place = staging.Place(target=root / PUBLISHED / data.suite.suite, source=folder, limit_bytes=LIMIT_BYTES)
    staging.put(place, lambda target: _copy(folder, data, target), less="repetitions or variants")


def refuse_unfinished(suite: SuiteResult) -> None:
    """UsageError unless every run of the suite was made."""
    made = {(cell_name(run.variant, again=run.again), run.repetition) for run in suite.runs}
    wanted = {(name, repetition) for repetition, block in enumerate(suite.blocks, 1) for name in block}
    missing = sorted(wanted - made)
    if suite.status != "finished" or missing:
        first = f"; missing: {missing[0][0]}, repetition {missing[0][1]}" if missing else ""
        raise UsageError(
            f"suite {suite.suite} {suite.stamp} is {suite.status}, {len(made)} of {len(wanted)} runs made{first};"
            " finish it with RESUME=1, then publish"
        )


def refuse_invalid(figures: SuiteFigures) -> None:
    """InvalidRunError naming each run that does not count, and why."""
    bad = [
        f"{one.run.variant}, repetition {one.run.repetition}: "
        + ("; ".join(one.reasons) or f"verdict {one.run.verdict.status}")
        for one in figures.runs
        if not one.counts
    ]
    if bad:
        raise InvalidRunError(
            "not published: "
            + " | ".join(bad)
            + ". only suites whose runs are all valid are published; rerun these with RESUME=1"
        )


def _copy(folder: Path, data: SuiteData, target: Path) -> None:
    target.mkdir(parents=True)
    copy_json(folder / SUITE_FILE, target / SUITE_FILE)
    for entry, read in zip(data.suite.runs, data.read, strict=True):
        source, copy = inside(folder, entry.folder), target / entry.folder
        run_data = read()
        if found := compact.problems(run_data):
            raise InvalidRunError(
                f"not published: {entry.variant}, repetition {entry.repetition}: {found[0]}"
            )
        compact.write(run_data, copy)
        for name in (RUN_FILE, SETTINGS_FILE):
            if (source / name).is_file():
                copy_json(source / name, copy / name)


def published_suites(root: Path) -> tuple[Path, ...]:
    """Folders of what is published, by name."""
    folder = root / PUBLISHED
    return tuple(
        sorted(path.parent for path in folder.glob(f"*/{SUITE_FILE}") if path.parent.suffix != ".part")
    )


def published(root: Path) -> tuple[Path, ...]:
    """Folders of all that is published, whatever was measured."""
    return (
        *published_suites(root),
        *capacity_publish.published(root),
        *queries_publish.published(root),
        *faults_page.published(root),
    )


def read_published(folder: Path) -> SuiteData:
    """A published suite, in the form of a raw one."""
    suite = load_suite(folder)
    return SuiteData(suite=suite, read=tuple(_reader(inside(folder, run.folder)) for run in suite.runs))


def _reader(folder: Path) -> Callable[[], RunData]:
    def read() -> RunData:
        ledger, stored, series = compact.read(folder)
        visible = compact.read_visible(folder)
        return RunData(run=load_run(folder), ledger=ledger, stored=stored, series=series, visible=visible)

    return read


def derived(root: Path) -> dict[str, bytes]:
    """By path below root, everything that is generated from the published data: pages, plots, index, README."""
    from writepath.report import front_plot  # noqa: PLC0415 - matplotlib takes half a second to load

    loads = {folder.name: suite_figures(read_published(folder)) for folder in published_suites(root)}
    files: dict[str, bytes] = {}
    titles = {name: figures.suite.title for name, figures in loads.items()}
    for figures in loads.values():
        files |= _load_page(figures)
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
    parts = {ANSWER: front.answer(known), CLASSES: front.classes(known, loads.values(), matrices)}
    return files | _documents(root, {**parts, EVIDENCE: faults_page.evidence_of(matrices)})


def _load_page(figures: SuiteFigures) -> dict[str, bytes]:
    from writepath.report.plots import plots  # noqa: PLC0415 - matplotlib takes half a second to load

    refuse_invalid(figures)
    name, drawn = figures.suite.suite, plots(figures)
    links = {"assets": name, "reading": "../reading-results.md", "raw": f"../../{PUBLISHED}/{name}"}
    text = page(figures, tables(figures), drawn, links)
    plotted = {f"{PAGES}/{name}/{file}": content for file, content in drawn.items()}
    return {f"{PAGES}/{name}.md": text.encode(), **plotted}


def published_facts(root: Path, loads: Mapping[str, SuiteFigures]) -> Facts:
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
