"""What share of the rate that the store's own benchmark tool reaches does a path reach?"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.records import ceilings as ceiling_names
from writepath.report import capacity_bounds as bounds
from writepath.report.model import ABSENT, Cell, Column, Row, Table, text
from writepath.report.rows import VARIANT

if TYPE_CHECKING:
    from writepath.records.capacity import Ceiling
    from writepath.records.index import VariantRecord
    from writepath.report.capacity_figures import CapacityFigures, VariantFigures

CEILING_COLUMNS = (
    Column(key="ceiling", title="ceiling"),
    Column(key="ceiling_tool", title="tool"),
    Column(key="ceiling_what", title="one write is"),
    Column(key="ceiling_clients", title="clients", exact=True),
    Column(key="ceiling_per_s", title="writes", unit="1/s"),
    Column(key="ceiling_latency_ms", title="mean latency", unit="ms"),
    Column(key="ceiling_blocks", title="blocks", exact=True),
)
SHARE_COLUMNS = (
    VARIANT,
    Column(key="share_of", title="capacity"),
    Column(key="share_ceiling", title="its ceiling"),
    Column(key="share_per_s", title="sustained", unit="1/s"),
    Column(key="share_percent", title="share", unit="%"),
)


@dataclass(frozen=True, kw_only=True)
class Bound:
    """The lowest of the ceilings that bound a path."""

    name: str
    per_s: dict[int, float]  # by block


def bound(figures: CapacityFigures, variant: VariantRecord, *, accepting: bool) -> Bound | None:
    """By its median; None unless all of them were measured.

    accepting: of what is answered 201, else of what is stored.
    """
    known = ceiling_names.of(variant.family, variant.settings)
    found = [
        Bound(name=name, per_s={block: one.writes_per_s for block, one in best(figures, name).items()})
        for name in (known.burst if accepting else known.sustained)
    ]
    if not found or not all(one.per_s for one in found):
        return None
    return min(found, key=lambda one: statistics.median(one.per_s.values()))


def best(figures: CapacityFigures, name: str) -> dict[int, Ceiling]:
    """By block the tool's best figure, whatever the number of clients."""
    found = {}
    for made in figures.data.ceilings:
        own = [ceiling for ceiling in made.ceilings if ceiling.name == name]
        if own:
            found[made.block] = max(own, key=lambda ceiling: ceiling.writes_per_s)
    return found


def share(figures: CapacityFigures, one: VariantFigures, *, accepting: bool) -> Cell:
    """In percent, of the ceiling that was measured in the same block; empty without one. A bound where the rate is."""
    ceiling = bound(figures, one.variant, accepting=accepting)
    capacity = one.burst if accepting else one.sustained
    return Cell() if ceiling is None else bounds.cell(capacity, ceiling.per_s)


def ceilings(figures: CapacityFigures) -> Table | None:
    """What the stores' own tools reach on this host; None where none ran."""
    names = dict.fromkeys(ceiling.name for block in figures.data.ceilings for ceiling in block.ceilings)
    rows = []
    for name in names:
        found = list(best(figures, name).values())
        first = found[0]
        rows.append(
            Row(
                cells=(
                    text(name),
                    text(first.tool),
                    text(first.what),
                    Cell(figure=stats.spread(float(one.clients) for one in found)),
                    Cell(figure=stats.spread(one.writes_per_s for one in found)),
                    Cell(figure=stats.spread(one.latency_ms_mean for one in found)),
                    Cell(figure=stats.spread([float(len(found))])),
                )
            )
        )
    if not rows:
        return None
    return Table(
        key="ceilings",
        title="Ceilings: the stores' own tools",
        caption="Measured on the same host without application and proxy; the tool generates the load itself. The best"
        " value of each block, median (lowest–highest).",
        columns=CEILING_COLUMNS,
        rows=tuple(rows),
    )


def shares(figures: CapacityFigures) -> Table | None:
    """Each path's share of its store's ceiling; of a queue path also of the broker's."""
    rows = []
    for one in figures.variants:
        for accepting in (False, True) if one.later else (False,):
            capacity = one.burst if accepting else one.sustained
            ceiling = bound(figures, one.variant, accepting=accepting)
            cells = (
                text("burst" if accepting else "sustained"),
                text(ABSENT if ceiling is None else ceiling.name),
                bounds.cell(capacity),
                share(figures, one, accepting=accepting),
            )
            rows.append(Row(cells=(text(one.label), *cells)))
    if not figures.data.ceilings:
        return None
    return Table(
        key="ceiling_shares",
        title="Share of the ceiling",
        caption="Rate ÷ the lowest ceiling that bounds it, measured in the same block: the sustained rate is bounded"
        " by what the broker delivers and the store writes, the burst rate of a queue path by what the broker confirms."
        " The rest goes to proxy, HTTP, application and the load generator on the same host.",
        columns=SHARE_COLUMNS,
        rows=tuple(rows),
    )
