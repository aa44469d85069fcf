"""What are the pages of a capacity suite run? Markdown, and one file of HTML that needs no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.report import capacity_ceilings, capacity_evidence, capacity_tables
from writepath.report import card as summaries
from writepath.report import hosts as by_hosts
from writepath.report.capacity_card import cards
from writepath.report.capacity_figures import by_host
from writepath.report.card import listed
from writepath.report.model import number, plain, shown
from writepath.report.render import escape, templating
from writepath.report.render import tables as exports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from writepath.records import Host
    from writepath.records.capacity import CapacitySuite
    from writepath.records.queries import QueriesSuite
    from writepath.report.capacity_figures import CapacityFigures, VariantFigures
    from writepath.report.model import Table

PER_HOST: tuple[Callable[[CapacityFigures], Table | None], ...] = (
    *capacity_tables.BUILDERS,
    capacity_ceilings.shares,
    capacity_ceilings.ceilings,
)
PER_RECORD = (capacity_evidence.validity, capacity_evidence.holds, capacity_evidence.fingerprint)
BUILDERS = (*PER_HOST, *PER_RECORD)
FOLDED = ("holds",)  # hundreds of rows: behind a heading to open
AFTER = "capacity"  # the table that the curves follow
TEMPLATE = "capacity.html.j2"
CURVES_SAY = (
    "p99 from the scheduled send time against the rate; one panel per variant, all with the same axes. Dashed line:"
    " the SLO. Vertical lines: the sustained rate and, if it differs, the burst rate. Points at the upper edge: ten"
    " times the SLO or more, or infinite. Small points: steps of the ramp."
)


@dataclass(frozen=True, kw_only=True)
class Links:
    """Where the pages point to, from their own folder."""

    assets: str
    reading: str
    raw: str  # the suite's folder, with capacity.json
    method: str


def tables(figures: CapacityFigures) -> tuple[Table, ...]:
    """All that apply; those of medians per host."""
    known = by_host(figures.data)
    built = [by_hosts.merged([(host, build(own)) for host, own in known]) for build in PER_HOST]
    built += [build(figures) for build in PER_RECORD]
    return tuple(table for table in built if table is not None)


def markdown(
    figures: CapacityFigures, built: tuple[Table, ...], drawn: Mapping[str, bytes], links: Links
) -> str:
    """The page: the answer first, then how it was measured, then the tables."""
    parts = [
        top(figures.suite.title),
        *(summaries.markdown(one, links.raw) for one in cards(figures.data)),
        setup(heading(figures), links),
        *sections(built, drawn, assets=links.assets, after=AFTER, say=CURVES_SAY),
    ]
    return "\n\n".join(parts) + "\n"


def top(title: str) -> str:
    """A page's heading."""
    return f"# Results: {escape.markdown(title)}"


def setup(words: str, links: Links) -> str:
    """What was measured, and where to read more."""
    return (
        escape.markdown(words)
        + f" [How to read this page]({links.reading}). [Method]({links.method}). [Raw data]({links.raw})."
        + " Generated from the raw data by `make report`; do not edit."
    )


def sections(
    built: tuple[Table, ...], drawn: Mapping[str, bytes], *, assets: str, after: str, say: str
) -> Iterator[str]:
    """Each table; the curves and their explanation after that one."""
    for table in built:
        section = exports.markdown(table).rstrip("\n")
        yield folded(table, section) if table.key in FOLDED else section
        if table.key == after and drawn:
            yield say
            yield from (f"![Latency against rate, by variant]({assets}/{file})" for file in drawn)


def heading(figures: CapacityFigures) -> str:
    """In one paragraph: what, when, where."""
    suite = figures.suite
    where = place(suite, ((found.search.block, found.search.host) for found in figures.data.searches))
    return (
        f"Suite {suite.suite}, {suite.started_at}, {where[0]}; load generator and stores on the same host. {where[1]},"
        f" load steps of {plain(suite.hold_seconds)} s, SLO: p99 from the scheduled send time at most"
        f" {number(suite.slo_ms)} ms."
    )


def place(suite: CapacitySuite | QueriesSuite, hosts: Iterable[tuple[int, Host | None]]) -> tuple[str, str]:
    """Runtime and machines; how many blocks. hosts: of each record its block and host."""
    machines: dict[str, dict[int, None]] = {}
    for block, host in hosts:
        if host is not None:
            machines.setdefault(by_hosts.name(host), {})[block] = None
    one = len(machines) == 1
    words = [
        machine if one else f"{machine} (block{'s' if len(blocks) > 1 else ''} {', '.join(map(str, blocks))})"
        for machine, blocks in machines.items()
    ]
    on = f" on {listed(words)}" if words else ""
    count = "One block" if suite.repetitions == 1 else f"{suite.repetitions} blocks"
    return f"{suite.runtime} runtime{on}", f"{count} in random order"


def folded(table: Table, section: str) -> str:
    """A section of Markdown behind a heading to open."""
    title, _, body = section.partition("\n\n")
    count = f"{len(table.rows):,} rows"
    return f"{title}\n\n<details><summary>{count}</summary>\n\n{body}\n\n</details>"


def html(figures: CapacityFigures, built: tuple[Table, ...], links: Links) -> str:
    """The page as one file; everything in it is escaped by the template engine but the drawings."""
    from writepath.report.capacity_plots import MARKS  # noqa: PLC0415 - matplotlib takes half a second

    return templating.html(TEMPLATE).render(
        title=figures.suite.title,
        heading=heading(figures),
        links=links,
        summaries=cards(figures.data),
        sections=[
            (table, _rows(table), [exports.is_numeric(column) for column in table.columns]) for table in built
        ],
        after=AFTER,
        folded=FOLDED,
        curves_say=CURVES_SAY,
        curves=[*_drawings(figures)],
        marks=[mark.label for mark in MARKS],
    )


def _rows(table: Table) -> list[tuple[str, list[str]]]:
    return [
        (row.mark, [shown(cell, column) for cell, column in zip(row.cells, table.columns, strict=True)])
        for row in table.rows
    ]


def _drawings(figures: CapacityFigures) -> Iterator[tuple[str, str, str]]:
    """Title, alternative text and drawing of each host's variants."""
    from writepath.report.capacity_plots import inline  # noqa: PLC0415 - matplotlib takes half a second

    known = by_host(figures.data)
    for host, own in known:
        for one in own.variants:
            title = f"{one.label}, {host}" if len(known) > 1 else one.label
            yield title, _alternative(title, one), inline(host, own, one)


def _alternative(title: str, one: VariantFigures) -> str:
    """What a reader who does not see the drawing is told."""
    low = [hold for hold in one.holds if hold.verdict == "pass" and hold.planned_latency_ms.p99 is not None]
    words = ", ".join(
        f"{number(hold.rate_per_s)}/s {number(hold.planned_latency_ms.p99 or 0.0)} ms"
        for hold in sorted(low, key=lambda hold: hold.rate_per_s)[-3:]
    )
    return f"p99 against rate of {title}; highest rates that passed: {words or 'none'}"
