"""The report of a load suite, and the metrics by which its cells are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from writepath.experiments.load import (
    count_tables,
    figures,
    latency_tables,
    original,
    pictures,
    resources,
)
from writepath.experiments.load.answer import answer
from writepath.records import base
from writepath.records.load_facts import LoadFacts
from writepath.report import load_ranks, rows
from writepath.report.comparison import with_baseline
from writepath.report.fingerprint import fingerprint, hosts, in_one_line
from writepath.report.metrics import Metric
from writepath.report.model import Report, Section, Table, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from writepath.experiments.load.figures import Suite
    from writepath.experiments.load.pictures import BandsOf
    from writepath.records.load import LoadResult

METRICS: tuple[Metric[LoadResult], ...] = (
    Metric(
        key="median_ms",
        title="median",
        better="lower",
        get=lambda result: load_ranks.accepted(result, "median"),
    ),
    Metric(key="p95_ms", title="p95", better="lower", get=lambda result: load_ranks.accepted(result, "p95")),
    Metric(key="p99_ms", title="p99", better="lower", get=lambda result: load_ranks.accepted(result, "p99")),
    Metric(
        key="planned_p99_ms",
        title="p99 from scheduled time",
        better="lower",
        get=lambda result: load_ranks.from_schedule(result, "p99"),
    ),
    Metric(
        key="achieved_per_s", title="throughput", better="higher", get=lambda result: result.achieved_per_s
    ),
    Metric(
        key="to_durable_p95_ms",
        title="time to durable, p95",
        better="lower",
        get=lambda result: load_ranks.durable(result, "p95"),
    ),
    Metric(
        key="cpu_s_per_1000",
        title="CPU per 1,000 writes",
        better="lower",
        get=resources.cpu_s_per_1000,
        words=("cheaper", "more expensive"),
    ),
)


def report(data: Suite, bands: BandsOf) -> Report:
    """The page. bands: latency by second of a cell's load, from its evidence."""
    ranked, load = data.ranked, load_in_words(data)
    percentiles, over_time = pictures.pictures(ranked, bands)
    of_kind = (("load", load), ("warm-up before the load", _warm_up(data.index.params)))
    first, *ranking = rows.mixed(_ranking(ranked, data), hosts(data))
    others = (*ranking, count_tables.runs(data), fingerprint(data, of_kind))
    plots = {"latency": (over_time,) if over_time else ()}
    return Report(
        title=data.index.title,
        answer=answer(ranked),
        facts=in_one_line(data, load),
        picture=percentiles,
        table=first,
        details=tuple(
            Section(key=table.key, title=table.title, tables=(table,), plots=plots.get(table.key, ()))
            for table in others
        ),
    )


def _ranking(ranked: Suite, data: Suite) -> Iterator[Table]:
    """The main table first; those that do not apply are left out."""
    built = (
        latency_tables.main(ranked),
        latency_tables.latency(ranked),
        with_baseline(data, METRICS, figures.label(data)),
        original.original(ranked),
        latency_tables.phases(ranked),
        count_tables.answers(ranked),
        count_tables.throughput(ranked),
        latency_tables.clocks(ranked),
        count_tables.order(ranked),
        resources.resources(ranked),
        count_tables.audit(ranked),
        count_tables.weakened(data),
    )
    yield from (table for table in built if table is not None)


def load_in_words(data: Suite) -> str:
    """The phases: `ramp-up 20 s, 3 to 100/s; sustained 60 s, 100/s`; of a closed load its users."""
    found = dict.fromkeys(_load(facts) for facts in _facts(data))
    return " | ".join(found) or "unknown"


def _facts(data: Suite) -> Iterator[LoadFacts]:
    """Of one cell with evidence for each combination of levels."""
    seen = set()
    for one in data.cells:
        levels = tuple(one.record.levels.items())
        if levels not in seen and one.evidence is not None:
            seen.add(levels)
            yield base.from_data(LoadFacts, dict(one.evidence.facts), f"{one.record.name}: facts")


def _load(facts: LoadFacts) -> str:
    if facts.model == "closed":
        return f"{facts.virtual_users} virtual users for {plain(facts.seconds)} s, each waits for its answer"
    words = []
    for phase in facts.phases:
        begin, end = plain(phase.from_per_s), plain(phase.to_per_s)
        rate = f"{begin}/s" if begin == end else f"{begin} to {end}/s"
        words.append(f"{phase.name} {plain(phase.seconds)} s, {rate}")
    return "; ".join(words)


def _warm_up(params: Mapping[str, Any]) -> str:
    """Of the kind's part of suites.yaml."""
    requests, rate = params.get("warm_up_requests"), params.get("warm_up_per_s")
    if not requests:
        return "none"
    at = f" at {plain(float(rate))}/s" if rate else ""
    return f"{requests:,} requests{at}, excluded from all results"
