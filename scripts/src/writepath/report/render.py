"""Renders a report as Markdown, as one file of HTML and as CSV, and writes them all into a folder; computes no figure.

Reviews, titles and errors are free text: it is escaped, so that it becomes neither markup nor a formula.
"""

import base64
import csv as csv_module
import html as html_module
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import jinja2

from writepath.report.model import ABSENT, Cell, Plot, Report, Table, shown, texts

TEMPLATES = Path(__file__).with_name("templates")
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!$&])")
SPACE = re.compile(r"[\s\x00-\x1f\x7f\u2028\u2029]+")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\x00")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "`": "&#96;"}
BARE_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|www)(?=[:.])")

Links = Mapping[str, str]
NO_LINKS: Links = {}


def one_line(value: str) -> str:
    """Text on one line and without control sequences."""
    return SPACE.sub(" ", CONTROL.sub("", value))


def escaped(value: str) -> str:
    """One line that Markdown renders as itself, in a table's cell too: no markup, no HTML, no links, no lists."""
    line = one_line(value).strip()
    line = MARKDOWN.sub(lambda found: ENTITIES.get(found[1], "\\" + found[1]), line)
    line = BARE_ADDRESS.sub(lambda found: found[1] + "&#8203;", line)  # GitHub links bare addresses
    if line[:1] in ("-", "+", "="):  # a list, or a heading's underline
        return "\\" + line
    return re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)


def trimmed(table: Table) -> tuple[Table, str]:
    """Without the columns that are 0 or without a value in every row, and a sentence that names them."""
    left, words = [*range(len(table.columns))], list[str]()
    for begin, empty in (("0 in every row", _is_zero), ("No value in any row", _is_absent)):
        own = [at for at in left[table.names :] if all(empty(row.cells[at]) for row in table.rows)]
        if own and table.rows:
            words.append(f"{begin}: {', '.join(table.columns[at].title for at in own)}.")
            left = [at for at in left if at not in own]
    shorter = replace(
        table,
        columns=tuple(table.columns[at] for at in left),
        rows=tuple(replace(row, cells=tuple(row.cells[at] for at in left)) for row in table.rows),
    )
    return shorter, " ".join(words)


def _is_zero(cell: Cell) -> bool:
    return cell.figure is not None and cell.figure.low == cell.figure.high == 0


def _is_absent(cell: Cell) -> bool:
    return cell.figure is None and (cell.text is None or cell.text in ("", ABSENT))


def bare(table: Table) -> str:
    """Its rows alone, as a pipe table of plain text, escaped here."""
    lines = [
        [escaped(column.header) for column in table.columns],
        ["---:" if column.numeric else "---" for column in table.columns],
        *(map(escaped, texts(table, row)) for row in table.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def engine(*, autoescape: bool = False) -> jinja2.Environment:
    """For the templates. Those of Markdown escape free text by the filter `md`; HTML's escapes would show in them."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=autoescape,  # noqa: S701 - of Markdown, see above
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(md=escaped, trimmed=trimmed, bare=bare, texts=texts, data_uri=_data_uri)
    return made


def _data_uri(plot: Plot) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(plot.svg).decode('ascii')}"


def markdown(report: Report, links: Links = NO_LINKS) -> str:
    """The answer, a picture, the table behind it; details behind headings to open."""
    made = engine()
    made.filters.update(
        summary=lambda text: html_module.escape(one_line(text)),
        picture=lambda plot: f"![{escaped(plot.alt)}]({links.get('assets', '.')}/{plot.file})",
    )
    return made.get_template("page.md.j2").render(report=report, links=links).rstrip("\n") + "\n"


def html(report: Report, links: Links = NO_LINKS) -> str:
    """Everything in one file: styles and drawings are within it."""
    return engine(autoescape=True).get_template("page.html.j2").render(report=report, links=links)


def save(folder: Path, report: Report, links: Links = NO_LINKS) -> None:
    """The report in every format: report.md, report.html, a CSV of each table, and its pictures; UTF-8."""
    folder.mkdir(exist_ok=True)
    (folder / "report.md").write_text(markdown(report, links), encoding="utf-8")
    (folder / "report.html").write_text(html(report, links), encoding="utf-8")
    for plot in report.plots:
        (folder / plot.file).write_bytes(plot.svg)
    for table in report.tables:
        (folder / f"{table.key}.csv").write_text(csv(table), encoding="utf-8", newline="")


def csv(table: Table) -> str:
    """RFC 4180: CRLF, quotes where needed. A figure of several repetitions has columns `_low` and `_high` too.

    Where a column has bounds or other signs, `_shown` has its cells as people read them.
    """
    columns = {"mark": [row.mark for row in table.rows]}
    for index, column in enumerate(table.columns):
        cells = [row.cells[index] for row in table.rows]
        columns[column.key] = [
            _csv_figure(cell, "median") if cell.text is None else _csv_text(cell.text) for cell in cells
        ]
        for end in ("low", "high") if any(cell.spans for cell in cells) else ():
            columns[f"{column.key}_{end}"] = [_csv_figure(cell, end) for cell in cells]
        if any(cell.signed for cell in cells):
            columns[f"{column.key}_shown"] = [_csv_text(shown(cell, column)) for cell in cells]
    file = io.StringIO(newline="")
    writer = csv_module.writer(file, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def _csv_figure(cell: Cell, name: str) -> str:
    """More digits than a table shows, for further work."""
    return "" if cell.figure is None else f"{getattr(cell.figure, name):.15g}"


def _csv_text(value: str) -> str:
    """That no spreadsheet takes for a formula (a leading apostrophe)."""
    text = CONTROL.sub("", value)
    return "'" + text if value.startswith(FORMULA) else text
