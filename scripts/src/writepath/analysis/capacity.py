"""Evidence and figures of a capacity run: reduce_capacity() and derive_capacity(), its overload among them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from writepath.analysis import limit, load_rows, raw, samples, stats
from writepath.analysis.audit import ACKNOWLEDGED
from writepath.analysis.during_writes import FOLDERS, derive_during_writes, reduce_during_writes
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts
from writepath.analysis.load_aggregates import SCHEDULED
from writepath.analysis.load_result import HOP_NAMES, generator_of, hops, scalars_of
from writepath.analysis.load_rows import Rows
from writepath.analysis.samples import K6, inside
from writepath.analysis.stats import US_PER_MS, US_PER_S, Floats, Ints, Marks
from writepath.analysis.steps import (
    RAMP_METRICS,
    Tables,
    derive_step,
    folder_of,
    load_of,
    reduce_requests,
    reduce_samples,
    reduce_step,
    sampled_figures,
    steady,
)
from writepath.analysis.times import times
from writepath.analysis.verdict import generator_faults
from writepath.analysis.warm_up import unsteady
from writepath.config.registry import Phase
from writepath.errors import LoadError
from writepath.load.parquet import column_of, whole
from writepath.load.plan import NS_PER_MS, NS_PER_S, NS_PER_US, ArrivalPlan, align, arrival_plan
from writepath.records import base
from writepath.records.capacity_run import (
    CapacityFacts,
    CapacityResult,
    Overload,
    OverloadFacts,
    OverloadPhase,
)
from writepath.records.load_facts import LoadFacts
from writepath.records.measures import Host, Verdict
from writepath.records.search_load import SearchLoad, SearchLoadFacts
from writepath.records.steps import Bracket, LoadStep, unresolved

STRETCHES = (("before", 0.5, 20.0), ("overload", 2.0, 20.0), ("after", 0.5, 60.0))  # name, times, seconds
BEFORE, DURING, AFTER = range(3)
CELLS_PER_S, WINDOW_CELLS = 10, 50  # a window of 5 s begins each 0.1 s
AS_BEFORE, AS_BEFORE_MS = 1.25, 1.0  # p95 of a window: times the first stretch's, and so much more
P95 = 0.95
NOT_FAILED = -1
HOPS, RECOVERY, SAMPLES = "hops", "recovery", "samples"  # tables; the first two are of the overload alone
ANSWERS_S = 1.0  # in flight: what is beyond the cap is refused at once, and what is below it answers within


def _answers(plan: ArrivalPlan, rows: Rows, load: LoadFacts) -> tuple[Floats, NDArray[np.int8]]:
    """By planned request: milliseconds from its scheduled send time to its 201, infinite without; where it failed.

    That is an index into HOP_NAMES, or NOT_FAILED. One without a record was dropped, by the generator.
    """
    timed = rows.timed
    aligned = align(plan, rows.sequence[timed], rows.start_us[timed], load.processes)
    acknowledged = rows.client[timed] == ACKNOWLEDGED
    behind_ns = aligned.behind_ns() + rows.took_us(slice(None))[timed] * NS_PER_US
    answer_ms = np.full(plan.planned, np.inf)
    answer_ms[aligned.slots[acknowledged]] = behind_ns[acknowledged] / NS_PER_MS
    hop = np.full(plan.planned, HOP_NAMES.index("generator"), np.int8)
    hop[aligned.slots] = np.where(acknowledged, NOT_FAILED, hops(rows.status[timed], rows.error_code[timed]))
    return answer_ms, hop


def _ended_s(plan: ArrivalPlan) -> float:
    """When the overload ends, since the load's start."""
    return sum(phase.seconds for phase in plan.phases[:AFTER])


def _by_cell(plan: ArrivalPlan, which: Marks | None = None) -> Ints:
    """Requests planned in each tenth of a second of the last stretch; which: by planned request, only these."""
    cells = round(plan.phases[AFTER].seconds * CELLS_PER_S)
    number = (plan.starts_ns - round(_ended_s(plan) * NS_PER_S)) // (NS_PER_S // CELLS_PER_S)
    counted = (number >= 0) & (number < cells) & (True if which is None else which)
    return np.bincount(number[counted], minlength=cells).astype(np.int64)


def _recovered_after_s(within: Ints, planned: Ints) -> float | None:
    """From the end of the overload to the start of the first 5 s, by scheduled send time, as good as at first.

    By cell, the requests that were planned, and those of them that were answered within the limit: a window's p95 is
    within it where so many are. None where no window is, or where none carries a p95.
    """
    window = np.ones(WINDOW_CELLS, np.int64)
    in_time, asked = (np.convolve(counts, window, "valid").tolist() for counts in (within, planned))
    for first, (good, all_of_it) in enumerate(zip(in_time, asked, strict=True)):
        if stats.carries(all_of_it, P95) and good >= stats.rank(all_of_it, P95):
            return first / CELLS_PER_S
    return None


def plan_of(capacity_per_s: float) -> ArrivalPlan:
    """Half, twice, half."""
    phases = [steady(name, times * capacity_per_s, seconds) for name, times, seconds in STRETCHES]
    return replace(arrival_plan(phases), answer_s=ANSWERS_S)


def _derive_overload(every: Tables, run: CapacityFacts, facts: OverloadFacts) -> Overload:
    """The figures. every: tables of all steps."""
    plan, tables = plan_of(facts.capacity_per_s), _split(every, OVERLOAD)
    planned = np.bincount(plan.phase_indices(), minlength=len(plan.phases)).tolist()
    within = whole(every[RECOVERY], "within") if RECOVERY in every else None
    generator = generator_of(tables, samples.series(tables[SAMPLES]), facts.sent, run.host)
    return Overload(
        capacity_per_s=facts.capacity_per_s,
        phases=tuple(
            _phase(phase, index, planned[index], tables | {HOPS: every[HOPS]}, run.slo_ms)
            for index, phase in enumerate(plan.phases)
        ),
        recovered_after_s=None if within is None else _recovered_after_s(within, _by_cell(plan)),
        backlog_drained_after_s=_drained_after_s(tables, plan) if run.waits else None,
        generator_faults=(*facts.sent.generator_faults, *generator_faults(generator)),
    )


def _phase(phase: Phase, index: int, planned: int, tables: Tables, slo_ms: float) -> OverloadPhase:
    found = times(tables, SCHEDULED, index)
    failed = tables[HOPS].filter(pc.equal(column_of(tables[HOPS], "phase"), index)).to_pylist()
    errors = dict.fromkeys(HOP_NAMES, 0) | {row["hop"]: row["count"] for row in failed}
    good = int(found.count[found.value_us <= round(slo_ms * US_PER_MS)].sum())
    return OverloadPhase(
        name=phase.name,
        rate_per_s=phase.from_per_s,
        seconds=phase.seconds,
        planned=planned,
        acknowledged=found.number,
        goodput_per_s=round(good / phase.seconds, 3),
        errors_by_hop=errors,
        p95_ms=found.latency(planned).p95,
    )


def _recovered_limit_ms(tables: Tables, plan: ArrivalPlan) -> float | None:
    """What a window's p95 may be at most; None where there is no p95 before the overload."""
    planned = int((plan.phase_indices() == BEFORE).sum())
    p95_ms = times(tables, SCHEDULED, BEFORE).latency(planned).p95
    return None if p95_ms is None else round(AS_BEFORE * p95_ms + AS_BEFORE_MS, 3)


def _drained_after_s(tables: Tables, plan: ArrivalPlan) -> float | None:
    """From the overload's end to the first reading of the queue that is no deeper than any of the first stretch."""
    origin_us, end_s = scalars_of(tables)["origin_us"], _ended_s(plan)
    at_us, depth = samples.queue_depth(inside(samples.series(tables[SAMPLES]), origin_us, plan.seconds))
    at_s = (at_us - origin_us) / US_PER_S
    before = depth[at_s < plan.phases[BEFORE].seconds].max(initial=0.0)
    back = at_s[(at_s >= end_s) & (depth <= before)]
    return round(float(back[0]) - end_s, 3) if len(back) else None


STEP, OVERLOAD = "step", 0  # the column, and its value in rows of the overload
OVERLOAD_FOLDER = "overload"
UNITS = 1e6  # of a sample's value, in evidence
QUEUE = ("queue_ready", "queue_unacknowledged")
WORDS = ("component", "metric")


def reduce_capacity(folder: Path, host: Host) -> Evidence:
    """What is published of a capacity run's raw files. host: with what the canaries measured."""
    run = facts_of(folder)
    tables: dict[int, Tables] = {}
    steps = []
    for step in run.steps:
        own, known = reduce_step(folder_of(folder, step.number), run, step), None
        if step.kind == "ramp":
            known = sampled_figures(own, run, step, host)
            kept = pc.is_in(column_of(own[SAMPLES], "metric"), pa.array(RAMP_METRICS))
            own[SAMPLES] = own[SAMPLES].filter(kept)
        steps.append(replace(step, sampled=known))
        tables[step.number] = own
    others: dict[str, pa.Table] = {}
    if run.overload is not None:
        tables[OVERLOAD], others = _reduce_overload(folder / OVERLOAD_FOLDER, run, run.overload)
    if run.searches is not None and run.searches.during_writes is not None:
        tables |= reduce_during_writes(folder, run, run.searches.during_writes)
    facts = replace(run, steps=tuple(steps), host=host)
    return Evidence(tables=_joined(tables) | others, facts=base.to_data(facts))


def facts_of(folder: Path) -> CapacityFacts:
    """What only the running system knew; UsageError where the file is missing or broken."""
    return base.from_data(CapacityFacts, load_facts(folder), str(folder / FACTS_FILE))


def _reduce_overload(
    folder: Path, run: CapacityFacts, facts: OverloadFacts
) -> tuple[Tables, dict[str, pa.Table]]:
    """The tables that it has in common with a step, and its own: errors by hop, and how fast p95 recovered."""
    plan = plan_of(facts.capacity_per_s)
    load = load_of(run, facts.sent, *plan.phases)
    common = reduce_requests(folder, load, exact_ms=(run.slo_ms,))
    seen = reduce_samples(folder)
    ours = pc.or_(
        pc.is_in(column_of(seen, "metric"), pa.array(QUEUE)),
        pc.equal(column_of(seen, "component"), K6),
    )
    rows = load_rows.of_raw(raw.tables(folder)["requests"], None, load.operations, reads=0)
    answer_ms, hop = _answers(plan, rows, load)
    failed = hop != NOT_FAILED
    pairs = np.stack([plan.phase_indices()[failed], hop[failed]])
    (phase, place), count = np.unique(pairs, axis=1, return_counts=True)
    names = pa.array(HOP_NAMES).take(pa.array(place))
    own = {HOPS: pa.table({"phase": phase, "hop": names, "count": count})}
    limit_ms = _recovered_limit_ms(common, plan)
    if limit_ms is not None:
        own[RECOVERY] = pa.table({"within": _by_cell(plan, np.round(answer_ms, 3) <= limit_ms)})
    return common | {SAMPLES: seen.filter(ours)}, own


def _joined(tables: Mapping[int, Tables]) -> dict[str, pa.Table]:
    """One table of all steps' tables of a name; moments and values of samples as differences, which are small."""
    found: dict[str, list[pa.Table]] = {}
    for step, own in sorted(tables.items()):
        for name, table in own.items():
            packed = _differences(table) if name == SAMPLES else table
            numbered = packed.add_column(0, STEP, pa.array(np.full(len(packed), step, np.int64)))
            found.setdefault(name, []).append(numbered)
    return {name: pa.concat_tables(parts) for name, parts in found.items()}


def _split(tables: Tables, step: int) -> dict[str, pa.Table]:
    """The tables of one step."""
    own = {
        name: table.filter(pc.equal(column_of(table, STEP), step)).drop_columns([STEP])
        for name, table in tables.items()
        if STEP in table.column_names
    }
    return own | {SAMPLES: _accumulated(own[SAMPLES])}


def _differences(samples: pa.Table) -> pa.Table:
    """Each row's from the row before; values in millionths."""
    value = np.rint(column_of(samples, "value").to_numpy() * UNITS).astype(np.int64)
    changes = {"at_us": np.diff(whole(samples, "at_us"), prepend=0), "value": np.diff(value, prepend=0)}
    return pa.table({**{name: column_of(samples, name) for name in WORDS}, **changes})


def _accumulated(packed: pa.Table) -> pa.Table:
    at_us, value = (np.cumsum(whole(packed, name)) for name in ("at_us", "value"))
    words = {name: column_of(packed, name) for name in WORDS}
    return pa.table({"at_us": at_us, **words, "value": value / UNITS})


def derive_steps(run: CapacityFacts, tables: Tables) -> list[LoadStep]:
    """Of one run; the tables may have steps of others too. LoadError where they are of no known host."""
    if run.host is None:
        raise LoadError("the host is not known: the steps have no figures")
    return [derive_step(_split(tables, step.number), run, step, run.host) for step in run.steps]


def derive_capacity(evidence: Evidence) -> CapacityResult:
    """The result. LoadError where the run did not get as far as a load step."""
    run, tables = base.from_data(CapacityFacts, dict(evidence.facts), FACTS_FILE), evidence.tables
    if not run.steps:
        raise LoadError("the capacity run ended before its first load step: it has no figures")
    steps = derive_steps(run, tables)
    sustained = _bracket(run, steps, burst=False)
    searches = None if run.searches is None else _derive_searches(tables, run.searches)
    return CapacityResult(
        operation=run.operation.name,
        queue_path=run.queue_path,
        slo_ms=run.slo_ms,
        step_seconds=run.step_seconds,
        sustained=sustained,
        burst=_bracket(run, steps, burst=True) if run.waits else sustained,
        steps=tuple(steps),
        overload=None if run.overload is None else _derive_overload(tables, run, run.overload),
        verdict=_verdict(run, steps, sustained, searches),
        searches=searches,
        warm_up=run.warm_up,
        ended=run.ended,
    )


def _derive_searches(tables: Tables, facts: SearchLoadFacts) -> SearchLoad:
    during = None
    if facts.during_writes is not None:
        loads = {place: _split(tables, place) for place in FOLDERS}
        during = derive_during_writes(loads, facts.during_writes)
    return SearchLoad(data_set=facts.data_set, hits=facts.hits, during_writes=during)


def _bracket(run: CapacityFacts, steps: Sequence[LoadStep], *, burst: bool) -> Bracket:
    return limit.bracket(steps, run.lowest_per_s, run.highest_per_s, burst=burst)


def _verdict(
    run: CapacityFacts, steps: Sequence[LoadStep], sustained: Bracket, searches: SearchLoad | None
) -> Verdict:
    """A run that ends before its limit is known to the resolution is valid, and says so."""
    broken = [*_broken(run, steps), *(_wrong(searches) if searches else ())]
    noisy = [
        f"step {step.number} at {step.rate_per_s:,g}/s was noisy and not retried ({'; '.join(step.reasons)})"
        for step in _left_open(steps)
    ]
    noisy += unsteady(run.warm_up)
    during = run.searches.during_writes if run.searches else None
    if during is not None and during.noise:
        noisy.append(f"searches during writes were noisy ({'; '.join(during.noise)})")
    known = sustained.conclusive
    return Verdict(
        status="invalid" if broken else "unknown" if noisy else "valid",
        reasons=(*broken, *noisy),
        notes=() if known else (f"inconclusive: {_open(run, sustained)}",),
        noise=bool(noisy) and not broken,
        finding=None if known else "inconclusive",
    )


def _left_open(steps: Sequence[LoadStep]) -> Iterable[LoadStep]:
    """Noisy steps without which nothing is known: the fitted limit needs none, once a step passed and one failed."""
    fitted = {"pass", "fail"} <= {step.verdict for step in steps}
    return () if fitted else unresolved(steps)


def _open(run: CapacityFacts, sustained: Bracket) -> str:
    """What stopped a run before its limit was known."""
    low, high = sustained.interval_per_s
    return f"{run.ended or 'the limit is not known to ±5 %'}; the limit is between {low:,.0f}/s and {high:,.0f}/s"


def _wrong(searches: SearchLoad) -> Iterator[str]:
    """Searches that do not find what they must."""
    unexplained = (one.keyword for one in searches.hits if not one.explained)
    yield from (f"the hits of '{keyword}' are not explained" for keyword in unexplained)
    during = searches.during_writes
    if during is not None and during.wrong_answers:
        yield f"{during.wrong_answers:,} searches returned a wrong total during writes"
    if during is not None and during.writes_found < during.writes_acknowledged:
        yield f"{during.writes_found:,} of {during.writes_acknowledged:,} acknowledged writes were found"


def _broken(run: CapacityFacts, steps: Sequence[LoadStep]) -> Iterator[str]:
    """Steps that prove a loss, or that passed without proof."""
    for step in steps:
        if step.audit == "FAIL":
            yield f"the audit of step {step.number} failed ({'; '.join(step.reasons)})"
        elif run.writes and step.kind != "ramp" and step.verdict == "pass" and step.audit != "PASS":
            yield f"step {step.number} passed but was not audited"
