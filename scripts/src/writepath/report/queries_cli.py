"""What does `make report` show of a suite run of searches? Its tables; page and plots next to the raw data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report import capacity_publish, queries_page
from writepath.report import card as summaries
from writepath.report.capacity_cli import FOLDER, INVALID, METHOD, NOT_PRINTED, OK, UNKNOWN, newest_of
from writepath.report.queries_card import cards
from writepath.report.queries_figures import by_host, queries_figures, same_posts
from writepath.report.queries_publish import CURVES
from writepath.report.queries_raw import finished, queries_folders, read
from writepath.report.render import console, files
from writepath.report.render.terminal import print_tables
from writepath.report.staging import PAGES

if TYPE_CHECKING:
    from pathlib import Path

    from writepath.report.queries_figures import QueriesFigures


def newest(root: Path, path: Path | None, latest: str) -> Path | None:
    """The suite run that is given, or the newest one right below what is given; None where it is none."""
    return newest_of(queries_folders, root, path, latest)


def report(root: Path, folder: Path, reading: str) -> int:
    """Prints and writes everything; 0 where all finished, found what they must, and no noisy step was left."""
    from writepath.report.capacity_plots import curves  # noqa: PLC0415 - matplotlib takes half a second to load

    data = read(folder)
    writes = capacity_publish.that_made_most_of(data.names, root)
    figures = queries_figures(data, writes)
    built = queries_page.tables(figures)
    drawn = curves([(host, own.carried) for host, own in by_host(figures)], CURVES)
    target = folder / FOLDER
    links = queries_page.Links(
        assets=".",
        reading=(root / reading).resolve().as_uri(),
        method=(root / METHOD).resolve().as_uri(),
        raw="..",
        writes=None if writes is None else (root / PAGES / f"{writes.suite.suite}.md").resolve().as_uri(),
    )
    files.write(target, built, drawn, {"report.md": queries_page.markdown(figures, built, drawn, links)})
    suite, to = figures.suite, console()
    wanted = sum(len(order) for order in suite.blocks)
    done = sum(finished(found) for found in figures.data.reads)
    to.print(
        f"{suite.title}: {suite.suite} {suite.stamp}, {suite.status}, {done} of {wanted} variants and blocks\n",
        markup=False,
    )
    for one in cards(figures):
        summaries.show(one, to)
    print_tables([table for table in built if table.key not in NOT_PRINTED], to)
    place = target.relative_to(root) if target.is_relative_to(root) else target
    to.print(f"\nAlso as Markdown, CSV, JSON and SVG, with every load step, in {place}", markup=False)
    return exit_code(figures)


def exit_code(figures: QueriesFigures) -> int:
    """1 where one failed, hits are unexplained or posts differ; 3 where one was stopped or a noisy step was left."""
    reads = [found.read for found in figures.data.reads]
    unexplained = any(not hits.explained for read in reads for hits in read.hits)
    if any(read.outcome == "failed" for read in reads) or unexplained or not same_posts(figures.data):
        return INVALID
    stopped = any(read.outcome != "finished" for read in reads)
    return UNKNOWN if stopped or any(read.left_to_noise for read in reads) else OK
