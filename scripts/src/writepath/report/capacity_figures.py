"""Which figures does a capacity suite run have? Pure: from its records, over blocks; every table starts here."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.analysis import stats
from writepath.analysis.comparison import paired
from writepath.records.capacity import unresolved
from writepath.report import hosts
from writepath.report.capacity_bounds import Capacity, compare, limits
from writepath.report.capacity_raw import CapacityData, finished
from writepath.report.rows import DAGGER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from writepath.analysis.comparison import Estimate
    from writepath.analysis.stats import Spread
    from writepath.records.capacity import Bracket, CapacitySuite, Hold, Saturated
    from writepath.records.index import VariantRecord
    from writepath.report.capacity_bounds import Comparison
    from writepath.report.capacity_raw import Found

BISECTION = 0.05  # a capacity run ends when its limit is known to this; smaller differences are not measured
SAME_RATE = 0.02  # rates that differ less are one rate


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

    variant: VariantRecord
    searches: tuple[Found, ...]
    later: bool  # the 201 comes before the row is in the store it is meant for
    sustained: Capacity
    burst: Capacity
    p99_at_last_pass: Spread | None
    limited: Limit
    burst_limited: Limit

    @property
    def level(self) -> str:
        """What its 201 guarantees, as read back: A, B or C."""
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
    twin_ratios: tuple[float, ...]  # the A/A control ÷ the baseline, of each block in which both are measured
    common_rates_per_s: tuple[float, ...]  # that several variants held

    @property
    def suite(self) -> CapacitySuite:
        """Its index."""
        return self.data.suite

    @property
    def resolution(self) -> float:
        """The smallest detectable difference between two capacities, as a share."""
        spread = max((abs(math.log(ratio)) for ratio in self.twin_ratios), default=0.0)
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


def times(one: Capacity, other: Capacity) -> Estimate:
    """The one ÷ the other in the same block, where host and day were the same. Only of resolved comparisons."""
    blocks = sorted(one.by_block.keys() & other.by_block.keys())
    mine, theirs = ([side.passed[block] for block in blocks] for side in (one, other))
    return paired(mine, theirs, "higher")


def by_host(data: CapacityData) -> tuple[tuple[str, CapacityFigures], ...]:
    """The figures of each host's records, in order of the first block; at least one.

    Ceilings have no host of their own: they are of their block's, if that is one.
    """
    groups = hosts.split(filter(finished, data.searches), lambda one: (one.search.block, one.search.host))
    if len(groups) < 2:  # noqa: PLR2004 - all is of one host
        return ((next(iter(groups), hosts.UNKNOWN), capacity_figures(data)),)
    blocks = {host: {one.search.block for one in own} for host, own in groups.items()}
    found = []
    for host, own in groups.items():
        alone = blocks[host].difference(*(those for other, those in blocks.items() if other != host))
        ceilings = tuple(made for made in data.ceilings if made.block in alone)
        part = CapacityData(suite=data.suite, searches=own, ceilings=ceilings)
        found.append((host, capacity_figures(part)))
    return tuple(found)


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


def _variant(variant: VariantRecord, found: tuple[Found, ...]) -> VariantFigures:
    blocks = [one.search.block for one in found]
    sustained = [bracket for one in found if (bracket := one.search.sustained) is not None]
    burst = [one.search.burst or bracket for one, bracket in zip(found, sustained, strict=True)]
    at_limit = [_worst_p99(one, bracket) for one, bracket in zip(found, sustained, strict=True)]
    return VariantFigures(
        variant=variant,
        searches=found,
        later=any(hold.backlog is not None for one in found for hold in one.search.holds),
        sustained=Capacity(by_block=dict(zip(blocks, sustained, strict=True))),
        burst=Capacity(by_block=dict(zip(blocks, burst, strict=True))),
        p99_at_last_pass=stats.spread(at_limit),
        limited=_limit(found, sustained, lambda hold: hold.verdict == "pass"),
        burst_limited=_limit(found, burst, lambda hold: hold.verdict == "pass" or hold.burst),
    )


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
    base, twin = (
        {
            one.search.block: limits(one.search.sustained)
            for one in data.of(data.suite.baseline, again=again)
            if one.search.sustained
        }
        for again in (False, True)
    )
    measured = [(*base[block], *twin[block]) for block in sorted(base.keys() & twin.keys())]
    return tuple(
        mine / first for first, first_high, mine, high in measured if first == first_high and mine == high
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
    """Every noisy step that was not retried."""
    return tuple((one, hold) for one in figures.data.searches for hold in unresolved(one.search.holds))
