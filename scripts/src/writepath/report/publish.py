"""Which figures may the world see? Valid, finished suites, with the raw data every one of them is derived from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.errors import InvalidRunError, UsageError
from writepath.report import (
    capacity_publish,
    compact,
    escape,
    faults_page,
    manifest,
    queries_publish,
    staging,
)
from writepath.report.figures import SuiteFigures, suite_figures
from writepath.report.page import page, refuse_several_hosts
from writepath.report.raw import RunData, SuiteData, inside, read_suite
from writepath.report.scrub import copy_json
from writepath.report.tables import tables
from writepath.result import RUN_FILE, SUITE_FILE, cell_name, load_run, load_suite
from writepath.result.capacity import CAPACITY_FILE
from writepath.result.faults import FAULTS_FILE
from writepath.result.queries import QUERIES_FILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.result import SuiteResult

PUBLISHED = "results/published"
PAGES = "docs/results"
README = "README.md"
README_SUITE = "default"  # must have its table there; another suite may
SETTINGS_FILE = "settings.json"
LIMIT_BYTES = 5_000_000
INDEX = "README.md"


def publish(root: Path, folder: Path, *, add: bool = False) -> list[Path]:
    """Copies the compact data of a run of whichever kind, writes every page again; the files that changed.

    add: its blocks behind those that are published. InvalidRunError when a run of it does not count, UsageError when it
    is not finished, too large, or not to be added.
    """
    if add and not any((folder / file).is_file() for file in (CAPACITY_FILE, QUERIES_FILE)):
        raise UsageError(
            f"ADD=1: {folder} has no blocks of searches, for capacity or over posts; only those are added to others"
        )
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
    _readme_with(root, {data.suite.suite: ""})  # missing markers are an error before anything is replaced
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
            + ". Only suites whose runs are all valid are published; run it again"
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
    """By path below root, everything that is made from the published data: pages, plots, index, README."""
    from writepath.report.plots import plots  # noqa: PLC0415 - matplotlib takes half a second to load

    files: dict[str, bytes] = {}
    readme: dict[str, str] = {}
    titles: dict[str, str] = {}
    for folder in published_suites(root):
        figures = suite_figures(read_published(folder))
        refuse_invalid(figures)
        name = figures.suite.suite
        drawn = plots(figures)
        links = {"assets": name, "reading": "../reading-results.md", "raw": f"../../{PUBLISHED}/{name}"}
        files[f"{PAGES}/{name}.md"] = page(figures, tables(figures), drawn, links).encode()
        files |= {f"{PAGES}/{name}/{file}": content for file, content in drawn.items()}
        titles[name] = figures.suite.title
    for made in (capacity_publish.derived(root, PAGES), queries_publish.derived(root, PAGES)):
        files |= made.files
        titles |= made.titles
    faults = faults_page.derived(root)
    files |= faults
    files[f"{PAGES}/{INDEX}"] = _index(titles, faults=bool(faults)).encode()
    files[README] = _readme_with(root, readme).encode()
    return files


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


def _readme_with(root: Path, sections: dict[str, str]) -> str:
    """README.md with the text between the markers of each suite replaced."""
    text = (root / README).read_text(encoding="utf-8")
    for suite, table in sections.items():
        begin, end = f"<!-- results:{suite}:begin -->", f"<!-- results:{suite}:end -->"
        if begin not in text or end not in text.split(begin, 1)[1]:
            if suite == README_SUITE:
                raise UsageError(
                    f"{README}: the markers {begin} and {end} are missing; put them where the table goes"
                )
            continue
        before, rest = text.split(begin, 1)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end, 1)[1]}"
    return text


def _index(titles: dict[str, str], *, faults: bool) -> str:
    entries = [f"- [{escape.markdown(titles[name])}]({name}.md): suite {name}" for name in titles]
    if faults:
        entries.append(f"- [{faults_page.TITLE}](faults.md): `make bench-faults`")
    return (
        "# Published results\n\n"
        "Tables and plots made by `make publish` from the raw data in `results/published/`;"
        " a test derives them again.\n\n"
        + ("\n".join(entries) if entries else "Nothing is published yet.")
        + "\n"
    )
