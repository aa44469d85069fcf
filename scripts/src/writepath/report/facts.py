"""Collects the published figures that the README and docs/choosing.md quote; each is computed where its page has it."""

import math
import operator
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from writepath.analysis.stats import spread
from writepath.records.faults import FaultResult
from writepath.records.index import VariantRecord
from writepath.records.load import LoadResult
from writepath.records.search import SearchMode, SearchResult
from writepath.report import load_ranks
from writepath.report.capacity import CapacityFigures, cpu_s, per_1000, rate_in_words
from writepath.report.capacity import VariantFigures as Capacity
from writepath.report.data import CellData, SuiteData, host_name
from writepath.report.faults import Struck
from writepath.report.model import ABSENT, Column, between, cell, number, shown

T = TypeVar("T")

LOAD, CAPACITY, SEARCH, FAULTS = "default", "capacity", "search", "faults"  # suites, and a kind
DEATHS = {  # by fault, of a store or broker
    f"{how}-{role}": f"{'Elasticsearch' if role == 'index' else role} {words}"
    for how, words in (("kill", "kills"), ("power-cut", "power cuts"))
    for role in ("database", "broker", "index", "primary", "replica")
}
CLOCKS: Mapping[str, Callable[[LoadResult, str], float | None]] = {
    "planned": load_ranks.steady_rank,  # from the scheduled send time to the 201, at the rate that is compared
    "acknowledged": load_ranks.usual,  # from sending to the 201
    "durable": load_ranks.usual_durable,  # from sending to the row in its final store
    "searchable": load_ranks.visible,  # from sending to the first search that finds the post, of a sample
}
PLAIN = Column(key="", title="")


class NotPublishedError(LookupError):
    """A figure that no published run has."""


def published(figure: T | None, what: str) -> T:
    """The figure; NotPublishedError where there is none."""
    if figure is None:
        raise NotPublishedError(what)
    return figure


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The published results; None or empty where a suite is not published."""

    load: SuiteData[LoadResult] | None = None
    capacity: tuple[tuple[str, CapacityFigures], ...] = ()  # by host
    search: SuiteData[SearchResult] | None = None
    faults: tuple[Struck, ...] = ()  # of the native runtime
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by suite, the begin of its page

    @property
    def variants(self) -> tuple[VariantRecord, ...]:
        """The write paths that the README compares: those of the load suite, without controls."""
        return self._load().ranked.index.variants

    def title(self, name: str) -> str:
        """A variant's title, from any suite that has it."""
        suites = [self.load, self.search, *(figures.data for _, figures in self.capacity)]
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
        phases = (load_ranks.steady(one) for one in self._results() if one.phases)
        phase = published(next(phases, None), f"rate of suite {LOAD}")
        return number(phase.planned / phase.seconds)

    def p99_ms(self, name: str, clock: str = "planned") -> float | None:
        """99th percentile by one of CLOCKS; None where the sample is too small."""
        return _median(CLOCKS[clock](one, "p99") for one in self._results(name))

    def median_ms(self, name: str, clock: str = "planned") -> float | None:
        """Median by one of CLOCKS."""
        return _median(CLOCKS[clock](one, "median") for one in self._results(name))

    def told(self, suite: str) -> tuple[str, ...]:
        """The sentences of a suite's answer that have a figure; none where it is not published."""
        return tuple(one for one in self.answers.get(suite, ()) if any(map(str.isdigit, one)))

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

    def durability_class(self, name: str) -> str:
        """A, B or C, as read back from the running system."""
        levels = {one.record.durability.level for one in self._cells(name) if one.record.durability}
        return ", ".join(sorted(levels)) or ABSENT

    def setting(self, name: str, key: str) -> str:
        """A setting as the running store or broker answered it."""
        known = [one.record.durability.settings for one in self._cells(name) if one.record.durability]
        return published(next((own[key] for own in known if key in own), None), f"{key} of {name}")

    # Capacity

    def sustainable(self, name: str) -> str:
        """Highest passing rate on the host with most blocks, their median: `≥ 2,100/s, lower bound`."""
        return rate_in_words(self._sustained(name).sustained)

    def order(self, one: str, other: str) -> str:
        """Whether one sustains more than the other, as far as that is resolved."""
        return {
            "not resolved": "Which is higher is not resolved.",
            "within noise": "The difference is within noise.",
            "more": f"{self.title(one)} sustains more.",
            "less": f"{self.title(one)} sustains less.",
        }[self._capacity().compare(self._sustained(one).sustained, self._sustained(other).sustained)]

    def overloaded(self, *names: str) -> bool:
        """Whether each had a load of twice its highest passing rate: runs that end early have none."""
        return all(self._sustained(name).overloads for name in names)

    def overload_caveat(self, *names: str) -> str:
        """That goodput under overload may be the generator's, where it kept no schedule."""
        late = any(over.generator_faults for name in names for over in self._sustained(name).overloads)
        return "The load generator was late in these runs, so this does not decide." if late else ""

    def goodput_at_double(self, name: str) -> str:
        """201s within the limit, per second, at twice the highest passing rate; range over that host's blocks."""
        found = published(self._sustained(name).overloads or None, f"overload of {name}")
        return shown(cell(over.phases[1].goodput_per_s for over in found), PLAIN)

    @property
    def common_rate_per_s(self) -> float:
        """The highest rate that each of the write paths passed in every block of that host."""
        runs = [run for one in self.variants for run in self._sustained(one.name).runs.values()]
        passed = [{step.rate_per_s for step in run.steps if step.verdict == "pass"} for run in runs]
        return published(max(set.intersection(*passed), default=None), "rate that every path passed")

    def cpu_s(self, name: str, per_s: float | None) -> float | None:
        """CPU seconds per 1,000 stored writes at a rate, without the load generator; median of that host's blocks.

        per_s: None for its highest passing rate. None unless it passed the rate in each of them.
        """
        one = self._sustained(name)
        used = per_1000(one.passed_at(per_s), cpu_s)
        return statistics.median(used.values()) if len(used) == len(one.runs) else None

    # Search

    @property
    def posts_searched(self) -> str:
        """In each store of the search suite: `250,000`."""
        return number(self._search().index.params["documents"])

    def fastest_search(self, family: str, mode: SearchMode = "substring") -> str:
        """The variant of a family, by the begin of its name, whose first pages in a mode take least: median keyword."""
        names = [one.name for one in self._search().index.variants if one.name.startswith(family)]
        known = [
            (statistics.median(times), name) for name in names if (times := self._first_pages(name, mode))
        ]
        return published(min(known, default=None), f"searches of {family}, {mode}")[1]

    def first_pages_ms(self, name: str) -> str:
        """Shortest and longest of the keywords, of one client, one search at a time: `12 to 20`."""
        return _ends(self._first_pages(name))

    def searches_faster(self, one: str, other: str) -> bool:
        """Whether first pages of the one take less than those of the other, for every keyword."""
        return all(map(operator.lt, self._first_pages(one), self._first_pages(other)))

    def recall_percent(self, name: str) -> str:
        """Lowest and highest of the keywords, of the posts that contain it: `6.5 to 39`."""
        hits = [one for result in self._searches(name) for one in result.hits]
        return _ends([one.recall_percent for one in hits if one.recall_percent is not None])

    # Faults

    def kills(self, name: str, fault: str) -> FaultResult:
        """Of one variant under one kind of fault."""
        return published(self._faults(name).get(fault), f"{fault} of {name}")

    def losing(self, name: str, fault: str) -> str:
        """`in 18 of 20 faults`."""
        kills = self.kills(name, fault)
        return f"in {kills.losing} of {kills.effective} faults"

    def loss(self, name: str) -> str:
        """What kills and power cuts of its stores and its broker lost; `not tested` where there was none.

        `none in 20 database kills, 20 broker kills`, `in 18 of 20 database power cuts`; `unknown` where the audit
        proves neither.
        """
        words, before = [], ""
        for fault, deaths in DEATHS.items():
            if one := self._faults(name).get(fault):
                proved = "none in " if one.lost_nothing else "unknown in "
                begin = f"in {one.losing} of " if one.losing else proved
                words.append(f"{'' if begin == before else begin}{one.effective} {deaths}")
                before = begin
        return ", ".join(words) or "not tested"

    # Where they are

    def _load(self) -> SuiteData[LoadResult]:
        return published(self.load, f"suite {LOAD}")

    def _cells(self, name: str | None = None) -> Iterator[CellData[LoadResult]]:
        """Of one variant, or of all."""
        load = self._load()
        for row in load.rows:
            if name in (None, row.variant.name):
                yield from load.shown(row)

    def _results(self, name: str | None = None) -> Iterator[LoadResult]:
        yield from (one.result for one in self._cells(name) if one.result is not None)

    def _capacity(self) -> CapacityFigures:
        figures = published([own for _, own in self.capacity] or None, f"suite {CAPACITY}")
        return max(figures, key=lambda own: max((len(one.runs) for one in own.variants), default=0))

    def _sustained(self, name: str) -> Capacity:
        return published(self._capacity().one(name), f"capacity of {name}")

    def _search(self) -> SuiteData[SearchResult]:
        return published(self.search, f"suite {SEARCH}")

    def _searches(self, name: str) -> list[SearchResult]:
        data = self._search()
        cells = [one for row in data.rows if row.variant.name == name for one in data.shown(row)]
        return [one.result for one in cells if one.result is not None]

    def _first_pages(self, name: str, mode: SearchMode | None = None) -> list[float]:
        """By keyword, mean of the warm rounds, median of the blocks; empty where the variant has another mode."""
        results = [one for one in self._searches(name) if mode in (None, one.data_set.mode)]
        return first_pages_ms(results, self._search().index.params["keywords"])

    def _faults(self, name: str) -> dict[str, FaultResult]:
        """By kind of fault."""
        return {one.result.fault: one.result for one in self.faults if one.variant.name == name}


def first_pages_ms(results: Sequence[SearchResult], keywords: Iterable[str]) -> list[float]:
    """Of each keyword that has one: mean of the warm rounds, median of the blocks. results: of a variant, by block."""
    medians = (_median(one.times_of(word, "first-page").warm_mean_ms for one in results) for word in keywords)
    return [one for one in medians if one is not None]


def _median(values: Iterable[float | None]) -> float | None:
    figure = spread(values)
    return None if figure is None else figure.median


def _ends(figures: Iterable[float]) -> str:
    """Lowest and highest."""
    known = published(list(figures) or None, f"a figure of suite {SEARCH}")
    return between(known)
