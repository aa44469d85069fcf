"""What are the pages of a capacity suite run? Markdown, and one file of HTML that needs no other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from writepath.report import capacity_ceilings, capacity_evidence, capacity_tables, escape, exports
from writepath.report import card as cards
from writepath.report.capacity_card import card
from writepath.report.capacity_evidence import name
from writepath.report.card import listed
from writepath.report.model import Column, number, plain, shown
from writepath.result.capacity import SEARCH_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from writepath.report.capacity_figures import CapacityFigures
    from writepath.report.model import Table
    from writepath.result import Host
    from writepath.result.capacity import CapacitySuite, Search
    from writepath.result.queries import QueriesSuite

BUILDERS: tuple[Callable[[CapacityFigures], Table | None], ...] = (
    *capacity_tables.BUILDERS,
    capacity_ceilings.shares,
    capacity_ceilings.ceilings,
    capacity_evidence.validity,
    capacity_evidence.holds,
    capacity_evidence.fingerprint,
)
FOLDED = ("holds",)  # hundreds of lines: behind a heading to open
AFTER = "capacity"  # the table that the curves follow
TEMPLATE = Path(__file__).with_name("capacity.html.j2")
CURVES_SAY = (
    "p99 from the planned moment against the rate that was held, a panel a variant with the same axes. Dashed: the"
    " SLO. Upright: sustained capacity, and where it differs burst. At the upper edge: ten times the SLO or more,"
    " or never served. Small: steps of the ramp."
)


@dataclass(frozen=True, kw_only=True)
class Links:
    """Where the pages point to, from their own folder."""

    assets: str
    reading: str
    raw: str  # the suite's folder, with capacity.json
    method: str


def tables(figures: CapacityFigures) -> tuple[Table, ...]:
    """All that apply."""
    return tuple(table for build in BUILDERS if (table := build(figures)) is not None)


def markdown(
    figures: CapacityFigures, built: tuple[Table, ...], drawn: dict[str, bytes], links: Links
) -> str:
    """The page."""
    parts = [
        *top(figures.suite.title, heading(figures), links),
        cards.markdown(card(figures), _records(figures), _href(links)),
        *sections(built, drawn, assets=links.assets, after=AFTER, say=CURVES_SAY),
    ]
    return "\n\n".join(parts) + "\n"


def _records(figures: CapacityFigures) -> dict[str, Search]:
    return {found.folder: found.search for found in figures.data.searches}


def _href(links: Links) -> Callable[[str], str]:
    return lambda folder: f"{links.raw}/{folder}/{SEARCH_FILE}"


def top(title: str, words: str, links: Links) -> tuple[str, str]:
    """A page's heading, and its first paragraph."""
    return f"# Results: {escape.markdown(title)}", (
        escape.markdown(words)
        + " Made from raw data by `make report`; do not edit."
        + f" [How to read it]({links.reading}). [How it is measured]({links.method}). [Raw data]({links.raw})."
    )


def sections(
    built: tuple[Table, ...], drawn: dict[str, bytes], *, assets: str, after: str, say: str
) -> Iterator[str]:
    """Each table; the curves and what is said of them behind that one."""
    for table in built:
        section = exports.markdown(table).rstrip("\n")
        yield folded(table, section) if table.key in FOLDED else section
        if table.key == after:
            yield from (f"{say}\n\n![Latency against rate, by variant]({assets}/{file})" for file in drawn)


def heading(figures: CapacityFigures) -> str:
    """In one paragraph: what, when, where."""
    suite = figures.suite
    where = place(suite, ((found.search.block, found.search.host) for found in figures.data.searches))
    return (
        f"Suite {suite.suite}, {suite.started_at}, {where[0]}, load generator and stores on the same host; {where[1]},"
        f" holds of {plain(suite.hold_seconds)} s, SLO p99 at most {number(suite.slo_ms)} ms from the planned moment."
    )


def place(suite: CapacitySuite | QueriesSuite, hosts: Iterable[tuple[int, Host | None]]) -> tuple[str, str]:
    """Runtime and machines; how many blocks. hosts: of each record its block and host."""
    machines: dict[str, dict[int, None]] = {}
    for block, host in hosts:
        if host is not None:
            machines.setdefault(f"{host.cpu_model}, {host.cores} cores", {})[block] = None
    one = len(machines) == 1
    words = [
        machine if one else f"{machine} (block{'s' if len(blocks) > 1 else ''} {', '.join(map(str, blocks))})"
        for machine, blocks in machines.items()
    ]
    on = f" on {listed(words)}" if words else ""
    count = "one block" if suite.repetitions == 1 else f"{suite.repetitions} blocks"
    return f"{suite.runtime} runtime{on}", f"{count} in random order"


def folded(table: Table, section: str) -> str:
    """A section of Markdown behind a heading to open."""
    title, _, body = section.partition("\n\n")
    count = f"{len(table.rows):,} lines"
    return f"{title}\n\n<details><summary>{count}</summary>\n\n{body}\n\n</details>"


def html(figures: CapacityFigures, built: tuple[Table, ...], links: Links) -> str:
    """The page as one file; everything in it is escaped by the template engine but the drawings."""
    from writepath.report.capacity_plots import MARKS, inline  # noqa: PLC0415 - matplotlib takes half a second

    engine = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    given, records, href = card(figures), _records(figures), _href(links)
    template = engine.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=figures.suite.title,
        heading=heading(figures),
        links=links,
        card=given,
        lines=[(line, cards.runs_of(line.folders, records, href)) for line in given.lines],
        sections=[
            (table, _rows(table), [exports.is_numeric(column) for column in table.columns]) for table in built
        ],
        after=AFTER,
        folded=FOLDED,
        curves_say=CURVES_SAY,
        curves=[
            (one.label, _alternative(one.label, figures), inline(figures, one)) for one in figures.variants
        ],
        marks=[mark.label for mark in MARKS],
        searches=[name(found.search) for found in figures.data.searches],
    )


def _rows(table: Table) -> list[tuple[str, list[str]]]:
    return [
        (row.mark, [shown(cell, column) for cell, column in zip(row.cells, table.columns, strict=True)])
        for row in table.rows
    ]


def _alternative(label: str, figures: CapacityFigures) -> str:
    """What a reader who does not see the drawing is told."""
    one = next(one for one in figures.variants if one.label == label)
    low = [hold for hold in one.holds if hold.verdict == "pass" and hold.planned_latency_ms.p99 is not None]
    words = ", ".join(
        f"{number(hold.rate_per_s)}/s {number(hold.planned_latency_ms.p99 or 0.0)} ms"
        for hold in sorted(low, key=lambda hold: hold.rate_per_s)[-3:]
    )
    return f"p99 against rate of {label}; highest rates that passed: {words or 'none'}"


README_COLUMNS = (
    "variant",
    "sustained_per_s",
    "burst_per_s",
    "capacity_bound",
    "capacity_p99_ms",
    "capacity_limited_by",
)


def readme_table(figures: CapacityFigures, link: str) -> str:
    """The short one of the README, with the card's first lines."""
    table = capacity_tables.capacity(figures)
    keys = [column.key for column in table.columns]
    columns: list[Column] = [table.columns[keys.index(key)] for key in README_COLUMNS]
    lines = [[shown(row.cells[keys.index(c.key)], c) for c in columns] for row in table.rows]
    notes = " ".join(escape.markdown(note) for note in table.notes)
    return (
        exports.pipe_table(columns, lines)
        + f"\n\n{escape.markdown(heading(figures))} {notes} [Which path for which rate, all tables and curves]({link})."
    )
