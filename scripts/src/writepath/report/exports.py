"""How does a table become Markdown, CSV or JSON? One function each; a new format is one more, named in FORMATS."""

from __future__ import annotations

import csv as csv_module
import io
import json as json_module
import math
from typing import TYPE_CHECKING, Any

from writepath.report import escape
from writepath.report.model import Cell, Column, Table, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

CSV_DIGITS = 6  # significant; a CSV is for further work, so it keeps more than a table shows


def markdown(table: Table) -> str:
    """Heading, caption, a pipe table and its notes."""
    parts = [f"## {escape.markdown(table.title)}", escape.markdown(table.caption), bare(table)]
    parts += [escape.markdown(note) for note in table.notes]
    return "\n\n".join(parts) + "\n"


def bare(table: Table) -> str:
    """Its rows alone, as a pipe table."""
    return pipe_table(table.columns, [_marked(row.cells, table.columns, row.mark) for row in table.rows])


def pipe_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """Cells as plain text, escaped here."""
    numeric = [is_numeric(column) for column in columns]
    lines = [
        [escape.markdown(column.header) for column in columns],
        ["---:" if right else "---" for right in numeric],
        *([escape.markdown(value) for value in row] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def save(folder: Path, tables: Sequence[Table], drawn: Mapping[str, bytes], pages: Mapping[str, str]) -> None:
    """Every table as CSV, all as JSON; drawings and pages by file name. UTF-8; the folder is made."""
    folder.mkdir(exist_ok=True)
    for name, content in drawn.items():
        (folder / name).write_bytes(content)
    for table in tables:
        (folder / f"{table.key}.csv").write_text(csv(table), encoding="utf-8", newline="")
    (folder / "tables.json").write_text(json(tables), encoding="utf-8")
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def is_numeric(column: Column) -> bool:
    """Whether a column holds figures: it has a unit or is a count."""
    return bool(column.unit) or column.exact


def _marked(cells: Sequence[Cell], columns: Sequence[Column], mark: str) -> list[str]:
    values = [shown(cell, column) for cell, column in zip(cells, columns, strict=True)]
    return [f"{values[0]} ({mark})" if mark else values[0], *values[1:]]


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
