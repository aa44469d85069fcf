"""Which tables say how the load went? Latency, latency by phase, answers, throughput."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from writepath.report import rows
from writepath.report.model import Column, Row, Table, cell, text
from writepath.report.rows import Field, count, ms, ranks

if TYPE_CHECKING:
    from writepath.report.figures import Figures, SuiteFigures
    from writepath.stats import Distribution

MEANING = Field(
    column=Column(key="acknowledges", title="a 201 guarantees"), get=lambda figures: figures.run.acknowledges
)
LEVEL = Field(
    column=Column(key="durability", title="durability class"),
    get=lambda figures: figures.run.durability.level if figures.run.durability else "not read",
)


def _served(figures: Figures, name: str) -> float | None:
    return None if figures.accept is None else getattr(figures.accept, name)


def _requests(figures: Figures, name: str) -> int | None:
    return None if figures.accept is None else getattr(figures.accept, name)


LATENCY = (
    MEANING,
    LEVEL,
    count("planned", "scheduled", lambda figures: _requests(figures, "planned")),
    count("unserved", "not acknowledged", lambda figures: _requests(figures, "unserved")),
    ms("min_served", "min", lambda figures: _served(figures, "min_served")),
    ms("max_served", "max", lambda figures: _served(figures, "max_served")),
    ms("mean_served", "mean", lambda figures: _served(figures, "mean_served")),
    *ranks(lambda figures: figures.accept),
    *ranks(lambda figures: figures.accept_from_planned, "planned_", "{} from scheduled time"),
)


def latency(figures: SuiteFigures) -> Table:
    """Time until the 201."""
    return Table(
        key="latency",
        title="Accept latency",
        caption="Time from sending the POST to its 201. Times from the scheduled send time include every delay of the"
        " load generator. Min, max and mean cover acknowledged requests. Percentiles cover all scheduled requests;"
        " one that was not acknowledged counts as infinite. " + rows.spread_note(figures),
        columns=rows.columns(LATENCY),
        rows=rows.by_variant(figures, LATENCY),
        notes=(rows.LEGEND, *rows.durable_notes(figures)),
    )


PHASE_COLUMNS = (
    rows.VARIANT,
    Column(key="phase", title="phase"),
    Column(key="phase_planned", title="scheduled", exact=True),
    Column(key="phase_unserved", title="not acknowledged", exact=True),
    Column(key="phase_achieved_per_s", title="achieved", unit="201/s"),
    *(Column(key=f"phase_{name}_ms", title=name, unit="ms") for name in rows.RANKS),
    Column(key="phase_max_served_ms", title="max", unit="ms"),
    *(
        Column(key=f"phase_planned_{name}_ms", title=f"{name} from scheduled time", unit="ms")
        for name in rows.RANKS
    ),
)


def phases(figures: SuiteFigures) -> Table:
    """Accept latency by phase of the load."""
    body: list[Row] = []
    for variant in figures.suite.variants:
        runs = [run for run in figures.shown(variant.name) if run.phases]
        for index, phase in enumerate(figures.suite.phases if runs else ()):
            own = [run.phases[index] for run in runs]
            accept: list[Distribution] = [one.accept for one in own]
            cells = (
                text(rows.label(figures, variant)),
                text(phase.name),
                cell(one.planned for one in accept),
                cell(one.unserved for one in accept),
                cell(one.achieved_per_s for one in own),
                cell(one.median for one in accept),
                cell(one.p95 for one in accept),
                cell(one.p99 for one in accept),
                cell(one.max_served for one in accept),
                *(cell(getattr(one.accept_from_planned, name) for one in own) for name in rows.RANKS),
            )
            body.append(Row(cells=cells, mark=rows.mark(runs)))
    return Table(
        key="phases",
        title="Accept latency by phase",
        caption="A request belongs to the phase of its scheduled send time. " + rows.spread_note(figures),
        columns=PHASE_COLUMNS,
        rows=tuple(body),
        notes=(rows.LEGEND,),
    )


ANSWERS = (
    ("status_201", "201"),
    ("status_4xx", "4xx"),
    ("status_500", "500"),
    ("status_502", "502"),
    ("status_503", "503"),
    ("status_504", "504"),
    ("status_other", "other status"),
    ("refused", "connection refused"),
    ("reset", "connection reset"),
    ("closed", "connection closed"),
    ("no_answer", "other error"),
    ("timed_out", "timed out"),
    ("dropped", "dropped"),
)


def _answer(key: str, figures: Figures) -> int | None:
    return None if figures.answers is None else figures.answers[key]


ANSWER_FIELDS = tuple(count(key, title, partial(_answer, key)) for key, title in ANSWERS)


def answers(figures: SuiteFigures) -> Table:
    """The result of each scheduled request."""
    return Table(
        key="answers",
        title="Answers",
        caption="Each scheduled request is counted in exactly one column. " + rows.spread_note(figures),
        columns=rows.columns(ANSWER_FIELDS),
        rows=rows.by_variant(figures, ANSWER_FIELDS),
    )


def _rate(key: str, title: str, unit: str, name: str) -> Field:
    return Field(column=Column(key=key, title=title, unit=unit), get=lambda figures: getattr(figures, name))


def _durable(figures: Figures) -> Distribution | None:
    return figures.durable if figures.durable_later else None


THROUGHPUT = (
    _rate("planned_per_s", "scheduled mean", "req/s", "planned_per_s"),
    _rate("planned_peak_per_s", "scheduled peak", "req/s", "planned_peak_per_s"),
    _rate("achieved_per_s", "achieved mean", "201/s", "achieved_per_s"),
    _rate("achieved_peak_per_s", "achieved peak", "201/s", "achieved_peak_per_s"),
    *ranks(_durable, "durable_", "time to durable, {}"),
    Field(
        column=Column(key="drain_s", title="drain", unit="s"),
        get=lambda figures: figures.run.drain.seconds if figures.run.drain else None,
    ),
    Field(
        column=Column(key="queue_peak", title="highest queue depth", unit="messages", exact=True),
        get=lambda figures: figures.queue_peak,
    ),
)


def throughput(figures: SuiteFigures) -> Table:
    """Rates, and when the rows were durable."""
    return Table(
        key="throughput",
        title="Throughput and time to durable",
        caption="Time to durable: from sending the POST until its row is committed in its final store. It covers"
        " acknowledged requests and is shown only where it is later than the 201. "
        + rows.spread_note(figures),
        columns=rows.columns(THROUGHPUT),
        rows=rows.by_variant(figures, THROUGHPUT),
        notes=(rows.LEGEND,),
    )
