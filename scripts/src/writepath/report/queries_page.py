"""What is the page of a suite run of searches? The original's rounds next to ours, work, size, load and evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from writepath.report import (
    capacity_evidence,
    capacity_page,
    capacity_tables,
    queries_evidence,
    queries_loads,
    queries_stores,
    queries_tables,
)
from writepath.report import card as summaries
from writepath.report import hosts as by_hosts
from writepath.report.model import Table, number, plain
from writepath.report.queries_card import cards
from writepath.report.queries_figures import beside_by_host, by_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from writepath.report.queries_figures import QueriesFigures

Builder: TypeAlias = "Callable[[QueriesFigures], Table | None]"
PER_HOST: tuple[Builder, ...] = (
    queries_tables.rounds,
    queries_tables.ratios,
    queries_stores.hits,
    queries_stores.loading,
    queries_loads.capacity,
    lambda figures: capacity_tables.limited(figures.carried),
)
PER_RECORD: tuple[Builder, ...] = (
    queries_evidence.validity,
    lambda figures: capacity_evidence.holds(figures.carried),
    queries_evidence.fingerprint,
)
BUILDERS = (*PER_HOST, queries_loads.beside, queries_stores.writes, *PER_RECORD)
AFTER = "search_capacity"  # the table that the curves follow
CURVES_SAY = (
    "p99 from the scheduled send time against the rate of searches; one panel per variant, all with the same axes."
    " Dashed line: the SLO. Vertical line: the highest passing rate. Points at the upper edge: ten times the SLO or"
    " more, or infinite. Small points: steps of the ramp."
)
COSTS = "index_cost"  # the table that the page of write capacity belongs to


@dataclass(frozen=True, kw_only=True)
class Links(capacity_page.Links):
    """Where the page points to, from its own folder."""

    writes: str | None  # the page of write capacity; None where there is none


def tables(figures: QueriesFigures) -> tuple[Table, ...]:
    """All that apply; those of medians per host."""
    known = by_host(figures)
    built = [_merged(build, known) for build in PER_HOST]
    built += [_merged(queries_loads.beside, beside_by_host(figures)), _merged(queries_stores.writes, known)]
    built += [build(figures) for build in PER_RECORD]
    return tuple(table for table in built if table is not None and table.rows)


def _merged(build: Builder, known: Iterable[tuple[str, QueriesFigures]]) -> Table | None:
    return by_hosts.merged([(host, build(own)) for host, own in known])


def markdown(
    figures: QueriesFigures, built: tuple[Table, ...], drawn: Mapping[str, bytes], links: Links
) -> str:
    """The page: the answer first, then how it was measured, then the tables."""
    parts = [
        capacity_page.top(figures.suite.title),
        *(summaries.markdown(one, links.raw) for one in cards(figures)),
        capacity_page.setup(heading(figures), links),
    ]
    for table in built:
        parts += capacity_page.sections((table,), drawn, assets=links.assets, after=AFTER, say=CURVES_SAY)
        if table.key == COSTS and links.writes is not None:
            parts.append(f"[Maximum sustainable write rate of each path]({links.writes}).")
    return "\n\n".join(parts) + "\n"


def heading(figures: QueriesFigures) -> str:
    """In one paragraph: what, when, where."""
    suite = figures.suite
    where = capacity_page.place(suite, ((found.read.block, found.read.host) for found in figures.data.reads))
    return (
        f"Suite {suite.suite}, {suite.started_at}, {where[0]}; clients and stores on the same host. {where[1]}."
        f" {suite.documents:,} posts, the same in every store; {suite.rounds} rounds of each keyword by one client;"
        f" then load steps of at least {plain(suite.hold_seconds)} s. SLO: p99 from the scheduled send time at most"
        f" {number(suite.slo_ms)} ms."
    )
