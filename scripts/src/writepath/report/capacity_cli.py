"""What does `make report` show of a capacity suite run? Summary and tables; pages and plots next to the raw data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report import capacity_page
from writepath.report import card as summaries
from writepath.report.capacity_card import cards
from writepath.report.capacity_figures import by_host, capacity_figures, noise
from writepath.report.capacity_raw import capacity_folders, read
from writepath.report.render import console, files
from writepath.report.render.terminal import print_tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from writepath.report.capacity_figures import CapacityFigures

FOLDER = "report"  # beside capacity.json
METHOD = "docs/methodology.md"
OK, INVALID, UNKNOWN = 0, 1, 3
NOT_PRINTED = ("holds",)  # hundreds of lines; in the files


def newest(root: Path, path: Path | None, latest: str) -> Path | None:
    """The capacity suite run that is given, or the newest one right below what is given; None where it is none."""
    return newest_of(capacity_folders, root, path, latest)


def newest_of(below: Callable[[Path], list[Path]], root: Path, path: Path | None, latest: str) -> Path | None:
    """Of the suite runs that `below` finds in what is given, or below results/ by that name, the last one."""
    places = (root / latest,) if path is None else (root / path, root / "results" / path)
    for place in places:
        if found := below(place):
            return found[-1].resolve()
    return None


def report(root: Path, folder: Path, reading: str) -> int:
    """Prints and writes everything; 0 when every capacity run finished and no noisy step was left."""
    from writepath.report.capacity_plots import curves  # noqa: PLC0415 - matplotlib takes half a second to load

    figures = capacity_figures(read(folder))
    built, drawn = capacity_page.tables(figures), curves(by_host(figures.data))
    target = folder / FOLDER
    links = capacity_page.Links(
        assets=".",
        reading=(root / reading).resolve().as_uri(),
        method=(root / METHOD).resolve().as_uri(),
        raw="..",
    )
    pages = {
        "report.md": capacity_page.markdown(figures, built, drawn, links),
        "capacity.html": capacity_page.html(figures, built, links),
    }
    files.write(target, built, drawn, pages)
    to = console()
    _print_summary(figures, to)
    print_tables([table for table in built if table.key not in NOT_PRINTED], to)
    shown = target.relative_to(root) if target.is_relative_to(root) else target
    to.print(f"\nAlso as HTML, Markdown, CSV, JSON and SVG, with every load step, in {shown}", markup=False)
    return exit_code(figures)


def _print_summary(figures: CapacityFigures, to: Console) -> None:
    suite = figures.suite
    wanted = sum(len([name for name in order if not name.startswith("@")]) for order in suite.blocks)
    done = sum(found.search.outcome == "finished" for found in figures.data.searches)
    to.print(
        f"{suite.title}: {suite.suite} {suite.stamp}, {suite.status}, {done} of {wanted} capacity runs\n",
        markup=False,
    )
    for one in cards(figures.data):
        summaries.show(one, to)


def exit_code(figures: CapacityFigures) -> int:
    """1 where a capacity run or an audit failed, 3 where one was stopped or a noisy step was not retried."""
    searches = [found.search for found in figures.data.searches]
    audits = [hold.audit for search in searches for hold in search.holds]
    if any(search.outcome == "failed" for search in searches) or "FAIL" in audits:
        return INVALID
    stopped = any(search.outcome != "finished" for search in searches)
    return UNKNOWN if stopped or noise(figures) else OK
