"""Which tables say how far each path carries, what stops it, what it costs, and how it takes too much?"""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING

from writepath import stats
from writepath.report.capacity_baseline import BY_BASELINE, baseline_in_words, by_baseline
from writepath.report.capacity_ceilings import share
from writepath.report.capacity_cost import cost, p99_at, passed_at, passed_at_capacity
from writepath.report.model import ABSENT, Cell, Column, Row, Table, number, text
from writepath.report.rows import DAGGER, VARIANT
from writepath.result.capacity import answers
from writepath.saturation import RESOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from writepath.report.capacity_figures import Capacity, CapacityFigures, Limit, VariantFigures
    from writepath.result.capacity import Overload, OverloadPhase, Saturated
    from writepath.stats import Spread

HOST = "host"
NONE = "none"
UNSEEN = "nothing seen at its limit"
AT_LEAST = "≥: the generator or its host ended the search; capacity may be higher."
OPEN = "Open: a search ended before its limit was known to 5 %."
LATER = f"{DAGGER} The 201 comes before the row is in the store it is meant for."

CAPACITY_COLUMNS = (
    VARIANT,
    Column(key="capacity_acknowledges", title="a 201 means"),
    Column(key="capacity_class", title="class"),
    Column(key="sustained_per_s", title="sustained", unit="1/s"),
    Column(key="first_fail_per_s", title="first fail", unit="1/s"),
    BY_BASELINE,
    Column(key="burst_per_s", title="burst", unit="1/s"),
    Column(key="capacity_p99_ms", title="p99 at the last pass", unit="ms"),
    Column(key="capacity_limited_by", title="limited by"),
    Column(key="ceiling_share_percent", title="of its store's ceiling", unit="%"),
    Column(key="capacity_bound", title="known as"),
)


def capacity(figures: CapacityFigures) -> Table:
    """The one table: sustained and burst capacity, and what limits."""
    rows = tuple(Row(cells=_capacity_cells(figures, one)) for one in figures.variants)
    slo = figures.suite.slo_ms
    return Table(
        key="capacity",
        title="Capacity",
        caption=f"The highest rate that passed: at least 99.9 % answered 201, p99 from the planned moment at most"
        f" {number(slo)} ms, nothing dropped, and for sustained no growing backlog. Median over blocks"
        f" (lowest–highest).{baseline_in_words(figures)} {resolution_in_words(figures)}",
        columns=CAPACITY_COLUMNS,
        rows=rows,
        notes=(
            *((LATER,) if any(one.later for one in figures.variants) else ()),
            *bound_notes(figures.variants),
        ),
    )


def _capacity_cells(figures: CapacityFigures, one: VariantFigures) -> tuple[Cell, ...]:
    return (
        text(one.label),
        text(one.variant.acknowledges),
        text(one.level or ABSENT),
        rate(one.sustained),
        Cell(figure=one.sustained.first_fail),
        by_baseline(figures, one),
        rate(one.burst),
        Cell(figure=one.p99_at_last_pass),
        text(limit_in_words(one.limited)),
        Cell(figure=share(figures, one, accepting=False)),
        text(known_as(one)),
    )


def known_as(one: VariantFigures) -> str:
    """How sharp it is: between a pass and a fail that lie close, a lower bound, or open."""
    unsure = sum(not answers(found.search.sustained) for found in one.searches)
    if unsure:
        return f"open in {unsure} of {len(one.searches)}"
    return "at least" if one.sustained.at_least else "pass and fail"


def bound_notes(variants: Sequence[VariantFigures]) -> tuple[str, ...]:
    """What ≥ and *open* mean; the latter where it is said."""
    unsure = any(not answers(found.search.sustained) for one in variants for found in one.searches)
    return (AT_LEAST, OPEN) if unsure else (AT_LEAST,)


def rate(found: Capacity) -> Cell:
    """A capacity: `≥ 2,350 (2,300–2,400)`, or the word for none."""
    if not found.per_s:
        return text(NONE)
    return Cell(figure=found.last_pass, prefix="≥ " if found.at_least else "")


def resolution_in_words(figures: CapacityFigures) -> str:
    """From the A/A twin."""
    if not figures.twin_ratios:
        return "There is no A/A twin: how small a difference can be told apart here is not known."
    ratios = ", ".join(f"{ratio:.2f}" for ratio in figures.twin_ratios)
    return (
        f"The baseline searched twice in each block came out at {ratios} of itself:"
        f" differences below {100 * figures.resolution:.2g} % are not told apart here."
    )


def limit_in_words(limit: Limit) -> str:
    """`connection pool (jpa-writer), 2 of 3`; the generator first where it could be why."""
    if not limit.holds:
        return "not reached"
    words = _unseen(limit.nearest) if limit.first is None else resource_in_words(limit.first)
    if limit.holds > 1 and limit.first is not None:
        words += f", {limit.times} of {limit.holds}"
    return f"perhaps the generator; {words}" if limit.generator_bound else words


def _unseen(nearest: Saturated | None) -> str:
    return UNSEEN if nearest is None else f"{UNSEEN}, nearest {resource_in_words(nearest)}"


def resource_in_words(found: Saturated) -> str:
    """Which, and whose where it is not the host's."""
    title = RESOURCES.get(found.resource, found.resource)
    return title if found.component == HOST else f"{title} ({found.component})"


LIMITED_COLUMNS = (
    VARIANT,
    Column(key="limited_bracket", title="capacity"),
    Column(key="limited_rate_per_s", title="first fail", unit="1/s"),
    Column(key="limited_why", title="why it failed"),
    Column(key="limited_by", title="limited by"),
    Column(key="limited_evidence", title="evidence"),
    Column(key="limited_others", title="also at their limit"),
)


def limited(figures: CapacityFigures) -> Table:
    """What the failing holds next to each bracket say."""
    rows = []
    for one in figures.variants:
        brackets = [("sustained", one.sustained, one.limited)]
        if one.burst.by_block != one.sustained.by_block:
            brackets.append(("burst", one.burst, one.burst_limited))
        for name, found, limit in brackets:
            seen = limit.first or limit.nearest
            rows.append(
                Row(
                    cells=(
                        text(one.label),
                        text(name),
                        Cell(figure=found.first_fail),
                        text("; ".join(limit.reasons) or ABSENT),
                        text(limit_in_words(limit)),
                        text(seen.evidence if seen else ABSENT),
                        text(", ".join(RESOURCES.get(other, other) for other in limit.others) or ABSENT),
                    )
                )
            )
    return Table(
        key="limited",
        title="Limited by",
        caption="The resource that was at its limit first, in the holds that failed next to the last pass; and"
        " in how many of them; nearest: of those that stayed below, the one that used most of its limit over the whole"
        " hold. Why and evidence are those of one such hold.",
        columns=LIMITED_COLUMNS,
        rows=tuple(rows),
    )


COST_COLUMNS = (
    Column(key="cost_rate", title="at"),
    VARIANT,
    Column(key="cost_p99_ms", title="p99", unit="ms"),
    Column(key="cost_cpu_s_per_1000", title="CPU per 1,000 stored writes", unit="s"),
    Column(key="cost_written_mib_per_1000", title="written per 1,000 stored writes", unit="MiB"),
)


def costs(figures: CapacityFigures) -> Table:
    """By rate that several variants held, then each at its own capacity."""
    lines = [
        (f"{number(per_s)}/s", one, p99_at(one, per_s), cost(holds))
        for per_s in figures.common_rates_per_s
        for one in figures.variants
        if all(holds := passed_at(one, per_s))
    ]
    lines += [
        ("its capacity", one, one.p99_at_last_pass, cost(holds))
        for one in figures.variants
        if any(holds := passed_at_capacity(one))
    ]
    known = len(COST_COLUMNS) if any(used.written_mib for *_, used in lines) else len(COST_COLUMNS) - 1
    rows = [
        (text(at), text(one.label), *map(_figure, (late, used.cpu_s, used.written_mib)))
        for at, one, late, used in lines
    ]
    return Table(
        key="cost",
        title="Latency and cost at common rates",
        caption="p99 from the planned moment; processor time of all components but the generator, by writes that"
        " reached the final store while the load ran. Short holds of the ramp count in this table, and in no other:"
        " they alone have the same rates for every variant. Their writes are those answered 201. At a rate stand the"
        " variants that passed it in every block.",
        columns=COST_COLUMNS[:known],  # bytes last, where the runtime can tell them
        rows=tuple(Row(cells=cells[:known]) for cells in rows),
    )


def _figure(spread: Spread | None) -> Cell:
    return Cell(figure=spread)


OVERLOAD_COLUMNS = (
    VARIANT,
    Column(key="overload_capacity_per_s", title="capacity", unit="1/s"),
    Column(key="overload_before_per_s", title="goodput at half", unit="1/s"),
    Column(key="overload_over_per_s", title="goodput at double", unit="1/s"),
    Column(key="overload_after_per_s", title="goodput at half again", unit="1/s"),
    Column(key="overload_errors", title="errors at double, by hop"),
    Column(key="overload_back_s", title="back after"),
    Column(key="overload_drained_s", title="backlog gone after"),
    Column(key="overload_generator", title="generator"),
)
STRETCHES = 3


def overload(figures: CapacityFigures) -> Table | None:
    """How each path takes twice its capacity; None where nobody was asked."""
    rows = []
    for one in figures.variants:
        found = [
            over
            for search in one.searches
            if (over := search.search.overload) is not None and len(over.phases) == STRETCHES
        ]
        if found:
            rows.append(Row(cells=(text(one.label), *_overload_cells(one, found))))
    if not rows:
        return None
    return Table(
        key="overload",
        title="Overload and recovery",
        caption="Half, twice and half its capacity. Goodput: answered 201 within the SLO, by the stretch's length."
        " Back: from the overload's end until p95 is again what it was at half capacity.",
        columns=OVERLOAD_COLUMNS,
        rows=tuple(rows),
    )


def _overload_cells(one: VariantFigures, found: Sequence[Overload]) -> tuple[Cell, ...]:
    faults = list(dict.fromkeys(fault for over in found for fault in over.generator_faults))
    return (
        Cell(figure=stats.spread(over.capacity_per_s for over in found)),
        *(
            Cell(figure=stats.spread(over.phases[at].goodput_per_s for over in found))
            for at in range(STRETCHES)
        ),
        text(errors_in_words(over.phases[1] for over in found)),
        text(_seconds(over.recovered_after_s for over in found)),
        text(_seconds(over.backlog_drained_after_s for over in found) if one.later else ABSENT),
        text("; ".join(faults) or "kept its plan"),
    )


def errors_in_words(phases: Iterable[OverloadPhase]) -> str:
    """`application 12,000 (49.9 %)`, most first, of all blocks together."""
    errors: Counter[str] = Counter()
    planned = 0
    for phase in phases:
        errors.update(phase.errors_by_hop)
        planned += phase.planned
    words = [
        f"{hop} {count:,} ({100 * count / planned:.1f} %)" for hop, count in errors.most_common() if count
    ]
    return ", ".join(words) or NONE


def _seconds(values: Iterable[float | None]) -> str:
    """The median, with its range; how often it was not within the load."""
    given = list(values)
    known = [value for value in given if value is not None]
    missing = len(given) - len(known)
    if not known:
        return "not within the load"
    words = f"{number(statistics.median(known))} s"
    if len(known) > 1 and min(known) != max(known):
        words += f" ({number(min(known))}–{number(max(known))})"
    return f"{words}; not within the load in {missing} of {len(given)}" if missing else words


BUILDERS: tuple[Callable[[CapacityFigures], Table | None], ...] = (capacity, limited, costs, overload)
