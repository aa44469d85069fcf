"""What is the page of a suite run of searches? The original's rounds beside ours, work, size, load and evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.report import (
    capacity_evidence,
    capacity_page,
    capacity_tables,
    escape,
    exports,
    queries_evidence,
    queries_loads,
    queries_stores,
    queries_tables,
)
from writepath.report import card as cards
from writepath.report.model import Table, number, plain, shown
from writepath.report.queries_card import card
from writepath.result.queries import READ_FILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.report.queries_figures import QueriesFigures

BUILDERS: tuple[Callable[[QueriesFigures], Table | None], ...] = (
    queries_tables.rounds,
    queries_tables.ratios,
    queries_stores.hits,
    queries_stores.loading,
    queries_loads.capacity,
    lambda figures: capacity_tables.limited(figures.carried),
    queries_loads.beside,
    queries_stores.writes,
    queries_evidence.validity,
    lambda figures: capacity_evidence.holds(figures.carried),
    queries_evidence.fingerprint,
)
AFTER = "search_capacity"  # the table that the curves follow
CURVES_SAY = (
    "p99 from the planned moment against the rate of searches that was held, a panel a variant with the same axes."
    " Dashed: the SLO. Upright: capacity. At the upper edge: ten times the SLO or more, or never served. Small: steps"
    " of the ramp."
)
COSTS = "index_cost"  # the table that the page of write capacity belongs to
README_COLUMNS = (
    "variant",
    "search_mode",
    "searches_per_s",
    "searches_bound",
    "searches_p99_ms",
    "searches_limited_by",
)


@dataclass(frozen=True, kw_only=True)
class Links(capacity_page.Links):
    """Where the page points to, from its own folder."""

    writes: str | None  # the page of write capacity; None where there is none


def tables(figures: QueriesFigures) -> tuple[Table, ...]:
    """All that apply."""
    return tuple(table for build in BUILDERS if (table := build(figures)) is not None and table.rows)


def markdown(figures: QueriesFigures, built: tuple[Table, ...], drawn: dict[str, bytes], links: Links) -> str:
    """The page."""
    parts = [*capacity_page.top(figures.suite.title, heading(figures), links)]
    records = {found.folder: found.read for found in figures.data.reads}
    parts.append(cards.markdown(card(figures), records, lambda folder: f"{links.raw}/{folder}/{READ_FILE}"))
    for table in built:
        parts += capacity_page.sections((table,), drawn, assets=links.assets, after=AFTER, say=CURVES_SAY)
        if table.key == COSTS and links.writes is not None:
            parts.append(f"[How many writes a second each path carries]({links.writes}).")
    return "\n\n".join(parts) + "\n"


def heading(figures: QueriesFigures) -> str:
    """In one paragraph: what, when, where."""
    suite = figures.suite
    where = capacity_page.place(suite, ((found.read.block, found.read.host) for found in figures.data.reads))
    return (
        f"Suite {suite.suite}, {suite.started_at}, {where[0]}, clients and stores on the same host; {where[1]}."
        f" {suite.documents:,} posts, the same in every store; {suite.rounds} rounds of each keyword by one"
        f" client; then holds of at least {plain(suite.hold_seconds)} s, SLO p99 at most {number(suite.slo_ms)} ms"
        " from the planned moment."
    )


def readme_table(figures: QueriesFigures, link: str) -> str | None:
    """The short one of the README; None where no capacity was searched."""
    table = queries_loads.capacity(figures)
    if table is None:
        return None
    keys = [column.key for column in table.columns]
    columns = [table.columns[keys.index(key)] for key in README_COLUMNS]
    lines = [[shown(row.cells[keys.index(c.key)], c) for c in columns] for row in table.rows]
    notes = " ".join(escape.markdown(note) for note in table.notes)
    return (
        exports.pipe_table(columns, lines)
        + f"\n\n{escape.markdown(heading(figures))} {notes} [Rounds beside the original's, hits, sizes]({link})."
    )
