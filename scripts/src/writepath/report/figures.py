"""Which figures does one run have? From its raw values, with the sums checked: every table starts here."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from writepath import stats
from writepath.load import plan
from writepath.load.ledger import Outcome
from writepath.registry import Phase
from writepath.report import answers, used

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.load.ledger import Ledger
    from writepath.report.raw import RunData, Series, StoredRows, SuiteData, VisibleRows
    from writepath.result import Resource, Run, SuitePhase, SuiteResult, SuiteVariant
    from writepath.stats import Bands, Distribution, Floats, Ints, Marks

LATER_MS, LATER_SHARE = (
    2.0,
    0.01,
)  # a start may be a whole millisecond: one row a little late proves nothing
CPU_ROUNDING_S = 0.02


@dataclass(frozen=True, kw_only=True)
class PhaseFigures:
    """One phase of a run."""

    name: str
    accept: Distribution
    accept_from_planned: Distribution
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
    accept: Distribution | None = None  # milliseconds from sending to the 201
    accept_from_planned: Distribution | None = None  # the same, from the scheduled send time
    phases: tuple[PhaseFigures, ...] = ()
    answers: dict[str, int] | None = None  # by column of the answers table; sums to planned
    completed: int | None = None  # requests with an answer of any status
    planned_per_s: float | None = None
    planned_peak_per_s: float | None = None
    achieved_per_s: float | None = None
    answered_per_s: float | None = None  # answers of any status
    achieved_peak_per_s: float | None = None
    durable: Distribution | None = None  # milliseconds until the row was durable, of the acknowledged
    durable_of_planned: Distribution | None = None  # the same, infinite where not acknowledged
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
        """Without weakened controls and other controls, which no table or plot ranks."""
        return self.only(lambda variant: variant.naive_twin_of is None and variant.control_of is None)

    def only(self, keep: Callable[[SuiteVariant], bool]) -> SuiteFigures:
        """With these variants alone."""
        variants = tuple(variant for variant in self.suite.variants if keep(variant))
        names = {variant.name for variant in variants}
        return SuiteFigures(
            suite=replace(self.suite, variants=variants),
            runs=tuple(figures for figures in self.runs if figures.run.variant in names),
        )

    def of(self, variant: str, *, again: bool = False) -> tuple[Figures, ...]:
        """The variant's runs, by repetition; `again`: the baseline's second ones, which no table ranks."""
        return tuple(
            sorted(
                (f for f in self.runs if f.run.variant == variant and f.run.again == again),
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
    requests = _Requests.of(ledger)
    counted = _counted(data, requests, run.requests.planned)
    data = replace(data, stored=None)  # ten million rows take 170 MB, and are asked for nothing more
    schedule = plan.arrival_plan([_phase(phase) for phase in phases])
    if schedule.planned != run.requests.planned:
        problem = f"the suite schedules {schedule.planned} requests, run.json {run.requests.planned}"
        return Figures(run=run, reasons=(*reasons, problem))
    return Figures(run=run, reasons=tuple(reasons), **counted, **_accepted(requests, schedule))


def broken_sums(run: Run, ledger: Ledger, stored: StoredRows | None) -> list[str]:
    """The sums of the methodology that do not hold, in words; counted again from the raw files."""
    requests, audit = run.requests, run.audit
    assert requests is not None  # noqa: S101 - the caller looked
    started = len(ledger.records)
    served = ledger.outcomes() == Outcome.ACKNOWLEDGED
    acknowledged = int(served.sum())
    sums = [
        ("started", requests.started, "lines in the ledger", started),
        ("scheduled", requests.planned, "started + dropped", started + requests.dropped),
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
        absent = int((served & ~_among(ledger.records["seq"], stored.seq)).sum())
        sums.append(("lost + stranded", audit.lost + audit.stranded, "201s without a row", absent))
    return [f"sums do not agree: {left} {a:,} ≠ {right} {b:,}" for left, a, right, b in sums if a != b]


def _among(seq: Ints, others: Ints) -> Marks:
    """Which of the sequences are among the others: a mark for each, as sorting both would take their memory again."""
    there = np.zeros(int(seq.max(initial=-1)) + 1, dtype=np.bool_)
    there[others[(others >= 0) & (others < there.size)]] = True
    marks: Marks = there[seq]
    return marks


def _broken_resources(run: Run, series: Series) -> list[str]:
    found = used.used(series)
    return [
        f"sums do not agree: CPU of {name} {resource.cpu_seconds:.2f} s ≠ samples {found[name].cpu_seconds:.2f} s"
        for name, resource in run.resources.items()
        if name in found and abs(found[name].cpu_seconds - resource.cpu_seconds) > CPU_ROUNDING_S
    ]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Requests:
    """Arrays of all requests are let go as soon as they can be: of ten million each takes 80 MB."""

    records: np.ndarray  # with times alone: an interrupted request left none, is unserved and has no slot
    served: Marks  # parallel
    status: Ints  # of all
    error_code: Ints

    @classmethod
    def of(cls, ledger: Ledger) -> _Requests:
        records, served = ledger.records, ledger.outcomes() == Outcome.ACKNOWLEDGED
        timed = ~np.isnan(records["start_ms"])
        whole = timed.all()
        return cls(
            records=records if whole else records[timed],
            served=served if whole else served[timed],
            status=records["status"],
            error_code=records["error_code"],
        )


def _counted(data: RunData, requests: _Requests, planned: int) -> dict[str, Any]:
    """The fields that need no plan."""
    records, served = requests.records, requests.served
    return {
        "answers": answers.by_column(requests.status, requests.error_code, planned),
        "completed": int((records["status"] > 0).sum()),
        "visible": _visible(records, served, data.visible),
        "stored_rows": None if data.stored is None else len(data.stored.seq),
        "queue_peak": used.queue_peak(data.series),
        "resources": used.told(data.run.runtime, used.used(data.series)),
        "disk_written_bytes": used.disk_written(data.series),
        **_durable(records, served, data.stored, planned),
    }


def _durable(records: np.ndarray, served: Marks, stored: StoredRows | None, planned: int) -> dict[str, Any]:
    """The fields that stand on the moments at which rows became durable."""
    if stored is None or not np.isfinite(stored.durable_at_ms).any():
        return {}
    delays = stats.delays_to_durable_ms(records["seq"], records["start_ms"], stored.seq, stored.durable_at_ms)
    answers = records["blocked_ms"] + records["duration_ms"]
    answers += LATER_MS
    acknowledged = int(served.sum())
    later = int(((delays > answers) & served).sum())
    del answers
    times = delays[served & np.isfinite(delays)]
    del delays
    times.sort()
    return {
        "durable": stats.of_sorted(times, acknowledged),
        "durable_of_planned": stats.of_sorted(times, planned),
        "durable_later": later > LATER_SHARE * acknowledged,
    }


def _accepted(requests: _Requests, schedule: plan.ArrivalPlan) -> dict[str, Any]:
    """The fields that stand on times and slots of the requests; arrays are parallel and in the plan's order."""
    records, served = requests.records, requests.served
    aligned = plan.align(schedule, records["seq"], records["start_ms"])
    phases, seconds = _edges(schedule), _seconds(schedule)
    of_phases, of_seconds = (np.searchsorted(aligned.slots, edges) for edges in (phases, seconds))
    times = records["start_ms"] + records["blocked_ms"]
    times += records["duration_ms"]
    times[~served] = np.nan
    planned_ms = schedule.seconds * 1000
    last_ms = float(np.fmax.reduce(times, initial=np.nan)) - aligned.origin_ms
    window_ms = float(np.fmax(planned_ms, last_ms))
    found: dict[str, Any] = {
        "planned_per_s": stats.mean_rate_per_s(schedule.planned, planned_ms),
        "planned_peak_per_s": schedule.peak_per_s,
        "achieved_per_s": stats.mean_rate_per_s(int(served.sum()), window_ms),
        "answered_per_s": stats.mean_rate_per_s(int((records["status"] > 0).sum()), window_ms),
        "achieved_peak_per_s": stats.peak_rate_per_s(times, aligned.origin_ms),
    }
    for begin in range(0, len(times), stats.AT_ONCE):
        part = slice(begin, begin + stats.AT_ONCE)
        times[part] -= aligned.origin_ms + schedule.starts_ms[aligned.slots[part]]
    del aligned
    found["accept_from_planned"], own_planned = _distributions(times, served, of_phases, phases)
    np.add(records["blocked_ms"], records["duration_ms"], out=times)
    found["accept"], own = _distributions(times, served, of_phases, phases)
    parts = itertools.starmap(slice, itertools.pairwise(of_seconds))
    found["bands"] = stats.bands((times[part][served[part]] for part in parts), np.diff(seconds))
    found["phases"] = tuple(
        PhaseFigures(
            name=phase.name,
            accept=accept,
            accept_from_planned=planned,
            achieved_per_s=stats.mean_rate_per_s(accept.served, phase.seconds * 1000),
        )
        for phase, accept, planned in zip(schedule.phases, own, own_planned, strict=True)
    )
    return found


def _edges(schedule: plan.ArrivalPlan) -> Ints:
    """Before which planned request each phase begins, and the end; a request at an edge is of the phase before."""
    ends_ms = np.cumsum([phase.seconds for phase in schedule.phases])[:-1] * 1000
    inner = np.searchsorted(schedule.starts_ms, ends_ms, side="right")
    return np.concatenate(([0], inner, [schedule.planned]))


def _seconds(schedule: plan.ArrivalPlan) -> Ints:
    """Before which planned request each second begins, and the end: a dropped one counts where it was due."""
    inner = np.searchsorted(schedule.starts_ms, np.arange(1, int(np.ceil(schedule.seconds))) * 1000.0)
    return np.concatenate(([0], inner, [schedule.planned]))


def _distributions(
    times_ms: Floats, served: Marks, places: Ints, planned: Ints
) -> tuple[Distribution, list[Distribution]]:
    """Of the load and of each phase. places: where each phase begins among the requests started."""
    own = []
    for part, count in zip(itertools.pairwise(places), np.diff(planned).tolist(), strict=True):
        values = times_ms[slice(*part)][served[slice(*part)]]
        values.sort()
        own.append(stats.of_sorted(values, count))
    if len(own) > 1:
        values = times_ms[served]
        values.sort()
    return stats.of_sorted(values, int(planned[-1])), own


def _visible(records: np.ndarray, served: Marks, seen: VisibleRows | None) -> Visible | None:
    if seen is None:
        return None
    sampled = records[served & _among(records["seq"], seen.seq)]
    sent = (sampled["seq"], sampled["start_ms"])
    delays = stats.delays_to_durable_ms(*sent, seen.seq, seen.visible_at_ms)
    widths = stats.widths_ms(*sent, seen.seq, seen.not_before_ms, seen.visible_at_ms)
    return Visible(
        times=stats.distribution(stats.finite(delays), len(seen.seq)),
        error_ms_median=float(np.median(widths)) if widths.size else None,
        error_ms_max=float(widths.max()) if widths.size else None,
    )


def _phase(phase: SuitePhase) -> Phase:
    return Phase(name=phase.name, seconds=phase.seconds, from_per_s=phase.from_per_s, to_per_s=phase.to_per_s)
