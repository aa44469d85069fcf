"""The figures of a capacity suite over its blocks; every table, plot and sentence starts here."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from writepath.analysis import stats
from writepath.analysis.comparison import Estimate, paired
from writepath.analysis.saturation import RESOURCES
from writepath.analysis.stats import Spread
from writepath.records.capacity_run import CapacityResult, Overload
from writepath.records.index import VariantRecord
from writepath.records.search_load import DuringWrites, SearchLoad
from writepath.records.steps import LoadStep, Saturated
from writepath.report.capacity.bounds import UNKNOWN, Capacity, Comparison, compare, limits
from writepath.report.data import CellData, RowKey, SuiteData, host_name
from writepath.report.model import number
from writepath.report.rows import DAGGER

Suite = SuiteData[CapacityResult]
Runs = Mapping[int, CapacityResult]  # by block, those that came to their brackets

BISECTION = 0.05  # a capacity run ends when its limit is known to this; smaller differences are not measured
SAME_RATE = 0.02  # rates that differ less are one rate
MOST_COMMON = 4  # rates that several variants passed


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What was saturated in the failing steps next to a bracket."""

    first: Saturated | None  # the most frequent; None: nothing was saturated
    times: int
    steps: int
    suspected: bool  # the load generator could explain one of these steps
    others: tuple[str, ...]  # resources that were saturated, too
    nearest: Saturated | None  # if nothing was saturated: what most often came closest
    reasons: tuple[str, ...]  # of the first of these steps


@dataclass(frozen=True, kw_only=True)
class VariantFigures:
    """One line of the tables."""

    row: RowKey
    level: str  # what its 201 guarantees, as read back: A, B or C
    runs: Runs

    @property
    def variant(self) -> VariantRecord:
        """As it was defined when the suite ran."""
        return self.row.variant

    @property
    def later(self) -> bool:
        """Whether the 201 comes before the row is in the store it is meant for."""
        return any(run.queue_path and run.operation == "write" for run in self.runs.values())

    @property
    def mode(self) -> str:
        """How it searches; empty where it writes."""
        modes = (run.searches.data_set.mode for run in self.runs.values() if run.searches is not None)
        return ", ".join(dict.fromkeys(modes))

    @property
    def label(self) -> str:
        """Its title; how it searches; a dagger where its 201 comes before the row is in its store."""
        title = f"{self.row.title} ({self.mode})" if self.mode else self.row.title
        return f"{title} {DAGGER}" if self.later else title

    @property
    def sustained(self) -> Capacity:
        """What the store keeps up with."""
        return Capacity(by_block={block: run.sustained for block, run in self.runs.items()})

    @property
    def burst(self) -> Capacity:
        """201s alone."""
        return Capacity(by_block={block: run.burst for block, run in self.runs.items()})

    @property
    def steps(self) -> tuple[LoadStep, ...]:
        """Of all its runs."""
        return tuple(step for run in self.runs.values() for step in run.steps)

    @property
    def overloads(self) -> tuple[Overload, ...]:
        """Of the runs that had one."""
        return tuple(run.overload for run in self.runs.values() if run.overload is not None)

    def passed_at(self, rate_per_s: float | None = None) -> dict[int, list[LoadStep]]:
        """By block, the steps of a rate that passed; None: those at its highest passing rate, without the ramp's."""
        if rate_per_s is not None:
            return {block: run.passed(rate_per_s) for block, run in self.runs.items()}
        return {
            block: [step for step in run.passed(run.sustained.highest_passing_per_s) if step.counted]
            for block, run in self.runs.items()
        }

    def p99_at(self, rate_per_s: float | None = None) -> Spread | None:
        """Over blocks, of these steps the slowest: percentiles are never averaged."""
        by_block = [
            [step.planned_latency_ms.p99 for step in steps] for steps in self.passed_at(rate_per_s).values()
        ]
        return stats.spread(max((p99 for p99 in own if p99 is not None), default=None) for own in by_block)

    def limited(self, *, burst: bool) -> Limit:
        """Over the steps that failed at each run's lowest failing rate; the ramp's where it is the ramp's rate."""
        failing = [
            step
            for run in self.runs.values()
            for step in run.steps
            if step.verdict != "noise"
            and step.rate_per_s == (run.burst if burst else run.sustained).lowest_failing_per_s
            and not step.passes(burst=burst)
        ]
        seen = [step.limited_by for step in failing if step.limited_by is not None]
        first, count = _most_frequent(limited.first for limited in seen)
        nearest, _ = _most_frequent(limited.nearest for limited in seen)
        saturated = (one for limited in seen for one in (limited.first, *limited.others) if one is not None)
        others = dict.fromkeys(one.resource for one in saturated)
        return Limit(
            first=first,
            times=count,
            steps=len(failing),
            suspected=any(step.generator_bound for step in failing),
            others=tuple(name for name in others if first is None or name != first.resource),
            nearest=nearest if first is None else None,
            reasons=failing[0].reasons if failing else (),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class CapacityFigures:
    """A capacity suite, or what of it was measured on one host."""

    data: Suite
    variants: tuple[VariantFigures, ...]  # in the suite's order
    controls: Runs  # of the baseline's A/A control

    @property
    def slo_ms(self) -> float:
        """Limit of the p99."""
        return next((run.slo_ms for one in self.variants for run in one.runs.values()), 0.0)

    @property
    def step_seconds(self) -> float:
        """Of a load step, at least."""
        return next((run.step_seconds for one in self.variants for run in one.runs.values()), 0.0)

    @property
    def searches(self) -> bool:
        """Whether its requests are searches."""
        return any(one.mode for one in self.variants)

    @property
    def base(self) -> VariantFigures | None:
        """What the others are compared with."""
        return self.one(self.data.index.baseline or "")

    @property
    def control_ratios(self) -> tuple[float, ...]:
        """The A/A control ÷ the baseline, of each block in which both are measured."""
        if self.base is None:
            return ()
        blocks = sorted(self.base.runs.keys() & self.controls.keys())
        pairs = [
            [limits(runs[block].sustained) for runs in (self.base.runs, self.controls)] for block in blocks
        ]
        return tuple(
            again / first for (first, high), (again, most) in pairs if first == high and again == most
        )

    @property
    def resolution(self) -> float:
        """The smallest detectable difference between two capacities, as a share."""
        spread = max((abs(math.log(ratio)) for ratio in self.control_ratios), default=0.0)
        return max(BISECTION, math.expm1(spread))

    @property
    def main(self) -> tuple[VariantFigures, ...]:
        """Without the variants with Spring Boot defaults and the weakened controls, which are references."""
        return tuple(
            one for one in self.variants if not (one.variant.tutorial_of or one.variant.naive_twin_of)
        )

    def one(self, name: str) -> VariantFigures | None:
        """By the variant's name."""
        return next((one for one in self.variants if one.variant.name == name), None)

    def compare(self, one: Capacity, other: Capacity) -> Comparison:
        """Whether the one is higher in every block by more than the smallest detectable difference."""
        return compare(one, other, 1 + self.resolution)

    @property
    def common_rates_per_s(self) -> tuple[float, ...]:
        """For each number of variants from all down to two, the highest rate that so many passed; at most four.

        In every block: others compare hosts and days. Steps of the ramp count: they are the same for every variant.
        """
        held: Counter[float] = Counter()
        for one in self.variants:
            passed = [
                {step.rate_per_s for step in run.steps if step.verdict == "pass"} for run in one.runs.values()
            ]
            held.update(set.intersection(*passed))
        chosen: list[float] = []
        for many in sorted(set(held.values()) - {1}, reverse=True):
            highest = max(rate for rate, own in held.items() if own == many)
            if len(chosen) < MOST_COMMON and all(abs(highest / rate - 1) > SAME_RATE for rate in chosen):
                chosen.append(highest)
        return tuple(sorted(chosen))


def times(one: Capacity, other: Capacity) -> Estimate:
    """The one ÷ the other in the same block, where host and day were the same. Only of resolved comparisons."""
    blocks = sorted(one.by_block.keys() & other.by_block.keys())
    mine, theirs = ([side.passed[block] for block in blocks] for side in (one, other))
    return paired(mine, theirs, "higher")


def capacity_figures(data: Suite) -> CapacityFigures:
    """Of all rows that have a finished run."""
    controls: dict[int, CapacityResult] = {}
    found = []
    for row in data.rows:
        controls |= _runs(data.of(row, control=True))
        cells = data.of(row)
        if runs := _runs(cells):
            levels = {one.record.durability.level for one in cells if one.result and one.record.durability}
            found.append(VariantFigures(row=row, level=", ".join(sorted(levels)), runs=runs))
    return CapacityFigures(data=data, variants=tuple(found), controls=controls)


def by_host(data: Suite) -> tuple[tuple[str, CapacityFigures], ...]:
    """The figures of each host, in order of the first block; at least one."""
    return tuple((host, capacity_figures(own)) for host, own in data.by_host())


def _runs(cells: Iterable[CellData[CapacityResult]]) -> dict[int, CapacityResult]:
    return {
        one.record.block: one.result
        for one in cells
        if one.record.outcome == "finished" and one.result is not None
    }


def _most_frequent(seen: Iterable[Saturated | None]) -> tuple[Saturated | None, int]:
    """The resource seen most often, as it was seen first, and how often; None where there is none."""
    known = [one for one in seen if one is not None]
    for named, count in Counter((one.resource, one.component) for one in known).most_common(1):
        return next(one for one in known if (one.resource, one.component) == named), count
    return None, 0


Get = Callable[[LoadStep], float | None]

GENERATOR = "k6"
MIB = 1 << 20


def per_1000(by_block: Mapping[int, Sequence[LoadStep]], get: Get) -> dict[int, float]:
    """By block, per 1,000 writes that reached the final store during all steps of the block together."""
    found = {}
    for block, steps in by_block.items():
        values, writes = [get(step) for step in steps], sum(map(_stored, steps))
        known = [value for value in values if value is not None]
        if writes and len(known) == len(values):
            found[block] = sum(known) * 1000 / writes
    return found


def cpu_s(step: LoadStep) -> float | None:
    """Of all components but the generator."""
    used = [one.cpu_seconds for name, one in step.resources.items() if name != GENERATOR]
    return sum(used) if used else None


def written_mib(step: LoadStep) -> float | None:
    """None where the runtime cannot tell it of every component."""
    written = [one.write_bytes for name, one in step.resources.items() if name != GENERATOR]
    known = [value for value in written if value is not None]
    return sum(known) / MIB if known and len(known) == len(written) else None


def _stored(step: LoadStep) -> float:
    """Writes that reached the final store while the load ran; of a ramp step those acknowledged."""
    if step.stored_per_s is None:
        return float(step.requests.acknowledged)
    return step.stored_per_s * step.seconds


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A row's searches during writes, by block."""

    row: RowKey
    mode: str
    loads: tuple[DuringWrites, ...]

    @property
    def warm(self) -> tuple[DuringWrites, ...]:
        """Those whose times are valid."""
        return tuple(load for load in self.loads if load.warm)


def during_writes(data: Suite) -> tuple[tuple[str, tuple[Searched, ...]], ...]:
    """By host, in order of the first block; at least one, and only rows that have such loads on it."""
    found: dict[str, list[Searched]] = {}
    first: dict[str, int] = {}  # block
    for row in data.rows:
        own: dict[str, list[SearchLoad]] = {}
        for cell in data.of(row):
            searches = None if cell.result is None else cell.result.searches
            if searches is not None and (during := searches.during_writes) is not None:
                host, block = host_name(during.rerun_host or cell.record.host), cell.record.block
                first[host] = min(block, first.get(host, block))
                own.setdefault(host, []).append(searches)
        for host, known in own.items():
            loads = tuple(one.during_writes for one in known if one.during_writes is not None)
            found.setdefault(host, []).append(Searched(row=row, mode=known[0].data_set.mode, loads=loads))
    hosts = sorted(found, key=lambda host: first[host])
    return tuple((host, tuple(found[host])) for host in hosts) or (("", ()),)


HOST = "host"
UNSATURATED = "none saturated"
SUSPECTED = "load generator (suspected)"
LOWER = "≥ marks a lower bound: the load generator or its host ended the run, or no rate failed within 5 %."
UPPER = "< marks an upper bound: the lowest rate tried failed."
INCONCLUSIVE = "Inconclusive: the run ended before its limit was known to 5 %."
UNRESOLVED = (
    "Not resolved: one of the two rates is a bound or inconclusive, so there is no ratio and no order."
)
LATER = f"{DAGGER} The 201 is sent before the row is in its final store."


def resolution_in_words(figures: CapacityFigures) -> str:
    """The smallest detectable difference, from the A/A control."""
    if not figures.controls:
        return "There is no A/A control: the smallest detectable difference is not known."
    if not figures.control_ratios:
        return "A/A control: not resolved. The smallest detectable difference is not known."
    ratios = ", ".join(f"{ratio:.2f}" for ratio in figures.control_ratios)
    return (
        f"A/A control: measured twice in each block, the baseline sustained {ratios} × its own rate."
        f" Differences below {100 * figures.resolution:.2g} % are within noise."
    )


def limit_in_words(limit: Limit) -> str:
    """`connection pool (jpa-writer), 2 of 3`; the load generator first where it is suspected."""
    if not limit.steps:
        return "not reached"
    if limit.first is not None:
        words = resource_in_words(limit.first)
        words += f", {limit.times} of {limit.steps}" if limit.steps > 1 else ""
    else:
        near = limit.nearest
        words = UNSATURATED if near is None else f"{UNSATURATED}; highest use: {resource_in_words(near)}"
    return f"{SUSPECTED}; {words}" if limit.suspected else words


def resource_in_words(found: Saturated) -> str:
    """Which, and whose where it is not the host's."""
    title = RESOURCES.get(found.resource, found.resource)
    return title if found.component == HOST else f"{title} ({found.component})"


def about(capacity: Capacity) -> str:
    """`~2,300/s`, `at least 2,300/s`, `below 200/s`; two digits, rounded down, as a run ends at 5 %."""
    low, high = capacity.limits
    if low:
        words = f"{'~' if low == high else 'at least '}{two_digits(low)}/s"
    else:
        words = UNKNOWN if high == math.inf else f"below {number(high)}/s"
    blocks = len(capacity.by_block)
    if unsure := capacity.inconclusive:
        words += f", inconclusive in {unsure} of {blocks} block{'s' if blocks > 1 else ''}"
    return words


def two_digits(per_s: float) -> str:
    """Rounded down."""
    unit = 10.0 ** (math.floor(math.log10(per_s)) - 1)
    return f"{math.floor(per_s / unit) * unit:,.0f}"
