"""Tables of what a rate costs, and of each path at twice its highest passing rate."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.report.capacity.cost import cpu_s, per_1000, written_mib
from writepath.report.model import ABSENT, Cell, Column, Row, Table, number, text
from writepath.report.rows import VARIANT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from writepath.records.capacity_run import OverloadPhase
    from writepath.report.capacity.figures import CapacityFigures, VariantFigures

COST_COLUMNS = (
    Column(key="cost_rate", title="rate"),
    VARIANT,
    Column(key="cost_p99_ms", title="p99", unit="ms"),
    Column(key="cost_cpu_s_per_1000", title="CPU per 1,000 stored writes", unit="s"),
    Column(key="cost_written_mib_per_1000", title="written per 1,000 stored writes", unit="MiB"),
)
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
OVER = 1  # index of the phase at twice the rate
NEVER = "not during the load"


def costs(figures: CapacityFigures) -> Table:
    """At the rates that several variants passed, then each at its highest passing rate."""
    lines = [
        (f"{number(per_s)}/s", one, one.p99_at(per_s), steps)
        for per_s in figures.common_rates_per_s
        for one in figures.variants
        if all(steps := one.passed_at(per_s))
    ]
    lines += [
        ("highest passing rate", one, one.p99_at_highest_passing, steps)
        for one in figures.variants
        if any(steps := one.passed_at_capacity())
    ]
    rows = [
        (
            text(at),
            text(one.label),
            *(Cell(figure=of) for of in (late, per_1000(steps, cpu_s), per_1000(steps, written_mib))),
        )
        for at, one, late, steps in lines
    ]
    return Table(
        key="cost",
        title="Latency and cost at common rates",
        caption="p99 from the scheduled send time; CPU time of all components except the load generator, per 1,000"
        " writes that reached the final store during the load. Only this table includes the short steps of the ramp,"
        " which run at the same rates for every variant; their writes are those answered 201. Each rate lists the"
        " variants that passed it in every block.",
        columns=COST_COLUMNS,
        rows=tuple(Row(cells=cells) for cells in rows),
        names=2,
        compared=True,
    )


def overload(figures: CapacityFigures) -> Table | None:
    """Each path at twice its highest passing rate; None where none was loaded so."""
    rows = tuple(Row(cells=_overload_cells(one)) for one in figures.variants if one.overloads)
    if not rows:
        return None
    return Table(
        key="overload",
        title="Overload and recovery",
        caption="Load at 0.5×, 2× and 0.5× the highest passing rate. Goodput: requests answered 201 within the SLO, per"
        " second. p95 recovered in: from the end of the overload until p95 is back at its level before it.",
        columns=OVERLOAD_COLUMNS,
        rows=rows,
    )


def _overload_cells(one: VariantFigures) -> tuple[Cell, ...]:
    found = one.overloads
    faults = list(dict.fromkeys(fault for over in found for fault in over.generator_faults))
    goodput = zip(*([phase.goodput_per_s for phase in over.phases] for over in found), strict=True)
    return (
        text(one.label),
        Cell(figure=stats.spread(over.capacity_per_s for over in found)),
        *(Cell(figure=stats.spread(values)) for values in goodput),
        text(_errors_in_words([over.phases[OVER] for over in found])),
        text(_seconds([over.recovered_after_s for over in found])),
        text(_seconds([over.backlog_drained_after_s for over in found]) if one.later else ABSENT),
        text("; ".join(faults) or "on schedule"),
    )


def _errors_in_words(phases: list[OverloadPhase]) -> str:
    """`application 12,000 (49.9 %)`, most first, of all blocks together."""
    planned = sum(phase.planned for phase in phases)
    errors: Counter[str] = Counter()
    for phase in phases:
        errors.update(phase.errors_by_hop)
    words = [
        f"{hop} {count:,} ({100 * count / planned:.1f} %)" for hop, count in errors.most_common() if count
    ]
    return ", ".join(words) or "none"


def _seconds(given: Iterable[float | None]) -> str:
    """The median with its range; how often it did not happen during the load."""
    values = list(given)
    known = [value for value in values if value is not None]
    missing = len(values) - len(known)
    if not known:
        return NEVER
    words = f"{number(statistics.median(known))} s"
    if len(known) > 1 and min(known) != max(known):
        words += f" ({number(min(known))}–{number(max(known))})"
    return f"{words}; {NEVER} in {missing} of {len(values)}" if missing else words
