"""Tables of times: the main table, accept latency, its phases, the three clocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from writepath.experiments.load import figures
from writepath.experiments.load.figures import count, ms, ranks
from writepath.report import load_ranks, rows
from writepath.report.model import ABSENT, Column, Row, Table, cell, text
from writepath.report.rows import RANKS, Field

if TYPE_CHECKING:
    from writepath.experiments.load.figures import Cell, Suite
    from writepath.records.load import LoadPhase, LoadResult
    from writepath.report import model

MEANING: Field[LoadResult] = Field(
    column=Column(key="acknowledges", title="a 201 guarantees"), get=lambda one: one.record.acknowledges
)
LEVEL: Field[LoadResult] = Field(
    column=Column(key="durability", title="durability class"),
    get=lambda one: one.record.durability.level if one.record.durability else "not read",
)
ACKNOWLEDGED = Column(key="acknowledged_of_planned", title="acknowledged of scheduled")
MAIN = (
    *ranks(load_ranks.accepted),
    ms("to_durable_p99", "time to durable, p99", lambda result: load_ranks.durable(result, "p99")),
)
LATENCY = (
    MEANING,
    LEVEL,
    count("planned", "scheduled", lambda result: result.requests.planned),
    count(
        "unserved",
        "not acknowledged",
        lambda result: result.requests.planned - result.requests.acknowledged,
    ),
    ms("min_served", "min", lambda result: result.accept_latency_ms.min),
    ms("max_served", "max", lambda result: result.accept_latency_ms.max),
    ms("mean_served", "mean", lambda result: result.accept_latency_ms.mean),
    *ranks(load_ranks.accepted),
    *ranks(load_ranks.from_schedule, "planned_", "{} from scheduled time"),
)
PHASE_COLUMNS = (
    rows.VARIANT,
    Column(key="phase", title="phase"),
    Column(key="phase_planned", title="scheduled", exact=True),
    Column(key="phase_unserved", title="not acknowledged", exact=True),
    Column(key="phase_achieved_per_s", title="achieved", unit="201/s"),
    *(Column(key=f"phase_{name}_ms", title=name, unit="ms") for name in RANKS),
    Column(key="phase_max_served_ms", title="max", unit="ms"),
    *(
        Column(key=f"phase_planned_{name}_ms", title=f"{name} from scheduled time", unit="ms")
        for name in RANKS
    ),
)
CLOCKS = (
    *ranks(load_ranks.accepted, "to_acknowledge_", "acknowledged, {}"),
    *ranks(load_ranks.durable, "to_durable_", "durable, {}"),
    *ranks(load_ranks.visible, "to_visible_", "visible, {}"),
    count("visible_samples", "visibility samples", lambda result: result.visible_samples),
    ms(
        "visible_error_median",
        "visibility error bound, median",
        lambda result: result.visible_error_ms_median,
    ),
    ms("visible_error_max", "visibility error bound, max", lambda result: result.visible_error_ms_max),
)


def main(data: Suite) -> Table:
    """What a reader meets first."""
    label = figures.label(data)
    body = []
    for row in data.rows:
        cells = data.shown(row)
        values = [cell(field.get(one) for one in cells) for field in (LEVEL, *MAIN)]
        first = (text(label(row)), values[0], text(_acknowledged(cells)))
        body.append(Row(cells=(*first, *values[1:]), mark=rows.mark(cells)))
    later = any(figures.is_later(data, row) for row in data.rows)
    return Table(
        key="result",
        title="Time until the 201",
        caption="Percentiles of the time from sending the POST to its 201, over all scheduled requests. Durable: until"
        f" the row is committed in its final store. {rows.spread_note(data.index)}",
        columns=(rows.VARIANT, LEVEL.column, ACKNOWLEDGED, *(field.column for field in MAIN)),
        rows=tuple(body),
        notes=(
            *([rows.LEGEND] if _gaps(body) else []),
            *([f"{rows.DAGGER} The 201 comes before the row is in its final store."] if later else []),
        ),
    )


def _gaps(body: list[Row]) -> bool:
    """Whether a cell has no value, or an infinite one."""
    own = [one for row in body for one in row.cells if one.text is None]
    return any(one.figure is None or math.isinf(one.figure.high) for one in own)


def _acknowledged(cells: tuple[Cell, ...]) -> str:
    """Over all repetitions that the row shows."""
    known = [one.result.requests for one in cells if one.result is not None]
    if not known:
        return ABSENT
    return f"{sum(one.acknowledged for one in known):,} of {sum(one.planned for one in known):,}"


def latency(data: Suite) -> Table:
    """Time until the 201, by both clocks."""
    return Table(
        key="latency",
        title="Accept latency",
        caption="Time from sending the POST to its 201. Times from the scheduled send time include every delay of the"
        " load generator. Min, max and mean cover acknowledged requests. Percentiles cover all scheduled requests;"
        " one that was not acknowledged counts as infinite. " + rows.spread_note(data.index),
        columns=rows.columns(LATENCY),
        rows=rows.by_row(data, LATENCY, figures.label(data)),
        notes=(rows.LEGEND, *figures.durable_notes(data)),
        compared=True,
    )


def phases(data: Suite) -> Table | None:
    """Accept latency by phase of the load; None of closed loads, which have no phases."""
    label = figures.label(data)
    body: list[Row] = []
    for row in data.rows:
        cells = [one for one in data.shown(row) if one.result is not None]
        results = [one.result for one in cells if one.result is not None]
        body += [
            Row(cells=(text(label(row)), *_phase(phase)), mark=rows.mark(cells))
            for phase in zip(*(one.phases for one in results), strict=False)
        ]
    if not body:
        return None
    return Table(
        key="phases",
        title="Accept latency by phase",
        caption=f"A request belongs to the phase of its scheduled send time. {rows.spread_note(data.index)}",
        columns=PHASE_COLUMNS,
        rows=tuple(body),
        notes=(rows.LEGEND,),
        names=2,
    )


def _phase(own: tuple[LoadPhase, ...]) -> tuple[model.Cell, ...]:
    """One phase; own: of each repetition."""
    return (
        text(own[0].name),
        cell(one.planned for one in own),
        cell(one.planned - one.acknowledged for one in own),
        cell(one.achieved_per_s for one in own),
        *(cell(load_ranks.rank(one.accept_latency_ms, name, one.planned) for one in own) for name in RANKS),
        cell(one.accept_latency_ms.max for one in own),
        *(cell(load_ranks.rank(one.planned_latency_ms, name, one.planned) for one in own) for name in RANKS),
    )


def clocks(data: Suite) -> Table | None:
    """Acknowledged, durable and visible; None for suite runs that did not measure visibility."""
    if not any(one.result is not None and one.result.time_to_visible_ms for one in data.cells):
        return None
    return Table(
        key="clocks",
        title="Three clocks: acknowledged, durable, visible",
        caption="Times from sending the POST. Acknowledged: until its 201. Durable: until its row is committed in its"
        " final store. Visible: until a search in that store finds it. The first two cover all scheduled requests,"
        " the third a sample that was drawn before the load. Requests not acknowledged and rows never found count as"
        f" infinite. {rows.spread_note(data.index)}",
        columns=rows.columns(CLOCKS),
        rows=rows.by_row(data, CLOCKS, figures.label(data)),
        notes=(rows.LEGEND,),
        compared=True,
    )
