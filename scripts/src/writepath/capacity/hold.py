"""A load step: whether a warm path sustains one rate.

Of writes from an empty store, with drain, one read and its audit; of searches by their answers alone.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.analysis import noise, raw, verdict
from writepath.analysis import samples as sampled
from writepath.analysis.backlog import LEAST_SAMPLES, backlog
from writepath.analysis.reads import audited
from writepath.analysis.saturation import limited_by
from writepath.analysis.stats import US_PER_S
from writepath.analysis.step_verdict import Evidence, judge
from writepath.capacity import observed, one_read
from writepath.capacity.rig import load
from writepath.config.registry import Phase
from writepath.load.ledger import WRONG_TOTAL
from writepath.load.plan import arrival_plan
from writepath.measure import drain, loading, sampler
from writepath.measure.auditing import Auditing
from writepath.measure.facts import moment
from writepath.records.capacity import Backlog, Hold, Noise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from writepath.analysis.audit import Stored
    from writepath.analysis.samples import Series
    from writepath.capacity.rig import Loaded, Rig
    from writepath.capacity.search import Step
    from writepath.load.plan import ArrivalPlan
    from writepath.records import AuditVerdict, Canary

GIVEN_UP_S = (
    20.0  # of waiting for a backlog that grew in the load, which says already that the rate is not carried
)
ANSWERS_S = (
    0.5  # in flight: five times the default SLO; a hold that needs more fails by its SLO, dropped or not
)
SLO_TIMES = 2


@dataclass(frozen=True, kw_only=True)
class Made:
    """One hold as it went, before anything is made of it. None: not looked at, as in a ramp."""

    step: Step
    number: int
    slo_ms: float
    cores: int
    queue: bool
    started_at: float  # epoch s
    writes: bool = True
    loaded: Loaded
    stored: Stored | None = None
    drain_seconds: float | None = None
    audit: AuditVerdict | None = None  # None: not drained, or a ramp
    offences: tuple[str, ...] = ()  # the audit's, or of wrong answers, in words
    lost_components: tuple[str, ...] = ()
    before: Canary | None = None
    after: Canary | None = None


def folder_of(number: int, search: Path) -> Path:
    """Where a hold's files are."""
    return search / f"hold-{number:02d}"


def hold(step: Step, number: int, rig: Rig) -> Hold:
    """One rate. A ramp's step is as short as can be: no canary, no drain, no read."""
    bench, phase = rig.bench, rig.bench.progress.phase
    place = folder_of(number, rig.spec.folder)
    if rig.writes:
        phase("empty")
        rig.truth.purge()
    counted = step.kind != "ramp"
    before = bench.cage.measure() if counted else None
    started_at = time.time()
    phase(f"step {number}, {step.rate_per_s:,g}/s")
    loaded = load(rig, plan_of(step, rig.spec.slo_ms), place)
    made = Made(
        step=step,
        number=number,
        slo_ms=rig.spec.slo_ms,
        cores=bench.host.cores,
        queue=rig.writes and rig.queue,
        started_at=started_at,
        writes=rig.writes,
        loaded=loaded,
        offences=_wrong_answers(loaded),
    )
    if counted and rig.writes:
        made = _looked_at(made, rig, place)
    if counted:
        made = dataclasses.replace(made, before=before, after=bench.cage.measure())
    return evaluate(dataclasses.replace(made, lost_components=tuple(rig.stack.lost_components())))


def _wrong_answers(loaded: Loaded) -> tuple[str, ...]:
    """Of searches: no rate excuses one. A write's wrong answers are found by its audit."""
    wrong = int((loaded.taken.records["error_code"] == WRONG_TOTAL).sum())
    return (f"{wrong:,} searches returned a wrong total",) if wrong else ()


def plan_of(step: Step, slo_ms: float) -> ArrivalPlan:
    """One rate, with as many virtual users as an answer within reach of the SLO keeps busy."""
    rate = step.rate_per_s
    plan = arrival_plan([Phase(name=step.kind, seconds=step.seconds, from_per_s=rate, to_per_s=rate)])
    return dataclasses.replace(plan, answer_s=max(ANSWERS_S, SLO_TIMES * slo_ms / 1000))


def _looked_at(made: Made, rig: Rig, place: Path) -> Made:
    """Drained, read and audited. What is left on its way is in no store, so that there is no audit then."""
    progress, loaded = rig.bench.progress, made.loaded
    progress.phase("drain")
    grew = _backlog(made, _series(loaded), None)
    drained = drain.drain(
        rig.truth, report=progress.drain, cap_s=GIVEN_UP_S if grew is not None and grew.grows else None
    )
    progress.phase("audit")
    auditing = Auditing(run_id=loaded.run_id, dataset=rig.spec.dataset, say=progress.say)
    auditing.read(rig.truth)
    stored = auditing.first
    raw.save_stored((stored,), place / raw.STORED_FILE)
    if drained.capped:
        return dataclasses.replace(made, stored=stored)
    counts = auditing.counts(planned=loaded.plan.planned, dropped=loaded.dropped)
    found = audited(loaded.taken, auditing.stored, counts, loaded.run_id).audit
    return dataclasses.replace(
        made,
        stored=stored,
        drain_seconds=observed.drain_seconds(drained, stored, loaded.figures.answered_us),
        audit=one_read.verdict(found),
        offences=one_read.offences(found),
    )


def evaluate(made: Made) -> Hold:
    """A function of ledger, samples and store alone."""
    loaded, step = made.loaded, made.step
    figures, seen = loaded.figures, _series(loaded)
    samples = loaded.driven.samples
    generator = observed.generator(loaded.driven, figures)
    foreign = sampler.foreign_share(samples)
    stored_per_s = _stored_per_s(made)
    depth = _backlog(made, seen, stored_per_s)
    found = judge(
        Evidence(
            kind=step.kind,
            slo_ms=made.slo_ms,
            rate_per_s=step.rate_per_s,
            seconds=step.seconds,
            requests=figures.requests,
            planned_latency_ms=figures.planned_latency_ms,
            generator=generator,
            backlog=depth,
            writes=made.writes,
            drain_seconds=made.drain_seconds,
            audit=made.audit,
            host_busy_share=sampled.host_busy_share(seen),
            noise_reasons=tuple(_noise_reasons(made, foreign, depth)),
            broken=_broken(made),
        )
    )
    return Hold(
        number=made.number,
        kind=step.kind,
        rate_per_s=step.rate_per_s,
        seconds=step.seconds,
        started_at=moment(made.started_at),
        verdict=found.verdict,
        burst=found.burst,
        reasons=found.reasons,
        generator_bound=found.generator_bound,
        requests=figures.requests,
        accept_latency_ms=figures.accept_latency_ms,
        planned_latency_ms=figures.planned_latency_ms,
        stored_per_s=stored_per_s,
        drain_seconds=made.drain_seconds,
        audit=made.audit,
        backlog=depth,
        resources=sampler.resources(samples),
        generator=generator,
        noise=_noise(made, foreign),
        limited_by=limited_by(seen, made.cores, generator),
    )


def _series(loaded: Loaded) -> Series:
    return observed.series(loaded.driven.samples, loaded.from_us, loaded.to_us)


def _backlog(made: Made, seen: Series, stored_per_s: float | None) -> Backlog | None:
    at_us, depth = sampled.queue_depth(seen)
    if not made.queue or len(at_us) < LEAST_SAMPLES:
        return None
    return backlog((at_us - made.loaded.from_us) / US_PER_S, depth, made.step.rate_per_s, stored_per_s)


def _stored_per_s(made: Made) -> float | None:
    """Rows that became durable while the load lasted; None where no row says when."""
    if made.stored is None:
        return None
    dated = raw.known(made.stored.durable_at_us)
    within = (dated >= made.loaded.from_us) & (dated <= made.loaded.to_us)
    return round(float(within.sum()) / made.step.seconds, 3) if len(dated) else None


def _broken(made: Made) -> tuple[str, ...]:
    faults = loading.generator_faults(made.loaded.driven.result, made.loaded.taken)
    return (
        *(f"component lost: {component}" for component in made.lost_components),
        *(f"k6: {fault}" for fault in faults),
        *made.offences,
    )


def _noise_reasons(made: Made, foreign: float | None, depth: Backlog | None) -> Iterator[str]:
    yield from noise.reasons(made.loaded.withheld)
    yield from verdict.foreign_reasons(foreign)
    if made.before is not None and made.after is not None:
        yield from noise.slower(made.before, made.after)
    if made.queue and depth is None:
        yield f"noisy host: the queue depth was sampled fewer than {LEAST_SAMPLES} times during the load"


def _noise(made: Made, foreign: float | None) -> Noise:
    seen = made.loaded.withheld
    return Noise(
        foreign_cpu_share=_rounded(foreign),
        steal_share=_rounded(seen.steal_share),
        throttled_share=_rounded(seen.throttled_share),
        swapped_pages=seen.swapped_pages,
        before=made.before,
        after=made.after,
    )


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
