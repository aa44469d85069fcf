"""Pairs of load steps: evidence of raw files, figures of each step, and ratios with intervals over the pairs."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import pyarrow as pa
from scipy import stats

from writepath.analysis.capacity import derive_steps, reduce_capacity
from writepath.analysis.comparison import EQUAL, Better, Estimate, paired
from writepath.analysis.evidence import FACTS_FILE, Evidence, load_facts
from writepath.analysis.lines import K6
from writepath.analysis.stats import US_PER_S
from writepath.analysis.step_verdict import BROKEN, GENERATOR_CPU_SHARE
from writepath.analysis.steps import rounded
from writepath.analysis.warm_up import unsteady
from writepath.errors import LoadError
from writepath.records.base import from_data, to_data
from writepath.records.capacity_run import CapacityFacts
from writepath.records.measures import Host, Verdict
from writepath.records.pair import Aim, PairFacts, PairResult, PairStep, Side
from writepath.records.steps import LoadStep, StepVerdict

SIDES: tuple[Side, ...] = get_args(Side)
FROZEN_CPU_S = 0.05  # a path that uses more was not frozen: its CPU time is counted in hundredths
FEWEST_SHARE = 0.5  # of the pairs at equal rates: with fewer on a quiet host nothing is known
COARSE, FINE, TURN = 1.6, 1.025, 1 / 3  # factors of a rate; a turn takes the root of what a factor is above 1
NEAR = 1.06  # with this factor or less a path is near its limit


class Staircase:
    """The rates of a path on its way to its limit: up after a pass, down after a fail, by less after each turn."""

    def __init__(self, begins_per_s: float, run: CapacityFacts) -> None:
        """Between lowest and highest rate of the run."""
        self.rate_per_s, self._run = min(begins_per_s, run.highest_per_s), run
        self._factor = COARSE
        self._passed: bool | None = None

    @property
    def fine(self) -> bool:
        """Whether it has turned often enough to be near the limit."""
        return self._factor <= NEAR

    def told(self, verdict: StepVerdict) -> None:
        """What became of the step at its rate; after a noisy one it stays."""
        if verdict == "noise":
            return
        passed = verdict == "pass"
        if self._passed is not None and self._passed != passed:
            self._factor = max(FINE, self._factor**TURN)
        self._passed = passed
        rate_per_s = rounded(self.rate_per_s * (self._factor if passed else 1 / self._factor))
        self.rate_per_s = max(self._run.lowest_per_s, min(self._run.highest_per_s, rate_per_s))


def reduce_pair(folder: Path, host: Host) -> Evidence:
    """The evidence of both paths' steps in the same tables; steps are numbered across the paths."""
    facts = from_data(PairFacts, load_facts(folder), str(folder / FACTS_FILE))
    parts = {side: reduce_capacity(folder / side, host) for side in SIDES}
    a, b = (part.tables for part in parts.values())
    tables = {name: pa.concat_tables([table, b[name]]) for name, table in a.items()}
    return Evidence(
        tables=tables, facts={**to_data(facts), **{side: one.facts for side, one in parts.items()}}
    )


def derive_pair(evidence: Evidence) -> PairResult:
    """The result. LoadError where the pair did not get as far as two steps."""
    facts = from_data(PairFacts, dict(evidence.facts), FACTS_FILE)
    if facts.a is None or facts.b is None or not facts.equal:
        raise LoadError("the pair ended before its first two steps: it has no figures")
    runs: dict[Side, CapacityFacts] = {"a": facts.a, "b": facts.b}
    made = {one.number: one for run in runs.values() for one in derive_steps(run, evidence.tables)}
    steps = sorted(_steps(facts, runs, made), key=lambda one: one.number)
    return PairResult(
        against=facts.against,
        title=facts.title,
        guarantees=facts.guarantees,
        slo_ms=facts.a.slo_ms,
        step_seconds=facts.a.step_seconds,
        steps=tuple(steps),
        verdict=_verdict(steps, runs),
    )


def _steps(
    facts: PairFacts, runs: Mapping[Side, CapacityFacts], made: Mapping[int, LoadStep]
) -> Iterator[PairStep]:
    for number, pair in enumerate(facts.equal, 1):
        yield from (
            _step(facts, made[one], side, number, "equal") for side, one in zip(SIDES, pair, strict=True)
        )
    if not facts.limit:
        return
    stairs = [
        Staircase(made[one].rate_per_s, runs[side]) for side, one in zip(SIDES, facts.limit[0], strict=True)
    ]
    for number, pair in enumerate(facts.limit, 1):
        fine = all(stair.fine for stair in stairs)
        for side, stair, one in zip(SIDES, stairs, pair, strict=True):
            yield _step(facts, made[one], side, number, "limit", fine=fine)
            stair.told(made[one].verdict)


def _step(
    facts: PairFacts, made: LoadStep, side: Side, pair: int, aim: Aim, *, fine: bool = False
) -> PairStep:
    cpu_s = sum(one.cpu_seconds for name, one in made.resources.items() if name != K6)
    acknowledged = made.requests.acknowledged
    return PairStep(
        number=made.number,
        side=side,
        pair=pair,
        aim=aim,
        fine=fine,
        rate_per_s=made.rate_per_s,
        verdict=made.verdict,
        reasons=made.reasons,
        acknowledged=acknowledged,
        cpu_us_per_write=round(cpu_s * US_PER_S / acknowledged, 3) if acknowledged and cpu_s else None,
        p99_ms=made.planned_latency_ms.p99,
        audit=made.audit,
        generator_bound=made.generator_bound,
        generator_cpu_share=made.generator.cpu_share_peak,
        canary_cpu_ms=None if made.noise.before is None else made.noise.before.cpu_ms,
        frozen_cpu_seconds=facts.frozen_cpu_seconds[made.number - 1],
    )


def _verdict(steps: Sequence[PairStep], runs: Mapping[Side, CapacityFacts]) -> Verdict:
    invalid = [
        f"step {one.number}, {one.side.upper()} at {one.rate_per_s:,g}/s: {words}"
        for one in steps
        for words in (*(why for why in one.reasons if why.startswith(BROKEN)), *_moving(one))
    ]
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


def _moving(step: PairStep) -> Iterator[str]:
    if step.frozen_cpu_seconds > FROZEN_CPU_S:
        yield f"the frozen path used {step.frozen_cpu_seconds:.2f} s of CPU time (limit {FROZEN_CPU_S:g} s)"


@dataclass(frozen=True)
class Figure:
    """By which two paths are compared."""

    title: str
    aim: Aim
    better: Better
    words: tuple[str, str]  # for a B that is better, worse
    get: Callable[[PairStep], float | None]


def _p99_ms(step: PairStep) -> float | None:
    """Infinite where it falls on a request that was not acknowledged."""
    return math.inf if step.p99_ms is None and step.verdict == "fail" else step.p99_ms


def _cpu_us(step: PairStep) -> float | None:
    """Of a path that kept up: what is refused costs CPU time too."""
    return step.cpu_us_per_write if step.verdict == "pass" else None


def _near_limit(step: PairStep) -> float | None:
    return step.rate_per_s if step.fine else None


CPU = Figure("CPU per write", "equal", "lower", ("cheaper", "more expensive"), _cpu_us)
P99 = Figure("p99", "equal", "lower", ("faster", "slower"), _p99_ms)
LIMIT = Figure("rate at the limit", "limit", "higher", ("more", "less"), _near_limit)
FIGURES = (CPU, P99, LIMIT)


def values(results: Iterable[PairResult], figure: Figure) -> dict[Side, list[float | None]]:
    """By side, the value of each pair; of a noisy step none."""
    found: dict[Side, list[float | None]] = {"a": [], "b": []}
    for result in results:
        own = [one for one in result.steps if one.aim == figure.aim]
        for one in sorted(own, key=lambda one: one.pair):
            found[one.side].append(None if one.verdict == "noise" else figure.get(one))
    return found


def ratio(results: Iterable[PairResult], figure: Figure) -> Estimate:
    """B ÷ A over the pairs, with a 95 % interval."""
    known = values(results, figure)
    found = paired(known["b"], known["a"], figure.better)
    return found if figure.aim == "equal" else _of_stairs(found)


def _of_stairs(found: Estimate) -> Estimate:
    """Rates of staircases follow from the ones before and are whole steps: n pairs are worth half of them, ± a step.

    Without this, 12 to 30 % of simulated pairs of a path with itself were called different, with it 0 to 3 %; a limit
    that is 10 % lower is found in 69 to 98 %, by how sharp it is.
    """
    if found.ratio is None or found.spread is None:
        return found
    mean, step, freedom = math.log(found.ratio), math.log(FINE), found.pairs - 1
    error = max(found.spread, EQUAL) * math.sqrt(2 / found.pairs)
    width = step + float(stats.t.isf(0.025, freedom)) * error
    p = 2 * float(stats.t.sf(max(0.0, abs(mean) - step) / error, freedom))
    return replace(found, low=math.exp(mean - width), high=math.exp(mean + width), p=p)
