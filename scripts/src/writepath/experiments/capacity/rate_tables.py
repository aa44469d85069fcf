"""Tables of the maximum sustainable rate of each path: how well it is known, what limits it, and beside its ceiling."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from writepath.analysis.saturation import RESOURCES
from writepath.records import ceilings as ceiling_names
from writepath.report import ceilings as tools
from writepath.report.capacity import bounds
from writepath.report.capacity.figures import times
from writepath.report.capacity.words import (
    INCONCLUSIVE,
    LATER,
    LOWER,
    UNRESOLVED,
    UPPER,
    limit_in_words,
    resolution_in_words,
)
from writepath.report.comparison import ratio_cell
from writepath.report.model import ABSENT, Cell, Column, Row, Table, number, text
from writepath.report.rows import VARIANT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from writepath.report.capacity.figures import CapacityFigures, VariantFigures

CAPACITY_COLUMNS = (
    VARIANT,
    Column(key="capacity_class", title="durability class"),
    Column(key="sustained_per_s", title="sustained", unit="1/s"),
    Column(key="by_baseline", title="× baseline"),
    Column(key="capacity_p99_ms", title="p99 at highest passing rate", unit="ms"),
    Column(key="capacity_limited_by", title="bottleneck"),
    Column(key="capacity_bound", title="confidence"),
)
SEARCH_COLUMNS = (  # a search guarantees nothing
    VARIANT,
    Column(key="sustained_per_s", title="searches", unit="1/s"),
    Column(key="first_fail_per_s", title="lowest failing rate", unit="1/s"),
    *CAPACITY_COLUMNS[3:],
)
RATE_COLUMNS = (
    VARIANT,
    Column(key="capacity_acknowledges", title="a 201 guarantees"),
    Column(key="first_fail_per_s", title="lowest failing rate", unit="1/s"),
    Column(key="burst_per_s", title="burst", unit="1/s"),
    Column(key="ceiling_share_percent", title="share of store ceiling", unit="%"),
)
LIMITED_COLUMNS = (
    VARIANT,
    Column(key="limited_bracket", title="capacity"),
    Column(key="limited_rate_per_s", title="lowest failing rate", unit="1/s"),
    Column(key="limited_why", title="failed because"),
    Column(key="limited_by", title="bottleneck"),
    Column(key="limited_evidence", title="evidence"),
    Column(key="limited_others", title="also saturated"),
)
SHARE_COLUMNS = (
    VARIANT,
    Column(key="share_of", title="capacity"),
    Column(key="share_ceiling", title="its ceiling"),
    Column(key="share_per_s", title="sustained", unit="1/s"),
    Column(key="share_percent", title="share", unit="%"),
)
NO_BACKLOG = "; the backlog does not grow either"
RIGHT = " with the right total"
KEYWORDS = ". Requests are first pages; keywords are words of the posts, drawn as often as they occur in them"
SUSTAINED, BURST = "sustained", "burst"


def capacity(figures: CapacityFigures) -> Table:
    """The main table: sustained rate, its bottleneck, and how well it is known."""
    searches = any(one.mode for one in figures.variants)
    rows = (
        (
            text(one.label),
            *(() if searches else (text(one.level or ABSENT),)),
            bounds.cell(one.sustained),
            *((Cell(figure=one.sustained.lowest_failing),) if searches else ()),
            _by_baseline(figures, one),
            Cell(figure=one.p99_at_highest_passing),
            text(limit_in_words(one.limited)),
            text(one.sustained.confidence),
        )
        for one in figures.variants
    )
    return Table(
        key="capacity",
        title="Search capacity" if searches else "Capacity",
        caption="The highest rate at which at least 99.9 % of the scheduled requests were answered"
        f"{RIGHT if searches else ''}, p99 from the scheduled send time was at most {number(figures.slo_ms)} ms and no"
        f" request was dropped{KEYWORDS if searches else NO_BACKLOG}. Median over blocks (lowest–highest)."
        f"{_baseline_in_words(figures)}",
        columns=SEARCH_COLUMNS if searches else CAPACITY_COLUMNS,
        rows=tuple(Row(cells=cells) for cells in rows),
        notes=(
            *((LATER,) if any(one.later for one in figures.variants) else ()),
            *bound_notes(figures.variants),
            *_comparison_notes(figures),
        ),
        compared=True,
    )


def rates(figures: CapacityFigures) -> Table:
    """What the main table has no room for."""
    rows = (
        (
            text(one.label),
            text(one.variant.acknowledges),
            Cell(figure=one.sustained.lowest_failing),
            bounds.cell(one.burst),
            _share(figures, one, SUSTAINED),
        )
        for one in figures.variants
    )
    return Table(
        key="rates",
        title="Lowest failing and burst rates",
        caption="Burst: the highest rate at which the 201s keep every limit while a backlog may grow; equal to the"
        " sustained rate without a queue. Median over blocks (lowest–highest).",
        columns=RATE_COLUMNS,
        rows=tuple(Row(cells=cells) for cells in rows),
        compared=True,
    )


def _by_baseline(figures: CapacityFigures, one: VariantFigures) -> Cell:
    """Block by block, with the interval over blocks; empty for the baseline itself, or without it."""
    base = figures.base
    if base is None or base is one:
        return Cell()
    if figures.compare(one.sustained, base.sustained) == "not resolved":
        return text("not resolved")
    return ratio_cell(times(one.sustained, base.sustained))


def _baseline_in_words(figures: CapacityFigures) -> str:
    if figures.base is None:
        return ""
    return (
        f" × baseline: highest passing rate ÷ that of {figures.base.label} in the same block; geometric mean over the"
        " blocks, with its 95 % interval if there are several (Student's t on the logarithms)."
    )


def bound_notes(variants: Iterable[VariantFigures]) -> Iterator[str]:
    """What the signs and words of bounds mean, where they are used."""
    known = [one.sustained for one in variants]
    between = [bounds.limits(bracket) for one in known for bracket in one.by_block.values()]
    if any(low and low < high for low, high in between):
        yield LOWER
    if any(not low for low, _ in between):
        yield UPPER
    if any(one.inconclusive for one in known):
        yield INCONCLUSIVE


def _comparison_notes(figures: CapacityFigures) -> Iterator[str]:
    """What the ratios to the baseline can resolve."""
    base = figures.base
    if base and any(
        figures.compare(one.sustained, base.sustained) == "not resolved" for one in figures.variants
    ):
        yield UNRESOLVED
    yield resolution_in_words(figures)


def limited(figures: CapacityFigures) -> Table:
    """What the steps at the lowest failing rate say."""
    rows = []
    for one in figures.variants:
        brackets = [(SUSTAINED, one.sustained, one.limited)]
        if one.burst.passed != one.sustained.passed:
            brackets.append((BURST, one.burst, one.burst_limited))
        for name, found, limit in brackets:
            seen = limit.first or limit.nearest
            cells = (
                text(one.label),
                text(name),
                Cell(figure=found.lowest_failing),
                text("; ".join(limit.reasons) or ABSENT),
                text(limit_in_words(limit)),
                text(seen.evidence if seen else ABSENT),
                text(", ".join(RESOURCES.get(other, other) for other in limit.others) or ABSENT),
            )
            rows.append(Row(cells=cells))
    return Table(
        key="limited",
        title="Bottlenecks",
        caption="The resource that was saturated first in the load steps that failed at the lowest failing rate, and"
        " in how many of them. If none was saturated: the one that used most of its limit over the whole step. Reason"
        " and evidence are those of one such step.",
        columns=LIMITED_COLUMNS,
        rows=tuple(rows),
    )


def ceilings(figures: CapacityFigures) -> Table | None:
    """What the stores' own tools reach on this host; None where none ran."""
    table = tools.table(figures.data.references)
    return table if table.rows else None


def shares(figures: CapacityFigures) -> Table | None:
    """Each path's share of its store's ceiling; of a queue path also of the broker's."""
    if not any(cell.result for cell in figures.data.references):
        return None
    rows = []
    for one in figures.variants:
        for which in (SUSTAINED, BURST) if one.later else (SUSTAINED,):
            name, _ = _ceiling(figures, one, which)
            known = one.burst if which == BURST else one.sustained
            cells = (text(which), text(name), bounds.cell(known), _share(figures, one, which))
            rows.append(Row(cells=(text(one.label), *cells)))
    return Table(
        key="ceiling_shares",
        title="Share of the ceiling",
        caption="Rate ÷ the lowest ceiling that bounds it, measured in the same block: the sustained rate is bounded"
        " by what the broker delivers and the store writes, the burst rate of a queue path by what the broker confirms."
        " The rest goes to proxy, HTTP, application and the load generator on the same host.",
        columns=SHARE_COLUMNS,
        rows=tuple(rows),
    )


def _ceiling(figures: CapacityFigures, one: VariantFigures, which: str) -> tuple[str, dict[int, float]]:
    """Name and rates by block of the lowest of the ceilings that bound it, unless one of them is missing."""
    known = ceiling_names.of(one.variant.family, one.variant.settings)
    found = {
        name: {
            block: tool.writes_per_s for block, tool in tools.by_block(figures.data.references, name).items()
        }
        for name in (known.burst if which == BURST else known.sustained)
    }
    if not found or not all(found.values()):
        return ABSENT, {}
    return min(found.items(), key=lambda item: statistics.median(item[1].values()))


def _share(figures: CapacityFigures, one: VariantFigures, which: str) -> Cell:
    """In percent, of the ceiling that was measured in the same block; empty without one. A bound where the rate is."""
    name, per_s = _ceiling(figures, one, which)
    return Cell() if name == ABSENT else bounds.cell(one.burst if which == BURST else one.sustained, per_s)
