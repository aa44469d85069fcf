"""Writes tables as CSV and JSON, and a report with all its files into a folder."""

from __future__ import annotations

import csv as csv_module
import io
import json as json_module
import math
from typing import TYPE_CHECKING, Any

from writepath.report.model import Cell, Column, Table, shown
from writepath.report.render import escape, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from writepath.report.model import Report

CSV_DIGITS = 6  # significant; a CSV is for further work, so it keeps more than a table shows
PAGE, HTML_PAGE = "report.md", "report.html"


def save(folder: Path, report: Report, links: Mapping[str, str] = pages.NO_LINKS) -> None:
    """The report in every format: report.md, report.html, tables.json, a CSV of each table, and its pictures."""
    drawn = {plot.file: plot.svg for plot in report.plots}
    written = {PAGE: pages.markdown(report, links), HTML_PAGE: pages.html(report, links)}
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
