"""What is a suite's page? Text, tables and plots, as files; the same for a raw and for a published suite run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report import escape, exports, rows
from writepath.report.fingerprint import load_in_words
from writepath.report.model import ABSENT, Column, shown
from writepath.report.tables import tables

if TYPE_CHECKING:
    from writepath.report.figures import SuiteFigures
    from writepath.report.model import Table

PLOTS = {
    "latency-over-time.svg": "Accept latency over the load, by second: median, p95 and maximum of each variant",
    "latency-percentiles.svg": "Percentiles of accept latency: median, p95 and p99 of each variant",
}
README_COLUMNS = ("variant", "acknowledges", "median_ms", "p95_ms", "p99_ms")


def page(
    figures: SuiteFigures, built: tuple[Table, ...], drawn: dict[str, bytes], links: dict[str, str]
) -> str:
    """Markdown. links: `assets` (folder of the plots, from the page), `reading` (docs/reading-results.md), `raw`."""
    suite = figures.suite
    where = f"{suite.runtime} runtime" + (f" on {_host(figures)}" if _host(figures) else "")
    parts = [
        f"# Results: {escape.markdown(suite.title)}",
        f"Suite {escape.markdown(suite.suite)}, {escape.markdown(suite.started_at)}, {escape.markdown(where)};"
        f" {_repetitions(suite.repetitions)}; load: {escape.markdown(load_in_words(suite))}. Made from raw data by"
        f" `make report`; do not edit. [How to read it]({links['reading']})."
        + (f" [Raw data]({links['raw']})." if "raw" in links else "")
        + f" {rows.replaced_note(figures)}".rstrip(),
    ]
    sections = {table.key: exports.markdown(table).rstrip("\n") for table in built}
    for table in built:
        parts.append(sections[table.key])
        if table.key == "latency":
            parts += [f"![{PLOTS[name]}]({links['assets']}/{name})" for name in PLOTS if name in drawn]
    return "\n\n".join(parts) + "\n"


def _repetitions(count: int) -> str:
    return "one repetition" if count == 1 else f"{count} repetitions"


def _host(figures: SuiteFigures) -> str:
    hosts = [run.run.host for run in figures.runs if run.run.host is not None]
    return f"{hosts[0].cpu_model}, {hosts[0].cores} cores" if hosts else ""


def readme_table(figures: SuiteFigures, link: str) -> str:
    """The one table of the README: what a 201 means, how late it is, and when the row is there."""
    figures = figures.ranked
    built = {table.key: table for table in tables(figures)}
    latency, throughput, audit = built["latency"], built["throughput"], built["audit"]
    columns = [
        *(_column(latency, key) for key in README_COLUMNS),
        Column(key="durable", title="to durable, p99", unit="ms"),
    ]
    columns += [Column(key="cpu", title="CPU per 1,000 writes", unit="s"), _column(audit, "lost")]
    cpu = _cpu_of_all(built["resources"])
    lines = []
    for index, row in enumerate(latency.rows):
        variant = shown(row.cells[0], latency.columns[0])
        values = [_value(latency, index, key) for key in README_COLUMNS]
        durable = _value(throughput, index, "durable_p99_ms")
        values += [
            durable if rows.DAGGER in variant else "with the 201",
            cpu.get(variant, ABSENT),
            _value(audit, index, "lost"),
        ]
        lines.append(values)
    total = sum(run.accept.planned for run in figures.runs if run.accept is not None and not run.run.again)
    words = (
        f"{total:,} requests, {_repetitions(figures.suite.repetitions)},"
        f" {escape.markdown(load_in_words(figures.suite))},"
        f" {escape.markdown(figures.suite.runtime)} runtime,"
        f" everything on {escape.markdown(_host(figures) or 'one host')}."
        f" {rows.DAGGER} The 201 comes before the row is in its store."
        f" [All tables, plots and the fingerprint]({link})."
    )
    return exports.pipe_table(columns, lines) + "\n\n" + words


def _column(table: Table, key: str) -> Column:
    return next(column for column in table.columns if column.key == key)


def _value(table: Table, row: int, key: str) -> str:
    index = [column.key for column in table.columns].index(key)
    return shown(table.rows[row].cells[index], table.columns[index])


def _cpu_of_all(resources: Table) -> dict[str, str]:
    """By variant, of all its components together."""
    found: dict[str, str] = {}
    for index, row in enumerate(resources.rows):
        found.setdefault(
            shown(row.cells[0], resources.columns[0]), _value(resources, index, "cpu_s_per_1000")
        )
    return found
