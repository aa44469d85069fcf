"""The report of a capacity suite, its sentences, and the metrics by which its runs are compared.

Paths whose 201 is sent before the row is in its final store have a dagger: they do not guarantee the same.
"""

import math
import operator
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

from writepath.analysis.saturation import in_words
from writepath.experiments.capacity import search_tables, tables
from writepath.records.capacity_run import CapacityResult
from writepath.report import rows, warm_up
from writepath.report.capacity import (
    ABOUT,
    CapacityFigures,
    Comparison,
    Suite,
    VariantFigures,
    about,
    by_host,
    times,
)
from writepath.report.data import Metric
from writepath.report.fingerprint import fingerprint, in_one_line
from writepath.report.model import Report, Section, Table, listed, number, plain, short

METRICS: tuple[Metric[CapacityResult], ...] = tuple(
    Metric(
        key=f"{name}_per_s",
        title=f"{name} rate",
        better="higher",
        get=operator.attrgetter(f"{name}.highest_passing_per_s"),
        words=("more", "less"),
    )
    for name in ("sustained", "burst")
)
PER_HOST: tuple[Callable[[CapacityFigures], Table | None], ...] = (
    tables.capacity,
    tables.rates,
    tables.limited,
    tables.costs,
    tables.overload,
    tables.ceilings,
)
OF_SEARCHES = (tables.capacity, tables.limited)  # they store nothing, and no tool of a store searches


def report(data: Suite) -> Report:
    """The page: medians, tables and plots per host, never over several."""
    from writepath.experiments.capacity.pictures import CURVES_SAY, pictures  # noqa: PLC0415 - matplotlib takes half a second

    known = by_host(data)
    drawn = pictures(known)
    searches = data.index.params.get("operation") == "search"
    built = [
        rows.merged([(host, build(figures)) for host, figures in known])
        for build in (OF_SEARCHES if searches else PER_HOST)
    ]
    every = (built[0], search_tables.during(data), *built[1:])
    main, *details = [table for table in every if table is not None]
    opening, more = (search_tables.answer, search_tables.findings) if searches else (answer, findings)
    found = Section(key="findings", title="Findings", text=" ".join(rows.told(known, more)), plots=drawn[1:])
    # Of the results: what a suite asked for may have been changed since.
    results = [cell.result for cell in data.cells if cell.result]
    slo = f"p99 from the scheduled send time at most {_or(one.slo_ms for one in results)} ms"
    step = f"{_or(one.step_seconds for one in results)} s at one rate"
    documents = data.index.params.get("documents")
    posts = [] if documents is None else [("posts", f"{documents:,}, the same in every store")]
    facts = (("SLO", slo), ("load step", step), *posts)
    last = [tables.validity(data), tables.steps(data), fingerprint(data, facts)]
    load = in_one_line(data, f"steps of {step}, {slo}")
    return Report(
        title=data.index.title,
        answer=tuple(rows.told(known, opening)) or ("No capacity run has finished.",),
        facts=f"{load} Load generator and stores on the same host.",
        legend=CURVES_SAY,
        picture=drawn[0] if drawn else None,
        table=main,
        details=(
            *((found,) if found.text or found.plots else ()),
            *map(_section, details),
            *warm_up.section(data),
            *map(_section, last),
        ),
    )


def _section(table: Table) -> Section:
    return Section(key=table.key, title=table.title, tables=(table,))


def _or(values: Iterable[float]) -> str:
    return " or ".join(dict.fromkeys(map(plain, values)))


AGAINST: dict[Comparison, str] = {
    "more": "Sustains more than",
    "within noise": "No measurable difference from",
    "less": "Sustains less than",
    "not resolved": "Not resolved against",
}


def answer(figures: CapacityFigures) -> Iterator[str]:
    """The baseline, and the other paths against it."""
    base = figures.base
    others = [one for one in figures.main if one is not base]
    if base is None:
        if others:
            yield f"Not compared, for want of a baseline: {_rates(others)}."
        return
    yield _baseline(base)
    for result, words in AGAINST.items():
        own = [one for one in others if figures.compare(one.sustained, base.sustained) == result]
        if own:
            yield f"{words} {base.label}: {_rates(own)}."


def findings(figures: CapacityFigures) -> Iterator[str]:
    """What else is known: bursts and defaults."""
    yield from (_burst(one) for one in figures.main if _bursts(figures, one))
    yield from (_defaults(figures, one) for one in figures.variants if one.variant.tutorial_of)


def _baseline(base: VariantFigures) -> str:
    known = base.sustained
    words = f"{base.label} (baseline): {about(known)}"
    low, high = known.limits
    if low and high < math.inf:
        late, limit = base.p99_at(), base.limited(burst=False)
        if late is None or limit.shown is None or not limit.times:
            return f"{words}."
        rate, resource = "this rate" if low == high else f"{number(known.per_s)}/s", in_words(limit.shown)
        return f"{words}. p99 at {rate}: {short(late.median)} ms; bottleneck above it: {resource}."
    if any(one.lower_bound and one.lowest_failing_per_s is not None for one in known.by_block.values()):
        return f"{words}; the load generator may have been the limit."
    return f"{words}; {'no higher rate failed' if low else 'the lowest rate tried failed'}."


def _rates(variants: Sequence[VariantFigures]) -> str:
    """`A (~2,300/s) and B (at least 1,900/s)`."""
    return listed(f"{one.label} ({about(one.sustained)})" for one in variants)


def _bursts(figures: CapacityFigures, one: VariantFigures) -> bool:
    """Whether in every block it answers more than it stores, by what noise does not explain."""
    both = zip(one.sustained.passed, one.burst.passed, strict=True)
    return one.sustained.measured and all(burst > (1 + figures.resolution) * low for low, burst in both)


def _burst(queue: VariantFigures) -> str:
    """How late the last row of a burst is stored."""
    waits: list[float] = []
    for run in queue.runs.values():
        for step in run.steps:
            at_limit = step.counted and step.rate_per_s == run.burst.highest_passing_per_s
            if at_limit and step.verdict == "fail" and step.burst and step.backlog is not None:
                drained = step.backlog.work_seconds if step.drain_seconds is None else step.drain_seconds
                waits += [] if drained is None else [drained]
    seconds = next(iter(queue.runs.values())).step_seconds
    words = f"{queue.label}, in bursts of {seconds:g} s: {about(queue.burst)}. The backlog grows"
    if waits:
        words += f"; the last row is stored {short(statistics.median(waits))} s after the burst"
    return f"{words}."


def _defaults(figures: CapacityFigures, one: VariantFigures) -> str:
    """A path with Spring Boot defaults, against the tuned one."""
    of = figures.one(one.variant.tutorial_of or "")
    if of is None:
        return f"{one.label}: {about(one.sustained)}."
    result, ratio = figures.compare(one.sustained, of.sustained), times(one.sustained, of.sustained).ratio
    if result in ("more", "less") and ratio is not None:
        sign = "" if one.sustained.measured and of.sustained.measured else ABOUT
        words = f"{sign}{short(ratio)} × {of.label}"
    else:
        words = f"{AGAINST[result][0].lower()}{AGAINST[result][1:]} {of.label}"
    less = f" Its 201 guarantees less: durability class {one.level}, not {of.level}."
    return f"{one.label}: {about(one.sustained)}; {words}.{less if one.level > of.level else ''}"
