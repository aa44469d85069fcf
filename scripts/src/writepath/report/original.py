"""How do our figures stand beside those of the original experiment? Only the suite `original` may ask."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from writepath.report import rows
from writepath.report.model import Cell, Column, Row, Table, cell, text
from writepath.stats import spread

if TYPE_CHECKING:
    from writepath.report.figures import Figures, SuiteFigures

SUITE = "original"
SOURCE = Path(__file__).with_name("original.yaml")
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


@cache
def published_figures() -> dict[str, Any]:
    """original.yaml: `variants` by name, `source` and `remarks`."""
    data: dict[str, Any] = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    return data


def beside(figures: SuiteFigures) -> Table | None:
    """Two rows per variant, the original's and ours; `None` for every other suite."""
    if figures.suite.suite != SUITE:
        return None
    body: list[Row] = []
    for variant in figures.suite.variants:
        theirs = published_figures()["variants"].get(variant.name)
        runs = figures.shown(variant.name)
        if theirs is None or not runs:
            continue
        title = text(rows.label(figures, variant))
        body.append(Row(cells=(title, text("original"), *(_quoted(theirs[key]) for key, *_ in FIGURES))))
        ours = tuple(_ours(runs, key) for key, *_ in FIGURES)
        body.append(Row(cells=(title, text("here"), *ours), mark=rows.mark(runs)))
    return Table(
        key="original",
        title="Compared with the original experiment",
        caption="Both cover all phases, including the warm-up phase. The original's times cover all answered requests,"
        " including errors; ours are those of the latency table. The mean rate counts answers of any status, as the"
        " original did.",
        columns=COLUMNS,
        rows=tuple(body),
        notes=(rows.LEGEND, str(published_figures()["remarks"]).strip()),
    )


def _quoted(value: float) -> Cell:
    return Cell(figure=spread([value]), exact=True)


def _ours(runs: tuple[Figures, ...], key: str) -> Cell:
    return cell(_figure(run, key) for run in runs)


def _figure(run: Figures, key: str) -> float | None:
    accept, answers = run.accept, run.answers
    if accept is None or answers is None or run.completed is None:
        return None
    if key in answers:
        return answers[key]
    values: dict[str, float | None] = {
        "launched": accept.planned - answers["dropped"],
        "completed": run.completed,
        "mean_per_s": run.answered_per_s,
        "min": accept.min_served,
        "max": accept.max_served,
        "median": accept.median,
        "p95": accept.p95,
        "p99": accept.p99,
    }
    return values[key]
