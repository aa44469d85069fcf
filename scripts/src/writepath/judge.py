"""Did a path carry the rate that was held? One verdict from what was measured, with reasons and limits in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from writepath import stats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.result.capacity import Backlog, HoldKind, HoldVerdict
    from writepath.result.measures import AuditVerdict, Generator, Latency, Requests

ACKNOWLEDGED_SHARE = 0.999  # of what was planned
COMPLETED_SHARE = 0.99  # of the planned rate
DRAIN_SECONDS = 10.0
GENERATOR_CPU_SHARE = 0.8  # of one core; k6's own rule
LATENESS_SHARE = 0.25  # of the SLO
HOST_FULL_SHARE = 0.9
MINUTE, HOUR = 60.0, 3600.0
BROKEN = "BROKEN: "  # begins a reason that no rate excuses
AUDIT_FAILED = f"{BROKEN}the store does not hold what was acknowledged (audit FAIL)"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known of one hold."""

    kind: HoldKind
    slo_ms: float
    rate_per_s: float
    seconds: float
    requests: Requests
    planned_latency_ms: Latency
    generator: Generator
    backlog: Backlog | None
    drain_seconds: float | None  # null: not waited for
    audit: AuditVerdict | None  # null: the store was not read
    host_busy_share: float | None  # of all processors, over the load
    noise_reasons: tuple[str, ...]  # in words; any makes the hold noise
    broken: tuple[str, ...]  # lost components, faults of the generator, offenders of the audit: in words
    writes: bool = True  # else searches, of which nothing has to be stored


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What follows from it."""

    verdict: HoldVerdict
    burst: bool
    reasons: tuple[str, ...]
    generator_bound: bool


def judge(evidence: Evidence) -> Judgement:
    """A broken promise is a fail even where the host was noisy; else noise says nothing; else every limit must hold.

    Noise only slows: a step of the ramp, which is counted in no figure, passes where it keeps every limit all the same.
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
    """What the client saw; burst capacity asks for no more."""
    requests = evidence.requests
    if requests.dropped:
        yield f"{requests.dropped:,} of {requests.planned:,} planned requests were dropped, none may be"
    share = requests.acknowledged / requests.planned if requests.planned else 0.0
    if share < ACKNOWLEDGED_SHARE:
        yield (
            f"{_percent(share)} of the planned requests were {'acknowledged' if evidence.writes else 'answered'},"
            f" at least {_percent(ACKNOWLEDGED_SHARE)} must be"
        )
    yield from _latency(evidence)
    completed_per_s, one_per_s = requests.acknowledged / evidence.seconds, 1 / evidence.seconds
    if completed_per_s + one_per_s < COMPLETED_SHARE * evidence.rate_per_s:  # not sent: part of one
        yield (
            f"{completed_per_s:,.0f}/s completed of {evidence.rate_per_s:,.0f}/s planned,"
            f" at least {_percent(COMPLETED_SHARE)} must be"
        )
    if evidence.kind != "ramp" and evidence.audit == "UNKNOWN" and evidence.drain_seconds is not None:
        yield "the store could not be read back (audit UNKNOWN)"


def _latency(evidence: Evidence) -> Iterator[str]:
    p99, planned = evidence.planned_latency_ms.p99, evidence.requests.planned
    if p99 is not None and isfinite(p99):
        if p99 > evidence.slo_ms:
            yield f"p99 from the plan {_over(p99, evidence.slo_ms)} ms, SLO {evidence.slo_ms:g} ms"
    elif stats.carries(planned, 0.99):
        yield f"p99 from the plan is infinite: more than 1 % were not served, SLO {evidence.slo_ms:g} ms"
    elif evidence.kind == "ramp":
        yield from _latency_of_few(evidence)
    else:
        yield f"{planned:,} requests are too few for a p99; hold the rate longer (HOLD_SECONDS)"


def _latency_of_few(evidence: Evidence) -> Iterator[str]:
    """At a low rate a ramp's step has no p99: the highest rank that it carries is asked, as it only gives a hint."""
    planned, known = evidence.requests.planned, evidence.planned_latency_ms
    if stats.carries(planned, 0.95):
        name, value = "p95", known.p95
    elif stats.carries(planned, 0.5):
        name, value = "median", known.median
    else:
        name, value = "longest", known.max
    if value is None:
        yield f"{name} from the plan is infinite, SLO {evidence.slo_ms:g} ms"
    elif value > evidence.slo_ms:
        yield f"{name} from the plan {_over(value, evidence.slo_ms)} ms, SLO {evidence.slo_ms:g} ms"


def _storing(evidence: Evidence) -> Iterator[str]:
    """What became of it after the 201; sustained capacity asks for this too."""
    if not evidence.writes:
        return
    if evidence.backlog is not None and evidence.backlog.grows:
        yield f"unstable: {unstable(evidence.backlog, evidence.seconds)}"
    if evidence.kind == "ramp":
        return
    if evidence.drain_seconds is not None and evidence.drain_seconds > DRAIN_SECONDS:
        yield (
            f"{evidence.drain_seconds:.1f} s until the last row was stored,"
            f" at most {DRAIN_SECONDS:.0f} s are allowed"
        )
    if evidence.audit is None or (evidence.audit == "UNKNOWN" and evidence.drain_seconds is None):
        yield "rows were on their way when the wait for them was given up, so nothing was audited"


def unstable(backlog: Backlog, seconds: float) -> str:
    """What a backlog that grows amounts to, in messages and in work."""
    waiting = f"{backlog.at_end:,.0f} messages wait after {seconds:g} s"
    work = backlog.work_seconds
    if work is None or not isfinite(work):
        return f"{waiting}, and none was stored meanwhile"
    if work >= HOUR:
        return f"holds {_amount(work / HOUR, 'an hour', 'hours')} of work after {seconds:g} s ({waiting})"
    if work >= MINUTE:
        return (
            f"{waiting}, {_amount(work / MINUTE, 'a minute', 'minutes')} of work at the rate they are stored"
        )
    return f"{waiting}, {work:.0f} s of work at the rate they are stored"


def _generator(evidence: Evidence) -> Iterator[str]:
    """Why the generator could be what failed. Where the host's processors are full, the host's end is the path's."""
    busy = evidence.host_busy_share
    if busy is not None and busy >= HOST_FULL_SHARE:
        return
    generator, limit = evidence.generator, GENERATOR_CPU_SHARE * 100
    if generator.cpu_share_peak > GENERATOR_CPU_SHARE:
        yield (
            f"the generator may be why: k6 used {_over(generator.cpu_share_peak * 100, limit)} % of a core,"
            f" {limit:g} % are its limit"
        )
    late, limit_ms = generator.lateness_ms_p99, LATENESS_SHARE * evidence.slo_ms
    if late is not None and late > limit_ms:
        yield (
            f"the generator may be why: it sent {_over(late, limit_ms)} ms late (p99),"
            f" {limit_ms:g} ms are its limit"
        )
    if evidence.requests.dropped and not _slow(evidence):
        yield "the generator may be why: it dropped requests while answers were quick"


def _slow(evidence: Evidence) -> bool:
    """Answers so slow that they held the virtual users: then a drop is the path's own."""
    p99 = evidence.planned_latency_ms.p99
    return p99 is None or not isfinite(p99) or p99 > evidence.slo_ms


def _amount(number: float, one: str, many: str) -> str:
    whole = round(number)
    return one if whole <= 1 else f"{whole:,} {many}"


def _over(value: float, limit: float) -> str:
    """Never rounded to its limit."""
    return next((text for digits in range(4) if float(text := f"{value:.{digits}f}") > limit), f"{value}")


def _percent(share: float) -> str:
    """Cut, not rounded: a share just below its limit must not read as the limit."""
    return f"{int(share * 100_000 + 1e-6) / 1000:g} %"
