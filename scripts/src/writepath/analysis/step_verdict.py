"""Judges load steps: one verdict each, with reasons in words, and the bracket that they leave."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite

from writepath.analysis import stats
from writepath.records.measures import AuditVerdict, Generator, Latency, Requests
from writepath.records.steps import Backlog, Bracket, LoadStep, StepKind, StepVerdict

ACKNOWLEDGED_SHARE = 0.999  # of the scheduled requests
COMPLETED_SHARE = 0.99  # of the scheduled rate
DRAIN_SECONDS = 10.0
GENERATOR_CPU_SHARE = 0.8  # of one core; k6's own rule
LATENESS_SHARE = 0.25  # of the SLO
HOST_FULL_SHARE = 0.9
MINUTE, HOUR = 60.0, 3600.0
FROM_SCHEDULE = "from the scheduled send time"
SUSPECTED = "load generator suspected"
BROKEN = "BROKEN: "  # begins a reason that no rate excuses
AUDIT_FAILED = f"{BROKEN}the store does not match the acknowledged writes (audit FAIL)"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known about one load step."""

    kind: StepKind
    slo_ms: float
    rate_per_s: float
    seconds: float
    requests: Requests
    planned_latency_ms: Latency
    generator: Generator
    backlog: Backlog | None
    drain_seconds: float | None  # null: not waited for
    audit: AuditVerdict | None  # null: the store was not read
    host_full: bool  # so busy that a slow load generator is the path's doing
    noise_reasons: tuple[str, ...]  # in words; any makes it a step on a noisy host
    broken: tuple[str, ...]  # lost components, faults of the generator, offenders of the audit: in words
    writes: bool = True  # else searches, of which nothing has to be stored


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The verdict and its reasons."""

    verdict: StepVerdict
    burst: bool
    reasons: tuple[str, ...]
    generator_bound: bool


def judge(evidence: Evidence) -> Judgement:
    """A broken guarantee fails even on a noisy host. Else a noisy host gives no verdict. Else every limit counts.

    Noise only slows a path: a ramp step, which no figure counts, passes if it keeps every limit on a noisy host.
    """
    broken = tuple(_broken(evidence))
    if broken:
        return Judgement(
            verdict="fail",
            burst=False,
            reasons=(*broken, *_answering(evidence), *_storing(evidence)),
            generator_bound=False,
        )
    answering, storing = tuple(_answering(evidence)), tuple(_storing(evidence))
    if evidence.noise_reasons and (evidence.kind != "ramp" or answering or storing):
        return Judgement(verdict="noise", burst=False, reasons=evidence.noise_reasons, generator_bound=False)
    excuses = tuple(_generator(evidence)) if answering else ()
    return Judgement(
        verdict="fail" if answering or storing else "pass",
        burst=not answering,
        reasons=(*answering, *storing, *excuses),
        generator_bound=bool(excuses),
    )


def _broken(evidence: Evidence) -> Iterator[str]:
    """What no rate excuses."""
    if evidence.audit == "FAIL":
        yield AUDIT_FAILED
    yield from (f"{BROKEN}{words}" for words in evidence.broken)


def _answering(evidence: Evidence) -> Iterator[str]:
    """What the client saw; burst capacity needs no more."""
    requests = evidence.requests
    if requests.dropped:
        yield f"{requests.dropped:,} of {requests.planned:,} scheduled requests were dropped (limit 0)"
    share = requests.acknowledged / requests.planned if requests.planned else 0.0
    if share < ACKNOWLEDGED_SHARE:
        yield (
            f"{_percent(share)} of the scheduled requests were {_served(evidence)}"
            f" (limit {_percent(ACKNOWLEDGED_SHARE)})"
        )
    yield from _latency(evidence)
    completed_per_s, one_per_s = requests.acknowledged / evidence.seconds, 1 / evidence.seconds
    if completed_per_s + one_per_s < COMPLETED_SHARE * evidence.rate_per_s:  # not sent: part of one
        yield (
            f"{completed_per_s:,.0f}/s completed of {evidence.rate_per_s:,.0f}/s scheduled"
            f" (limit {_percent(COMPLETED_SHARE)})"
        )
    if evidence.kind != "ramp" and evidence.audit == "UNKNOWN" and evidence.drain_seconds is not None:
        yield "the store could not be read back (audit UNKNOWN)"


def _latency(evidence: Evidence) -> Iterator[str]:
    p99, planned = evidence.planned_latency_ms.p99, evidence.requests.planned
    if p99 is not None and isfinite(p99):
        if p99 > evidence.slo_ms:
            yield _too_slow("p99", p99, evidence.slo_ms)
    elif stats.carries(planned, 0.99):
        yield (
            f"p99 {FROM_SCHEDULE} is infinite: more than 1 % of the requests were not {_served(evidence)}"
            f" (SLO {evidence.slo_ms:g} ms)"
        )
    elif evidence.kind == "ramp":
        yield from _latency_of_few(evidence)
    else:
        yield f"{planned:,} scheduled requests are too few for a p99; run longer (HOLD_SECONDS)"


def _latency_of_few(evidence: Evidence) -> Iterator[str]:
    """At a low rate a ramp step has too few requests for a p99: the highest rank it has gives a hint."""
    planned, known = evidence.requests.planned, evidence.planned_latency_ms
    if stats.carries(planned, 0.95):
        name, value = "p95", known.p95
    elif stats.carries(planned, 0.5):
        name, value = "median", known.median
    else:
        name, value = "maximum", known.max
    if value is None:
        yield f"{name} {FROM_SCHEDULE} is infinite (SLO {evidence.slo_ms:g} ms)"
    elif value > evidence.slo_ms:
        yield _too_slow(name, value, evidence.slo_ms)


def _too_slow(name: str, value_ms: float, slo_ms: float) -> str:
    return f"{name} {FROM_SCHEDULE} {_over(value_ms, slo_ms)} ms (SLO {slo_ms:g} ms)"


def _served(evidence: Evidence) -> str:
    return "acknowledged" if evidence.writes else "answered"


def _storing(evidence: Evidence) -> Iterator[str]:
    """What happened after the 201; only sustained capacity needs it."""
    if not evidence.writes:
        return
    if evidence.backlog is not None and evidence.backlog.grows:
        yield f"unstable: {unstable(evidence.backlog, evidence.seconds)}"
    if evidence.kind == "ramp":
        return
    if evidence.drain_seconds is not None and evidence.drain_seconds > DRAIN_SECONDS:
        yield (f"{evidence.drain_seconds:.1f} s until the last row was stored (limit {DRAIN_SECONDS:.0f} s)")
    if evidence.audit is None or (evidence.audit == "UNKNOWN" and evidence.drain_seconds is None):
        yield "not all rows were stored when the wait for them ended, so nothing was audited"


def unstable(backlog: Backlog, seconds: float) -> str:
    """How large a growing backlog is, in messages and in the time to store them."""
    waiting = f"{backlog.at_end:,.0f} messages waiting after {seconds:g} s"
    work = backlog.work_seconds
    if work is None or not isfinite(work):
        return f"{waiting}, none stored during the step"
    if work >= HOUR:
        time = _amount(work / HOUR, "hour")
    else:
        time = _amount(work / MINUTE, "minute") if work >= MINUTE else f"{work:.0f} s"
    return f"{waiting}, {time} of work at the rate they are stored"


def _generator(evidence: Evidence) -> Iterator[str]:
    """Why the load generator may have failed, not the path. On a full host its slowness counts as the path's."""
    if evidence.host_full:
        return
    generator, limit = evidence.generator, GENERATOR_CPU_SHARE * 100
    if generator.cpu_share_peak > GENERATOR_CPU_SHARE:
        yield (
            f"{SUSPECTED}: k6 used {_over(generator.cpu_share_peak * 100, limit)} % of a core (limit {limit:g} %)"
        )
    late, limit_ms = generator.lateness_ms_p99, LATENESS_SHARE * evidence.slo_ms
    if late is not None and late > limit_ms:
        yield f"{SUSPECTED}: it sent {_over(late, limit_ms)} ms late at p99 (limit {limit_ms:g} ms)"
    if evidence.requests.dropped and not _slow(evidence):
        yield f"{SUSPECTED}: it dropped requests although answers were fast"


def _slow(evidence: Evidence) -> bool:
    """Answers so slow that they blocked the virtual users: then the path caused the drops."""
    p99 = evidence.planned_latency_ms.p99
    return p99 is None or not isfinite(p99) or p99 > evidence.slo_ms


def _amount(number: float, unit: str) -> str:
    whole = round(number)
    return f"{whole:,} {unit}" if whole == 1 else f"{whole:,} {unit}s"


def _over(value: float, limit: float) -> str:
    """Never rounded to its limit."""
    return next((text for digits in range(4) if float(text := f"{value:.{digits}f}") > limit), f"{value}")


def _percent(share: float) -> str:
    """Cut, not rounded: a share just below its limit must not read as the limit."""
    return f"{int(share * 100_000 + 1e-6) / 1000:g} %"


class Outcomes:
    """Passes and fails of one limit.

    A pass takes every fail at its rate and below with it, a fail every pass at its rate and above: so the highest
    passing rate is always below the lowest failing one.
    """

    def __init__(self, highest_per_s: float) -> None:
        """highest_per_s: no rate above it is tried."""
        self._highest = highest_per_s
        self._passes: set[float] = set()
        self._fails: dict[float, bool] = {}  # by rate, whether the generator could be why
        self._steps = 0

    @property
    def highest_passing(self) -> float | None:
        """None where none passed."""
        return max(self._passes, default=None)

    @property
    def lowest_failing(self) -> float | None:
        """None where none failed."""
        return min(self._fails, default=None)

    def told(self, rate_per_s: float, *, passed: bool, generator_bound: bool) -> bool:
        """What became of a step; whether it contradicted all that was known on the other side."""
        self._steps += 1
        if passed:
            lost = bool(self._fails) and max(self._fails) <= rate_per_s
            self._passes.add(rate_per_s)
            self._fails = {rate: bound for rate, bound in self._fails.items() if rate > rate_per_s}
        else:
            lost = bool(self._passes) and min(self._passes) >= rate_per_s
            self._fails[rate_per_s] = generator_bound
            self._passes = {rate for rate in self._passes if rate < rate_per_s}
        return lost

    def bracket(self) -> Bracket:
        """As known by now."""
        low, high = self.highest_passing, self.lowest_failing
        return Bracket(
            highest_passing_per_s=low,
            lowest_failing_per_s=high,
            lower_bound=low is not None and (low >= self._highest if high is None else self._fails[high]),
            steps=self._steps,
        )


def sustained(steps: Iterable[LoadStep], highest_per_s: float) -> Bracket:
    """What arrives is stored as fast: steps for the burst rate say nothing of it."""
    known = Outcomes(highest_per_s)
    for step in steps:
        if step.counted and not step.for_burst:
            known.told(step.rate_per_s, passed=step.verdict == "pass", generator_bound=step.generator_bound)
    return known.bracket()


def burst(steps: Iterable[LoadStep], highest_per_s: float) -> Bracket:
    """201s alone."""
    known = Outcomes(highest_per_s)
    for step in steps:
        if step.counted:
            passed = step.verdict == "pass" or step.burst
            known.told(step.rate_per_s, passed=passed, generator_bound=step.generator_bound)
    return known.bracket()
