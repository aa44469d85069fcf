"""How well maximum sustainable rates are known, and the figures of a capacity suite over its blocks.

Every table, plot and sentence of its page starts here, and what README and guide quote.
"""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from writepath.analysis import stats
from writepath.analysis.comparison import Estimate, paired
from writepath.analysis.samples import K6
from writepath.analysis.stats import Spread
from writepath.records.capacity_run import CapacityResult, Overload
from writepath.records.index import VariantRecord
from writepath.records.steps import Bracket, LoadStep, Saturated
from writepath.report.comparison import ratio_cell
from writepath.report.data import CellData, RowKey, SuiteData
from writepath.report.fingerprint import slowdown_times
from writepath.report.model import Cell, number
from writepath.report.rows import DAGGER

Suite = SuiteData[CapacityResult]
Runs = Mapping[int, CapacityResult]  # by block, those that came to their brackets
Range = tuple[float, float]  # of a rate that is not measured; both ends are the same where it is

Comparison = Literal["more", "less", "within noise", "not resolved"]
UNKNOWN = "not known"
FITTED = "90 % interval"
KNOWN, EDGE = "known to ±5 %", "the lowest rate failed"
AT_LEAST, BELOW, ABOUT = "≥ ", "< ", "~"


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The maximum sustainable rate of one variant over its blocks."""

    by_block: Mapping[int, Bracket]

    @property
    def ranges(self) -> dict[int, Range]:
        """By block, between which rates it is."""
        return {block: _range(one) for block, one in self.by_block.items()}

    @property
    def limits(self) -> Range:
        """Between which rates the median is."""
        return _median(self.ranges.values())

    @property
    def measured(self) -> bool:
        """Whether no block has a bound or an interval."""
        return all(low == high for low, high in self.ranges.values())

    @property
    def passed(self) -> list[float]:
        """The highest passing rate of each block; 0 where none passed."""
        return [one.highest_passing_per_s or 0.0 for one in self.by_block.values()]

    @property
    def per_s(self) -> float:
        """The median of the highest passing rates."""
        return statistics.median(self.passed)

    @property
    def lowest_failing(self) -> Spread | None:
        """Of the blocks; infinite where every rate passed: without it the median could be below what passed."""
        return stats.spread(
            one.lowest_failing_per_s or (math.inf if one.highest_passing_per_s else None)
            for one in self.by_block.values()
        )

    @property
    def interval(self) -> str:
        """`1,938–2,104`, in which the limits of all blocks are."""
        lows, highs = zip(*(one.interval_per_s for one in self.by_block.values()), strict=True)
        return f"{number(min(lows))}–{number(max(highs))}"

    @property
    def confidence(self) -> str:
        """Whether the median is measured, a bound or an interval; in how many blocks its run was inconclusive."""
        if unsure := self.inconclusive:
            return f"inconclusive ({unsure} of {len(self.by_block)})"
        low, high = self.limits
        if fitted(self.limits):
            return FITTED
        return "measured ±5 %" if low == high else "lower bound" if low else "upper bound"

    @property
    def inconclusive(self) -> int:
        """Blocks whose run ended before anything limited the rate; none where each failed at its lowest rate."""
        below = all(not low and high < math.inf for low, high in self.ranges.values())
        return 0 if below else sum(not (one.conclusive or _fitted(one)) for one in self.by_block.values())


def fitted(found: Range) -> bool:
    """Whether it is an interval: no bound, and no measured rate."""
    low, high = found
    return 0 < low < high < math.inf


def _range(bracket: Bracket) -> Range:
    if (known := _fitted(bracket)) is not None:
        return known
    low, fail = bracket.highest_passing_per_s, bracket.lowest_failing_per_s
    if low is None:
        return 0.0, math.inf if fail is None else fail
    return low, low if bracket.conclusive and not bracket.lower_bound else math.inf


def _fitted(bracket: Bracket) -> Range | None:
    """The 90 % interval of a limit that is not known to 5 %; None without a rate that passed and one that failed."""
    known = None not in (bracket.highest_passing_per_s, bracket.lowest_failing_per_s)
    return bracket.interval_per_s if known and not (bracket.conclusive or bracket.lower_bound) else None


def _median(ranges: Iterable[Range]) -> Range:
    lows, highs = zip(*ranges, strict=True)
    return statistics.median(lows), statistics.median(highs)


def pairs(one: Capacity, other: Capacity) -> list[tuple[Range, Range]]:
    """Of the same block, where host and day were the same."""
    mine, theirs = one.ranges, other.ranges
    return [(mine[block], theirs[block]) for block in sorted(mine.keys() & theirs.keys())]


def times(one: Capacity, other: Capacity) -> Estimate:
    """The one ÷ the other, block by block; of intervals the middles. Only of resolved comparisons."""
    found = pairs(one, other)
    return paired(
        [_signed(mine)[0] for mine, _ in found], [_signed(theirs)[0] for _, theirs in found], "higher"
    )


def times_cell(one: Capacity, other: Capacity) -> Cell:
    """The same; of intervals `~4.2 (3.6–4.9)`, from the lowest quotient of their ends to the highest."""
    estimate = times(one, other)
    if estimate.ratio is None or (one.measured and other.measured):
        return ratio_cell(estimate)
    found = pairs(one, other)
    low = min(low / high for (low, _), (_, high) in found)
    high = max(high / low for (_, high), (low, _) in found)
    ratio = Spread(median=estimate.ratio, low=low, high=high, repetitions=len(found))
    return Cell(figure=ratio, prefix=ABOUT)


def bound_cell(found: Capacity, ceiling_per_s: Mapping[int, float] | None = None) -> Cell:
    """The median with its range, each with the sign of its bound: `≥ 2,081 (< 200–≥ 2,177)`, `~337 (304–374)`.

    ceiling_per_s: by block, what the rate is given as a percentage of.
    """
    ranges = list(found.ranges.values())
    if ceiling_per_s is not None:
        percent = {block: 100 / per_s for block, per_s in ceiling_per_s.items()}
        known = found.ranges.items()
        ranges = [(percent[at] * low, percent[at] * high) for at, (low, high) in known if at in percent]
    if not ranges:
        return Cell()
    value, sign = _signed(_median(ranges))
    if value == math.inf:
        return Cell(text=UNKNOWN)
    signed = sorted(end for one in ranges for end in _ends(one))
    (low, low_sign), (high, high_sign) = signed[0], signed[-1]
    return Cell(
        figure=Spread(median=value, low=low, high=high, repetitions=len(ranges)),
        prefix=sign,
        ends=(low_sign, high_sign),
    )


def _signed(found: Range) -> tuple[float, str]:
    """The bound that is known, or the middle of an interval, with its sign."""
    low, high = found
    if fitted(found):
        return math.sqrt(low * high), ABOUT
    return (low, AT_LEAST if high > low else "") if low else (high, BELOW)


def _ends(found: Range) -> Iterable[tuple[float, str]]:
    """Both of an interval; else the one that is known, with its sign."""
    return [(end, "") for end in found] if fitted(found) else [_signed(found)]


def rate_in_words(found: Capacity) -> str:
    """`≥ 2,100/s, lower bound`, `~337/s (90 %: 304–374/s)`."""
    shown = bound_cell(found)
    value = shown.text if shown.figure is None else f"{shown.prefix}{number(shown.figure.median)}/s"
    known = "" if found.confidence == FITTED else f", {found.confidence}"
    return f"{value}{known} (90 %: {found.interval}/s)"


def about(capacity: Capacity) -> str:
    """`~2,300/s`, `at least 2,300/s`, `below 200/s`; two digits, rounded down, as a run ends at 5 %. `304–374/s`."""
    low, high = capacity.limits
    if fitted(capacity.limits):
        words = f"{number(low)}–{number(high)}/s"
    elif low:
        unit = 10.0 ** (math.floor(math.log10(low)) - 1)
        words = f"{'~' if low == high else 'at least '}{math.floor(low / unit) * unit:,.0f}/s"
    else:
        words = UNKNOWN if high == math.inf else f"below {number(high)}/s"
    blocks = len(capacity.by_block)
    if unsure := capacity.inconclusive:
        words += f", inconclusive in {unsure} of {blocks} block{'s' if blocks > 1 else ''}"
    return words


BISECTION = 0.05  # a capacity run ends when its limit is known to this; smaller differences are not measured
SAME_RATE = 0.02  # rates that differ less are one rate
MOST_COMMON = 4  # rates that several variants passed


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What was saturated in the failing steps next to a bracket."""

    row: RowKey
    label: str  # of the variant
    bracket: str  # sustained or burst
    lowest_failing: Spread | None
    shown: Saturated | None  # first in most of them; if nothing was saturated: what most often came closest
    times: int  # so many of them; 0: nothing was saturated
    steps: int
    suspected: bool  # the load generator could explain one of these steps
    others: tuple[str, ...]  # resources that were saturated, too
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
        return Capacity(by_block={block: _bracket(run, burst=False) for block, run in self.runs.items()})

    @property
    def ended(self) -> str:
        """What ended its runs."""
        words = (
            run.ended or ("" if run.sustained.conclusive else EDGE) or KNOWN for run in self.runs.values()
        )
        return ", ".join(dict.fromkeys(words))

    @property
    def burst(self) -> Capacity:
        """201s alone."""
        return Capacity(by_block={block: _bracket(run, burst=True) for block, run in self.runs.items()})

    @property
    def steps(self) -> tuple[LoadStep, ...]:
        """Of all its runs."""
        return tuple(step for run in self.runs.values() for step in run.steps)

    @property
    def overloads(self) -> tuple[Overload, ...]:
        """Of the runs that had one."""
        return tuple(run.overload for run in self.runs.values() if run.overload is not None)

    def passed_at(self, rate_per_s: float | None = None) -> dict[int, list[LoadStep]]:
        """By block, the steps of a rate that passed; None: its highest passing rate, the ramp's if it has no others."""
        found = {}
        for (block, run), known in zip(self.runs.items(), self.sustained.by_block.values(), strict=True):
            at = rate_per_s or known.highest_passing_per_s
            passed = [step for step in run.steps if step.rate_per_s == at and step.verdict == "pass"]
            counted = [step for step in passed if step.counted]
            found[block] = passed if rate_per_s else counted or passed
        return found

    def p99_at(self, rate_per_s: float | None = None) -> Spread | None:
        """Over blocks, of these steps the slowest: percentiles are never averaged."""
        by_block = [
            [step.planned_latency_ms.p99 for step in steps] for steps in self.passed_at(rate_per_s).values()
        ]
        return stats.spread(max((p99 for p99 in own if p99 is not None), default=None) for own in by_block)

    def limited(self, *, burst: bool) -> Limit:
        """Over the steps that failed at each run's lowest failing rate; the ramp's where it is the ramp's rate."""
        found = self.burst if burst else self.sustained
        failing = [
            step
            for run, known in zip(self.runs.values(), found.by_block.values(), strict=True)
            for step in run.steps
            if step.verdict != "noise"
            and step.rate_per_s == known.lowest_failing_per_s
            and not step.passes(burst=burst)
        ]
        seen = [step.limited_by for step in failing if step.limited_by is not None]
        first = _most_frequent(limited.first for limited in seen)
        shown = next(iter(first or _most_frequent(limited.nearest for limited in seen)), None)
        saturated = (one for limited in seen for one in (limited.first, *limited.others) if one is not None)
        others = dict.fromkeys(one.resource for one in saturated)
        return Limit(
            row=self.row,
            label=self.label,
            bracket="burst" if burst else "sustained",
            lowest_failing=found.lowest_failing,
            shown=shown,
            times=len(first),
            steps=len(failing),
            suspected=any(step.generator_bound for step in failing),
            others=tuple(name for name in others if shown is None or name != shown.resource),
            reasons=failing[0].reasons if failing else (),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class CapacityFigures:
    """A capacity suite, or what of it was measured on one host."""

    data: Suite
    variants: tuple[VariantFigures, ...]  # in the suite's order
    control: Capacity  # of the baseline's A/A control

    @property
    def slo_ms(self) -> float:
        """Limit of the p99."""
        return next((run.slo_ms for one in self.variants for run in one.runs.values()), 0.0)

    @property
    def base(self) -> VariantFigures | None:
        """What the others are compared with."""
        return self.one(self.data.index.baseline or "")

    @property
    def control_ratios(self) -> tuple[float, ...]:
        """The A/A control ÷ the baseline, of each block in which both are measured."""
        found = pairs(self.base.sustained, self.control) if self.base else []
        return tuple(
            again / first for (first, high), (again, most) in found if first == high and again == most
        )

    @property
    def resolution(self) -> float:
        """The smallest detectable difference between two capacities, as a share; without a control that of the host."""
        if not self.control_ratios:
            return max(BISECTION, slowdown_times(self.data) - 1)
        return max(BISECTION, math.expm1(max(abs(math.log(ratio)) for ratio in self.control_ratios)))

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
        """Whether the one is higher in every block by more than the smallest detectable difference.

        Bounds have no order: one of them in any common block leaves the comparison unresolved, and so do intervals of
        which neither is above the other.
        """
        found, apart = pairs(one, other), 1 + self.resolution
        if not found or any(not low or high == math.inf for pair in found for low, high in pair):
            return "not resolved"
        if all(low > apart * high for (low, _), (_, high) in found):
            return "more"
        if all(low > apart * high for (_, high), (low, _) in found):
            return "less"
        return "within noise" if one.measured and other.measured else "not resolved"

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


def capacity_figures(data: Suite) -> CapacityFigures:
    """Of all rows that have a finished run."""
    control: dict[int, Bracket] = {}
    found = []
    for row in data.rows:
        control |= {block: run.sustained for block, run in _runs(data.of(row, control=True)).items()}
        cells = data.of(row)
        if runs := _runs(cells):
            levels = {one.record.durability.level for one in cells if one.result and one.record.durability}
            found.append(VariantFigures(row=row, level=", ".join(sorted(levels)), runs=runs))
    return CapacityFigures(data=data, variants=tuple(found), control=Capacity(by_block=control))


def by_host(data: Suite) -> tuple[tuple[str, CapacityFigures], ...]:
    """The figures of each host, in order of the first block; at least one."""
    return tuple((host, capacity_figures(own)) for host, own in data.by_host())


def _runs(cells: Iterable[CellData[CapacityResult]]) -> dict[int, CapacityResult]:
    return {
        one.record.block: one.result
        for one in cells
        if one.record.outcome == "finished" and one.result is not None
    }


def _bracket(run: CapacityResult, *, burst: bool) -> Bracket:
    """As the run knew it; next to a limit that full steps did not reach, the rates of its ramp."""
    found = run.burst if burst else run.sustained
    if found.conclusive:
        return found
    middle = math.sqrt(math.prod(found.interval_per_s))
    steps = [step for step in run.steps if step.verdict != "noise"]
    passed = (one.rate_per_s for one in steps if one.passes(burst=burst) and one.rate_per_s <= middle)
    failed = [one for one in steps if not one.passes(burst=burst) and one.rate_per_s > middle]
    low = found.highest_passing_per_s or max(passed, default=None)
    high = found.lowest_failing_per_s or min((one.rate_per_s for one in failed), default=None)
    suspected = [one.generator_bound for one in failed if one.rate_per_s == high]
    return replace(
        found,
        highest_passing_per_s=low,
        lowest_failing_per_s=high,
        lower_bound=low is not None and bool(suspected) and all(suspected),
    )


def _most_frequent(seen: Iterable[Saturated | None]) -> list[Saturated]:
    """Of one resource, the one seen most often."""
    known = [one for one in seen if one is not None]
    names = [(one.resource, one.component) for one in known]
    return [one for one, name in zip(known, names, strict=True) if name == statistics.mode(names)]


MIB = 1 << 20


def per_1000(
    by_block: Mapping[int, Sequence[LoadStep]], get: Callable[[LoadStep], float | None]
) -> dict[int, float]:
    """By block, per 1,000 writes that reached the final store during all steps of the block together."""
    found = {}
    for block, steps in by_block.items():
        values, writes = [get(step) for step in steps], sum(map(_stored, steps))
        if writes and None not in values:
            found[block] = sum(filter(None, values)) * 1000 / writes
    return found


def cpu_s(step: LoadStep) -> float | None:
    """Of all components but the generator."""
    used = [one.cpu_seconds for name, one in step.resources.items() if name != K6]
    return sum(used) if used else None


def written_mib(step: LoadStep) -> float | None:
    """None where the runtime cannot tell it of every component."""
    written = [one.write_bytes for name, one in step.resources.items() if name != K6]
    known = [value for value in written if value is not None]
    return sum(known) / MIB if known and len(known) == len(written) else None


def _stored(step: LoadStep) -> float:
    """Writes that reached the final store while the load ran; of a ramp step those acknowledged."""
    return step.requests.acknowledged if step.stored_per_s is None else step.stored_per_s * step.seconds
