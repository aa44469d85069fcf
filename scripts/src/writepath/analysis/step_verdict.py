"""Judges load steps: one verdict each, with reasons in words."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from writepath.analysis import stats
from writepath.records.capacity_run import CapacityFacts
from writepath.records.steps import LoadStep

ACKNOWLEDGED_SHARE = 0.999  # of the scheduled requests
COMPLETED_SHARE = 0.99  # of the scheduled rate
DRAIN_SECONDS = 10.0
GENERATOR_CPU_SHARE = 0.8  # of one core; k6's own rule
LATENESS_SHARE = 0.25  # of the SLO
RANKS = {"p99": 0.99, "p95": 0.95, "median": 0.5}
FROM_SCHEDULE = "from the scheduled send time"
SUSPECTED = "load generator suspected"
BROKEN = "BROKEN: "  # begins a reason that no rate excuses


def judge(
    step: LoadStep, run: CapacityFacts, *, host_full: bool, noise: Sequence[str], broken: Sequence[str]
) -> LoadStep:
    """The step with its verdict and reasons, whatever they were before.

    A broken guarantee fails even on a noisy host. Else a noisy host gives no verdict. Else every limit counts. Noise
    only slows a path: a ramp step, which no figure counts, passes if it keeps every limit on a noisy host.
    host_full: so busy that a slow load generator is the path's doing; noise, broken: in words.
    """
    answering, storing = tuple(_answering(step, run)), tuple(_storing(step, run))
    kept = not (answering or storing)
    if broken:
        reasons = (*(f"{BROKEN}{words}" for words in broken), *answering, *storing)
        return replace(step, verdict="fail", burst=False, reasons=reasons, generator_bound=False)
    if noise and not (step.kind == "ramp" and kept):
        return replace(step, verdict="noise", burst=False, reasons=tuple(noise), generator_bound=False)
    excuses = tuple(_generator(step, run)) if answering and not host_full else ()
    return replace(
        step,
        verdict="pass" if kept else "fail",
        burst=not answering,
        reasons=(*answering, *storing, *excuses),
        generator_bound=bool(excuses),
    )


def _answering(step: LoadStep, run: CapacityFacts) -> Iterator[str]:
    """What the client saw; burst capacity needs no more."""
    requests, served = step.requests, "acknowledged" if run.writes else "answered"
    if requests.dropped:
        yield f"{requests.dropped:,} of {requests.planned:,} scheduled requests were dropped (limit 0)"
    share = requests.acknowledged / requests.planned if requests.planned else 0.0
    if share < ACKNOWLEDGED_SHARE:
        yield (
            f"{_percent(share)} of the scheduled requests were {served} (limit {_percent(ACKNOWLEDGED_SHARE)})"
        )
    yield from _latency(step, run.slo_ms, served)
    completed_per_s, one_per_s = requests.acknowledged / step.seconds, 1 / step.seconds
    if completed_per_s + one_per_s < COMPLETED_SHARE * step.rate_per_s:  # not sent: part of one
        yield (
            f"{completed_per_s:,.0f}/s completed of {step.rate_per_s:,.0f}/s scheduled"
            f" (limit {_percent(COMPLETED_SHARE)})"
        )
    if step.kind != "ramp" and step.audit == "UNKNOWN" and step.drain_seconds is not None:
        yield "the store could not be read back (audit UNKNOWN)"


def _latency(step: LoadStep, slo_ms: float, served: str) -> Iterator[str]:
    """Of the p99. At a low rate a ramp step has too few requests for it: the highest rank it has gives a hint."""
    planned = step.requests.planned
    name = next((name for name, share in RANKS.items() if stats.carries(planned, share)), "max")
    value, words = getattr(step.planned_latency_ms, name), "maximum" if name == "max" else name
    if name != "p99" and step.kind != "ramp":
        yield f"{planned:,} scheduled requests are too few for a p99; run longer (HOLD_SECONDS)"
    elif value is None:
        more = f": more than 1 % of the requests were not {served}" if name == "p99" else ""
        yield f"{words} {FROM_SCHEDULE} is infinite{more} (SLO {slo_ms:g} ms)"
    elif value > slo_ms:
        yield f"{words} {FROM_SCHEDULE} {_over(value, slo_ms)} ms (SLO {slo_ms:g} ms)"


def _storing(step: LoadStep, run: CapacityFacts) -> Iterator[str]:
    """What happened after the 201; only sustained capacity needs it."""
    if not run.writes:
        return
    if step.backlog is not None and step.backlog.grows:
        work_seconds, left = step.backlog.work_seconds, "none stored during the step"
        if work_seconds is not None:
            left = f"{work_seconds:,.0f} s of work at the rate they are stored"
        yield f"unstable: {step.backlog.at_end:,.0f} posts waiting after {step.seconds:g} s, {left}"
    if step.kind == "ramp":
        return
    if step.drain_seconds is not None and step.drain_seconds > DRAIN_SECONDS:
        yield f"{step.drain_seconds:.1f} s until the last row was stored (limit {DRAIN_SECONDS:.0f} s)"
    if step.audit is None:
        yield "not all rows were stored when the wait for them ended, so nothing was audited"


def _generator(step: LoadStep, run: CapacityFacts) -> Iterator[str]:
    """Why the load generator may have failed, not the path. On a full host its slowness counts as the path's."""
    generator, limit = step.generator, GENERATOR_CPU_SHARE * 100
    if generator.busiest > GENERATOR_CPU_SHARE:
        used = _over(generator.busiest * 100, limit)
        yield f"{SUSPECTED}: k6 used {used} % of a core (limit {limit:g} %)"
    late, limit_ms = generator.lateness_ms_p99, LATENESS_SHARE * run.slo_ms
    if late is not None and late > limit_ms:
        yield f"{SUSPECTED}: it sent {_over(late, limit_ms)} ms late at p99 (limit {limit_ms:g} ms)"
    p99 = step.planned_latency_ms.p99  # slow answers block the virtual users: then the path caused the drops
    if step.requests.dropped and p99 is not None and p99 <= run.slo_ms:
        yield f"{SUSPECTED}: it dropped requests although answers were fast"


def _over(value: float, limit: float) -> str:
    """Never rounded to its limit."""
    return next((text for digits in range(4) if float(text := f"{value:.{digits}f}") > limit), f"{value}")


def _percent(share: float) -> str:
    """Cut, not rounded: a share just below its limit must not read as the limit."""
    return f"{int(share * 100_000 + 1e-6) / 1000:g} %"
