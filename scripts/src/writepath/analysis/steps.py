"""Load steps: evidence of raw files and the figures that derive_step() makes of it.

A run's tables are those of load_aggregates.py and the samples, with a column step. Latencies have buckets of 3 %, but
the values at the ranks that are reported are exact, so that figures of the evidence are those of the raw files.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import theilslopes

from writepath.analysis import load_rows, raw, verdict
from writepath.analysis.audit import MUST_BE_ZERO, OFFENDERS, audit_of
from writepath.analysis.load_aggregates import ACCEPT, LATENESS, SCHEDULED, aggregated
from writepath.analysis.load_result import SHARE_DIGITS, answers_of, counted, generator_of, scalars_of
from writepath.analysis.samples import (
    RESIDENT,
    SAMPLES_SCHEMA,
    foreign_share,
    inside,
    queue_depth,
    resources,
    series,
    shared_busy_share,
)
from writepath.analysis.saturation import limited_by, read_by_rules
from writepath.analysis.stats import US_PER_MS, US_PER_S, Floats, rank
from writepath.analysis.step_verdict import judge
from writepath.analysis.times import Times, times
from writepath.config.registry import Phase
from writepath.load.ledger import NO_TIME, WRONG_TOTAL
from writepath.load.parquet import column_of, whole
from writepath.records.capacity_run import CapacityFacts
from writepath.records.load_facts import LoadFacts, PhaseFacts
from writepath.records.measures import Audit, Host, Requests
from writepath.records.steps import Backlog, LoadStep, Noise, SampledFigures, SentFacts, StepFacts

Tables = Mapping[str, pa.Table]

CLOCKS = (ACCEPT, SCHEDULED, LATENESS)
COARSE = 32  # buckets of 0.1 % as one
ANSWERS = ("status", "error_code", "client", "count")
HOST_FULL_SHARE = 0.9
SCALARS = ("origin_us", "answered_last_us", "durable_last_us", "rows_first")
DIGITS = 4  # of a rate
RAMP_METRICS = ("cpu_seconds", "write_bytes", RESIDENT)  # all that is published of a ramp step's samples


def folder_of(run: Path, number: int) -> Path:
    """Where the raw files of a load step are."""
    return run / f"step-{number:02}"


def reduce_step(folder: Path, run: CapacityFacts, step: StepFacts) -> dict[str, pa.Table]:
    """The tables of a step's raw files, with all samples that rules read."""
    return {**reduce_requests(folder, as_load(run, step)), "samples": reduce_samples(folder)}


def as_load(run: CapacityFacts, step: StepFacts) -> LoadFacts:
    """A load step as a load of one phase."""
    return load_of(
        run,
        step.sent,
        steady(step.kind, step.rate_per_s, step.seconds),
        reads=step.reads,
        unread=step.unread,
        suppressed_duplicates=step.suppressed_duplicates,
    )


def steady(name: str, rate_per_s: float, seconds: float) -> Phase:
    """A phase at one rate."""
    return Phase(name=name, seconds=seconds, from_per_s=rate_per_s, to_per_s=rate_per_s)


def rounded(rate_per_s: float) -> float:
    """To four digits, and to the thousandths that a plan can carry."""
    return round(float(f"{rate_per_s:.{DIGITS}g}"), 3)


def load_of(run: CapacityFacts, sent: SentFacts, *phases: Phase, **more: Any) -> LoadFacts:
    """What the functions of loads are told; no crash comes between two loads, so the store is read once."""
    of_sent = {name: value for name, value in vars(sent).items() if name != "started_at"}
    known: dict[str, Any] = {"operations": (run.operation,), **of_sent, **more}
    return LoadFacts(
        runtime=run.runtime,
        declared_level="",
        model="open",
        phases=tuple(PhaseFacts(**vars(phase)) for phase in phases),
        virtual_users=0,
        seconds=sum(phase.seconds for phase in phases),
        queue_path=False,  # the order of writes is no figure here
        load_started_at=sent.started_at,
        load_finished_at=sent.started_at,
        reads_required=1,
        **known,
    )


def reduce_requests(folder: Path, load: LoadFacts, exact_ms: Sequence[float] = ()) -> dict[str, pa.Table]:
    """Answers, latencies, classes of the audit and scalars of a load.

    exact_ms: limits to which latencies are counted.
    """
    found = raw.tables(folder)
    rows = load_rows.of_raw(found["requests"], found.get("stored"), load.operations, reads=1)
    unexpected, durable_us = rows.unexpected, rows.durable_at_us
    tables = aggregated(rows, load, exact=True)
    planned = whole(tables["phases"], "planned")
    known = scalars_of(tables)
    scalars = {name: known[name] for name in SCALARS if name in known} | {"planned": int(planned.sum())}
    dated = durable_us[durable_us != NO_TIME] - scalars["origin_us"]
    if len(dated):
        scalars["durable_within"] = int(((dated >= 0) & (dated <= load.seconds * US_PER_S)).sum())
    sums = tables["latency_sums"]
    return {
        "answers": tables["answers"].select(ANSWERS),
        "tally": tables["tally"],
        "latencies": _latencies(tables, planned.tolist(), [round(ms * US_PER_MS) for ms in exact_ms]),
        "latency_sums": sums.filter(pc.is_in(column_of(sums, "clock"), pa.array(CLOCKS))),
        "unexpected": unexpected,
        "scalars": pa.table({"name": list(scalars), "value": pa.array(scalars.values(), pa.int64())}),
    }


def _latencies(tables: Tables, planned: Sequence[int], limits_us: Sequence[int]) -> pa.Table:
    """By clock and phase; lateness has no phases, and is of all that was sent."""
    parts = []
    for clock in CLOCKS:
        for phase, of in enumerate(planned):
            found = times(tables, clock, phase)
            of_requests, exact_us = (of, limits_us) if clock != LATENESS else (found.number, _p99_us(found))
            value, count = found.coarse(of_requests, COARSE, exact_us)
            words = pa.array([clock] * len(value), pa.string())
            columns = {"clock": words, "phase": np.full(len(value), phase), "value_us": value, "count": count}
            parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _p99_us(found: Times) -> list[int]:
    """Of lateness it is reported however few requests were sent."""
    p99_ms = found.at(rank(found.number, 0.99)) if found.number else None
    return [] if p99_ms is None else [round(p99_ms * US_PER_MS)]


def reduce_samples(folder: Path) -> pa.Table:
    """What rules read of a load's samples, by component, metric and time; of resident memory the highest value."""
    path = folder / raw.SAMPLES_FILE
    found = raw.read_samples(path) if path.is_file() else {}
    parts = [SAMPLES_SCHEMA.empty_table()]
    for (component, metric), (at_us, value) in sorted(found.items()):
        places = np.flatnonzero(~np.isnan(value))
        if metric == RESIDENT and len(places):
            places = np.array([np.nanargmax(value)])
        if metric == RESIDENT or read_by_rules(metric):
            words = {"component": [component] * len(places), "metric": [metric] * len(places)}
            columns = {"at_us": at_us[places], **words, "value": value[places]}
            parts.append(pa.table(columns, schema=SAMPLES_SCHEMA))
    return pa.concat_tables(parts)


SLOPE_SHARE = 0.01  # of the rate
FLOOR_MESSAGES = 100.0
FLOOR_SECONDS = 0.5  # of the rate: what is in flight at any moment is no backlog
LEAST_SAMPLES = 3  # a line needs two, and one of three may be an outlier


def backlog(at_s: Floats, depth: Floats, rate_per_s: float, stored_per_s: float | None) -> Backlog:
    """at_s: since the step's start, ascending; depth: messages that were answered 201 and are not stored."""
    slope_per_s = float(theilslopes(depth, at_s).slope)
    end = float(np.median(depth[-LEAST_SAMPLES:]))  # one sample in the middle of a batch tells little
    floor = max(FLOOR_MESSAGES, FLOOR_SECONDS * rate_per_s)
    return Backlog(
        at_start=float(depth[0]),
        at_end=end,
        slope_per_s=slope_per_s,
        work_seconds=end / stored_per_s if stored_per_s else None,
        grows=slope_per_s > SLOPE_SHARE * rate_per_s and end > floor,
    )


UNSEEN = "never_read"  # no contradiction: something that was not seen


def derive_step(tables: Tables, run: CapacityFacts, step: StepFacts, host: Host) -> LoadStep:
    """The figures that a step's tables and facts give."""
    known = scalars_of(tables)
    requests = requests_of(tables, known, step.sent)
    samples = series(tables["samples"])
    seen = step.sampled or sampled_figures(tables, run, step, host)
    audit = _audit(tables, run, step, requests)
    figures = LoadStep(
        number=step.number,
        kind=step.kind,
        rate_per_s=step.rate_per_s,
        seconds=step.seconds,
        for_burst=step.for_burst,
        started_at=step.sent.started_at,
        verdict="pass",  # until it is judged
        burst=True,
        reasons=(),
        generator_bound=False,
        requests=requests,
        accept_latency_ms=times(tables, ACCEPT).latency(requests.planned),
        planned_latency_ms=times(tables, SCHEDULED).latency(requests.planned),
        stored_per_s=_stored_per_s(step, known),
        drain_seconds=_drain_seconds(step, known),
        audit=None if audit is None else audit.verdict,
        backlog=seen.backlog,
        resources=resources(samples),
        generator=generator_of(tables, samples, step.sent, host),
        noise=_noise(step, seen),
        limited_by=seen.limited_by,
    )
    noise, broken = tuple(_noise_reasons(run, step, seen)), tuple(_broken(tables, step, audit))
    return judge(figures, run, host_full=seen.host_full, noise=noise, broken=broken)


def requests_of(tables: Tables, known: Mapping[str, int], sent: SentFacts) -> Requests:
    """The counts of the load."""
    return counted(answers_of(tables), known["planned"], sent.dropped)


def sampled_figures(tables: Tables, run: CapacityFacts, step: StepFacts, host: Host) -> SampledFigures:
    """What the samples say; of the backlog nothing where it was sampled too rarely."""
    known, seen = scalars_of(tables), series(tables["samples"])
    within = inside(seen, known["origin_us"], step.seconds)
    at_us, depth = queue_depth(within)
    waiting = None
    if run.waits and len(at_us) >= LEAST_SAMPLES:
        at_s = (at_us - known["origin_us"]) / US_PER_S
        waiting = backlog(at_s, depth, step.rate_per_s, _stored_per_s(step, known))
    return SampledFigures(
        backlog=waiting,
        foreign_cpu_share=_rounded(foreign_share(seen)),
        host_full=(shared_busy_share(within) or 0.0) >= HOST_FULL_SHARE,
        limited_by=limited_by(within, host.system_cores, generator_of(tables, seen, step.sent, host)),
    )


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
    listed = {**tables, "offenders": OFFENDERS.empty_table()}
    audit = audit_of(listed, scalars, tables["unexpected"], load, requests)
    return replace(audit, verdict="FAIL") if any(_offences(audit)) else audit  # though something was not read


def _offences(audit: Audit) -> Iterator[str]:
    """In words: what is in a class that should be empty, and sums that do not agree."""
    for name, words in MUST_BE_ZERO.items():
        if name != UNSEEN and (count := getattr(audit, name)):
            yield f"{count} {words}"
    yield from (f"sums do not agree: {words}" for words in audit.identities_broken)


def _broken(tables: Tables, step: StepFacts, audit: Audit | None) -> Iterator[str]:
    """What no rate excuses. A write's wrong answers are found by its audit, a search's are counted."""
    offences = [] if audit is None else list(_offences(audit))
    if offences:
        yield "the store does not match the acknowledged writes (audit FAIL)"
    yield from (f"component lost: {component}" for component in step.lost_components)
    yield from (f"k6: {fault}" for fault in step.sent.generator_faults)
    yield from offences
    if wrong := wrong_totals(tables):
        yield f"{wrong:,} searches returned a wrong total"


def wrong_totals(tables: Tables) -> int:
    """Searches with a wrong total."""
    codes, counts = (whole(tables["answers"], name) for name in ("error_code", "count"))
    return int(counts[codes == WRONG_TOTAL].sum())


def _noise_reasons(run: CapacityFacts, step: StepFacts, seen: SampledFigures) -> Iterator[str]:
    if step.sent.withheld is not None:
        yield from verdict.noise_reasons(step.sent.withheld)
    yield from verdict.foreign_reasons(seen.foreign_cpu_share)
    if step.before is not None and step.after is not None:
        yield from verdict.slower_reasons(step.before, step.after)
    if run.waits and seen.backlog is None:
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
    return None if share is None else round(share, SHARE_DIGITS)
