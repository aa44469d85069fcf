"""Which capacity runs may be published? Finished ones, without noisy steps left or a failed audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.records.base import inside
from writepath.records.capacity import CAPACITY_FILE, CEILINGS_FILE, SEARCH_FILE
from writepath.records.index import CONTROL
from writepath.report import capacity_compact, capacity_page, join, staging, whole
from writepath.report.capacity_figures import by_host, capacity_figures
from writepath.report.capacity_raw import finished, read
from writepath.report.scrub import copy_json, scrubbed
from writepath.report.staging import PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from writepath.report.capacity_figures import CapacityFigures
    from writepath.report.capacity_raw import CapacityData, Found

SETTINGS_FILE = "settings.json"
TOOLS = "@ceilings"


def publish(root: Path, folder: Path, limit_bytes: int, *, add: bool = False) -> None:
    """Copies records, compact values and the tools' output; an error where it is not for the world.

    add: behind the blocks that are published already, if any are.
    """
    data = read(folder)
    refuse(data)
    place = staging.Place(target=root / PUBLISHED / data.suite.suite, source=folder, limit_bytes=limit_bytes)

    def fill(staged: Path) -> None:
        _copy(folder, data, staged)
        if add and place.target.is_dir():
            join.join_capacity(place.target, staged)

    staging.put(place, fill, less="blocks or variants")


def refuse(data: CapacityData) -> None:
    """UsageError where it is not finished, InvalidRunError naming what cannot be believed."""
    whole.refuse_unsound([problem for found in data.searches for problem in problems(found)])
    made = {(_name(found), found.search.block) for found in data.searches if finished(found)}
    made |= {(TOOLS, tools.block) for tools in data.ceilings}
    whole.refuse_unfinished(data.suite, made, "capacity runs")


def problems(found: Found) -> Iterator[str]:
    """Why a search says too little or something false, in words."""
    search = found.search
    where = f"{_name(found)}, block {search.block}"
    if not finished(found):
        yield f"{where}: {search.error or f'capacity run {search.outcome}'}"
    yield from whole.left_as_noise(where, search.holds)
    for hold in search.holds:
        if hold.audit == "FAIL":
            yield f"{where}: the audit of step {hold.number} failed ({'; '.join(hold.reasons)})"
        elif hold.verdict == "pass" and hold.kind != "ramp" and hold.audit != "PASS":
            yield f"{where}: step {hold.number} passed but was not audited"


def _name(found: Found) -> str:
    return found.search.variant + (CONTROL if found.search.again else "")


def _copy(folder: Path, data: CapacityData, target: Path) -> None:
    copy_json(folder / CAPACITY_FILE, target / CAPACITY_FILE)
    for found in data.searches:
        source, copy = inside(folder, found.folder), target / found.folder
        copy_json(source / SEARCH_FILE, copy / SEARCH_FILE)
        if (source / SETTINGS_FILE).is_file():
            copy_json(source / SETTINGS_FILE, copy / SETTINGS_FILE)
        capacity_compact.write(found.search, source, copy)
    for name, tools in zip(data.suite.ceilings, data.ceilings, strict=True):
        source, copy = inside(folder, name), target / name
        copy_json(source / CEILINGS_FILE, copy / CEILINGS_FILE)
        for raw in dict.fromkeys(ceiling.raw_file for ceiling in tools.ceilings):
            text = inside(source, raw).read_text(encoding="utf-8")
            (copy / raw).write_text(scrubbed(text), encoding="utf-8")


def published(root: Path) -> tuple[Path, ...]:
    """Folders of what is published, by name."""
    found = (path.parent for path in (root / PUBLISHED).glob(f"*/{CAPACITY_FILE}"))
    return tuple(sorted(path for path in found if path.suffix != ".part"))


def that_made_most_of(variants: Iterable[str], root: Path) -> CapacityFigures | None:
    """The published suite of write capacity that measured most of the variants on one host; None without any.

    Of one suite and one host: figures of two are not compared.
    """
    wanted, most = set(variants), 0
    best: CapacityFigures | None = None
    for folder in published(root):
        for _, figures in by_host(read(folder)):
            made = len(wanted & {one.variant.name for one in figures.variants})
            if made > most:
                best, most = figures, made
    return best


def derived(root: Path, pages: str) -> staging.Derived:
    """Pages and curves of all published suites."""
    made = staging.Derived(files={}, titles={})
    for folder in published(root):
        from writepath.report.capacity_plots import curves  # noqa: PLC0415 - matplotlib takes half a second to load

        data = read(folder)
        refuse(data)
        figures = capacity_figures(data)
        name, built, drawn = figures.suite.suite, capacity_page.tables(figures), curves(by_host(data))
        links = capacity_page.Links(
            assets=name,
            reading="../reading-results.md",
            method="../methodology.md",
            raw=f"../../{PUBLISHED}/{name}",
        )
        made.files[f"{pages}/{name}.md"] = capacity_page.markdown(figures, built, drawn, links).encode()
        made.files[f"{pages}/{name}.html"] = capacity_page.html(figures, built, links).encode()
        made.files.update({f"{pages}/{name}/{file}": content for file, content in drawn.items()})
        made.titles[name] = figures.suite.title
    return made
