"""Which figures does one run have? From its raw values, with the sums checked: every table starts here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from writepath import stats
from writepath.load import plan
from writepath.load.ledger import END_OF_FILE, Outcome
from writepath.registry import Phase
from writepath.result import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.load.ledger import Ledger
    from writepath.report.raw import RunData, Samples, Series, StoredRows, SuiteData, VisibleRows
    from writepath.result import Run, SuitePhase, SuiteResult, SuiteVariant
    from writepath.stats import Bands, Distribution, Floats, Ints

CREATED = 201
STATUSES = (500, 502, 503, 504)  # with columns of their own
K6_TIME_OUT, K6_DIAL_TIME_OUT = 1050, 1211
K6_REFUSED, K6_RESET, K6_BROKEN_PIPE = 1212, 1220, 1201
LATER_MS, LATER_SHARE = (
    2.0,
    0.01,
)  # a ledger's start is a whole millisecond: one row a little late proves nothing
CPU_ROUNDING_S = 0.02
QUEUE_METRICS = ("queue_ready", "queue_unacknowledged")
DISKS_WRITTEN = ("host", "disk_write_bytes")
PROCESS_COUNTED = "native"  # the runtime whose bytes written were the kernel's count of a process


@dataclass(frozen=True, kw_only=True)
class PhaseFigures:
    """One phase of a run."""

    name: str
    accept: Distribution
    achieved_per_s: float | None


@dataclass(frozen=True, kw_only=True)
class Visible:
    """Milliseconds until a search found the row, of the sampled requests."""

    times: Distribution
    error_ms_median: float | None  # a visible moment lies at most so much before the one that was taken
    error_ms_max: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Figures:
    """What the tables say of one run. Fields are `None` where the run did not get that far."""

    run: Run
    reasons: tuple[str, ...]  # why the run does not count: the verdict's, and sums that do not agree
    accept: Distribution | None = None  # milliseconds until the 201
    phases: tuple[PhaseFigures, ...] = ()
    answers: dict[str, int] | None = None  # by column of the answers table; sums to planned
    completed: int | None = None  # requests with an answer of any status
    planned_per_s: float | None = None
    planned_peak_per_s: float | None = None
    achieved_per_s: float | None = None
    answered_per_s: float | None = None  # answers of any status
    achieved_peak_per_s: float | None = None
    durable: Distribution | None = None  # milliseconds until the row was durable, of the acknowledged
    durable_of_planned: Distribution | None = None  # the same, with the unserved at infinity
    visible: Visible | None = None
    durable_later: bool = False  # rows become durable after their 201
    stored_rows: int | None = None
    queue_peak: float | None = None  # messages
    resources: dict[str, Resource] = field(default_factory=dict)  # by component, over the samples
    disk_written_bytes: int | None = None  # to all disks of the host, over the samples
    bands: Bands | None = None

    @property
    def counts(self) -> bool:
        """Whether the figures may be believed."""
        return self.run.verdict.status == "valid" and not self.reasons


@dataclass(frozen=True, kw_only=True, eq=False)
class SuiteFigures:
    """A suite run and the figures of its runs, in the order they ran."""

    suite: SuiteResult
    runs: tuple[Figures, ...]

    @property
    def ranked(self) -> SuiteFigures:
        """Without naive twins, which no table or plot may put beside others."""
        return self.only(lambda variant: variant.naive_twin_of is None)

    def only(self, keep: Callable[[SuiteVariant], bool]) -> SuiteFigures:
        """With these variants alone."""
        variants = tuple(variant for variant in self.suite.variants if keep(variant))
        names = {variant.name for variant in variants}
        return SuiteFigures(
            suite=replace(self.suite, variants=variants),
            runs=tuple(figures for figures in self.runs if figures.run.variant in names),
        )

    def of(self, variant: str) -> tuple[Figures, ...]:
        """The variant's runs, by repetition."""
        return tuple(
            sorted(
                (f for f in self.runs if f.run.variant == variant),
                key=lambda figures: figures.run.repetition,
            )
        )

    def shown(self, variant: str) -> tuple[Figures, ...]:
        """The runs a cell is made of: those that count; where none does, all, and the row is marked."""
        runs = self.of(variant)
        return tuple(figures for figures in runs if figures.counts) or runs


def suite_figures(data: SuiteData) -> SuiteFigures:
    """Computes all runs, one after the other."""
    phases = data.suite.phases
    return SuiteFigures(suite=data.suite, runs=tuple(run_figures(read(), phases) for read in data.read))


def run_figures(data: RunData, phases: Sequence[SuitePhase]) -> Figures:
    """The figures of one run. A run whose sums do not agree has reasons, and none of its figures."""
    run, ledger = data.run, data.ledger
    reasons = list(run.verdict.reasons)
    if run.error and not reasons:
        reasons.append(run.error)
    if run.requests is None or ledger is None:
        return Figures(run=run, reasons=tuple(reasons or ["did not reach the end of its load"]))
    broken = [*broken_sums(run, ledger, data.stored), *_broken_resources(run, data.series)]
    if broken:
        return Figures(run=run, reasons=tuple(dict.fromkeys([*reasons, *broken])))
    schedule = plan.arrival_plan([_phase(phase) for phase in phases])
    if schedule.planned != run.requests.planned:
        problem = f"the plan has {schedule.planned} requests, run.json {run.requests.planned}"
        return Figures(run=run, reasons=(*reasons, problem))
    return _figures(data, ledger, schedule, tuple(reasons))


def broken_sums(run: Run, ledger: Ledger, stored: StoredRows | None) -> list[str]:
    """The sums of the methodology that do not hold, in words; counted again from the raw files."""
    requests, audit = run.requests, run.audit
    assert requests is not None  # noqa: S101 - the caller looked
    started = len(ledger.records)
    served = ledger.outcomes() == Outcome.ACKNOWLEDGED
    acknowledged = int(served.sum())
    sums = [
        ("started", requests.started, "lines in the ledger", started),
        ("planned", requests.planned, "started + dropped", started + requests.dropped),
        ("acknowledged", requests.acknowledged, "201s in the ledger", acknowledged),
        (
            "started",
            requests.started,
            "acknowledged + rejected + indeterminate",
            requests.acknowledged + requests.rejected + requests.indeterminate,
        ),
    ]
    if stored is not None and audit is not None and audit.reads:
        rows = len(stored.seq) + stored.foreign_rows
        sums.append(("stored rows", audit.stored_rows, "rows read back", rows))
        present = np.isin(ledger.records["seq"][served], stored.seq)
        absent = int((~present).sum())
        sums.append(("lost + stranded", audit.lost + audit.stranded, "201s without a row", absent))
    return [f"sums do not agree: {left} {a:,} ≠ {right} {b:,}" for left, a, right, b in sums if a != b]


def _broken_resources(run: Run, series: Series) -> list[str]:
    found = used(series)
    return [
        f"sums do not agree: CPU of {name} {resource.cpu_seconds:.2f} s ≠ samples {found[name].cpu_seconds:.2f} s"
        for name, resource in run.resources.items()
        if name in found and abs(found[name].cpu_seconds - resource.cpu_seconds) > CPU_ROUNDING_S
    ]


def _figures(data: RunData, ledger: Ledger, schedule: plan.ArrivalPlan, reasons: tuple[str, ...]) -> Figures:
    timed = ~np.isnan(
        ledger.records["start_ms"]
    )  # an interrupted request left no times: unserved, without a slot
    records = ledger.records[timed]
    served = (ledger.outcomes() == Outcome.ACKNOWLEDGED)[timed]
    latency = records["blocked_ms"] + records["duration_ms"]
    aligned = plan.align(schedule, records["seq"], records["start_ms"])
    origin, planned_ms = aligned.origin_ms, schedule.seconds * 1000
    answered_ms = (records["start_ms"] + latency)[served]
    window_ms = max(planned_ms, float(answered_ms.max()) - origin if served.any() else 0.0)
    delays = _delays(records, served, data.stored)
    return Figures(
        run=data.run,
        reasons=reasons,
        accept=stats.distribution(latency[served], schedule.planned),
        phases=_phases(schedule, aligned.slots[served], latency[served]),
        answers=_answers(ledger.records["status"], ledger.records["error_code"], schedule.planned),
        completed=int((records["status"] > 0).sum()),
        planned_per_s=stats.mean_rate_per_s(schedule.planned, planned_ms),
        planned_peak_per_s=schedule.peak_per_s,
        achieved_per_s=stats.mean_rate_per_s(int(served.sum()), window_ms),
        answered_per_s=stats.mean_rate_per_s(int((records["status"] > 0).sum()), window_ms),
        achieved_peak_per_s=stats.peak_rate_per_s(answered_ms, origin),
        durable=None if delays is None else stats.distribution(stats.finite(delays), len(delays)),
        durable_of_planned=None
        if delays is None
        else stats.distribution(stats.finite(delays), schedule.planned),
        visible=_visible(records[served], data.visible),
        durable_later=delays is not None and _later(delays, latency[served]),
        stored_rows=None if data.stored is None else len(data.stored.seq),
        queue_peak=_queue_peak(data.series),
        resources=_told(data.run.runtime, used(data.series)),
        disk_written_bytes=_disk_written(data.series),
        bands=_bands(schedule, aligned.slots, np.where(served, latency, stats.UNSERVED)),
    )


def _answers(status: Ints, error: Ints, planned: int) -> dict[str, int]:
    silent = status == 0
    counts = {
        "status_201": int((status == CREATED).sum()),
        "status_4xx": int(((status >= 400) & (status < 500)).sum()),  # noqa: PLR2004 - the class of statuses
    }
    counts |= {f"status_{code}": int((status == code).sum()) for code in STATUSES}
    counts["status_other"] = int((~silent).sum()) - sum(counts.values())
    kinds = {
        "refused": (K6_REFUSED,),
        "reset": (K6_RESET, K6_BROKEN_PIPE),
        "closed": (END_OF_FILE,),
        "timed_out": (K6_TIME_OUT, K6_DIAL_TIME_OUT),
    }
    errors = {kind: int((silent & np.isin(error, codes)).sum()) for kind, codes in kinds.items()}
    timed_out = errors.pop("timed_out")
    unknown = int(silent.sum()) - sum(errors.values()) - timed_out
    return (
        counts
        | errors
        | {
            "no_answer": unknown,
            "timed_out": timed_out,
            "dropped": planned - len(status),
        }
    )


def _phases(schedule: plan.ArrivalPlan, slots: Ints, latency: Floats) -> tuple[PhaseFigures, ...]:
    of_planned = schedule.phase_indices()
    of_served = of_planned[slots]
    return tuple(
        PhaseFigures(
            name=phase.name,
            accept=stats.distribution(latency[of_served == index], int((of_planned == index).sum())),
            achieved_per_s=stats.mean_rate_per_s(int((of_served == index).sum()), phase.seconds * 1000),
        )
        for index, phase in enumerate(schedule.phases)
    )


def _delays(records: np.ndarray, served: np.ndarray, stored: StoredRows | None) -> Floats | None:
    if stored is None or not np.isfinite(stored.durable_at_ms).any():
        return None
    return stats.delays_to_durable_ms(
        records["seq"][served], records["start_ms"][served], stored.seq, stored.durable_at_ms
    )


def _visible(served: np.ndarray, seen: VisibleRows | None) -> Visible | None:
    if seen is None:
        return None
    sampled = served[np.isin(served["seq"], seen.seq)]
    sent = (sampled["seq"], sampled["start_ms"])
    delays = stats.delays_to_durable_ms(*sent, seen.seq, seen.visible_at_ms)
    widths = stats.widths_ms(*sent, seen.seq, seen.not_before_ms, seen.visible_at_ms)
    return Visible(
        times=stats.distribution(stats.finite(delays), len(seen.seq)),
        error_ms_median=float(np.median(widths)) if widths.size else None,
        error_ms_max=float(widths.max()) if widths.size else None,
    )


def _later(delays: Floats, latency: Floats) -> bool:
    return bool(delays.size) and float((delays > latency + LATER_MS).mean()) > LATER_SHARE


def used(series: Series) -> dict[str, Resource]:
    """By component, what it used between the first and the last sample."""
    return {
        component: Resource(
            cpu_seconds=float(stats.accumulated(samples.value)[-1]),
            rss_peak_bytes=int(series[component, "rss_bytes"].value.max()),
            write_bytes=_written(samples, series.get((component, "write_bytes"))),
        )
        for (component, metric), samples in series.items()
        if metric == "cpu_seconds" and (component, "rss_bytes") in series
    }


def _written(cpu: Samples, written: Samples | None) -> int | None:
    """Unknown too where only some readings could tell: those were of another process."""
    if written is None or written.value.size != cpu.value.size:
        return None
    return int(stats.accumulated(written.value)[-1])


def _told(runtime: str, resources: dict[str, Resource]) -> dict[str, Resource]:
    """Without what native runs of before said a process wrote: the kernel counts whole folios of the page cache."""
    if runtime != PROCESS_COUNTED:
        return resources
    return {name: replace(resource, write_bytes=None) for name, resource in resources.items()}


def _disk_written(series: Series) -> int | None:
    samples = series.get(DISKS_WRITTEN)
    return None if samples is None else int(stats.accumulated(samples.value)[-1])


def _queue_peak(series: Series) -> float | None:
    """The highest sum of ready and unacknowledged messages in one reading."""
    peaks = []
    for component in {component for component, metric in series if metric in QUEUE_METRICS}:
        depth: dict[float, float] = {}
        for metric in QUEUE_METRICS:
            samples = series.get((component, metric))
            if samples is not None:
                for at, value in zip(samples.at_ms.tolist(), samples.value.tolist(), strict=True):
                    depth[at] = depth.get(at, 0.0) + (0.0 if np.isnan(value) else value)
        peaks.append(max(depth.values()))
    return max(peaks) if peaks else None


def _bands(schedule: plan.ArrivalPlan, slots: Ints, latency: Floats) -> Bands:
    """By planned second, so that a dropped request stands in the second it was due."""
    all_latencies = np.full(schedule.planned, stats.UNSERVED)
    all_latencies[slots] = latency
    return stats.bands_by_second(schedule.starts_ms, all_latencies, int(np.ceil(schedule.seconds)))


def _phase(phase: SuitePhase) -> Phase:
    return Phase(name=phase.name, seconds=phase.seconds, from_per_s=phase.from_per_s, to_per_s=phase.to_per_s)
