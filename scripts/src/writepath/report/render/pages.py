"""Renders a report as Markdown, as one file of HTML, as CSV and JSON, and writes them all into a folder."""

import csv as csv_module
import html as html_module
import io
import json as json_module
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from writepath.report.model import Cell, Column, Plot, Report, Section, Table, shown
from writepath.report.render import escape, tables

TEMPLATES = Path(__file__).parents[1] / "templates"


def html_template(name: str) -> jinja2.Template:
    """A template of HTML."""
    engine = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return engine.get_template(name)


def markdown_engine() -> jinja2.Environment:
    """For templates of Markdown; free text is escaped by escape.markdown before it is given to one."""
    return jinja2.Environment(  # noqa: S701 - HTML's escapes would show in Markdown
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


OPENING = re.compile(r"<svg [^>]*>")
VIEW_BOX = re.compile(r'viewBox="([^"]+)"')
METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
GROUP_ID = re.compile(r'<g id="[^"]*"')
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FONT = re.compile(r"font: ((?:bold )?[\d.]+px)[^;\"]*")
NAME = re.compile(r'(?<=id=")([^"]+)(?=")|(?<=href="#)([^"]+)(?=")|(?<=url\(#)([^)]+)(?=\))')


def inline(text: str, colours: Mapping[str, str], prefix: str = "") -> str:
    """Without what belongs to a file: prolog, fixed size, metadata, ids of groups.

    colours: a style of the page, such as --ink, by the colour that it replaces. prefix: of the remaining ids, where
    several drawings would share them.
    """
    opening = OPENING.search(text)
    box = VIEW_BOX.search(text)
    assert opening is not None  # noqa: S101 - matplotlib wrote it
    assert box is not None  # noqa: S101
    body = METADATA.sub("", COMMENT.sub("", text[opening.end() :]))
    body = FONT.sub(r"font: \1 system-ui, sans-serif", GROUP_ID.sub("<g", body))
    if prefix:
        body = NAME.sub(lambda found: f"{prefix}{found[0]}", body)
    for colour, own in colours.items():
        body = body.replace(colour.lower(), f"var({own})")
    head = f'<svg viewBox="{box[1]}" xmlns="http://www.w3.org/2000/svg"'
    return f'{head} xmlns:xlink="http://www.w3.org/1999/xlink" aria-hidden="true" focusable="false">{body}'.strip()


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
    engine = markdown_engine()
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
    return html_template("page.html.j2").render(
        report=report,
        links=links,
        main=_grid(report.table),
        picture=_drawn(report.picture, names) if report.picture else None,
        sections=[(section, *_parts(section, names)) for section in report.details],
    )


def _parts(section: Section, names: dict[str, str]) -> tuple[list[Any], list[Any]]:
    return [_drawn(plot, names) for plot in section.plots], [_grid(table) for table in section.tables]


def _drawn(plot: Plot, names: dict[str, str]) -> tuple[str, Markup]:
    svg = inline(plot.svg.decode("utf-8"), COLOURS, names[plot.file])
    return plot.alt, Markup(svg)  # noqa: S704 - our own drawing; its text is paths


def _grid(table: Table) -> tuple[Table, str, list[tuple[str, list[str]]], list[bool]]:
    """The table as it is shown, the sentence on what is not, its rows, and which columns hold figures."""
    own, dropped = tables.trimmed(table)
    return own, dropped, list(_rows(own)), [tables.is_numeric(column) for column in own.columns]


def _rows(table: Table) -> Iterator[tuple[str, list[str]]]:
    for row in table.rows:
        yield row.mark, [shown(one, column) for one, column in zip(row.cells, table.columns, strict=True)]


CSV_DIGITS = 6  # significant; a CSV is for further work, so it keeps more than a table shows
PAGE, HTML_PAGE = "report.md", "report.html"


def save(folder: Path, report: Report, links: Mapping[str, str] = NO_LINKS) -> None:
    """The report in every format: report.md, report.html, tables.json, a CSV of each table, and its pictures."""
    drawn = {plot.file: plot.svg for plot in report.plots}
    written = {PAGE: markdown(report, links), HTML_PAGE: html(report, links)}
    write(folder, report.tables, drawn, written)


def write(
    folder: Path, tables: Sequence[Table], drawn: Mapping[str, bytes], texts: Mapping[str, str]
) -> None:
    """Every table as CSV, all as JSON; drawings and texts by file name. UTF-8; the folder is made."""
    folder.mkdir(exist_ok=True)
    for name, content in drawn.items():
        (folder / name).write_bytes(content)
    for table in tables:
        (folder / f"{table.key}.csv").write_text(csv(table), encoding="utf-8", newline="")
    (folder / "tables.json").write_text(json(tables), encoding="utf-8")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def csv(table: Table) -> str:
    """RFC 4180: CRLF, quotes where needed. A figure of several repetitions has columns `_low` and `_high` too.

    Where a column has bounds or other signs, `_shown` has its cells as people read them.
    """
    cells = [[row.cells[index] for row in table.rows] for index in range(len(table.columns))]
    spans = [any(cell.spans for cell in own) for own in cells]
    signs = [any(cell.signed for cell in own) for own in cells]
    header = ["mark"]
    for column, spanning, signed in zip(table.columns, spans, signs, strict=True):
        header += [column.key, f"{column.key}_low", f"{column.key}_high"] if spanning else [column.key]
        header += [f"{column.key}_shown"] if signed else []
    file = io.StringIO(newline="")
    writer = csv_module.writer(file, lineterminator="\r\n")
    writer.writerow(header)
    for row in table.rows:
        line = [row.mark]
        for cell, column, spanning, signed in zip(row.cells, table.columns, spans, signs, strict=True):
            line += _csv_values(cell, spanning=spanning)
            line += [escape.csv(shown(cell, column))] if signed else []
        writer.writerow(line)
    return file.getvalue()


def _csv_values(cell: Cell, *, spanning: bool) -> list[str]:
    if cell.text is not None:
        return [escape.csv(cell.text)] + ([""] * 2 if spanning else [])
    if cell.figure is None:
        return [""] * (3 if spanning else 1)
    figure = cell.figure
    values = (figure.median, figure.low, figure.high) if spanning else (figure.median,)
    return [_csv_number(value) for value in values]


def _csv_number(value: float) -> str:
    if math.isinf(value):
        return "inf"
    return str(int(value)) if value == int(value) else f"{value:.{CSV_DIGITS}g}"


def json(tables: Sequence[Table]) -> str:
    """All tables: columns with units, rows as objects. A figure is {median, low, high, repetitions}, in full."""
    return json_module.dumps([_json_table(table) for table in tables], ensure_ascii=False, indent=1) + "\n"


def _json_table(table: Table) -> dict[str, Any]:
    return {
        "key": table.key,
        "title": table.title,
        "caption": table.caption,
        "columns": [{"key": c.key, "title": c.title, "unit": c.unit} for c in table.columns],
        "rows": [
            {"mark": row.mark}
            | {c.key: _json_cell(cell, c) for c, cell in zip(table.columns, row.cells, strict=True)}
            for row in table.rows
        ],
        "notes": list(table.notes),
    }


def _json_cell(cell: Cell, column: Column) -> Any:
    if cell.text is not None or cell.figure is None:
        return cell.text
    figure = cell.figure
    values = {"median": figure.median, "low": figure.low, "high": figure.high}
    signed = {"shown": shown(cell, column)} if cell.signed else {}
    return {name: "inf" if math.isinf(value) else value for name, value in values.items()} | {
        "repetitions": figure.repetitions,
        **signed,
    }
