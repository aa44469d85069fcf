"""The table that compares the suite `original` with the original experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis.stats import spread
from writepath.experiments.load import figures
from writepath.report import load_ranks, rows
from writepath.report.model import Cell, Column, Row, Table, cell, text
from writepath.report.original import published_figures

if TYPE_CHECKING:
    from writepath.experiments.load.figures import Suite
    from writepath.records.load import LoadResult

SUITE = "original"
FIGURES = (
    ("launched", "sent", "", True),
    ("completed", "answered", "", True),
    ("status_201", "201", "", True),
    ("status_500", "500", "", True),
    ("status_502", "502", "", True),
    ("status_504", "504", "", True),
    ("reset", "reset", "", True),
    ("timed_out", "timed out", "", True),
    ("mean_per_s", "mean rate", "1/s", False),
    ("min", "min", "ms", False),
    ("max", "max", "ms", False),
    ("median", "median", "ms", False),
    ("p95", "p95", "ms", False),
    ("p99", "p99", "ms", False),
)
COLUMNS = (
    rows.VARIANT,
    Column(key="measured", title="measured"),
    *(
        Column(key=f"beside_{key}", title=title, unit=unit, exact=exact)
        for key, title, unit, exact in FIGURES
    ),
)


def original(data: Suite) -> Table | None:
    """Two rows per variant, the original's and ours; None for every other suite."""
    if data.index.suite != SUITE:
        return None
    label = figures.label(data)
    body: list[Row] = []
    for row in data.rows:
        theirs = published_figures()["variants"].get(row.variant.name)
        cells = data.shown(row)
        if theirs is None:
            continue
        title = text(label(row))
        body.append(Row(cells=(title, text("original"), *(_quoted(theirs[key]) for key, *_ in FIGURES))))
        ours = tuple(
            cell(None if one.result is None else _figure(one.result, key) for one in cells)
            for key, *_ in FIGURES
        )
        body.append(Row(cells=(title, text("here"), *ours), mark=rows.mark(cells)))
    return Table(
        key="original",
        title="Compared with the original experiment",
        caption="Both cover all phases, including the warm-up phase. The original's times cover all answered requests,"
        " including errors; ours are those of the latency table. The mean rate counts answers of any status, as the"
        " original did.",
        columns=COLUMNS,
        rows=tuple(body),
        notes=(rows.LEGEND, str(published_figures()["remarks"]).strip()),
        names=2,
    )


def _quoted(value: float) -> Cell:
    return Cell(figure=spread([value]), exact=True)


def _figure(result: LoadResult, key: str) -> float | None:
    if key in result.answers:
        return result.answers[key]
    values: dict[str, float | None] = {
        "launched": result.requests.planned - result.requests.dropped,
        "completed": result.completed,
        "mean_per_s": result.answered_per_s,
        "min": result.accept_latency_ms.min,
        "max": result.accept_latency_ms.max,
    }
    return values[key] if key in values else load_ranks.accepted(result, key)
