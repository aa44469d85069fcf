"""The figures of a capacity suite over its blocks; every table, plot and sentence starts here."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from writepath.analysis import stats
from writepath.analysis.comparison import Estimate, paired
from writepath.analysis.saturation import RESOURCES
from writepath.analysis.stats import Spread
from writepath.records.capacity_run import CapacityResult, Overload
from writepath.records.index import VariantRecord
from writepath.records.measures import Durability
from writepath.records.search_load import DuringWrites, SearchLoad
from writepath.records.steps import Bracket, LoadStep, Saturated
from writepath.report.capacity.bounds import UNKNOWN, Capacity, Comparison, compare, limits
from writepath.report.data import CellData, RowKey, SuiteData, host_name
from writepath.report.model import number
from writepath.report.rows import DAGGER

Suite = SuiteData[CapacityResult]

BISECTION = 0.05  # a capacity run ends when its limit is known to this; smaller differences are not measured
SAME_RATE = 0.02  # rates that differ less are one rate
MOST_COMMON = 4  # rates that several variants passed


@dataclass(frozen=True, kw_only=True)
class Run:
    """One capacity run that came to its brackets."""

    block: int
    folder: str  # below the suite's
    title: str
    durability: Durability | None
    result: CapacityResult

    @property
    def counted(self) -> tuple[LoadStep, ...]:
        """Its steps without the ramp and without noise."""
        return tuple(step for step in self.result.steps if step.counted)

    def passed(self, rate_per_s: float | None) -> list[LoadStep]:
        """Its steps that passed a rate, those of the ramp too."""
        return [
            step for step in self.result.steps if step.rate_per_s == rate_per_s and step.verdict == "pass"
        ]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What was at its limit first in the failing steps next to a bracket."""

    first: Saturated | None  # the most frequent; None: nothing was seen at its limit
    times: int
    steps: int
    generator_bound: int  # of the steps, those the generator could explain
    others: tuple[str, ...] = ()  # resources seen at their limit, too
    nearest: Saturated | None = None  # where nothing was seen at its limit: what most often came closest
    reasons: tuple[str, ...] = ()  # of the first of these steps


@dataclass(frozen=True, kw_only=True)
class VariantFigures:
    """One line of the tables."""

    row: RowKey
    runs: tuple[Run, ...]  # by block

    @property
    def variant(self) -> VariantRecord:
        """As it was defined when the suite ran."""
        return self.row.variant

    @property
    def later(self) -> bool:
        """Whether the 201 comes before the row is in the store it is meant for."""
        return any(run.result.queue_path and run.result.operation == "write" for run in self.runs)

    @property
    def mode(self) -> str:
        """How it searches; empty where it writes."""
        known = (run.result.searches for run in self.runs if run.result.searches is not None)
        return ", ".join(dict.fromkeys(one.data_set.mode for one in known))

    @property
    def label(self) -> str:
        """Its title; how it searches; a dagger where its 201 comes before the row is in its store."""
        title = f"{self.row.title} ({self.mode})" if self.mode else self.row.title
        return f"{title} {DAGGER}" if self.later else title

    @property
    def level(self) -> str:
        """What its 201 guarantees, as read back: A, B or C."""
        return ", ".join(sorted({run.durability.level for run in self.runs if run.durability is not None}))

    @property
    def sustained(self) -> Capacity:
        """What the store keeps up with."""
        return Capacity(by_block={run.block: run.result.sustained for run in self.runs})

    @property
    def burst(self) -> Capacity:
        """201s alone."""
        return Capacity(by_block={run.block: run.result.burst for run in self.runs})

    @property
    def steps(self) -> tuple[LoadStep, ...]:
        """Of all its runs."""
        return tuple(step for run in self.runs for step in run.result.steps)

    @property
    def overloads(self) -> tuple[Overload, ...]:
        """Of the runs that had one."""
        return tuple(run.result.overload for run in self.runs if run.result.overload is not None)

    @property
    def p99_at_highest_passing(self) -> Spread | None:
        """By block, of the steps that passed that rate the slowest: percentiles are never averaged."""
        return stats.spread(
            _slowest(step for step in run.passed(run.result.sustained.highest_passing_per_s) if step.counted)
            for run in self.runs
        )

    @cached_property
    def limited(self) -> Limit:
        """Of the sustained rate."""
        return _limit(self.runs, lambda run: run.result.sustained, lambda step: step.verdict == "pass")

    @cached_property
    def burst_limited(self) -> Limit:
        """Of the burst rate."""
        return _limit(
            self.runs, lambda run: run.result.burst, lambda step: step.verdict == "pass" or step.burst
        )

    def passed_at(self, rate_per_s: float) -> list[list[LoadStep]]:
        """By block, the steps of a rate that passed."""
        return [run.passed(rate_per_s) for run in self.runs]

    def passed_at_capacity(self) -> list[list[LoadStep]]:
        """By block, the counted steps that passed at its highest passing rate."""
        return [
            [step for step in run.passed(run.result.sustained.highest_passing_per_s) if step.counted]
            for run in self.runs
        ]

    def p99_at(self, rate_per_s: float) -> Spread | None:
        """Over blocks, each block's slowest step of that rate."""
        return stats.spread(_slowest(steps) for steps in self.passed_at(rate_per_s))


@dataclass(frozen=True, kw_only=True, eq=False)
class CapacityFigures:
    """A capacity suite, or what of it was measured on one host."""

    data: Suite
    variants: tuple[VariantFigures, ...]  # in the suite's order
    controls: tuple[Run, ...]  # of the baseline's A/A control

    @property
    def slo_ms(self) -> float:
        """Limit of the p99."""
        return next((run.result.slo_ms for run in self.runs), 0.0)

    @property
    def step_seconds(self) -> float:
        """Of a load step, at least."""
        return next((run.result.step_seconds for run in self.runs), 0.0)

    @property
    def base(self) -> VariantFigures | None:
        """What the others are compared with."""
        return self.one(self.data.index.baseline or "")

    @property
    def runs(self) -> tuple[Run, ...]:
        """The A/A control's too."""
        return (*(run for one in self.variants for run in one.runs), *self.controls)

    @property
    def control_ratios(self) -> tuple[float, ...]:
        """The A/A control ÷ the baseline, of each block in which both are measured."""
        if self.base is None:
            return ()
        base, again = (
            {run.block: limits(run.result.sustained) for run in runs}
            for runs in (self.base.runs, self.controls)
        )
        pairs = [(*base[block], *again[block]) for block in sorted(base.keys() & again.keys())]
        return tuple(mine / low for low, high, mine, most in pairs if low == high and mine == most)

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
        held = Counter(
            rate
            for one in self.variants
            for rate in set.intersection(
                *(
                    {step.rate_per_s for step in run.result.steps if step.verdict == "pass"}
                    for run in one.runs
                )
            )
        )
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
    rows = data.rows
    controls = [run for row in rows for run in _runs(data.of(row, control=True))]
    found = [VariantFigures(row=row, runs=runs) for row in rows if (runs := tuple(_runs(data.of(row))))]
    return CapacityFigures(data=data, variants=tuple(found), controls=tuple(controls))


def by_host(data: Suite) -> tuple[tuple[str, CapacityFigures], ...]:
    """The figures of each host, in order of the first block; at least one."""
    return tuple((host, capacity_figures(own)) for host, own in data.by_host())


def _runs(cells: Iterable[CellData[CapacityResult]]) -> Iterator[Run]:
    for cell in cells:
        if cell.record.outcome == "finished" and cell.result is not None:
            yield Run(
                block=cell.record.block,
                folder=cell.entry.folder,
                title=cell.record.title,
                durability=cell.record.durability,
                result=cell.result,
            )


def _slowest(steps: Iterable[LoadStep]) -> float | None:
    return max((p99 for step in steps if (p99 := step.planned_latency_ms.p99) is not None), default=None)


def _limit(runs: Sequence[Run], bracket: Callable[[Run], Bracket], good: Callable[[LoadStep], bool]) -> Limit:
    """Over the steps that failed at each run's lowest failing rate; those of the ramp where it is the ramp's."""
    failing = [
        step
        for run in runs
        for step in run.result.steps
        if step.verdict != "noise" and step.rate_per_s == bracket(run).lowest_failing_per_s and not good(step)
    ]
    seen = [step.limited_by for step in failing if step.limited_by is not None]
    first, count = _most_frequent(limited.first for limited in seen)
    nearest, _ = _most_frequent(limited.nearest for limited in seen)
    saturated = (one for limited in seen for one in (limited.first, *limited.others) if one is not None)
    others = dict.fromkeys(
        one.resource for one in saturated if first is None or one.resource != first.resource
    )
    return Limit(
        first=first,
        times=count,
        steps=len(failing),
        generator_bound=sum(step.generator_bound for step in failing),
        others=tuple(others),
        reasons=failing[0].reasons if failing else (),
        nearest=nearest if first is None else None,
    )


def _most_frequent(seen: Iterable[Saturated | None]) -> tuple[Saturated | None, int]:
    """The resource seen most often, as it was seen first, and how often; None where there is none."""
    known = [one for one in seen if one is not None]
    for named, count in Counter((one.resource, one.component) for one in known).most_common(1):
        return next(one for one in known if (one.resource, one.component) == named), count
    return None, 0


Get = Callable[[LoadStep], float | None]

GENERATOR = "k6"
MIB = 1 << 20


def per_1000(by_block: Iterable[Sequence[LoadStep]], get: Get) -> Spread | None:
    """Per 1,000 stored writes over blocks, each with all its steps together."""
    return stats.spread(_per_1000(steps, get) for steps in by_block if steps)


def cpu_s(step: LoadStep) -> float | None:
    """Of all components but the generator."""
    used = [one.cpu_seconds for name, one in step.resources.items() if name != GENERATOR]
    return sum(used) if used else None


def written_mib(step: LoadStep) -> float | None:
    """None where the runtime cannot tell it of every component."""
    written = [one.write_bytes for name, one in step.resources.items() if name != GENERATOR]
    known = [value for value in written if value is not None]
    return sum(known) / MIB if known and len(known) == len(written) else None


def cpu_s_by_block(one: VariantFigures, rate_per_s: float) -> dict[int, float]:
    """Per 1,000 stored writes, of the blocks that passed the rate."""
    return {
        run.block: used
        for run in one.runs
        if (steps := run.passed(rate_per_s)) and (used := _per_1000(steps, cpu_s)) is not None
    }


def _per_1000(steps: Sequence[LoadStep], get: Get) -> float | None:
    values, writes = [get(step) for step in steps], sum(map(_stored, steps))
    known = [value for value in values if value is not None]
    return sum(known) * 1000 / writes if writes and len(known) == len(values) else None


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


@dataclass(frozen=True, kw_only=True)
class _One:
    row: RowKey
    block: int
    host: str
    searches: SearchLoad
    during: DuringWrites


def during_writes(data: Suite) -> tuple[tuple[str, tuple[Searched, ...]], ...]:
    """By host, in order of the first block; at least one, and only rows that have such loads on it."""
    cells = list(_cells(data))
    hosts = dict.fromkeys(one.host for one in sorted(cells, key=lambda one: one.block))
    found = tuple((host, tuple(_rows(data, [one for one in cells if one.host == host]))) for host in hosts)
    return found or (("", ()),)


def _cells(data: Suite) -> Iterator[_One]:
    for row in data.rows:
        for cell in data.of(row):
            searches = None if cell.result is None else cell.result.searches
            if searches is not None and (during := searches.during_writes) is not None:
                host = host_name(during.rerun_host or cell.record.host)
                yield _One(row=row, block=cell.record.block, host=host, searches=searches, during=during)


def _rows(data: Suite, cells: list[_One]) -> Iterator[Searched]:
    for row in data.rows:
        own = [one for one in cells if one.row == row]
        if own:
            loads = tuple(one.during for one in own)
            yield Searched(row=row, mode=own[0].searches.data_set.mode, loads=loads)


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
    return f"{SUSPECTED}; {words}" if limit.generator_bound else words


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
