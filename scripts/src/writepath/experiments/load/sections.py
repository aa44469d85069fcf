"""The report of a load suite, and the metrics by which its cells are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from writepath.experiments.load import resources, tables
from writepath.experiments.load.summary import answer, pictures
from writepath.records import base
from writepath.records.load_facts import LoadFacts
from writepath.report import load_ranks, rows
from writepath.report.comparison import with_baseline
from writepath.report.fingerprint import fingerprint, hosts, in_one_line
from writepath.report.metrics import Metric
from writepath.report.model import Report, Section, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from writepath.experiments.load.summary import BandsOf
    from writepath.experiments.load.tables import Suite
    from writepath.records.load import LoadResult


def _faster(key: str, title: str, get: load_ranks.Get) -> Metric[LoadResult]:
    return Metric(key=key, title=title, better="lower", get=get)


METRICS: tuple[Metric[LoadResult], ...] = (
    *(_faster(f"{name}_ms", name, load_ranks.of(load_ranks.accepted, name)) for name in rows.RANKS),
    _faster("planned_p99_ms", "p99 from scheduled time", load_ranks.of(load_ranks.from_schedule, "p99")),
    Metric(
        key="achieved_per_s", title="throughput", better="higher", get=lambda result: result.achieved_per_s
    ),
    _faster("to_durable_p95_ms", "time to durable, p95", load_ranks.of(load_ranks.durable, "p95")),
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
    percentiles, over_time = pictures(ranked, bands)
    ranking = (
        tables.main(ranked),
        tables.latency(ranked),
        with_baseline(data, METRICS, tables.label(data)),
        tables.original(ranked),
        tables.phases(ranked),
        tables.answers(ranked),
        tables.throughput(ranked),
        tables.clocks(ranked),
        tables.order(ranked),
        resources.resources(ranked),
        tables.audit(ranked),
        tables.weakened(data),
    )
    first, *others = rows.mixed((table for table in ranking if table is not None), hosts(data))
    of_kind = (("load", load), ("warm-up before the load", _warm_up(data.index.params)))
    plots = {"latency": (over_time,) if over_time else ()}
    return Report(
        title=data.index.title,
        answer=answer(ranked),
        facts=in_one_line(data, load),
        picture=percentiles,
        table=first,
        details=tuple(
            Section(key=table.key, title=table.title, tables=(table,), plots=plots.get(table.key, ()))
            for table in (*others, tables.runs(data), fingerprint(data, of_kind))
        ),
    )


def load_in_words(data: Suite) -> str:
    """The phases: `ramp-up 20 s, 3 to 100/s; sustained 60 s, 100/s`; of a closed load its users."""
    of_levels: dict[tuple[tuple[str, str], ...], Mapping[str, Any]] = {}
    for one in data.cells:
        if one.evidence is not None:
            of_levels.setdefault(tuple(one.record.levels.items()), one.evidence.facts)
    found = (base.from_data(LoadFacts, dict(facts), "facts.json") for facts in of_levels.values())
    return " | ".join(dict.fromkeys(map(_load, found))) or "unknown"


def _load(facts: LoadFacts) -> str:
    if facts.model == "closed":
        return f"{facts.virtual_users} virtual users for {plain(facts.seconds)} s, each waits for its answer"
    words = []
    for phase in facts.phases:
        rates = dict.fromkeys(plain(rate) for rate in (phase.from_per_s, phase.to_per_s))
        words.append(f"{phase.name} {plain(phase.seconds)} s, {' to '.join(rates)}/s")
    return "; ".join(words)


def _warm_up(params: Mapping[str, Any]) -> str:
    """Of the kind's part of suites.yaml."""
    requests, rate = params.get("warm_up_requests"), params.get("warm_up_per_s")
    if not requests:
        return "none"
    at = f" at {plain(float(rate))}/s" if rate else ""
    return f"{requests:,} requests{at}, excluded from all results"
