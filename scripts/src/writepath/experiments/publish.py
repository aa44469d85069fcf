"""Publishes finished runs of every kind with the data that every figure is derived from, and regenerates the pages.

ADD=1 puts the blocks of a run behind the published ones: ratios are taken within a block, so what all of it shares (the
day) does not affect them.
"""

import dataclasses
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from writepath.analysis import evidence as files
from writepath.errors import InvalidRunError, UsageError
from writepath.experiments import read
from writepath.experiments.base import SETTINGS_FILE
from writepath.experiments.read import DESIGN, Design, differing
from writepath.experiments.registry import kind_of
from writepath.load.dataset import EMBEDDED
from writepath.records.base import inside, to_data, write_json
from writepath.records.cell import CELL_FILE, load_cell
from writepath.records.index import INDEX_FILE, CellEntry, Index, load_index
from writepath.report import faults, front, plots, render, staging
from writepath.report.capacity import by_host
from writepath.report.data import CellData, SuiteData
from writepath.report.facts import CAPACITY, FAULTS, LOAD, SEARCH, Facts
from writepath.report.fingerprint import hosts
from writepath.report.render import bare, escaped
from writepath.report.staging import PAGES, PUBLISHED, copy_json, scrubbed

README, ANSWER = "README.md", "results:answer"  # and the name of its generated part
DURABILITY = "docs/durability.md"
WRITTEN = (PUBLISHED, PAGES, README, DURABILITY, front.CHOOSING_PAGE)  # below a checkout, all that may change
CLASSES, EVIDENCE = "results:classes", "faults:evidence"
NATIVE = "native"
LIMIT_BYTES = 5_000_000


def publish(root: Path, folder: Path, *, add: bool = False) -> list[Path]:
    """Copies the evidence of a run of any kind, regenerates every page; the files that changed.

    add: puts its blocks behind those that are published. InvalidRunError when a cell of it does not count, UsageError
    when it is not finished, too large, or not to be added.
    """
    # missing markers are an error before a change
    _documents(root, dict.fromkeys((ANSWER, CLASSES, EVIDENCE), ""))
    data = read.raw(folder)
    refuse(data)
    target = root / PUBLISHED / name_of(data.index)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as place:
        staged = Path(place) / target.name
        _fill(staged, folder, data, target if add and target.is_dir() else None)
        shutil.rmtree(target, ignore_errors=True)
        staged.rename(target)
    return write_pages(root)


def _fill(staged: Path, folder: Path, data: SuiteData[Any], before: Path | None) -> None:
    """Copies what is published of a suite run, with digests of all files. before: what its blocks are added to."""
    index, first = data.index, 0
    if before is not None:
        require_addable(before, index, {cell.record.run_id for cell in data.all_cells})
        shutil.copytree(before, staged)
        kept = load_index(before)
        first = kept.repetitions
    by_folder = {cell.entry.folder: cell for cell in data.all_cells}
    entries = tuple(_copied(by_folder[entry.folder], folder, staged, first) for entry in index.cells)
    index = dataclasses.replace(index, cells=entries)
    if before is not None:
        index = dataclasses.replace(
            kept,
            finished_at=index.finished_at,
            repetitions=first + index.repetitions,
            order=(*kept.order, *index.order),
            cells=(*kept.cells, *entries),
        )
    write_json(scrubbed(to_data(index)), staged / INDEX_FILE)
    refuse(read.published(staged))
    staging.write_manifest(staged)
    size = sum(path.stat().st_size for path in staging.files_below(staged))
    if size > LIMIT_BYTES:
        raise UsageError(
            f"{folder}: {size:,} bytes when compressed, more than the {LIMIT_BYTES:,} a suite may take in git;"
            " publish a run with fewer blocks or variants"
        )


def _copied(cell: CellData[Any], folder: Path, staged: Path, first: int) -> CellEntry:
    """Copies what is published of a cell; its entry. Its block is numbered behind the `first` published ones."""
    block = cell.entry.block + first
    entry = dataclasses.replace(cell.entry, block=block, folder=f"{cell.entry.name}/block-{block:02d}")
    source, copy, evidence = inside(folder, cell.entry.folder), staged / entry.folder, cell.evidence
    if evidence is None:
        raise InvalidRunError(f"not published: {_name(cell)}: it has no evidence")
    files.save(dataclasses.replace(evidence, facts=scrubbed(dict(evidence.facts))), copy)
    write_json(scrubbed(to_data(dataclasses.replace(cell.record, block=block))), copy / CELL_FILE)
    if (source / SETTINGS_FILE).is_file():
        copy_json(source / SETTINGS_FILE, copy / SETTINGS_FILE)
    return entry


def name_of(index: Index) -> str:
    """Of what is published: the suite's; of one that did not run natively, with its runtime."""
    return index.suite if index.runtime == NATIVE else f"{index.suite}-{index.runtime}"


def published_suites(root: Path) -> tuple[Path, ...]:
    """Folders of what is published, by name."""
    return tuple(sorted(path.parent for path in (root / PUBLISHED).glob(f"*/{INDEX_FILE}")))


def _texts(index: Index) -> object:
    """What is written; the generator's texts are drawn from the seed, in which blocks must differ."""
    drawn = index.dataset.name == EMBEDDED
    return (EMBEDDED, index.dataset.lines) if drawn else index.dataset


ADDED: Design = (
    *DESIGN,
    ("DATASET", _texts),
    ("VARIANTS", lambda index: sorted({name for block in index.order for name in block})),
    ("settings in variants.yaml", lambda index: {one.name: one.settings for one in index.variants}),
)


def require_addable(published: Path, added: Index, run_ids: Collection[str]) -> None:
    """UsageError where a suite run, with cells of these ids, differs from what its blocks are added to."""
    kept = load_index(published)
    for name, old, now in differing(ADDED, kept, added):
        raise UsageError(
            f"ADD=1: {name} differs: published {old}, now {now}; publish without ADD, or run with the former"
        )
    known = [load_cell(inside(published, line.folder)) for line in kept.cells]
    if {cell.run_id for cell in known}.intersection(run_ids):
        raise UsageError(f"ADD=1: suite run {added.stamp} is already published")
    seeds = {cell.seed for cell in known}
    if added.seed in seeds:
        raise UsageError(
            f"ADD=1: SEED={added.seed} already gave the order of published blocks;"
            f" run with another seed, SEED={max(seeds) + 1}"
        )


def refuse(data: SuiteData[Any]) -> None:
    """UsageError where cells are missing or hosts differ, InvalidRunError naming each cell that does not count."""
    index = data.index
    made = {(cell.name, cell.block) for cell in index.cells}
    wanted = {(name, block) for block, order in enumerate(index.order, 1) for name in order}
    missing = sorted(wanted - made)
    if index.status != "finished" or missing:
        first = f"; missing: {missing[0][0]}, block {missing[0][1]}" if missing else ""
        raise UsageError(
            f"suite {index.suite} {index.stamp} is {index.status}, {len(made)} of {len(wanted)} cells finished{first};"
            " finish it with RESUME=1, then publish"
        )
    bad = [
        f"{_name(cell)}: "
        + ("; ".join(cell.reasons) or f"{cell.record.outcome}, verdict {cell.record.verdict.status}")
        for cell in data.all_cells
        if not cell.counts
    ]
    if bad:
        raise InvalidRunError(
            f"not published: {' | '.join(bad)}. A suite is published only if all its cells are valid;"
            " rerun these with RESUME=1"
        )
    found = hosts(data)
    if len(found) > 1 and not kind_of(index.kind).by_host:
        raise UsageError(
            f"suite {index.suite} {index.stamp} ran on several hosts: {' and '.join(found)}. Medians would mix them;"
            " rerun the whole suite on one host, then publish"
        )


def _name(cell: CellData[Any]) -> str:
    return f"{cell.entry.name}, block {cell.entry.block}"


def derived(root: Path) -> dict[str, bytes]:
    """By path below root, everything that is generated from the published data: pages, plots, index, README."""
    suites = {folder.name: read.published(folder) for folder in published_suites(root)}
    files = {f"{PAGES}/{README}": _index(suites).encode()}
    answers = dict[str, tuple[str, ...]]()
    for name, data in suites.items():
        refuse(data)
        report = kind_of(data.index.kind).report(data)
        answers[name] = report.answer
        links = {"assets": name, "reading": "../reading-results.md", "raw": f"../../{PUBLISHED}/{name}"}
        files[f"{PAGES}/{name}.md"] = render.markdown(report, links).encode()
        files |= {f"{PAGES}/{name}/{plot.file}": plot.svg for plot in report.plots}
    known = published_facts(suites, answers)
    if known.load is not None:
        files |= {f"{PAGES}/{name}": drawn for name, drawn in plots.pictures(known).items()}
    if (guide := front.choosing(known)) is not None:
        files[front.CHOOSING_PAGE] = guide.encode()
    parts = {
        ANSWER: front.answer(known),
        CLASSES: front.classes(suites.values()),
        EVIDENCE: _evidence(suites.values()),
    }
    return files | _documents(root, parts)


def _evidence(suites: Iterable[SuiteData[Any]]) -> str:
    """What each guarantee is worth under faults, for the durability page."""
    parts = []
    for runtime, found in _struck(suites).items():
        table = faults.evidence(found)
        parts += [f"{runtime} runtime. {escaped(table.caption)}", bare(table)]
    return "\n\n".join(parts)


def _struck(suites: Iterable[SuiteData[Any]]) -> dict[str, tuple[faults.Struck, ...]]:
    """By runtime, of all suites of faults."""
    found = dict[str, tuple[faults.Struck, ...]]()
    for data in suites:
        if data.index.kind == FAULTS:
            found[data.index.runtime] = (*found.get(data.index.runtime, ()), *faults.struck(data))
    return found


def published_facts(
    suites: Mapping[str, SuiteData[Any]], answers: Mapping[str, tuple[str, ...]] | None = None
) -> Facts:
    """What README and guide quote. suites: the published ones, by name, with the first sentences of their pages."""
    capacity = suites.get(CAPACITY)
    return Facts(
        load=suites.get(LOAD),
        capacity=() if capacity is None else by_host(capacity),
        search=suites.get(SEARCH),
        faults=_struck(suites.values()).get(NATIVE, ()),
        answers=answers or {},
    )


def _documents(root: Path, parts: Mapping[str, str]) -> dict[str, bytes]:
    """README and durability page with their generated parts; UsageError where their markers are missing."""
    readme = front.filled(root / README, {ANSWER: parts[ANSWER]})
    durability = front.filled(root / DURABILITY, {name: parts[name] for name in (CLASSES, EVIDENCE)})
    return {README: readme.encode(), DURABILITY: durability.encode()}


def write_pages(root: Path) -> list[Path]:
    """Writes what derived() says and removes pages of what is no longer published; the files that changed."""
    wanted = derived(root)
    changed = [root / name for name in _changes(root, wanted)]
    for path in changed:
        content = wanted.get(path.relative_to(root).as_posix())
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return changed


def differences(root: Path) -> list[str]:
    """What in the checkout is not as the published raw data say; empty when all is well."""
    found = [problem for folder in published_suites(root) for problem in staging.manifest_problems(folder)]
    return found or [f"{name}: {why}" for name, why in _changes(root, derived(root)).items()]


def _changes(root: Path, wanted: Mapping[str, bytes]) -> dict[str, str]:
    """By path below root, why a file is not as it is wanted."""
    found = {}
    for name, content in wanted.items():
        path = root / name
        if not path.is_file():
            found[name] = "missing"
        elif path.read_bytes() != content:
            found[name] = "differs from what the published raw data give"
    present = [path.relative_to(root).as_posix() for path in staging.files_below(root / PAGES)]
    return found | {name: "nothing published gives this file" for name in present if name not in wanted}


def _index(suites: Mapping[str, SuiteData[Any]]) -> str:
    """The list of the pages, with the wall time of each suite."""
    lines = []
    for name, index in ((name, data.index) for name, data in suites.items()):
        other = "" if index.runtime == NATIVE else f", {index.runtime} runtime"
        began, ended = map(datetime.fromisoformat, (index.started_at, index.finished_at or index.started_at))
        taken = f"{began:%Y-%m-%d %H:%M}, {(ended - began) / timedelta(minutes=1):,.0f} min"
        lines.append(f"- [{escaped(index.title + other)}]({name}.md): suite {name}, {taken}\n")
    return (
        "# Published results\n\n"
        "Tables and plots that `make publish` generates from the raw data in `results/published/`;"
        " `make verify` recomputes them. Each suite has the time at which it began (UTC) and the minutes until its"
        " end, with set-up, reruns and interruptions.\n\n" + ("".join(lines) or "Nothing is published yet.\n")
    )
