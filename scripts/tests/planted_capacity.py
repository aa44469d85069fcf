"""Capacity runs with known figures, as the engine gives them to a report."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from planted_index import STARTED, entry_of, index_of, record_of
from planted_steps import HOST
from writepath.records.capacity_run import CapacityResult, Overload, OverloadPhase
from writepath.records.ceilings import Ceiling, CeilingsResult
from writepath.records.index import Role, VariantRecord
from writepath.records.measures import Durability, Generator, Host, Latency, Requests, Resource, Verdict
from writepath.records.steps import Backlog, Bracket, LimitedBy, LoadStep, Noise, Saturated, StepVerdict
from writepath.report.data import CellData, SuiteData

Suite = SuiteData[CapacityResult]

SECONDS = 20.0
LADDER = (500.0, 1000.0, 2000.0, 4000.0)  # rates of the ramp
HOST_CPU = Saturated(resource="host-cpu", component="host", evidence="the host CPU was 97% busy")
NEAREST = Saturated(resource="pool", component="jpa-writer", evidence="3 of 5 connections were in use")
LIMITED, UNLIMITED = LimitedBy(first=HOST_CPU), LimitedBy(first=None, nearest=NEAREST)
CPU_S_PER_1000 = 2.0
GENERATOR = Generator(
    cpu_share_mean=0.2, cpu_share_peak=0.3, lateness_ms_p99=1.0, lateness_ms_max=2.0, exit_code=0, samples=20,
    samples_late=0,
)  # fmt: skip
QUIET = Noise(foreign_cpu_share=0.0, steal_share=0.0, throttled_share=None, swapped_pages=0)


def variant(name: str, **changed: Any) -> VariantRecord:
    known = {
        "title": name.upper(),
        "family": name.partition("-")[0],
        "acknowledges": "committed",
        "profiles": (),
    }
    return VariantRecord(name=name, settings={}, **cast("dict[str, Any]", known | changed))


def step(rate_per_s: float, verdict: str = "pass", **changed: Any) -> LoadStep:
    """verdict: `burst` fails by its backlog alone."""
    planned, burst = round(rate_per_s * SECONDS), verdict in ("pass", "burst")
    p99 = 40.0 if burst else 240.0
    latency = Latency(min=1.0, mean=5.0, median=4.0, p95=p99 / 2, p99=p99, max=400.0)
    backlog = Backlog(at_start=0.0, at_end=9e3, slope_per_s=450.0, work_seconds=8.0, grows=True)
    written = planned / 1000
    known = LoadStep(
        number=1,
        kind="bisection",
        rate_per_s=float(rate_per_s),
        seconds=SECONDS,
        for_burst=False,
        started_at=STARTED,
        verdict=cast("StepVerdict", "fail" if verdict == "burst" else verdict),
        burst=burst,
        reasons=() if verdict == "pass" else (f"because of {verdict}",),
        generator_bound=False,
        requests=Requests(
            planned=planned, started=planned, dropped=0, acknowledged=planned, rejected=0, indeterminate=0,
            by_status={"201": planned}, by_error={},
        ),
        accept_latency_ms=latency,
        planned_latency_ms=latency,
        stored_per_s=rate_per_s,
        drain_seconds=0.5,
        audit="PASS",
        backlog=backlog if verdict == "burst" else None,
        resources={
            "k6": Resource(cpu_seconds=99.0, rss_peak_bytes=1, write_bytes=None),
            "app": Resource(cpu_seconds=CPU_S_PER_1000 * written, rss_peak_bytes=1, write_bytes=1 << 20),
        },
        generator=GENERATOR,
        noise=QUIET,
        limited_by=LIMITED,
    )  # fmt: skip
    return replace(known, **changed)


def bracket(low: float | None, high: float | None, *, lower_bound: bool = False) -> Bracket:
    """Its interval is from one to the other, or to the end of what is tried."""
    return Bracket(
        highest_passing_per_s=low,
        lowest_failing_per_s=high,
        lower_bound=lower_bound,
        steps=5,
        interval_per_s=(low or 16.0, high or 7500.0),
    )


def run(
    found: Bracket, burst: Bracket | None = None, *, more: Sequence[LoadStep] = (), **changed: Any
) -> CapacityResult:
    """With a ramp up to the brackets, and the steps next to them. burst: of a queue path."""
    low, high = found.highest_passing_per_s, found.lowest_failing_per_s
    steps = [
        step(rate, kind="ramp", audit=None, stored_per_s=None) for rate in LADDER if rate <= (low or 0.0)
    ]
    steps += [step(low), step(low, kind="confirmation")] if low else []
    steps += [step(high, "fail")] * 2 if high else []
    if burst is not None and burst.highest_passing_per_s:
        steps.append(step(burst.highest_passing_per_s, "burst", drain_seconds=7.0))
    numbered = [replace(one, number=number) for number, one in enumerate((*steps, *more), 1)]
    known = CapacityResult(
        operation="write",
        queue_path=burst is not None,
        slo_ms=100.0,
        step_seconds=SECONDS,
        sustained=found,
        burst=burst or found,
        steps=tuple(numbered),
        overload=overload(low) if low else None,
        verdict=Verdict(status="valid"),
    )
    return replace(known, **changed)


def overload(capacity_per_s: float) -> Overload:
    phases = tuple(
        OverloadPhase(
            name=name, rate_per_s=times * capacity_per_s, seconds=20.0, planned=1000, acknowledged=900,
            goodput_per_s=45.0, errors_by_hop={"application": 90, "store": 10}, p95_ms=20.0,
        )
        for name, times in (("before", 0.5), ("overload", 2.0), ("after", 0.5))
    )  # fmt: skip
    return Overload(
        capacity_per_s=capacity_per_s, phases=phases, recovered_after_s=2.5, backlog_drained_after_s=12.0,
        generator_faults=(),
    )  # fmt: skip


def cell(
    own: VariantRecord,
    result: Any,
    block: int = 1,
    *,
    role: Role = "measured",
    host: Host | None = HOST,
    level: str = "A",
    error: str | None = None,
) -> CellData[Any]:
    """A finished cell; error: why it is a failed one."""
    durability = Durability(level=cast("Any", level), settings={"fsync": "on"})
    record = record_of(
        own,
        kind="ceilings" if role == "reference" else "capacity",
        run_id=f"{block:x}" * 15,
        suite="capacity",
        role=role,
        block=block,
        error=error,
        verdict=Verdict(status="valid" if error is None else "unknown"),
        durability=None if role == "reference" else durability,
        host=host,
    )
    return CellData(entry=entry_of(record), record=record, result=None if error else result, evidence=None)


def ceiling(store: str, name: str, per_s: float, block: int = 1, host: Host | None = HOST) -> CellData[Any]:
    """The figure of a store's own tool."""
    one = Ceiling(
        name=name, store=store, tool=f"{name} 1.0", what="one row", clients=4, seconds=15.0, writes_per_s=per_s,
        latency_ms_mean=1.0, raw_file=f"{name}.txt",
    )  # fmt: skip
    result = CeilingsResult(store=store, ceilings=(one,), missing=None, verdict=Verdict(status="valid"))
    return cell(
        variant("jpa" if store == "postgres" else "rabbitmq-jpa"), result, block, role="reference", host=host
    )


def suite(
    runs: Sequence[tuple[VariantRecord, Sequence[CapacityResult]]],
    control: Sequence[CapacityResult] = (),
    references: Sequence[CellData[Any]] = (),
    hosts: Sequence[Host | None] = (),
) -> Suite:
    """Runs by variant, block by block; the first variant is the baseline. hosts: by block, where they differ."""
    variants = [own for own, _ in runs]
    by_block = dict(enumerate(hosts, 1))
    cells = [
        cell(own, one, block, host=by_block.get(block, HOST))
        for own, made in runs
        for block, one in enumerate(made, 1)
    ]
    cells += [
        cell(variants[0], one, block, role="A/A control", host=by_block.get(block, HOST))
        for block, one in enumerate(control, 1)
    ]
    return of_cells(cells, variants, references)


def of_cells(
    cells: Sequence[CellData[Any]],
    variants: Sequence[VariantRecord],
    references: Sequence[CellData[Any]] = (),
) -> Suite:
    """The first variant is the baseline."""
    every = (*cells, *references)
    entries = tuple(one.entry for one in every)
    more = {"kind": "capacity", "suite": "capacity", "title": "Capacity", "baseline": variants[0].name}
    index = index_of([one.record for one in every], variants, {}, cells=entries, **more)
    return SuiteData(index=index, cells=tuple(cells), references=tuple(references))
