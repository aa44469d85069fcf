"""Renders a report as a page: Markdown, or one file of HTML that needs no other."""

from __future__ import annotations

import html as html_module
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from writepath.report.model import shown
from writepath.report.render import drawing, escape, tables, templating

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from writepath.report.model import Plot, Report, Section, Table

    # From the page's folder: `assets` (folder of the pictures), `reading` (docs/reading-results.md), `raw` (the data)
    Links = Mapping[str, str]

NO_LINKS: Links = {}
COLOURS = {  # of a plot, and the page's own: a drawing is readable on a dark page
    "#ffffff": "--paper",
    "#000000": "--ink",
    "#555555": "--soft",
    "#dddddd": "--line",
    "#0072B2": "--pass",
    "#E69F00": "--unstable",
    "#D55E00": "--fail",
    "#1B2A41": "--ink",
}


def markdown(report: Report, links: Links = NO_LINKS) -> str:
    """The answer, a picture, the table behind it; details behind headings to open."""
    engine = templating.markdown()
    filters: dict[str, Any] = {
        "md": escape.markdown,
        "summary": lambda text: html_module.escape(escape.terminal(text)),
        "bare": tables.bare,
        "trimmed": tables.trimmed,
        "picture": lambda plot: f"![{escape.markdown(plot.alt)}]({links.get('assets', '.')}/{plot.file})",
    }
    engine.filters |= filters
    return engine.get_template("page.md.j2").render(report=report, links=links).rstrip("\n") + "\n"


def html(report: Report, links: Links = NO_LINKS) -> str:
    """Everything in one file: styles and drawings are within it."""
    names = {plot.file: f"p{number}-" for number, plot in enumerate(report.plots, 1)}
    return templating.html("page.html.j2").render(
        report=report,
        links=links,
        main=_grid(report.table),
        picture=_drawn(report.picture, names) if report.picture else None,
        sections=[(section, *_parts(section, names)) for section in report.details],
    )


def _parts(section: Section, names: dict[str, str]) -> tuple[list[Any], list[Any]]:
    return [_drawn(plot, names) for plot in section.plots], [_grid(table) for table in section.tables]


def _drawn(plot: Plot, names: dict[str, str]) -> tuple[str, Markup]:
    """Alternative text and drawing."""
    svg = drawing.inline(plot.svg.decode("utf-8"), COLOURS, names[plot.file])
    return plot.alt, Markup(svg)  # noqa: S704 - our own drawing; its text is paths


def _grid(table: Table) -> tuple[Table, str, list[tuple[str, list[str]]], list[bool]]:
    """The table as it is shown, the sentence on what is not, its rows, and which columns hold figures."""
    own, dropped = tables.trimmed(table)
    return own, dropped, list(_rows(own)), [tables.is_numeric(column) for column in own.columns]


def _rows(table: Table) -> Iterator[tuple[str, list[str]]]:
    for row in table.rows:
        yield row.mark, [shown(one, column) for one, column in zip(row.cells, table.columns, strict=True)]
