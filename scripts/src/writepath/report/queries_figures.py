"""Which figures does a suite run of searches have? Pure: from its records, over blocks; every table starts here."""

from __future__ import annotations

import dataclasses
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.analysis.comparison import paired
from writepath.records.capacity import CAPACITY_SCHEMA_VERSION, CapacitySuite, Search
from writepath.report import capacity_raw, hosts
from writepath.report.capacity_figures import capacity_figures
from writepath.report.queries_raw import finished
from writepath.report.rows import AGAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from writepath.analysis.comparison import Estimate
    from writepath.records import Host
    from writepath.records.index import VariantRecord
    from writepath.records.queries import Beside, Hits, QueriesSuite, Read, RoundKind
    from writepath.report.capacity_figures import CapacityFigures
    from writepath.report.queries_raw import Found, QueriesData

KINDS: Mapping[RoundKind, str] = {"first-page": "first page", "every-match": "every match"}
UNSET = "default"
SHARED = (
    "suite", "title", "stamp", "status", "started_at", "finished_at", "seed", "repetitions", "runtime", "slo_ms",
    "hold_seconds", "baseline", "overrides", "dataset", "code", "blocks",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class VariantFigures:
    """One variant over its blocks, or the A/A control."""

    variant: VariantRecord
    reads: tuple[Found, ...]  # that finished, by block
    again: bool = False

    @property
    def label(self) -> str:
        """Its title."""
        return f"{self.variant.title}{AGAIN}" if self.again else self.variant.title

    @property
    def mode(self) -> str:
        """How it searches."""
        return ", ".join(dict.fromkeys(one.read.mode for one in self.reads))

    def hits(self, keyword: str) -> tuple[Hits, ...]:
        """Of a keyword, block by block."""
        return tuple(hits for one in self.reads for hits in one.read.hits if hits.keyword == keyword)

    @property
    def beside(self) -> tuple[Beside, ...]:
        """Its searches during writes."""
        return tuple(one.read.beside for one in self.reads if one.read.beside is not None)

    @property
    def warm_beside(self) -> tuple[Beside, ...]:
        """Those whose times can be believed."""
        return tuple(load for load in self.beside if load.warm)

    def by_block(self, blocks: int) -> list[Read | None]:
        """Of each block of the suite; None where it did not finish."""
        known = {one.read.block: one.read for one in self.reads}
        return [known.get(block) for block in range(1, blocks + 1)]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two variants of one store that differ in one setting."""

    variant: VariantFigures
    base: VariantFigures  # the first of the suite's with another value
    words: str  # the setting, and both values


@dataclass(frozen=True, kw_only=True)
class QueriesFigures:
    """A suite run of searches in figures."""

    data: QueriesData
    variants: tuple[VariantFigures, ...]  # in the suite's order
    twin: VariantFigures | None
    carried: CapacityFigures  # its load steps, as those of a capacity run; titles name the mode
    writes: CapacityFigures | None = None  # of a published suite of write capacity

    @property
    def suite(self) -> QueriesSuite:
        """Its index."""
        return self.data.suite

    @property
    def keywords(self) -> tuple[str, ...]:
        """Of the rounds, then others of which hits are known."""
        known = (hits.keyword for one in self.variants for found in one.reads for hits in found.read.hits)
        return tuple(dict.fromkeys((*self.suite.keywords, *known)))

    def ratio(self, variant: VariantFigures, base: VariantFigures, keyword: str, kind: RoundKind) -> Estimate:
        """Of the means of the warm rounds, block by block: above 1 is slower."""
        blocks = self.suite.repetitions
        values, others = (
            [None if read is None else warm_mean_ms(read, keyword, kind) for read in one.by_block(blocks)]
            for one in (variant, base)
        )
        return paired(values, others, "lower")

    @property
    def twin_times(self) -> tuple[float, ...]:
        """The A/A control's times ÷ the baseline's, of each keyword and kind: ratios that noise alone gives."""
        base = next((one for one in self.variants if one.variant.name == self.suite.baseline), None)
        if self.twin is None or base is None:
            return ()
        found = (
            self.ratio(self.twin, base, keyword, kind) for keyword in self.suite.keywords for kind in KINDS
        )
        return tuple(one.ratio for one in found if one.ratio is not None)

    @property
    def apart_beyond(self) -> tuple[float, float]:
        """Ratios between these two are within noise: as near to 1 as the A/A control's; 0 and ∞ without one."""
        furthest = max((abs(math.log(ratio)) for ratio in self.twin_times), default=math.inf)
        return math.exp(-furthest), math.exp(furthest)


def queries_figures(data: QueriesData, writes: CapacityFigures | None = None) -> QueriesFigures:
    """Of all variants of which something finished."""
    variants = tuple(
        VariantFigures(variant=variant, reads=reads)
        for variant in data.suite.variants
        if (reads := data.of(variant.name))
    )
    base = next((variant for variant in data.suite.variants if variant.name == data.suite.baseline), None)
    again = () if base is None else data.of(base.name, again=True)
    return QueriesFigures(
        data=data,
        variants=variants,
        twin=VariantFigures(variant=base, reads=again, again=True) if base is not None and again else None,
        carried=capacity_figures(_as_capacity(data)),
        writes=writes,
    )


def by_host(figures: QueriesFigures) -> tuple[tuple[str, QueriesFigures], ...]:
    """The figures of each host's records, in order of the first block; at least one.

    Without searches during writes that were measured on another host than the rest of their record.
    """
    data = figures.data
    groups = hosts.split(filter(finished, data.reads), lambda one: (one.read.block, one.read.host))
    if len(groups) < 2:  # noqa: PLR2004 - all is of one host
        groups = {next(iter(groups), hosts.UNKNOWN): data.reads}
    return tuple(
        (host, _part(figures, [_without_others(one) for one in reads])) for host, reads in groups.items()
    )


def beside_by_host(figures: QueriesFigures) -> tuple[tuple[str, QueriesFigures], ...]:
    """The same by the host on which the searches during writes were measured."""
    made = (one for one in figures.data.reads if finished(one) and one.read.beside is not None)
    groups = hosts.split(made, lambda one: (one.read.block, _host_beside(one)))
    return tuple((host, _part(figures, reads)) for host, reads in groups.items())


def _part(figures: QueriesFigures, reads: Iterable[Found]) -> QueriesFigures:
    return queries_figures(dataclasses.replace(figures.data, reads=tuple(reads)), figures.writes)


def _host_beside(found: Found) -> Host | None:
    beside = found.read.beside
    return found.read.host if beside is None or beside.host is None else beside.host


def _without_others(found: Found) -> Found:
    if hosts.name(_host_beside(found)) == hosts.name(found.read.host):
        return found
    return dataclasses.replace(found, read=dataclasses.replace(found.read, beside=None))


def pairs(variants: Sequence[VariantFigures]) -> Iterator[Pair]:
    """Setting by setting: each variant by the first one before it that differs in nothing else."""
    for setting in dict.fromkeys(name for one in variants for name in one.variant.settings):
        for index, one in enumerate(variants):
            base = next((other for other in variants[:index] if _differ_in(setting, one, other)), None)
            if base is not None:
                values = (side.variant.settings.get(setting, UNSET) for side in (one, base))
                yield Pair(variant=one, base=base, words=f"{setting} {' vs. '.join(values)}")


def _differ_in(setting: str, one: VariantFigures, other: VariantFigures) -> bool:
    """In this alone; a replica's node is a second profile, and belongs to its setting."""
    mine, theirs = dict(one.variant.settings), dict(other.variant.settings)
    differ = mine.pop(setting, None) != theirs.pop(setting, None)
    return differ and mine == theirs and one.variant.profiles[:1] == other.variant.profiles[:1]


def rounds_ms(read: Read, keyword: str, kind: RoundKind) -> dict[int, tuple[float, bool]]:
    """By round, its time and whether it was cold."""
    return {
        one.round: (one.latency_ms, one.cold)
        for one in read.rounds
        if one.keyword == keyword and one.kind == kind
    }


def warm_mean_ms(read: Read, keyword: str, kind: RoundKind) -> float | None:
    """Of the rounds that were not cold."""
    warm = [latency for latency, cold in rounds_ms(read, keyword, kind).values() if not cold]
    return statistics.fmean(warm) if warm else None


def mean_ms(read: Read, keyword: str, kind: RoundKind) -> float | None:
    """Of all rounds, as the original experiment had it."""
    times = [latency for latency, _ in rounds_ms(read, keyword, kind).values()]
    return statistics.fmean(times) if times else None


def digests(data: QueriesData) -> dict[int, tuple[str, ...]]:
    """Of the posts, by block, each once: one where every variant held the same; their ids are drawn from the seed."""
    known: dict[int, dict[str, None]] = {}
    for one in data.reads:
        if finished(one) and one.read.loading is not None:
            known.setdefault(one.read.block, {})[one.read.loading.digest] = None
    return {block: tuple(found) for block, found in sorted(known.items())}


def same_posts(data: QueriesData) -> bool:
    """Whether all variants of a block held the same, in each block."""
    return all(len(found) == 1 for found in digests(data).values())


def _as_capacity(data: QueriesData) -> capacity_raw.CapacityData:
    """The same as a suite run of searches for capacity, for tables and drawings of holds."""
    suite = data.suite
    modes = {one.read.variant: one.read.mode for one in data.reads}
    variants = tuple(
        dataclasses.replace(variant, title=f"{variant.title} ({modes[variant.name]})")
        for variant in suite.variants
        if variant.name in modes
    )
    index = CapacitySuite(
        schema_version=CAPACITY_SCHEMA_VERSION,
        variants=variants,
        searches=suite.reads,
        **{name: getattr(suite, name) for name in SHARED},
    )
    searches = tuple(
        capacity_raw.Found(search=_as_search(one.read, suite), folder=one.folder) for one in data.reads
    )
    return capacity_raw.CapacityData(suite=index, searches=searches, ceilings=())


def _as_search(read: Read, suite: QueriesSuite) -> Search:
    return Search(
        schema_version=CAPACITY_SCHEMA_VERSION,
        run_id=read.run_id,
        suite=read.suite,
        variant=read.variant,
        title=f"{read.title} ({read.mode})",
        family=read.family,
        acknowledges="",
        block=read.block,
        position=read.position,
        again=read.again,
        runtime=read.runtime,
        seed=read.seed,
        overrides=read.overrides,
        dataset=read.dataset,
        code=read.code,
        slo_ms=suite.slo_ms,
        hold_seconds=suite.hold_seconds,
        started_at=read.started_at,
        finished_at=read.finished_at,
        outcome=read.outcome,
        error=read.error,
        durability=read.durability,
        sustained=read.capacity,
        burst=read.capacity,
        holds=read.holds,
        host=read.host,
        versions=read.versions,
    )
