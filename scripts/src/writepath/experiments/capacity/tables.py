"""The tables of a capacity suite: maximum rates and what limits them, costs, overload, and the load steps."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from writepath.analysis import stats
from writepath.analysis.saturation import RESOURCES
from writepath.records import ceilings as ceiling_names
from writepath.records.capacity_run import CapacityResult, OverloadPhase
from writepath.records.steps import LoadStep, unresolved
from writepath.report import ceilings as tools
from writepath.report.capacity import bounds
from writepath.report.capacity.figures import (
    INCONCLUSIVE,
    LATER,
    LOWER,
    UNRESOLVED,
    UPPER,
    CapacityFigures,
    Suite,
    VariantFigures,
    cpu_s,
    limit_in_words,
    per_1000,
    resolution_in_words,
    resource_in_words,
    times,
    written_mib,
)
from writepath.report.comparison import ratio_cell
from writepath.report.data import CellData
from writepath.report.model import ABSENT, INFINITE, Cell, Column, Row, Table, Value, number, row_of, text
from writepath.report.rows import AGAIN, VARIANT

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
        row_of(
            one.label,
            *(() if searches else (one.level or ABSENT,)),
            bounds.cell(one.sustained),
            *((one.sustained.lowest_failing,) if searches else ()),
            _by_baseline(figures, one),
            one.p99_at_highest_passing,
            limit_in_words(one.limited),
            one.sustained.confidence,
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
        rows=tuple(rows),
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
        row_of(
            one.label,
            one.variant.acknowledges,
            one.sustained.lowest_failing,
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
        rows=tuple(rows),
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
            row = row_of(
                one.label,
                name,
                found.lowest_failing,
                "; ".join(limit.reasons) or ABSENT,
                limit_in_words(limit),
                seen.evidence if seen else ABSENT,
                ", ".join(RESOURCES.get(other, other) for other in limit.others) or ABSENT,
            )
            rows.append(row)
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
            rows.append(row_of(one.label, which, name, bounds.cell(known), _share(figures, one, which)))
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
        row_of(at, one.label, late, per_1000(steps, cpu_s), per_1000(steps, written_mib))
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
        rows=tuple(rows),
        names=2,
        compared=True,
    )


def overload(figures: CapacityFigures) -> Table | None:
    """Each path at twice its highest passing rate; None where none was loaded so."""
    rows = tuple(_overload_row(one) for one in figures.variants if one.overloads)
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


def _overload_row(one: VariantFigures) -> Row:
    found = one.overloads
    faults = list(dict.fromkeys(fault for over in found for fault in over.generator_faults))
    goodput = zip(*([phase.goodput_per_s for phase in over.phases] for over in found), strict=True)
    return row_of(
        one.label,
        stats.spread(over.capacity_per_s for over in found),
        *map(stats.spread, goodput),
        _errors_in_words([over.phases[OVER] for over in found]),
        _seconds([over.recovered_after_s for over in found]),
        _seconds([over.backlog_drained_after_s for over in found]) if one.later else ABSENT,
        "; ".join(faults) or "on schedule",
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


Cells = Sequence[CellData[CapacityResult]]

STEP_COLUMNS = (
    VARIANT,
    Column(key="step_block", title="block", exact=True),
    Column(key="step_number", title="step", exact=True),
    Column(key="step_kind", title="kind"),
    Column(key="step_rate_per_s", title="rate", unit="1/s", exact=True),
    Column(key="step_seconds", title="duration", unit="s", exact=True),
    Column(key="step_result", title="result"),
    Column(key="step_p99_ms", title="p99", unit="ms"),
    Column(key="step_unserved", title="not acknowledged", exact=True),
    Column(key="step_stored_per_s", title="stored", unit="1/s"),
    Column(key="step_backlog_per_s", title="backlog growth", unit="1/s"),
    Column(key="step_drain_s", title="drain", unit="s"),
    Column(key="step_audit", title="audit"),
    Column(key="step_limited_by", title="bottleneck"),
    Column(key="step_why", title="reason"),
)
VALIDITY_COLUMNS = (
    VARIANT,
    Column(key="validity_runs", title="capacity runs"),
    Column(key="validity_counted", title="steps counted", exact=True),
    Column(key="validity_ramp", title="ramp", exact=True),
    Column(key="validity_noise", title="noisy, retried", exact=True),
    Column(key="validity_unresolved", title="noisy, not retried", exact=True),
    Column(key="validity_why", title="cause of noise"),
    Column(key="validity_audit", title="audit of steps"),
    Column(key="validity_lost", title="failed runs"),
)
NOISY_HOST = "noisy host"


def steps(data: Suite) -> Table:
    """Every load step of every capacity run, one row each."""
    return Table(
        key="steps",
        title="Load steps",
        caption="In order of time. Ramp: short steps that find the range for the bisection. Noisy host: the load"
        " generator or the host disturbed the step; it was retried and is counted in no figure. p99 from the scheduled"
        " send time; ∞: it falls on a request that was not acknowledged.",
        columns=STEP_COLUMNS,
        rows=tuple(
            _step_row(cell, step)
            for cell in data.cells
            if cell.result is not None
            for step in cell.result.steps
        ),
        names=3,
    )


def _step_row(cell: CellData[CapacityResult], step: LoadStep) -> Row:
    first = step.limited_by.first if step.limited_by else None
    return row_of(
        _name(cell),
        cell.record.block,
        step.number,
        step.kind,
        step.rate_per_s,
        step.seconds,
        _result_in_words(step),
        _p99(step),
        step.requests.planned - step.requests.acknowledged,
        step.stored_per_s,
        step.backlog.slope_per_s if step.backlog else None,
        step.drain_seconds,
        step.audit or ABSENT,
        resource_in_words(first) if first else ABSENT,
        "; ".join(step.reasons) or ABSENT,
        mark=NOISY_HOST if step.verdict == "noise" else "",
    )


def _p99(step: LoadStep) -> Value:
    """∞ where its rank falls on a request that was not acknowledged; empty where too few were scheduled."""
    value = step.planned_latency_ms.p99
    return INFINITE if value is None and stats.carries(step.requests.planned, 0.99) else value


def _result_in_words(step: LoadStep) -> str:
    """`pass`, `fail (load generator suspected)`; a step that fails by its backlog alone passes as a burst."""
    if step.verdict == "noise":
        return NOISY_HOST
    if step.verdict == "fail" and step.burst:
        return "fail, passes as a burst"
    return f"{step.verdict} (load generator suspected)" if step.generator_bound else step.verdict


def validity(data: Suite) -> Table:
    """How many steps were noisy, and whether every acknowledged write was found."""
    groups: dict[str, list[CellData[CapacityResult]]] = {}
    for cell in data.cells:
        groups.setdefault(_name(cell), []).append(cell)
    return Table(
        key="validity",
        title="Validity",
        caption="Noisy steps, which the load generator or the host disturbed, are kept and retried; this table counts"
        " them.",
        columns=VALIDITY_COLUMNS,
        rows=tuple(_validity_row(name, cells) for name, cells in groups.items()),
    )


def _validity_row(name: str, cells: Cells) -> Row:
    runs = [cell.result.steps for cell in cells if cell.result is not None]
    made = [step for steps in runs for step in steps]
    noisy = [step for step in made if step.verdict == "noise"]
    left = sum(len(list(unresolved(steps))) for steps in runs)
    reasons = Counter(reason for step in noisy for reason in step.reasons)
    searched = any(cell.result is not None and cell.result.searches is not None for cell in cells)
    audits = Counter(step.audit or "not read" for step in made if step.kind != "ramp" and not searched)
    lost = [
        f"block {cell.record.block}: {cell.record.error or cell.record.outcome}"
        for cell in cells
        if cell.record.outcome != "finished"
    ]
    return row_of(
        name,
        f"{len(cells) - len(lost)} of {len(cells)} finished",
        sum(step.counted for step in made),
        sum(step.kind == "ramp" for step in made if step.verdict != "noise"),
        len(noisy) - left,
        left,
        "; ".join(f"{reason} ({times})" for reason, times in reasons.most_common()) or ABSENT,
        ", ".join(f"{count} {verdict}" for verdict, count in sorted(audits.items())) or ABSENT,
        "; ".join(lost) or "none",
    )


def _name(cell: CellData[CapacityResult]) -> str:
    """Its title, how it searches, and whether it is the A/A control."""
    words = [cell.record.title, *(f"{name}={level}" for name, level in cell.record.levels.items())]
    searches = None if cell.result is None else cell.result.searches
    mode = "" if searches is None else f" ({searches.data_set.mode})"
    return ", ".join(words) + mode + (AGAIN if cell.record.role == "A/A control" else "")
