"""Pairs of load steps: evidence of raw files, figures of each step, and ratios with intervals over the pairs."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import pyarrow as pa
from scipy import stats

from writepath.analysis.capacity import derive_steps, reduce_capacity
from writepath.analysis.comparison import Better, Estimate, in_turns, paired
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts
from writepath.analysis.limit import MOST_TIMES, TAIL, Fit, carried_per_s, fit
from writepath.analysis.samples import K6
from writepath.analysis.stats import US_PER_S
from writepath.analysis.step_verdict import BROKEN, GENERATOR_CPU_SHARE
from writepath.analysis.steps import rounded
from writepath.analysis.warm_up import unsteady
from writepath.errors import LoadError
from writepath.records.base import from_data, to_data
from writepath.records.capacity_run import CapacityFacts
from writepath.records.measures import Host, Verdict
from writepath.records.pair import Aim, PairFacts, PairLimit, PairResult, PairStep, Side
from writepath.records.steps import LoadStep

SIDES: tuple[Side, ...] = get_args(Side)
FROZEN_CPU_S = 0.05  # a path that uses more was not frozen: its CPU time is counted in hundredths
FEWEST_SHARE = 0.5  # of the pairs at equal rates: with fewer on a quiet host nothing is known
Z = stats.norm.isf([0.025, TAIL])  # of an interval of 95 %, and of a fitted limit's


def next_rate(made: Sequence[LoadStep], run: CapacityFacts) -> float:
    """Of the next step of a path: where its limit probably is."""
    start = None if made else carried_per_s(run.warm_up)
    passed = max((one.rate_per_s for one in made if one.verdict == "pass"), default=math.inf)
    rate = start or min(limit_of(made, run).limit, MOST_TIMES * passed)
    return rounded(max(run.lowest_per_s, min(rate, run.highest_per_s)))


def limit_of(made: Sequence[LoadStep], run: CapacityFacts) -> Fit:
    """The rate at which half of a path's steps pass."""
    return fit(made, run.lowest_per_s, run.highest_per_s, burst=False)


def reduce_pair(folder: Path, host: Host) -> Evidence:
    """The evidence of both paths' steps in the same tables; steps are numbered across the paths."""
    facts = from_data(PairFacts, load_facts(folder), str(folder / FACTS_FILE))
    a, b = (reduce_capacity(folder / side, host) for side in SIDES)
    tables = {name: pa.concat_tables([table, b.tables[name]]) for name, table in a.tables.items()}
    return Evidence(tables=tables, facts={**to_data(facts), "a": a.facts, "b": b.facts})


def derive_pair(evidence: Evidence) -> PairResult:
    """The result. LoadError where the pair did not get as far as two steps."""
    facts = from_data(PairFacts, dict(evidence.facts), FACTS_FILE)
    if facts.a is None or facts.b is None or not facts.limit:
        raise LoadError("the pair ended before its first two steps: it has no figures")
    runs: dict[Side, CapacityFacts] = {"a": facts.a, "b": facts.b}
    made = {side: derive_steps(run, evidence.tables) for side, run in runs.items()}
    by_number = {one.number: one for steps in made.values() for one in steps}
    steps = sorted(_steps(facts, by_number), key=lambda one: one.number)
    limits: dict[str, PairLimit] = {}
    for side, run in runs.items():
        low, per_s, high = (round(one, 1) for one in limit_of(made[side], run))
        limits[side] = PairLimit(low_per_s=low, per_s=per_s, high_per_s=high)
    return PairResult(
        against=facts.against,
        title=facts.title,
        guarantees=facts.guarantees,
        slo_ms=facts.a.slo_ms,
        step_seconds=facts.a.step_seconds,
        steps=tuple(steps),
        limits=limits,
        verdict=_verdict(steps, runs),
    )


def _steps(facts: PairFacts, made: Mapping[int, LoadStep]) -> Iterator[PairStep]:
    aims: dict[Aim, tuple[tuple[int, int], ...]] = {"equal": facts.equal, "limit": facts.limit}
    for aim, pairs in aims.items():
        for pair, numbers in enumerate(pairs, 1):
            for side, number in zip(SIDES, numbers, strict=True):
                step, acknowledged = made[number], made[number].requests.acknowledged
                cpu_s = sum(one.cpu_seconds for name, one in step.resources.items() if name != K6)
                known = acknowledged and cpu_s
                yield PairStep(
                    number=number,
                    side=side,
                    pair=pair,
                    aim=aim,
                    rate_per_s=step.rate_per_s,
                    verdict=step.verdict,
                    reasons=step.reasons,
                    acknowledged=acknowledged,
                    cpu_us_per_write=round(cpu_s * US_PER_S / acknowledged, 3) if known else None,
                    p99_ms=step.planned_latency_ms.p99,
                    audit=step.audit,
                    generator_bound=step.generator_bound,
                    generator_cpu_share=step.generator.busiest,
                    canary_cpu_ms=None if step.noise.before is None else step.noise.before.cpu_ms,
                    frozen_cpu_seconds=facts.frozen_cpu_seconds[number - 1],
                )


def _verdict(steps: Sequence[PairStep], runs: Mapping[Side, CapacityFacts]) -> Verdict:
    invalid = []
    for one in steps:
        broken = [why for why in one.reasons if why.startswith(BROKEN)]
        if (used_s := one.frozen_cpu_seconds) > FROZEN_CPU_S:
            broken.append(f"the frozen path used {used_s:.2f} s of CPU time (limit {FROZEN_CPU_S:g} s)")
        where = f"step {one.number}, {one.side.upper()} at {one.rate_per_s:,g}/s"
        invalid += [f"{where}: {words}" for words in broken]
    audited = {one.side for one in steps if one.audit == "PASS"}
    unseen = [f"the last step of {side.upper()} was not audited" for side in SIDES if side not in audited]
    unseen += [f"{side.upper()}: {words}" for side, run in runs.items() for words in unsteady(run.warm_up)]
    equal = {one.pair for one in steps if one.aim == "equal"}
    noisy = {one.pair for one in steps if one.aim == "equal" and one.verdict == "noise"}
    noise = len(equal) - len(noisy) < FEWEST_SHARE * len(equal)
    reasons = [*invalid, *unseen, *([f"noisy host in {len(noisy)} of {len(equal)} pairs"] if noise else [])]
    suspected = sum(one.generator_bound or one.generator_cpu_share > GENERATOR_CPU_SHARE for one in steps)
    return Verdict(
        status="invalid" if invalid else "unknown" if reasons else "valid",
        reasons=tuple(reasons),
        notes=(f"load generator suspected in {suspected} of {len(steps)} steps",) if suspected else (),
        noise=noise and not invalid and not unseen,
    )


@dataclass(frozen=True)
class Figure:
    """By which two paths are compared."""

    title: str
    better: Better
    words: tuple[str, str]  # for a B that is better, worse
    get: Callable[[PairStep], float | None] | None  # of a step at an equal rate; None: of the paths' limits


def _p99_ms(step: PairStep) -> float | None:
    """Infinite where it falls on a request that was not acknowledged."""
    return math.inf if step.p99_ms is None and step.verdict == "fail" else step.p99_ms


def _cpu_us(step: PairStep) -> float | None:
    """Of a path that kept up: what is refused costs CPU time too."""
    return step.cpu_us_per_write if step.verdict == "pass" else None


CPU = Figure("CPU per write", "lower", ("cheaper", "more expensive"), _cpu_us)
P99 = Figure("p99", "lower", ("faster", "slower"), _p99_ms)
LIMIT = Figure("rate at the limit", "higher", ("more", "less"), None)
FIGURES = (CPU, P99, LIMIT)


def values(results: Iterable[PairResult], figure: Figure) -> dict[Side, list[float | None]]:
    """By side, the value of each pair, of a noisy step none; or the limit of each block."""
    found: dict[Side, list[float | None]] = {"a": [], "b": []}
    for result in results:
        if figure.get is None:
            for side in SIDES:
                found[side].append(result.limits[side].per_s)
            continue
        for one in (step for step in result.steps if step.aim == "equal"):
            found[one.side].append(None if one.verdict == "noise" else figure.get(one))
    return found


def ratio(results: Sequence[PairResult], figure: Figure) -> Estimate:
    """B ÷ A with a 95 % interval, over the pairs; of limits by how well they are known, over the blocks."""
    known = values(results, figure)
    if figure.get is not None:
        return in_turns(known["b"], known["a"], figure.better)
    found = paired(known["b"], known["a"], figure.better)
    if found.ratio is None:
        return found
    widths = [
        math.log(one.high_per_s / one.low_per_s) / 2 for result in results for one in result.limits.values()
    ]
    error = math.hypot(*widths) / Z[1] / found.pairs
    mean, width = math.log(found.ratio), Z[0] * error
    pairs = sum(one.aim == "limit" and one.side == "a" for result in results for one in result.steps)
    p = 2 * float(stats.norm.sf(abs(mean) / error))
    low, high = math.exp(mean - width), math.exp(mean + width)
    return replace(found, low=low, high=high, spread=None, p=p, rank_p=p, pairs=pairs, compared=pairs)
