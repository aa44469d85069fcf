"""Figures of a load step: derive_step() is what a run, a report and `make verify` call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from writepath.analysis import load_audit, noise, usage, verdict
from writepath.analysis import samples as sampled
from writepath.analysis.answers import Answers
from writepath.analysis.audit_classes import MUST_BE_ZERO, NOT_READ_AGAIN
from writepath.analysis.backlog import LEAST_SAMPLES, backlog
from writepath.analysis.load_aggregates import ACCEPT, LATENESS, SCHEDULED, US_PER_MS
from writepath.analysis.load_rows import column_of, whole
from writepath.analysis.saturation import limited_by
from writepath.analysis.stats import US_PER_S, rank
from writepath.analysis.step_evidence import as_load
from writepath.analysis.step_verdict import HOST_FULL_SHARE, Evidence, judge
from writepath.analysis.times import times
from writepath.load.ledger import SEARCH, WRONG_TOTAL
from writepath.records import Generator
from writepath.records.steps import LoadStep, Noise, SampledFigures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from writepath.analysis.samples import Series
    from writepath.analysis.step_evidence import Tables
    from writepath.records import Audit, AuditVerdict, Requests
    from writepath.records.capacity_run import CapacityFacts
    from writepath.records.steps import SentFacts, StepFacts

DIGITS = 4  # of shares
UNSEEN = "never_read"  # no contradiction: something that was not seen
NO_OFFENDERS = pa.table({"name": pa.array([], pa.string()), "first": pa.array([], pa.int64()), "last": []})


def derive_step(tables: Tables, run: CapacityFacts, step: StepFacts, cores: int) -> LoadStep:
    """The figures that a step's tables and facts give. cores: of the host."""
    known, writes = scalars_of(tables), run.operation.name != SEARCH.name
    requests = requests_of(tables, known, step.sent)
    planned_ms = times(tables, SCHEDULED).latency(requests.planned)
    seen = step.sampled or sampled_figures(tables, run, step, cores)
    generator = generator_of(tables, step.sent)
    audit = _audit(tables, run, step, requests)
    audited = None if audit is None else audit_verdict(audit)
    drain_seconds = _drain_seconds(step, known)
    found = judge(
        Evidence(
            kind=step.kind,
            slo_ms=run.slo_ms,
            rate_per_s=step.rate_per_s,
            seconds=step.seconds,
            requests=requests,
            planned_latency_ms=planned_ms,
            generator=generator,
            backlog=seen.backlog,
            drain_seconds=drain_seconds,
            audit=audited,
            host_full=seen.host_full,
            noise_reasons=tuple(_noise_reasons(run, step, seen)),
            broken=tuple(_broken(tables, step, audit)),
            writes=writes,
        )
    )
    return LoadStep(
        number=step.number,
        kind=step.kind,
        rate_per_s=step.rate_per_s,
        seconds=step.seconds,
        for_burst=step.for_burst,
        started_at=step.sent.started_at,
        **vars(found),
        requests=requests,
        accept_latency_ms=times(tables, ACCEPT).latency(requests.planned),
        planned_latency_ms=planned_ms,
        stored_per_s=_stored_per_s(step, known),
        drain_seconds=drain_seconds,
        audit=audited,
        backlog=seen.backlog,
        resources=usage.resources(usage.series(tables["samples"]), run.runtime),
        generator=generator,
        noise=_noise(step, seen),
        limited_by=seen.limited_by,
    )


def scalars_of(tables: Tables) -> dict[str, int]:
    """The table `scalars`, by name."""
    names, values = column_of(tables["scalars"], "name").to_pylist(), whole(tables["scalars"], "value")
    return dict(zip(names, values.tolist(), strict=True))


def requests_of(tables: Tables, known: Mapping[str, int], sent: SentFacts) -> Requests:
    """The counts of the load."""
    answers = Answers(
        **{name: whole(tables["answers"], name) for name in ("status", "error_code", "client", "count")}
    )
    planned = known["planned"]
    return answers.requests(planned, planned - answers.started if sent.dropped is None else sent.dropped)


def generator_of(tables: Tables, sent: SentFacts) -> Generator:
    """Whether k6 kept its schedule."""
    mean, peak, samples = usage.generator_share(usage.series(tables["samples"]))
    late = times(tables, LATENESS)
    return Generator(
        cpu_share_mean=round(mean, DIGITS),
        cpu_share_peak=round(peak, DIGITS),
        lateness_ms_p99=late.at(rank(late.number, 0.99)) if late.number else None,
        lateness_ms_max=late.high_us / US_PER_MS if late.number else None,
        exit_code=sent.exit_code,
        samples=samples,
        samples_late=sent.samples_late,
    )


def sampled_figures(tables: Tables, run: CapacityFacts, step: StepFacts, cores: int) -> SampledFigures:
    """What the samples say; of the backlog nothing where it was sampled too rarely."""
    known, seen = scalars_of(tables), usage.series(tables["samples"])
    within = inside(seen, known["origin_us"], step.seconds)
    at_us, depth = sampled.queue_depth(within)
    waiting = None
    if waits(run) and len(at_us) >= LEAST_SAMPLES:
        at_s = (at_us - known["origin_us"]) / US_PER_S
        waiting = backlog(at_s, depth, step.rate_per_s, _stored_per_s(step, known))
    return SampledFigures(
        backlog=waiting,
        foreign_cpu_share=_rounded(usage.foreign_share(seen)),
        host_full=(sampled.host_busy_share(within) or 0.0) >= HOST_FULL_SHARE,
        limited_by=limited_by(within, cores, generator_of(tables, step.sent)),
    )


def waits(run: CapacityFacts) -> bool:
    """Whether acknowledged writes wait in a queue."""
    return run.queue_path and run.operation.name != SEARCH.name


def inside(seen: Series, from_us: int, seconds: float) -> Series:
    """What was sampled while the load lasted."""
    to_us = from_us + round(seconds * US_PER_S)
    within = {key: (at_us >= from_us) & (at_us <= to_us) for key, (at_us, _) in seen.items()}
    return {
        key: (at_us[within[key]], value[within[key]])
        for key, (at_us, value) in seen.items()
        if within[key].any()
    }


def _stored_per_s(step: StepFacts, known: Mapping[str, int]) -> float | None:
    """Rows that became durable while the load lasted; None where no row says when."""
    within = known.get("durable_within")
    return None if within is None else round(within / step.seconds, 3)


def _drain_seconds(step: StepFacts, known: Mapping[str, int]) -> float | None:
    """To the last durable row; where no moment is known, to the last change that polling saw."""
    if step.drain is None or step.drain.capped:
        return None
    if "durable_last_us" not in known:
        return round(step.drain.busy_seconds, 3)
    return round(max(0, known["durable_last_us"] - known["answered_last_us"]) / US_PER_S, 3)


def _audit(tables: Tables, run: CapacityFacts, step: StepFacts, requests: Requests) -> Audit | None:
    """Of one read after the drain; None where there was none, or something is left on its way."""
    if step.drain is None or step.drain.capped:
        return None
    load = as_load(run, step)
    scalars = {"rows_second": 0, "read_again": 0, **scalars_of(tables)}
    listed = {**tables, "offenders": NO_OFFENDERS}
    return load_audit.of(listed, scalars, tables["unexpected"], load, requests)


def audit_verdict(audit: Audit) -> AuditVerdict:
    """Of one whole read of a store that has drained: FAIL over UNKNOWN over PASS."""
    if any(_offences(audit)):
        return "FAIL"
    unread = [words for words in audit.unread if words != NOT_READ_AGAIN]
    if unread or not audit.reads or audit.never_read or not audit.acknowledged:
        return "UNKNOWN"
    return "PASS"


def _offences(audit: Audit) -> Iterator[str]:
    """In words: what is in a class that should be empty, and sums that do not agree."""
    for name, words in MUST_BE_ZERO.items():
        if name != UNSEEN and (count := getattr(audit, name)):
            yield f"{count} {words}"
    yield from (f"sums do not agree: {words}" for words in audit.identities_broken)


def _broken(tables: Tables, step: StepFacts, audit: Audit | None) -> Iterator[str]:
    """What no rate excuses. A write's wrong answers are found by its audit, a search's are counted."""
    yield from (f"component lost: {component}" for component in step.lost_components)
    yield from (f"k6: {fault}" for fault in step.sent.generator_faults)
    if audit is not None:
        yield from _offences(audit)
    codes, counts = (whole(tables["answers"], name) for name in ("error_code", "count"))
    if wrong := int(counts[codes == WRONG_TOTAL].sum()):
        yield f"{wrong:,} searches returned a wrong total"


def _noise_reasons(run: CapacityFacts, step: StepFacts, seen: SampledFigures) -> Iterator[str]:
    if step.sent.withheld is not None:
        yield from noise.reasons(step.sent.withheld)
    yield from verdict.foreign_reasons(seen.foreign_cpu_share)
    if step.before is not None and step.after is not None:
        yield from noise.slower(step.before, step.after)
    if waits(run) and seen.backlog is None:
        yield f"noisy host: the queue depth was sampled fewer than {LEAST_SAMPLES} times during the load"


def _noise(step: StepFacts, seen: SampledFigures) -> Noise:
    withheld = step.sent.withheld
    return Noise(
        foreign_cpu_share=seen.foreign_cpu_share,
        steal_share=None if withheld is None else _rounded(withheld.steal_share),
        throttled_share=None if withheld is None else _rounded(withheld.throttled_share),
        swapped_pages=None if withheld is None else withheld.swapped_pages,
        before=step.before,
        after=step.after,
    )


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, DIGITS)
