"""Which tables show the maximum rate of each path, its bottleneck, its cost and its behaviour under overload?"""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.analysis.saturation import RESOURCES
from writepath.report import capacity_bounds as bounds
from writepath.report.capacity_baseline import BY_BASELINE, baseline_in_words, by_baseline
from writepath.report.capacity_ceilings import share
from writepath.report.capacity_cost import cost, p99_at, passed_at, passed_at_capacity
from writepath.report.model import ABSENT, Cell, Column, Row, Table, number, text
from writepath.report.rows import DAGGER, VARIANT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from writepath.analysis.stats import Spread
    from writepath.records.capacity import Overload, OverloadPhase, Saturated
    from writepath.report.capacity_bounds import Capacity
    from writepath.report.capacity_figures import CapacityFigures, Limit, VariantFigures

HOST = "host"
NONE = "none"
UNSATURATED = "none saturated"
SUSPECTED = "load generator (suspected)"
LOWER = "≥ marks a lower bound: the load generator or its host ended the run, or no rate failed within 5 %."
UPPER = "< marks an upper bound: the lowest rate tried failed."
INCONCLUSIVE = "Inconclusive: the run ended before its limit was known to 5 %."
UNRESOLVED = (
    "Not resolved: one of the two rates is a bound or inconclusive, so there is no ratio and no order."
)
LATER = f"{DAGGER} The 201 is sent before the row is in its final store."

CAPACITY_COLUMNS = (
    VARIANT,
    Column(key="capacity_acknowledges", title="a 201 guarantees"),
    Column(key="capacity_class", title="durability class"),
    Column(key="sustained_per_s", title="sustained", unit="1/s"),
    Column(key="first_fail_per_s", title="lowest failing rate", unit="1/s"),
    BY_BASELINE,
    Column(key="burst_per_s", title="burst", unit="1/s"),
    Column(key="capacity_p99_ms", title="p99 at highest passing rate", unit="ms"),
    Column(key="capacity_limited_by", title="bottleneck"),
    Column(key="ceiling_share_percent", title="share of store ceiling", unit="%"),
    Column(key="capacity_bound", title="confidence"),
)


def capacity(figures: CapacityFigures) -> Table:
    """The main table: sustained and burst rate, and the bottleneck."""
    rows = tuple(Row(cells=_capacity_cells(figures, one)) for one in figures.variants)
    slo = figures.suite.slo_ms
    return Table(
        key="capacity",
        title="Capacity",
        caption="The highest rate at which at least 99.9 % of the scheduled requests were answered 201, p99 from the"
        f" scheduled send time was at most {number(slo)} ms and no request was dropped. At the sustained rate the"
        f" backlog does not grow either. Median over blocks (lowest–highest).{baseline_in_words(figures)}",
        columns=CAPACITY_COLUMNS,
        rows=rows,
        notes=(
            *((LATER,) if any(one.later for one in figures.variants) else ()),
            *bound_notes(figures.variants),
            *comparison_notes(figures, figures.variants),
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
        share(figures, one, accepting=False),
        text(confidence(one)),
    )


def confidence(one: VariantFigures) -> str:
    """Of its sustained rate: measured, a bound, or inconclusive in how many blocks."""
    return one.sustained.confidence


def rate(found: Capacity) -> Cell:
    """`2,350 (2,300–2,400)`, with the sign of a bound: `≥ 2,350`, `< 200`."""
    return bounds.cell(found)


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


def comparison_notes(figures: CapacityFigures, variants: Iterable[VariantFigures]) -> Iterator[str]:
    """What the ratios to the baseline can resolve."""
    base = figures.one(figures.suite.baseline)
    if base and any(figures.compare(one.sustained, base.sustained) == "not resolved" for one in variants):
        yield UNRESOLVED
    yield resolution_in_words(figures)


def resolution_in_words(figures: CapacityFigures) -> str:
    """The smallest detectable difference, from the A/A control."""
    if not figures.data.of(figures.suite.baseline, again=True):
        return "There is no A/A control: the smallest detectable difference is not known."
    if not figures.twin_ratios:
        return "A/A control: not resolved. The smallest detectable difference is not known."
    ratios = ", ".join(f"{ratio:.2f}" for ratio in figures.twin_ratios)
    return (
        f"A/A control: measured twice in each block, the baseline sustained {ratios} × its own rate."
        f" Differences below {100 * figures.resolution:.2g} % are within noise."
    )


def limit_in_words(limit: Limit) -> str:
    """`connection pool (jpa-writer), 2 of 3`; the load generator first where it is suspected."""
    if not limit.holds:
        return "not reached"
    words = _unsaturated(limit.nearest) if limit.first is None else resource_in_words(limit.first)
    if limit.holds > 1 and limit.first is not None:
        words += f", {limit.times} of {limit.holds}"
    return f"{SUSPECTED}; {words}" if limit.generator_bound else words


def _unsaturated(nearest: Saturated | None) -> str:
    return UNSATURATED if nearest is None else f"{UNSATURATED}; highest use: {resource_in_words(nearest)}"


def resource_in_words(found: Saturated) -> str:
    """Which, and whose where it is not the host's."""
    title = RESOURCES.get(found.resource, found.resource)
    return title if found.component == HOST else f"{title} ({found.component})"


LIMITED_COLUMNS = (
    VARIANT,
    Column(key="limited_bracket", title="capacity"),
    Column(key="limited_rate_per_s", title="lowest failing rate", unit="1/s"),
    Column(key="limited_why", title="failed because"),
    Column(key="limited_by", title="bottleneck"),
    Column(key="limited_evidence", title="evidence"),
    Column(key="limited_others", title="also saturated"),
)


def limited(figures: CapacityFigures) -> Table:
    """What the steps at the lowest failing rate say."""
    rows = []
    for one in figures.variants:
        brackets = [("sustained", one.sustained, one.limited)]
        if one.burst.passed != one.sustained.passed:
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
        title="Bottlenecks",
        caption="The resource that was saturated first in the load steps that failed at the lowest failing rate, and"
        " in how many of them. If none was saturated: the one that used most of its limit over the whole step. Reason"
        " and evidence are those of one such step.",
        columns=LIMITED_COLUMNS,
        rows=tuple(rows),
    )


COST_COLUMNS = (
    Column(key="cost_rate", title="rate"),
    VARIANT,
    Column(key="cost_p99_ms", title="p99", unit="ms"),
    Column(key="cost_cpu_s_per_1000", title="CPU per 1,000 stored writes", unit="s"),
    Column(key="cost_written_mib_per_1000", title="written per 1,000 stored writes", unit="MiB"),
)


def costs(figures: CapacityFigures) -> Table:
    """At the rates that several variants passed, then each at its highest passing rate."""
    lines = [
        (f"{number(per_s)}/s", one, p99_at(one, per_s), cost(holds))
        for per_s in figures.common_rates_per_s
        for one in figures.variants
        if all(holds := passed_at(one, per_s))
    ]
    lines += [
        ("highest passing rate", one, one.p99_at_last_pass, cost(holds))
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
        caption="p99 from the scheduled send time; CPU time of all components except the load generator, per 1,000"
        " writes that reached the final store during the load. Only this table includes the short steps of the ramp,"
        " which run at the same rates for every variant; their writes are those answered 201. Each rate lists the"
        " variants that passed it in every block.",
        columns=COST_COLUMNS[:known],  # bytes last, where the runtime can tell them
        rows=tuple(Row(cells=cells[:known]) for cells in rows),
    )


def _figure(spread: Spread | None) -> Cell:
    return Cell(figure=spread)


OVERLOAD_COLUMNS = (
    VARIANT,
    Column(key="overload_capacity_per_s", title="highest passing rate", unit="1/s"),
    Column(key="overload_before_per_s", title="goodput at 0.5×", unit="1/s"),
    Column(key="overload_over_per_s", title="goodput at 2×", unit="1/s"),
    Column(key="overload_after_per_s", title="goodput after, at 0.5×", unit="1/s"),
    Column(key="overload_errors", title="errors at 2×, by hop"),
    Column(key="overload_back_s", title="p95 recovered in"),
    Column(key="overload_drained_s", title="backlog drained in"),
    Column(key="overload_generator", title="load generator"),
)
STRETCHES = 3
NEVER = "not during the load"


def overload(figures: CapacityFigures) -> Table | None:
    """Each path at twice its highest passing rate; None where none was loaded so."""
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
        caption="Load at 0.5×, 2× and 0.5× the highest passing rate. Goodput: requests answered 201 within the SLO, per"
        " second. p95 recovered in: from the end of the overload until p95 is back at its level before it.",
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
        text("; ".join(faults) or "on schedule"),
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
    """The median with its range; how often it did not happen during the load."""
    given = list(values)
    known = [value for value in given if value is not None]
    missing = len(given) - len(known)
    if not known:
        return NEVER
    words = f"{number(statistics.median(known))} s"
    if len(known) > 1 and min(known) != max(known):
        words += f" ({number(min(known))}–{number(max(known))})"
    return f"{words}; {NEVER} in {missing} of {len(given)}" if missing else words


BUILDERS: tuple[Callable[[CapacityFigures], Table | None], ...] = (capacity, limited, costs, overload)
