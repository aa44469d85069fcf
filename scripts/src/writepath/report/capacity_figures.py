"""Which figures does a capacity suite run have? Pure: from its records, over blocks; every table starts here."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath import stats
from writepath.comparison import paired
from writepath.report.rows import DAGGER
from writepath.result.capacity import unresolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from writepath.comparison import Estimate
    from writepath.report.capacity_raw import CapacityData, Found
    from writepath.result import SuiteVariant
    from writepath.result.capacity import Bracket, CapacitySuite, Hold, Saturated
    from writepath.stats import Spread

BISECTION = 0.05  # a search ends when pass and fail lie this close: nearer differences are not looked for
SAME_RATE = 0.02  # rates that differ less are one rate


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """Of one variant over its blocks."""

    last_pass: Spread | None  # None: no search. A block in which nothing passed counts as 0
    first_fail: Spread | None  # math.inf in a block in which whatever was asked passed
    at_least: bool  # the median could be higher: generator or host ended searches
    by_block: Mapping[int, float]  # last pass of each

    @property
    def per_s(self) -> float:
        """The median; 0 where nothing passed."""
        return 0.0 if self.last_pass is None else self.last_pass.median


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What was at its limit first in the failing holds next to a bracket."""

    first: Saturated | None  # the most frequent; None: nothing was seen at its limit
    times: int
    holds: int
    generator_bound: int  # of the holds, those the generator could explain
    others: tuple[str, ...] = ()  # resources seen at their limit, too
    nearest: Saturated | None = None  # where nothing was seen at its limit: what most often came closest
    reasons: tuple[str, ...] = ()  # of the first of these holds


@dataclass(frozen=True, kw_only=True)
class VariantFigures:
    """One line of the tables."""

    variant: SuiteVariant
    searches: tuple[Found, ...]
    later: bool  # the 201 comes before the row is in the store it is meant for
    sustained: Capacity
    burst: Capacity
    p99_at_last_pass: Spread | None
    limited: Limit
    burst_limited: Limit

    @property
    def level(self) -> str:
        """What its 201 promises, as read back: A, B or C."""
        read = (one.search.durability for one in self.searches)
        return ", ".join(sorted({durability.level for durability in read if durability is not None}))

    @property
    def label(self) -> str:
        """Its title; a dagger where its 201 comes before the row is in its store."""
        return f"{self.variant.title} {DAGGER}" if self.later else self.variant.title

    @property
    def holds(self) -> tuple[Hold, ...]:
        """All of its finished searches."""
        return tuple(hold for one in self.searches for hold in one.search.holds)

    @property
    def folders(self) -> tuple[str, ...]:
        """Where its searches lie below the suite's folder."""
        return tuple(one.folder for one in self.searches)


@dataclass(frozen=True, kw_only=True)
class CapacityFigures:
    """A capacity suite run in figures."""

    data: CapacityData
    variants: tuple[VariantFigures, ...]  # in the suite's order
    twin_ratios: tuple[float, ...]  # the A/A twin by the baseline, of each block
    common_rates_per_s: tuple[float, ...]  # that several variants held

    @property
    def suite(self) -> CapacitySuite:
        """Its index."""
        return self.data.suite

    @property
    def resolution(self) -> float:
        """Two capacities that differ by less are not told apart here, as a share."""
        spread = max((abs(math.log(ratio)) for ratio in self.twin_ratios), default=0.0)
        return max(BISECTION, math.expm1(spread))

    @property
    def main(self) -> tuple[VariantFigures, ...]:
        """Without tutorial and naive twins, which are lines of reference."""
        return tuple(
            one for one in self.variants if not (one.variant.tutorial_of or one.variant.naive_twin_of)
        )

    @property
    def here(self) -> str:
        """Where it was measured, in words."""
        hosts = (found.search.host for found in self.data.searches)
        machines = {(host.cpu_model, host.cores) for host in hosts if host is not None}
        return "on these hosts" if len(machines) > 1 else "on this host"

    def one(self, name: str) -> VariantFigures | None:
        """By the variant's name."""
        return next((one for one in self.variants if one.variant.name == name), None)

    def tie(self, one: Capacity, other: Capacity) -> bool:
        """Whether in some block neither carries more by what can be told apart: order within 5 % is chance."""
        if not (one.per_s and other.per_s):
            return one.per_s == other.per_s
        pairs, apart = _pairs(one, other), 1 + self.resolution
        more = all(mine > apart * theirs for mine, theirs in pairs)
        less = all(theirs > apart * mine for mine, theirs in pairs)
        return more == less  # of no pair both are so

    def by_baseline(self, one: VariantFigures) -> Estimate | None:
        """What it carries by what the baseline does; None of the baseline itself, or without it."""
        base = self.one(self.suite.baseline)
        return None if base is None or base is one else times(one.sustained, base.sustained)


def times(one: Capacity, other: Capacity) -> Estimate:
    """The one by the other in the same block, where host and day were the same: above 1 carries more."""
    mine, theirs = zip(*pairs, strict=True) if (pairs := _pairs(one, other)) else ((), ())
    return paired(mine, theirs, "higher")


def _pairs(one: Capacity, other: Capacity) -> list[tuple[float, float]]:
    blocks = sorted(one.by_block.keys() & other.by_block.keys())
    return [(one.by_block[block], other.by_block[block]) for block in blocks]


def capacity_figures(data: CapacityData) -> CapacityFigures:
    """Of all variants that have a finished search."""
    variants = tuple(
        _variant(variant, found) for variant in data.suite.variants if (found := data.of(variant.name))
    )
    return CapacityFigures(
        data=data,
        variants=variants,
        twin_ratios=_twin_ratios(data),
        common_rates_per_s=common_rates(
            [[one.search.holds for one in variant.searches] for variant in variants]
        ),
    )


def _variant(variant: SuiteVariant, found: tuple[Found, ...]) -> VariantFigures:
    blocks = [one.search.block for one in found]
    sustained = [bracket for one in found if (bracket := one.search.sustained) is not None]
    burst = [one.search.burst or bracket for one, bracket in zip(found, sustained, strict=True)]
    at_limit = [_worst_p99(one, bracket) for one, bracket in zip(found, sustained, strict=True)]
    return VariantFigures(
        variant=variant,
        searches=found,
        later=any(hold.backlog is not None for one in found for hold in one.search.holds),
        sustained=_capacity(blocks, sustained),
        burst=_capacity(blocks, burst),
        p99_at_last_pass=stats.spread(at_limit),
        limited=_limit(found, sustained, lambda hold: hold.verdict == "pass"),
        burst_limited=_limit(found, burst, lambda hold: hold.verdict == "pass" or hold.burst),
    )


def _capacity(blocks: Sequence[int], brackets: Sequence[Bracket]) -> Capacity:
    passed = [bracket.last_pass_per_s or 0.0 for bracket in brackets]
    highest = [
        math.inf if bracket.at_least else value for bracket, value in zip(brackets, passed, strict=True)
    ]
    return Capacity(
        last_pass=stats.spread(passed),
        first_fail=stats.spread(_first_fail(bracket) for bracket in brackets),
        at_least=bool(passed) and statistics.median(highest) != statistics.median(passed),
        by_block=dict(zip(blocks, passed, strict=True)),
    )


def _first_fail(bracket: Bracket) -> float | None:
    """+∞ where whatever was asked passed: left out, the others' median could lie below the last pass."""
    passed_all = bracket.first_fail_per_s is None and bracket.last_pass_per_s is not None
    return math.inf if passed_all else bracket.first_fail_per_s


def _worst_p99(one: Found, bracket: Bracket) -> float | None:
    """Of the holds that passed at the last pass the slowest: percentiles are never averaged."""
    at_it = [
        hold.planned_latency_ms.p99
        for hold in one.counted
        if hold.verdict == "pass" and hold.rate_per_s == bracket.last_pass_per_s
    ]
    return max((p99 for p99 in at_it if p99 is not None), default=None)


def _limit(found: Sequence[Found], brackets: Sequence[Bracket], good: Callable[[Hold], bool]) -> Limit:
    """Over the holds that failed at each search's first fail; those of the ramp where it is the ramp's."""
    failing = [
        hold
        for one, bracket in zip(found, brackets, strict=True)
        for hold in one.search.holds
        if hold.verdict != "noise" and hold.rate_per_s == bracket.first_fail_per_s and not good(hold)
    ]
    seen = [hold.limited_by for hold in failing if hold.limited_by is not None]
    first, times = _most_frequent(limited.first for limited in seen)
    nearest, _ = _most_frequent(limited.nearest for limited in seen)
    others = dict.fromkeys(
        other.resource for limited in seen for other in (*((limited.first,) if limited.first else ()), *limited.others)
        if first is None or other.resource != first.resource
    )  # fmt: skip
    return Limit(
        first=first,
        times=times,
        holds=len(failing),
        generator_bound=sum(hold.generator_bound for hold in failing),
        others=tuple(others),
        reasons=failing[0].reasons if failing else (),
        nearest=nearest if first is None else None,
    )


def _most_frequent(seen: Iterable[Saturated | None]) -> tuple[Saturated | None, int]:
    """The resource seen most often, as it was seen first, and how often; None where there is none."""
    known = [one for one in seen if one is not None]
    for named, times in Counter((one.resource, one.component) for one in known).most_common(1):
        return next(one for one in known if (one.resource, one.component) == named), times
    return None, 0


def _twin_ratios(data: CapacityData) -> tuple[float, ...]:
    name = data.suite.baseline
    twins = {one.search.block: one for one in data.of(name, again=True)}
    pairs = [
        (one.search.sustained, twins[one.search.block].search.sustained)
        for one in data.of(name)
        if one.search.block in twins
    ]
    return tuple(
        twin.last_pass_per_s / first.last_pass_per_s
        for first, twin in pairs
        if first and twin and first.last_pass_per_s and twin.last_pass_per_s
    )


MOST_COMMON = 4


def common_rates(by_variant: Iterable[Sequence[Iterable[Hold]]]) -> tuple[float, ...]:
    """For each number of variants from all down to two, the highest rate that so many passed; at most four.

    by_variant: of each the holds, block by block; a rate that it did not pass in every block compares other hosts and
    days. Steps of the ramp count here: they alone are the same for every variant.
    """
    rates = [
        set.intersection(*({hold.rate_per_s for hold in own if hold.verdict == "pass"} for own in blocks))
        for blocks in by_variant
        if blocks
    ]
    held = Counter(rate for own in rates for rate in own)
    chosen: list[float] = []
    for many in sorted(set(held.values()) - {1}, reverse=True):
        highest = max(rate for rate, own in held.items() if own == many)
        if len(chosen) < MOST_COMMON and all(abs(highest / other - 1) > SAME_RATE for other in chosen):
            chosen.append(highest)
    return tuple(sorted(chosen))


def noise(figures: CapacityFigures) -> tuple[tuple[Found, Hold], ...]:
    """Every hold that noise spoilt and that was not made again."""
    return tuple((one, hold) for one in figures.data.searches for hold in unresolved(one.search.holds))
