"""Collects the published figures that the README and docs/choosing.md quote; each is computed where its page has it."""

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from writepath.analysis.stats import spread
from writepath.records.faults import FaultResult
from writepath.records.index import VariantRecord
from writepath.records.load import LoadResult
from writepath.records.search_load import DuringWrites
from writepath.report import load_ranks
from writepath.report.capacity import CapacityFigures, cpu_s, during_writes, per_1000, rate_in_words
from writepath.report.capacity import VariantFigures as Capacity
from writepath.report.data import CellData, SuiteData, host_name
from writepath.report.faults import Struck
from writepath.report.model import ABSENT, Cell, Column, cell, number, shown

LOAD, CAPACITY, SEARCH, FAULTS = "default", "capacity", "search-capacity", "faults"  # suites
KILLS = {"kill-database": "database", "kill-broker": "broker", "kill-index": "Elasticsearch"}
PLAIN = Column(key="", title="")


class NotPublishedError(LookupError):
    """A figure that no published run has."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The published results; None or empty where a suite is not published."""

    load: SuiteData[LoadResult] | None = None
    capacity: tuple[tuple[str, CapacityFigures], ...] = ()  # by host
    search: CapacityFigures | None = None  # of searches, on one host
    faults: tuple[Struck, ...] = ()  # of the native runtime

    @property
    def variants(self) -> tuple[VariantRecord, ...]:
        """The write paths that the README compares: those of the load suite, without controls."""
        return self._load().ranked.index.variants

    def title(self, name: str) -> str:
        """A variant's title, from any suite that has it."""
        figures = [self.search, *(figures for _, figures in self.capacity)]
        suites = [self.load, *(one.data for one in figures if one is not None)]
        variants = (variant for suite in suites if suite is not None for variant in suite.index.variants)
        return next((variant.title for variant in variants if variant.name == name), name)

    @property
    def load_host(self) -> str:
        """Where the load suite ran: `Intel(R) Xeon(R) Processor, 2 cores`."""
        return ", ".join(dict.fromkeys(host_name(one.record.host) for one in self._load().cells))

    @property
    def runtime(self) -> str:
        """Of the load suite: native or docker."""
        return self._load().index.runtime

    # At the load suite's full rate

    @property
    def rate_per_s(self) -> str:
        """The constant rate at which the load suite compares latency."""
        phase = next((load_ranks.steady(one) for one in self._results() if one.phases), None)
        if phase is None:
            raise NotPublishedError(f"rate of suite {LOAD}")
        return number(phase.planned / phase.seconds)

    def steady_ms(self, name: str, rank: str) -> float | None:
        """Rank of the time from the scheduled send time to the 201, at that rate."""
        return _median(load_ranks.steady_rank(one, rank) for one in self._results(name))

    def p99_ms(self, name: str) -> float | None:
        """99th percentile of the same."""
        return self.steady_ms(name, "p99")

    def acknowledged_ms(self, name: str) -> float | None:
        """99th percentile from sending to the 201."""
        return _median(load_ranks.usual(one, "p99") for one in self._results(name))

    def durable_ms(self, name: str) -> float | None:
        """99th percentile from sending to the row in its final store."""
        return _median(load_ranks.usual_durable(one, "p99") for one in self._results(name))

    @property
    def load_slo_ms(self) -> float:
        """The limit of the p99 in the load suite's climb; +∞ of a load without one."""
        return next((one.climb.slo_ms for one in self._results() if one.climb), math.inf)

    def leaves_slo(self, name: str) -> str:
        """The rate of the climb from which the p99 is above that limit: `1,840/s`, `> 4,000/s`."""
        found = shown(cell(load_ranks.leaves_slo(one) for one in self._results(name)), PLAIN)
        return found if found == ABSENT else f"{found}/s"

    def leaves_slo_per_s(self, name: str) -> float | None:
        """The same as a figure; +∞ where no rate of the climb was too high, None where it is not known."""
        climbs = (one.climb for one in self._results(name))
        return _median(climb.leaves_slo_per_s or math.inf for climb in climbs if climb)

    def durable_later(self, name: str) -> bool:
        """Whether rows reach their final store after the 201."""
        return any(one.durable_later for one in self._results(name))

    def searchable_ms(self, name: str) -> float | None:
        """Median from sending to the first search that finds the post, of a sample of the load."""
        return _median(load_ranks.visible(one, "median") for one in self._results(name))

    def searchable_ms_p99(self, name: str) -> float | None:
        """99th percentile of the same; None where the sample is too small."""
        return _median(load_ranks.visible(one, "p99") for one in self._results(name))

    def durability_class(self, name: str) -> str:
        """A, B or C, as read back from the running system."""
        levels = {one.record.durability.level for one in self._cells(name) if one.record.durability}
        return ", ".join(sorted(levels)) or ABSENT

    def setting(self, name: str, key: str) -> str:
        """A setting as the running store or broker answered it."""
        for one in self._cells(name):
            if one.record.durability and key in one.record.durability.settings:
                return one.record.durability.settings[key]
        raise NotPublishedError(f"{key} of {name}")

    # Capacity

    def sustainable(self, name: str) -> str:
        """Highest passing rate on the host with most blocks, their median: `≥ 2,100/s, lower bound`."""
        return rate_in_words(self._sustained(name).sustained)

    def compared(self, one: str, other: str) -> str:
        """One highest passing rate against another: `more`, `less`, `within noise` or `not resolved`."""
        return self._capacity().compare(self._sustained(one).sustained, self._sustained(other).sustained)

    def generator_late(self, name: str) -> bool:
        """Whether the load generator kept no schedule in the overload of a variant."""
        return any(overload.generator_faults for overload in self._sustained(name).overloads)

    def goodput_at_double(self, name: str) -> str:
        """201s within the limit, per second, at twice the highest passing rate; range over that host's blocks."""
        found = self._sustained(name).overloads
        if not found:
            raise NotPublishedError(f"overload of {name}")
        return shown(Cell(figure=spread(over.phases[1].goodput_per_s for over in found)), PLAIN)

    def cpu_s(self, name: str, per_s: float) -> float | None:
        """CPU seconds per 1,000 stored writes at a rate, without the load generator; median of that host's blocks.

        None unless it passed the rate in each of them.
        """
        one = self._sustained(name)
        used = per_1000(one.passed_at(per_s), cpu_s)
        return statistics.median(used.values()) if len(used) == len(one.runs) else None

    # Search

    def fastest_search(self, family: str, mode: str = "substring") -> Capacity:
        """The variant of a family, by the begin of its name, with the highest passing rate of searches in a mode."""
        figures = self._search().variants
        rated = [one for one in figures if one.mode == mode and one.variant.name.startswith(family)]
        if not rated:
            raise NotPublishedError(f"searches of {family}, {mode}")
        return max(rated, key=lambda one: one.sustained.per_s)

    def searchable_during_searches_ms(self, name: str) -> float | None:
        """Median from sending a post to the first search that finds it, while searches run."""
        return _median(load.visible_ms_median for load in self._during(name))

    @property
    def writes_during_searches_per_s(self) -> str:
        """Rate of these writes."""
        ((_, known), *_) = during_writes(self._search().data)
        return number(next(load.write_rate_per_s for one in known for load in one.warm))

    @property
    def search_slo_ms(self) -> str:
        """Limit of the p99 in the search suite."""
        return number(self._search().slo_ms)

    # Faults

    def kills(self, name: str, fault: str) -> FaultResult:
        """Of one variant under one kind of fault."""
        for one in self.faults:
            if (one.variant.name, one.result.fault) == (name, fault):
                return one.result
        raise NotPublishedError(f"{fault} of {name}")

    def losing(self, name: str, fault: str) -> str:
        """`in 18 of 20 faults`."""
        kills = self.kills(name, fault)
        return f"in {kills.losing} of {kills.effective} faults"

    def loss(self, name: str) -> str:
        """What kills of its stores and its broker lost; `not tested` where none was killed.

        `none in 20 database kills`, `in 18 of 20 database kills`; `unknown` where the audit proves neither.
        """
        known = {one.result.fault: one.result for one in self.faults if one.variant.name == name}
        words = []
        for fault, process in KILLS.items():
            if one := known.get(fault):
                begin = (
                    f"in {one.losing} of"
                    if one.losing
                    else "none in"
                    if one.status == "held"
                    else "unknown in"
                )
                words.append(f"{begin} {one.effective} {process} kills")
        return ", ".join(words) or "not tested"

    # Where they are

    def _load(self) -> SuiteData[LoadResult]:
        if self.load is None:
            raise NotPublishedError(f"suite {LOAD}")
        return self.load

    def _cells(self, name: str | None = None) -> Iterator[CellData[LoadResult]]:
        """Of one variant, or of all."""
        load = self._load()
        for row in load.rows:
            if name in (None, row.variant.name):
                yield from load.shown(row)

    def _results(self, name: str | None = None) -> Iterator[LoadResult]:
        yield from (one.result for one in self._cells(name) if one.result is not None)

    def _capacity(self) -> CapacityFigures:
        if not self.capacity:
            raise NotPublishedError(f"suite {CAPACITY}")
        figures = [own for _, own in self.capacity]
        return max(figures, key=lambda own: max((len(one.runs) for one in own.variants), default=0))

    def _sustained(self, name: str) -> Capacity:
        one = self._capacity().one(name)
        if one is None:
            raise NotPublishedError(f"capacity of {name}")
        return one

    def _search(self) -> CapacityFigures:
        if self.search is None:
            raise NotPublishedError(f"suite {SEARCH}")
        return self.search

    def _during(self, name: str) -> tuple[DuringWrites, ...]:
        ((_, known), *_) = during_writes(self._search().data)
        loads = next((one.warm for one in known if one.row.variant.name == name), ())
        if not loads:
            raise NotPublishedError(f"searches during writes of {name}")
        return loads


def _median(values: Iterable[float | None]) -> float | None:
    figure = spread(values)
    return None if figure is None else figure.median
