"""A capacity suite run with known answers, written through the records that write real ones; raw files on demand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from report.planted_paths import PATHS, Path_
from report.planted_raw import measured, overloaded
from writepath import records as result
from writepath.records import capacity as records
from writepath.records.index import Status, VariantRecord
from writepath.report.capacity_raw import CapacityData, Found

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STAMP = "20260102T030405Z"
STARTED = "2026-01-02T03:04:05.000Z"
SLO_MS = 100.0
SECONDS = 20.0
LADDER = (250.0, 500.0, 1000.0, 2000.0, 4000.0)
CLOSE = 1.05
FASTEST = 8000.0
NEAREST = records.Saturated(
    resource="host-cpu", component="host", evidence="the host's 2 processors were 84% busy"
)

TWIN = (2310.0, 2330.0, 2450.0)
CEILINGS = (
    ("pgbench", "postgres", 17_700.0),
    ("pgbench-batch", "postgres", 90_000.0),
    ("rabbitmq-perf-test", "rabbitmq", 30_900.0),
    ("rabbitmq-perf-test-consumed", "rabbitmq", 22_100.0),
    ("elasticsearch-single", "elasticsearch", 8300.0),
    ("elasticsearch-bulk", "elasticsearch", 80_000.0),
)


@dataclass(kw_only=True)
class Planted:
    """A capacity suite run below root/results; tests change its fields, then write it."""

    root: Path
    paths: tuple[Path_, ...] = PATHS
    blocks: int = 3
    twin: tuple[float, ...] | None = TWIN
    ceilings: tuple[tuple[str, str, float], ...] = CEILINGS
    status: Status = "finished"
    stamp: str = STAMP
    seed: int = 1
    commits: tuple[str, ...] = ("a" * 40,)  # by block, the last one for the rest
    hosts: tuple[str, ...] = ("Testor 3000",)  # processors, likewise
    failed: tuple[tuple[str, int], ...] = ()  # variant and block of searches that failed
    suite: str = "capacity"
    scale: float = 1.0  # of all rates
    raw: bool = False  # ledgers, samples and stored rows of each hold, too

    @property
    def folder(self) -> Path:
        return self.root / "results" / self.suite / self.stamp

    def write(self) -> Path:
        """Writes every record; the run's folder."""
        data = self.data()
        for found in data.searches:
            records.save_search(found.search, self.folder / found.folder)
        for name, tools in zip(data.suite.ceilings, data.ceilings, strict=True):
            records.save_ceilings(tools, self.folder / name)
            for tool in tools.ceilings:
                (self.folder / name / tool.raw_file).write_text(f"{tool.writes_per_s}\n", encoding="utf-8")
        records.save_suite(data.suite, self.folder)
        return self.folder

    def data(self) -> CapacityData:
        """The same, without files but for the raw ones of a run that has them."""
        found = [
            Found(search=self._with_raw(search, self.folder / folder) if self.raw else search, folder=folder)
            for search, folder in self.searches()
        ]
        tools = (
            [f"@ceilings/block-{block:02}" for block in range(1, self.blocks + 1)] if self.ceilings else []
        )
        lines = tuple(
            records.SearchLine(
                variant=one.search.variant, block=one.search.block, position=one.search.position,
                again=one.search.again, folder=one.folder, outcome=one.search.outcome, seconds=600.0,
            )
            for one in found
        )  # fmt: skip
        return CapacityData(
            suite=self._suite(lines, tuple(tools)),
            searches=tuple(found),
            ceilings=tuple(self._ceilings(block) for block in range(1, len(tools) + 1)),
        )

    def _with_raw(self, search: records.Search, folder: Path) -> records.Search:
        path = next(path for path in self.paths if path.name == search.variant)
        sustained = self.twin if search.again and self.twin else path.sustained_per_s
        carried = sustained[(search.block - 1) % len(sustained)] * self.scale
        holds = tuple(
            measured(hold, folder / f"hold-{hold.number:02}", carried, queue=path.queue)
            for hold in search.holds
        )
        found = replace(search, holds=holds)
        if search.sustained is None or search.sustained.last_pass_per_s is None:
            return replace(found, overload=None)
        capacity_per_s = search.sustained.last_pass_per_s
        return replace(found, overload=overloaded(capacity_per_s, folder / "overload", queue=path.queue))

    def searches(self) -> Iterator[tuple[records.Search, str]]:
        """Each with its folder."""
        for block in range(1, self.blocks + 1):
            for position, path in enumerate(self.paths, 1):
                yield self._search(path, block, position), f"{path.name}/block-{block:02}"
            if self.twin is not None:
                baseline = replace(self.paths[0], sustained_per_s=self.twin, noise_in_block=None)
                yield (
                    self._search(baseline, block, len(self.paths) + 1, again=True),
                    f"{baseline.name}@again/block-{block:02}",
                )

    def _search(self, path: Path_, block: int, position: int, *, again: bool = False) -> records.Search:
        search = records.Search(
            schema_version=records.CAPACITY_SCHEMA_VERSION,
            run_id=f"{self.seed:02}{block:02}{position:011}", suite=self.suite, variant=path.name, title=path.title,
            family=path.family, acknowledges=path.acknowledges, block=block, position=position, again=again,
            runtime="native", seed=self.seed, overrides={}, dataset=dataset(self.seed), code=self._code(block),
            slo_ms=SLO_MS, hold_seconds=SECONDS, started_at=STARTED, finished_at=STARTED,
            outcome="finished", error=None,
            durability=result.Durability(level=path.level, settings={"fsync": "on"}),
            host=result.Host(
                cpu_model=_of(self.hosts, block), cores=2, memory_bytes=8 << 30, kernel="6.1", filesystem="ext4"
            ),
            versions={"postgresql": "18.6"},
        )  # fmt: skip
        if (path.name, block) in self.failed and not again:
            return replace(search, outcome="failed", error="postgres did not start")
        return searched(search, path, self.scale)

    def _code(self, block: int) -> result.Code:
        return result.Code(commit=_of(self.commits, block), dirty=False)

    def _ceilings(self, block: int) -> records.Ceilings:
        found = [
            records.Ceiling(
                name=name, store=store, tool=f"{name} 1.0", what="one row a transaction, flushed",
                clients=16, seconds=30.0, writes_per_s=writes_per_s * (1 + block / 100),
                latency_ms_mean=1.2, raw_file=f"{name}.txt",
            )
            for name, store, writes_per_s in self.ceilings
        ]  # fmt: skip
        return records.Ceilings(
            schema_version=records.CAPACITY_SCHEMA_VERSION, block=block, started_at=STARTED,
            finished_at=STARTED, runtime="native", ceilings=tuple(found), versions={"postgresql": "18.6"},
        )  # fmt: skip

    def _suite(self, lines: tuple[records.SearchLine, ...], tools: tuple[str, ...]) -> records.CapacitySuite:
        order = (*(path.name for path in self.paths), *([f"{self.paths[0].name}@again"] if self.twin else []))
        return records.CapacitySuite(
            schema_version=records.CAPACITY_SCHEMA_VERSION, suite=self.suite,
            title="How many writes a second each path carries", stamp=self.stamp, status=self.status,
            started_at=STARTED, finished_at=STARTED, seed=self.seed, repetitions=self.blocks, runtime="native",
            slo_ms=SLO_MS, hold_seconds=SECONDS, baseline=self.paths[0].name,
            variants=tuple(
                VariantRecord(
                    name=path.name, title=path.title, family=path.family, acknowledges=path.acknowledges,
                    profiles=("jpa",), settings=path.settings, tutorial_of=path.tutorial_of,
                )
                for path in self.paths
            ),
            overrides={}, dataset=dataset(self.seed), code=self._code(1), blocks=(order,) * self.blocks,
            searches=lines, ceilings=tools,
        )  # fmt: skip


def _of(by_block: tuple[str, ...], block: int) -> str:
    return by_block[min(block, len(by_block)) - 1]


def searched(search: records.Search, path: Path_, scale: float = 1.0) -> records.Search:
    """A ramp, a bisection for each bracket, and the overload."""
    sustained = path.sustained_per_s[(search.block - 1) % len(path.sustained_per_s)] * scale
    burst = sustained
    if path.burst_per_s is not None:
        burst = path.burst_per_s[(search.block - 1) % len(path.burst_per_s)] * scale
    made: list[records.Hold] = []

    def hold(kind: records.HoldKind, rate: float) -> records.Hold:
        if rate == LADDER[1] * scale and path.noise_in_block == search.block:
            noise = one_hold(path, len(made) + 1, kind, rate, sustained, burst)
            reasons = ("k6 was late: p99 12 ms",)
            made.append(replace(noise, verdict="noise", reasons=reasons))
        made.append(one_hold(path, len(made) + 1, kind, rate, sustained, burst))
        return made[-1]

    for rate in (step * scale for step in LADDER):
        if hold("ramp", rate).verdict == "fail" and rate > burst:
            break
    brackets = [_bisect(hold, made, sustained, "sustained")]
    brackets.append(_bisect(hold, made, burst, "burst") if burst != sustained else brackets[0])
    for bracket in dict.fromkeys(brackets):
        if bracket.last_pass_per_s is not None:
            hold("confirm", bracket.last_pass_per_s)
        if bracket.first_fail_per_s is not None:
            hold("confirm", bracket.first_fail_per_s)
    counted = sum(1 for one in made if one.kind != "ramp" and one.verdict != "noise")
    first, second = (
        replace(one, holds=counted, at_least=path.generator_bound, first_fail_per_s=one.first_fail_per_s)
        for one in brackets
    )
    return replace(
        search, holds=tuple(made), sustained=first, burst=second, overload=_overload(path, sustained)
    )


def _bisect(hold: object, made: list[records.Hold], limit: float, which: str) -> records.Bracket:
    assert callable(hold)
    low, high = None, None
    for one in made:
        if one.verdict == "noise":
            continue
        good = one.verdict == "pass" or (which == "burst" and one.burst)
        if good:
            low = max(low or 0.0, one.rate_per_s)
        else:
            high = min(high or FASTEST, one.rate_per_s)
    assert limit > 0
    while low is not None and high is not None and high / low > CLOSE:
        one = hold("search", float(round((low * high) ** 0.5)))
        good = one.verdict == "pass" or (which == "burst" and one.burst)
        low, high = (one.rate_per_s, high) if good else (low, one.rate_per_s)
    return records.Bracket(last_pass_per_s=low, first_fail_per_s=high, at_least=False, holds=0)


QUIET = result.Generator(
    cpu_share_mean=0.25, cpu_share_peak=0.3, lateness_ms_p99=0.4, lateness_ms_max=1.0, exit_code=0,
    samples=20, samples_late=0,
)  # fmt: skip


def one_hold(
    path: Path_, number: int, kind: records.HoldKind, rate: float, sustained: float, burst: float
) -> records.Hold:
    """Passes up to `sustained`; up to `burst` all is answered and the queue grows; beyond, answers come late."""
    planned = int(rate * SECONDS)
    passed, bursting = rate <= sustained, rate <= burst
    load = rate / burst
    p99 = 8.0 + 60.0 * load**3 if bursting else 400.0 * load
    unserved = 0 if bursting else int(planned * min(0.5, load - 1.0)) + 1
    stored = min(rate, sustained)
    backlog = None
    if path.queue:
        slope = max(0.0, rate - sustained)
        end = 5.0 + slope * SECONDS
        backlog = records.Backlog(
            at_start=5.0, at_end=end, slope_per_s=slope, work_seconds=round(end / stored, 3), grows=slope > 0
        )
    reasons = () if passed else (_reason(path, rate, sustained, p99, bursting=bursting),)
    latency = result.Latency(
        min=1.0, mean=round(p99 / 4, 3), median=round(p99 / 5, 3), p95=round(p99 / 2, 3),
        p99=None if unserved > planned / 100 else round(p99, 3), max=round(p99 * 2, 3),
    )  # fmt: skip
    quiet = records.Noise(foreign_cpu_share=0.01, steal_share=0.0, throttled_share=0.0, swapped_pages=0)
    limited = None
    if not passed:
        limited = records.LimitedBy(
            first=None if path.limit is None else records.Saturated(
                resource=path.limit[0], component=path.limit[1], evidence=path.limit[2]
            ),
            nearest=NEAREST if path.limit is None else None,
        )  # fmt: skip
    return records.Hold(
        number=number, kind=kind, rate_per_s=rate, seconds=SECONDS, started_at=STARTED,
        verdict="pass" if passed else "fail", burst=bursting, reasons=reasons,
        generator_bound=path.generator_bound and not passed,
        requests=result.Requests(
            planned=planned, started=planned, dropped=0, acknowledged=planned - unserved, rejected=0,
            indeterminate=unserved, by_status={"201": planned - unserved} | ({"503": unserved} if unserved else {}),
            by_error={"HTTP 503": unserved} if unserved else {},
        ),
        accept_latency_ms=latency, planned_latency_ms=latency, stored_per_s=stored,
        drain_seconds=round(backlog.at_end / stored, 3) if backlog else 0.0, audit="PASS", backlog=backlog,
        resources={
            "app": result.Resource(cpu_seconds=path.cpu_ms * rate * SECONDS / 1000, rss_peak_bytes=1 << 28,
                                   write_bytes=planned * 700),
            "k6": result.Resource(cpu_seconds=SECONDS / 4, rss_peak_bytes=1 << 27, write_bytes=None),
        },
        generator=QUIET,
        noise=quiet, limited_by=limited,
    )  # fmt: skip


def _reason(path: Path_, rate: float, sustained: float, p99: float, *, bursting: bool) -> str:
    if path.queue and bursting:
        return f"unstable: after 60 min the queue holds {(rate - sustained) * 3600 / sustained / 60:.0f} min of work"
    return f"p99 {p99:.0f} ms, above the SLO of {SLO_MS:g} ms"


def _overload(path: Path_, capacity: float) -> records.Overload:
    def phase(name: str, factor: float, failed: int) -> records.OverloadPhase:
        planned = int(capacity * factor * SECONDS)
        return records.OverloadPhase(
            name=name, rate_per_s=capacity * factor, seconds=SECONDS, planned=planned,
            acknowledged=planned - failed, goodput_per_s=min(capacity, capacity * factor),
            errors_by_hop={"application": failed} if failed else {}, p95_ms=None if failed else 9.0,
        )  # fmt: skip

    over = int(capacity * SECONDS)
    return records.Overload(
        capacity_per_s=capacity,
        phases=(phase("before", 0.5, 0), phase("over", 2.0, over), phase("after", 0.5, 0)),
        recovered_after_s=2.5, backlog_drained_after_s=12.0 if path.queue else None,
    )  # fmt: skip


def dataset(seed: int = 1) -> result.DatasetFacts:
    """The generator's, whose texts are drawn from the seed."""
    return result.DatasetFacts(name="embedded", sha256="f" * 63 + str(seed % 10), lines=1000)
