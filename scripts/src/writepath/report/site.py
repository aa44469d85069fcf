"""Exports a suite's report as data of the results site, and renders the site's page; computes no figure."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from markupsafe import Markup

from writepath.records.base import to_data
from writepath.records.index import cell_name
from writepath.records.site import (
    SCHEMA_VERSION,
    Evidence,
    Figure,
    Site,
    SiteColumn,
    SiteRow,
    SiteSuite,
    SiteTable,
    SiteVariant,
)
from writepath.report import rows
from writepath.report.capacity import ABOUT, AT_LEAST, BELOW
from writepath.report.data import CellData, SuiteData, host_name
from writepath.report.model import ABSENT, Cell, Column, Report, Row, Subject, Table, shown
from writepath.report.render import engine, one_line

PATHS = {"variant", "pair_variant", "ratio_of", "twin"}  # keys of columns that name the path of a row
BOUNDS = {AT_LEAST, BELOW}
Files = Mapping[str, Sequence[str]]  # names of files, by folder of a cell


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What the page begins with, whether or not the browser runs scripts."""

    title: str
    answer: Markup
    picture: str = ""  # address of an SVG for light pages
    dark_picture: str = ""
    alt: str = ""
    table: Table | None = None


def page(opening: Opening, suites: Mapping[str, Report]) -> str:
    """index.html. suites: by name, those whose first table it has for readers without scripts."""
    return engine(autoescape=True).get_template("site.html.j2").render(opening=opening, suites=suites)


def script(suites: Iterable[SiteSuite]) -> str:
    """data.js: a call of the page's function with all data."""
    data = to_data(Site(schema_version=SCHEMA_VERSION, suites=tuple(suites)))
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"writepath({text});\n"


def suite_of(name: str, data: SuiteData[Any], report: Report, raw: str, files: Files) -> SiteSuite:
    """All tables and cells of a suite run. raw: its folder, relative to the page, with a slash at the end or empty."""
    index, cells = data.index, data.all_cells
    return SiteSuite(
        name=name,
        title=one_line(report.title),
        runtime=index.runtime,
        status=index.status,
        cells_ended=len(cells),
        cells_planned=sum(map(len, index.order)),
        answer=tuple(map(one_line, report.answer)),
        facts=one_line(report.facts),
        baseline=index.baseline,
        variants=tuple(
            SiteVariant(name=one.name, title=one_line(one.title), acknowledges=one_line(one.acknowledges))
            for one in index.variants
        ),
        tables=tuple(_table(table, cells) for table in _grouped(report.tables, data)),
        evidence=tuple(_evidence(cell, raw, files) for cell in cells),
    )


def _grouped(tables: Iterable[Table], data: SuiteData[Any]) -> Iterator[Table]:
    """The tables; those of one group as one, with a first column for the path."""
    titles = {variant.name: variant.title for variant in data.index.variants}
    for group, found in groupby(tables, key=lambda table: table.group):
        own = list(found)
        if not group:
            yield from own
            continue
        joined = (
            replace(row, cells=(Cell(text=titles[row.about.variant] if row.about else ""), *row.cells))
            for table in own
            for row in table.rows
        )
        yield replace(
            own[0],
            title=group,
            caption="",
            columns=(rows.VARIANT, *own[0].columns),
            rows=tuple(joined),
            names=own[0].names + 1,
        )


def _table(table: Table, cells: Sequence[CellData[Any]]) -> SiteTable:
    return SiteTable(
        key=table.key,
        title=one_line(table.title),
        caption=one_line(table.caption),
        notes=tuple(map(one_line, table.notes)),
        names=table.names,
        resolution=table.resolution,
        single=any(row.about is not None and row.about.block is not None for row in table.rows),
        columns=tuple(
            SiteColumn(key=one.key, title=one_line(one.title), unit=one_line(one.unit), path=one.key in PATHS)
            for one in table.columns
        ),
        rows=tuple(_row(row, table.columns, cells) for row in table.rows),
    )


def _row(row: Row, columns: Sequence[Column], cells: Sequence[CellData[Any]]) -> SiteRow:
    about = row.about
    found = [] if about is None else [at for at, cell in enumerate(cells) if _is_of(cell, about)]
    guarantees = (cells[at].record.durability for at in found)
    return SiteRow(
        cells=tuple(_cell(cell, column) for cell, column in zip(row.cells, columns, strict=True)),
        mark=row.mark,
        variant=None if about is None else about.variant,
        path="" if about is None else cell_name(about.variant, dict(about.levels)),
        host="" if about is None else about.host,
        durability=", ".join(sorted({one.level for one in guarantees if one is not None})),
        evidence=tuple(found),
    )


def _is_of(cell: CellData[Any], about: Subject) -> bool:
    record = cell.record
    return (
        (record.variant, tuple(record.levels.items()), record.role)
        == (about.variant, about.levels, about.role)
        and about.block in (None, record.block)
        and about.host in ("", host_name(record.host))
    )


def _cell(cell: Cell, column: Column) -> str | Figure:
    """A text as it is, – where there is nothing."""
    words, figure = one_line(shown(cell, column)), cell.figure
    if cell.text is not None or figure is None:
        return words or ABSENT
    return Figure(
        shown=words,
        value=_finite(figure.median),
        low=_finite(figure.low),
        high=_finite(figure.high),
        bound=not BOUNDS.isdisjoint((cell.prefix, *cell.ends)),
        interval=cell.prefix == ABOUT,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _evidence(cell: CellData[Any], raw: str, files: Files) -> Evidence:
    record, folder = cell.record, cell.entry.folder
    return Evidence(
        name=record.name,
        block=record.block,
        role=record.role,
        verdict=record.verdict.status,
        reasons=tuple(map(one_line, cell.reasons)),
        started_at=record.started_at,
        host=host_name(record.host),
        commit=record.code.commit,
        settings=dict(record.settings),
        guarantees={} if record.durability is None else dict(record.durability.settings),
        versions=dict(record.versions),
        folder=f"{raw}{folder}/",
        files=tuple(files.get(folder, ())),
    )
