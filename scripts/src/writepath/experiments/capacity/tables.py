"""The tables of a capacity suite: maximum rates and what limits them, costs, overload, and the load steps."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from writepath.analysis import stats
from writepath.analysis.saturation import RESOURCES, in_words, unsaturated
from writepath.records import ceilings as ceiling_names
from writepath.records.capacity_run import CapacityResult, Overload
from writepath.records.steps import LoadStep, unresolved
from writepath.report import ceilings as tools
from writepath.report import rows
from writepath.report.capacity import (
    CapacityFigures,
    Limit,
    Suite,
    VariantFigures,
    bound_cell,
    cpu_s,
    fitted,
    per_1000,
    times_cell,
    written_mib,
)
from writepath.report.data import CellData
from writepath.report.fingerprint import slowdown_times
from writepath.report.model import ABSENT, INFINITE, Cell, Column, Row, Table, Value, cell, number, row_of
from writepath.report.rows import DAGGER, VARIANT, Field, field

LOWER = "≥ marks a lower bound: the load generator or its host ended the run, or no rate failed within 5 %."
UPPER = "< marks an upper bound: the lowest rate tried failed."
INTERVAL = "~ marks a rate that is not known to 5 %, with its 90 % interval: the run ended before."
INCONCLUSIVE = "Inconclusive: the run ended before its limit was known."
UNRESOLVED = (
    "Not resolved: one of the two rates is a bound or inconclusive, or their intervals are closer than what the host"
    " can resolve."
)
LATER = f"{DAGGER} The 201 is sent before the row is in its final store."

LABEL: Field[VariantFigures] = field("variant", "variant", lambda one: one.label)
LOWEST_FAILING: Field[VariantFigures] = field(
    "first_fail_per_s", "lowest failing rate", lambda one: one.sustained.lowest_failing, "1/s"
)
NO_BACKLOG = "; the backlog does not grow either"
RIGHT = " with the right total"
KEYWORDS = ". Requests are first pages; keywords are words of the posts, drawn as often as they occur in them"


def capacity(figures: CapacityFigures) -> Table:
    """The main table: sustained rate, its bottleneck, and how well it is known."""
    searches, base = any(one.mode for one in figures.variants), figures.base
    rate = "searches" if searches else "sustained"
    fields: list[Field[VariantFigures]] = [
        LABEL,
        field("capacity_class", "durability class", lambda one: one.level or ABSENT),
        field("sustained_per_s", rate, lambda one: bound_cell(one.sustained), "1/s"),
        field("by_baseline", "× baseline", lambda one: _by_baseline(figures, one)),
        field("capacity_p99_ms", "p99 at highest passing rate", lambda one: one.p99_at(), "ms"),
        field("capacity_limited_by", "bottleneck", lambda one: limit_in_words(one.limited(burst=False))),
        field("capacity_bound", "confidence", lambda one: one.sustained.confidence),
    ]
    if searches:  # they guarantee nothing
        fields[1:3] = [fields[2], LOWEST_FAILING]
    ratio = (
        f" × baseline: rate ÷ that of {base.label} in the same block; geometric mean over the blocks, with its 95 %"
        " interval if there are several (Student's t on the logarithms); of intervals from the lowest to the highest"
        " quotient of their ends."
        if base
        else ""
    )
    return rows.table(
        "capacity",
        "Search capacity" if searches else "Capacity",
        "The highest rate at which at least 99.9 % of the scheduled requests were answered"
        f"{RIGHT if searches else ''}, p99 from the scheduled send time was at most {number(figures.slo_ms)} ms and no"
        f" request was dropped{KEYWORDS if searches else NO_BACKLOG}. Median over blocks (lowest–highest).{ratio}",
        fields,
        figures.variants,
        notes=tuple(_notes(figures)),
        compared=True,
        resolution=figures.resolution,
    )


def _by_baseline(figures: CapacityFigures, one: VariantFigures) -> Value:
    """Block by block, with the interval over blocks; empty for the baseline itself, or without it."""
    base = figures.base
    if base is None or base is one:
        return Cell()
    if figures.compare(one.sustained, base.sustained) == "not resolved":
        return "not resolved"
    return times_cell(one.sustained, base.sustained)


def _notes(figures: CapacityFigures) -> Iterator[str]:
    """What the signs and words of bounds mean, where they are used, and what the ratios can resolve."""
    if any(one.later for one in figures.variants):
        yield LATER
    known, base = [one.sustained for one in figures.variants], figures.base
    ranges = [own for one in known for own in one.ranges.values()]
    if any(low and high == math.inf for low, high in ranges):
        yield LOWER
    if any(not low for low, _ in ranges):
        yield UPPER
    if any(map(fitted, ranges)):
        yield INTERVAL
    if any(one.inconclusive for one in known):
        yield INCONCLUSIVE
    if base and any(figures.compare(one, base.sustained) == "not resolved" for one in known):
        yield UNRESOLVED
    yield resolution_in_words(figures)


def _share(figures: CapacityFigures, one: VariantFigures) -> Cell:
    """Of the lowest ceiling that bounds the sustained rate, in percent and in the same block; a bound where that is.

    Empty where one of the ceilings is missing.
    """
    known = ceiling_names.of(one.variant.family, one.variant.settings)
    found = [
        {block: tool.writes_per_s for block, tool in tools.by_block(figures.data.references, name).items()}
        for name in known
    ]
    if not found or not all(found):
        return Cell()
    lowest = min(found, key=lambda per_s: statistics.median(per_s.values()))
    return bound_cell(one.sustained, lowest)


def resolution_in_words(figures: CapacityFigures) -> str:
    """The smallest detectable difference, from the A/A control."""
    if not figures.control_ratios:
        missing = "A/A control: not resolved." if figures.control.by_block else "There is no A/A control."
        times = slowdown_times(figures.data)
        host = f" The host changed by a factor of {number(times)}: smaller differences may be the host's."
        return f"{missing}{host if times > 1 else ' The smallest detectable difference is not known.'}"
    ratios = ", ".join(f"{ratio:.2f}" for ratio in figures.control_ratios)
    return (
        f"A/A control: measured twice in each block, the baseline sustained {ratios} × its own rate."
        f" Differences below {100 * figures.resolution:.2g} % are within noise."
    )


def rates(figures: CapacityFigures) -> Table:
    """What the main table has no room for."""
    fields: list[Field[VariantFigures]] = [
        LABEL,
        field("capacity_acknowledges", "a 201 guarantees", lambda one: one.variant.acknowledges),
        LOWEST_FAILING,
        field("burst_per_s", "burst", lambda one: bound_cell(one.burst), "1/s"),
        field("ceiling_share_percent", "share of store ceiling", lambda one: _share(figures, one), "%"),
        field("sustained_interval_per_s", "90 % interval (1/s)", lambda one: one.sustained.interval),
        field("capacity_ended", "ended", lambda one: one.ended),
    ]
    return rows.table(
        "rates",
        "Lowest failing and burst rates",
        "Burst: the highest rate at which the 201s keep every limit while a backlog may grow; equal to the"
        " sustained rate without a queue. Median over blocks (lowest–highest).",
        fields,
        figures.variants,
        compared=True,
        resolution=figures.resolution,
    )


SUSPECTED = "load generator (suspected)"


def limit_in_words(limit: Limit) -> str:
    """`connection pool (jpa-writer), 2 of 3`; the load generator first where it is suspected."""
    if not limit.steps:
        return "not reached"
    words = in_words(limit.shown) if limit.shown and limit.times else unsaturated(limit.shown)
    if limit.times and limit.steps > 1:
        words += f", {limit.times} of {limit.steps}"
    return f"{SUSPECTED}; {words}" if limit.suspected else words


LIMITED: tuple[Field[Limit], ...] = (
    field("variant", "variant", lambda limit: limit.label),
    field("limited_bracket", "capacity", lambda limit: limit.bracket),
    field("limited_rate_per_s", "lowest failing rate", lambda limit: limit.lowest_failing, "1/s"),
    field("limited_why", "failed because", lambda limit: "; ".join(limit.reasons) or ABSENT),
    field("limited_by", "bottleneck", limit_in_words),
    field("limited_evidence", "evidence", lambda limit: limit.shown.evidence if limit.shown else ABSENT),
    field(
        "limited_others",
        "also saturated",
        lambda limit: ", ".join(RESOURCES.get(other, other) for other in limit.others) or ABSENT,
    ),
)


def limited(figures: CapacityFigures) -> Table:
    """What the steps at the lowest failing rate say; of the burst rate where it is another one."""
    found = []
    for one in figures.variants:
        found.append(one.limited(burst=False))
        if one.burst.passed != one.sustained.passed:
            found.append(one.limited(burst=True))
    return rows.table(
        "limited",
        "Bottlenecks",
        "The resource that was saturated first in the load steps that failed at the lowest failing rate, and"
        " in how many of them. If none was saturated: the one that used most of its limit over the whole step. Reason"
        " and evidence are those of one such step.",
        LIMITED,
        found,
    )


def ceilings(figures: CapacityFigures) -> Table | None:
    """What the stores' own tools reach on this host; None where none ran."""
    table = tools.table(figures.data.references)
    return table if table.rows else None


Cost = tuple[str, VariantFigures, float | None]  # name of a rate, who passed it, the rate; None: its highest


def _used(get: Callable[[LoadStep], float | None]) -> Callable[[Cost], Value]:
    return lambda cost: stats.spread(per_1000(cost[1].passed_at(cost[2]), get).values())


COSTS: tuple[Field[Cost], ...] = (
    field("cost_rate", "rate", lambda cost: cost[0]),
    field("variant", "variant", lambda cost: cost[1].label),
    field("cost_p99_ms", "p99", lambda cost: cost[1].p99_at(cost[2]), "ms"),
    field("cost_cpu_s_per_1000", "CPU per 1,000 stored writes", _used(cpu_s), "s"),
    field("cost_written_mib_per_1000", "written per 1,000 stored writes", _used(written_mib), "MiB"),
)


def costs(figures: CapacityFigures) -> Table:
    """At the rates that several variants passed, then each at its highest passing rate."""
    found: list[Cost] = [
        (f"{number(per_s)}/s", one, per_s)
        for per_s in figures.common_rates_per_s
        for one in figures.variants
        if all(one.passed_at(per_s).values())
    ]
    found += [
        ("highest passing rate", one, None) for one in figures.variants if any(one.passed_at().values())
    ]
    return rows.table(
        "cost",
        "Latency and cost at common rates",
        "p99 from the scheduled send time; CPU time of all components except the load generator, per 1,000"
        " writes that reached the final store during the load. Only this table includes the short steps of the ramp,"
        " which run at the same rates for every variant; their writes are those answered 201. Each rate lists the"
        " variants that passed it in every block.",
        COSTS,
        found,
        names=2,
        compared=True,
    )


NEVER = "not during the load"


def _errors(one: VariantFigures) -> str:
    """`application 12,000 (49.9 %)`, most first, of all blocks together."""
    phases = [over.phases[1] for over in one.overloads]
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
    found = stats.spread(values)
    if found is None:
        return NEVER
    words = f"{number(found.median)} s"
    if found.low != found.high:
        words += f" ({number(found.low)}–{number(found.high)})"
    missing = len(values) - found.repetitions
    return f"{words}; {NEVER} in {missing} of {len(values)}" if missing else words


def _drained(one: VariantFigures) -> str:
    return _seconds(over.backlog_drained_after_s for over in one.overloads) if one.later else ABSENT


def _generator(one: VariantFigures) -> str:
    faults = dict.fromkeys(fault for over in one.overloads for fault in over.generator_faults)
    return "; ".join(faults) or "on schedule"


def _over(key: str, title: str, get: Callable[[Overload], float]) -> Field[VariantFigures]:
    return field(key, title, lambda one: cell(map(get, one.overloads)), "1/s")


OVERLOAD: tuple[Field[VariantFigures], ...] = (
    LABEL,
    _over("overload_capacity_per_s", "highest passing rate", lambda over: over.capacity_per_s),
    _over("overload_before_per_s", "goodput at 0.5×", lambda over: over.phases[0].goodput_per_s),
    _over("overload_over_per_s", "goodput at 2×", lambda over: over.phases[1].goodput_per_s),
    _over("overload_after_per_s", "goodput after, at 0.5×", lambda over: over.phases[2].goodput_per_s),
    field("overload_errors", "errors at 2×, by hop", _errors),
    field(
        "overload_back_s",
        "p95 recovered in",
        lambda one: _seconds(over.recovered_after_s for over in one.overloads),
    ),
    field("overload_drained_s", "backlog drained in", _drained),
    field("overload_generator", "load generator", _generator),
)


def overload(figures: CapacityFigures) -> Table | None:
    """Each path at twice its highest passing rate; None where none was loaded so."""
    loaded = [one for one in figures.variants if one.overloads]
    if not loaded:
        return None
    return rows.table(
        "overload",
        "Overload and recovery",
        "Load at 0.5×, 2× and 0.5× the highest passing rate. Goodput: requests answered 201 within the SLO, per"
        " second. p95 recovered in: from the end of the overload until p95 is back at its level before it.",
        OVERLOAD,
        loaded,
    )


NOISY_HOST = "noisy host"
Made = tuple[CellData[CapacityResult], LoadStep]


def _step(
    key: str, title: str, get: Callable[[LoadStep], Value], unit: str = "", *, exact: bool = False
) -> Field[Made]:
    return field(key, title, lambda made: get(made[1]), unit, exact=exact)


def _p99(step: LoadStep) -> Value:
    """∞ where its rank falls on a request that was not acknowledged; empty where too few were scheduled."""
    value = step.planned_latency_ms.p99
    return INFINITE if value is None and stats.carries(step.requests.planned, 0.99) else value


def _result(step: LoadStep) -> str:
    """`pass`, `fail (load generator suspected)`; a step that fails by its backlog alone passes as a burst."""
    if step.verdict == "noise":
        return NOISY_HOST
    if step.verdict == "fail" and step.burst:
        return "fail, passes as a burst"
    return f"{step.verdict} (load generator suspected)" if step.generator_bound else step.verdict


def _bottleneck(step: LoadStep) -> str:
    first = step.limited_by.first if step.limited_by else None
    return in_words(first) if first else ABSENT


STEPS: tuple[Field[Made], ...] = (
    field("variant", "variant", lambda made: _name(made[0])),
    field("step_block", "block", lambda made: made[0].record.block, exact=True),
    _step("step_number", "step", lambda step: step.number, exact=True),
    _step("step_kind", "kind", lambda step: step.kind),
    _step("step_rate_per_s", "rate", lambda step: step.rate_per_s, "1/s", exact=True),
    _step("step_seconds", "duration", lambda step: step.seconds, "s", exact=True),
    _step("step_result", "result", _result),
    _step("step_p99_ms", "p99", _p99, "ms"),
    _step(
        "step_unserved",
        "not acknowledged",
        lambda step: step.requests.planned - step.requests.acknowledged,
        exact=True,
    ),
    _step("step_stored_per_s", "stored", lambda step: step.stored_per_s, "1/s"),
    _step(
        "step_backlog_per_s",
        "backlog growth",
        lambda step: step.backlog.slope_per_s if step.backlog else None,
        "1/s",
    ),
    _step("step_drain_s", "drain", lambda step: step.drain_seconds, "s"),
    _step("step_audit", "audit", lambda step: step.audit or ABSENT),
    _step("step_limited_by", "bottleneck", _bottleneck),
    _step("step_why", "reason", lambda step: "; ".join(step.reasons) or ABSENT),
)


def steps(data: Suite) -> Table:
    """Every load step of every capacity run, one row each."""
    return rows.table(
        "steps",
        "Load steps",
        "In order of time. Ramp: short steps that find the range for the bisection. Noisy host: the load"
        " generator or the host disturbed the step; it was retried and is counted in no figure. p99 from the scheduled"
        " send time; ∞: it falls on a request that was not acknowledged.",
        STEPS,
        [(cell, step) for cell in data.cells if cell.result is not None for step in cell.result.steps],
        mark=lambda made: NOISY_HOST if made[1].verdict == "noise" else "",
        names=3,
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


def validity(data: Suite) -> Table:
    """How many steps were noisy, and whether every acknowledged write was found."""
    groups: dict[str, list[CellData[CapacityResult]]] = {}
    for one in data.cells:
        groups.setdefault(_name(one), []).append(one)
    return Table(
        key="validity",
        title="Validity",
        caption="Noisy steps, which the load generator or the host disturbed, are kept and retried; this table counts"
        " them.",
        columns=VALIDITY_COLUMNS,
        rows=tuple(_validity_row(name, cells) for name, cells in groups.items()),
    )


def _validity_row(name: str, cells: Sequence[CellData[CapacityResult]]) -> Row:
    results = [cell.result for cell in cells if cell.result is not None]
    made = [step for result in results for step in result.steps]
    noisy = [step for step in made if step.verdict == "noise"]
    left = sum(len(list(unresolved(result.steps))) for result in results)
    reasons = Counter(reason for step in noisy for reason in step.reasons)
    searched = any(result.searches is not None for result in results)
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


def _name(one: CellData[CapacityResult]) -> str:
    """Its title, how it searches, and whether it is the A/A control."""
    searches = one.result.searches if one.result else None
    return rows.cell_title(one, f" ({searches.data_set.mode})" if searches else "")
