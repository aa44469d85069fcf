"""Draws p99 against the rate, up to where a path fails: one panel a variant, one picture a host."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from writepath.records.steps import LoadStep
from writepath.report.capacity import CapacityFigures, VariantFigures
from writepath.report.model import Plot, number
from writepath.report.plots import BLUE, ORANGE, RED, SETTINGS, plain_ticks, svg

COLUMNS = 3
PANEL_INCHES = (3.1, 2.2)
LEGEND_INCHES = 0.45
FIRST_ROOM, LAST_ROOM = 0.85, 1.2
TOP_SLOS = 10.0  # of the axis: what is later fails by far, and is drawn at the edge
PASSED, UNSTABLE, FAILED = "passed", "acknowledged, but the backlog grows", "failed"
MARKS: dict[str, dict[str, Any]] = {
    PASSED: {"marker": "o", "color": BLUE},
    UNSTABLE: {"marker": "s", "color": ORANGE, "markerfacecolor": "none"},
    FAILED: {"marker": "x", "color": RED},
}
CURVES_SAY = (
    "p99 from the scheduled send time against the rate; one panel per variant, all with the same axes. Dashed line:"
    " SLO; vertical line: highest passing rate. Small marks: steps of the ramp."
)


def pictures(hosts: Sequence[tuple[str, CapacityFigures]]) -> tuple[Plot, ...]:
    """One for each host that has a step to draw."""
    drawn: list[Plot] = []
    for host, figures in hosts:
        if any(one.steps for one in figures.variants):
            title = host if len(hosts) > 1 else ""
            rates = "; ".join(_in_words(one) for one in figures.variants)
            alt = f"p99 against rate{title and f' on {title}'}, highest rates that passed: {rates}"
            file = f"capacity-curves-{len(drawn) + 1}.svg" if drawn else "capacity-curves.svg"
            drawn.append(Plot(file=file, alt=alt, svg=_curves(figures, title)))
    return tuple(drawn)


def _in_words(one: VariantFigures) -> str:
    late = one.p99_at()
    return f"{one.label} {number(one.sustained.per_s)}/s" + (f" at {number(late.median)} ms" if late else "")


@mpl.rc_context(SETTINGS)
def _curves(figures: CapacityFigures, title: str) -> bytes:
    shown = [one for one in figures.variants if one.steps]
    rows, columns = math.ceil(len(shown) / COLUMNS), min(COLUMNS, len(shown))
    width, height = PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows + LEGEND_INCHES
    figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    for axes, one in zip(panels, shown, strict=False):
        _scales(axes, figures)
        _panel(axes, one, figures.slo_ms * TOP_SLOS)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=9)
    figure.supxlabel("rate (1/s, log scale)", fontsize=9)
    figure.supylabel("p99 from the scheduled send time (ms, log scale)", fontsize=9)
    drawn = {_mark(step) for one in shown for step in one.steps if step.verdict != "noise"}
    handles = [
        Line2D([], [], linestyle="none", markersize=5, label=mark, **style)
        for mark, style in MARKS.items()
        if mark in drawn
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(MARKS), frameon=False)
    return svg(figure)


def _scales(axes: Axes, figures: CapacityFigures) -> None:
    """The same for all variants, with the SLO."""
    slo = figures.slo_ms
    every = [step for one in figures.variants for step in one.steps]
    rates = [step.rate_per_s for step in every]
    lowest = min((p99 for step in every if (p99 := step.planned_latency_ms.p99)), default=slo / 10)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(min(rates) * FIRST_ROOM, max(rates) * LAST_ROOM)
    axes.set_ylim(10.0 ** math.floor(math.log10(min(lowest, slo))), slo * TOP_SLOS)
    axes.axhline(slo, color="black", linewidth=0.9, linestyle=(0, (4, 3)))
    axes.annotate(
        f"SLO {number(slo)} ms", (0.01, slo), xycoords=("axes fraction", "data"), xytext=(0, 2),
        textcoords="offset points", fontsize=7,
    )  # fmt: skip


def _panel(axes: Axes, one: VariantFigures, highest_ms: float) -> None:
    """A line through the medians of what was answered at each rate, all blocks together; steps of the ramp are smaller.

    A p99 that falls on an unserved request is at the upper edge.
    """
    if one.sustained.per_s:
        axes.axvline(one.sustained.per_s, color=BLUE, linewidth=0.8, alpha=0.7)
    if one.burst.per_s > one.sustained.per_s:
        axes.axvline(one.burst.per_s, color=ORANGE, linewidth=0.8, alpha=0.9)
    by_rate: dict[float, list[float]] = {}
    for step in one.steps:
        if step.burst and step.planned_latency_ms.p99 is not None:
            by_rate.setdefault(step.rate_per_s, []).append(step.planned_latency_ms.p99)
    rates = sorted(by_rate)
    medians = [statistics.median(by_rate[rate]) for rate in rates]
    axes.plot(rates, medians, color=BLUE, linewidth=0.9, alpha=0.6)
    for step in one.steps:
        if step.verdict != "noise":
            p99 = step.planned_latency_ms.p99
            value = highest_ms if p99 is None else min(p99, highest_ms)
            style = MARKS[_mark(step)] | {"markersize": 2.5 if step.kind == "ramp" else 4.5}
            axes.plot([step.rate_per_s], [value], linestyle="none", clip_on=False, **style)
    axes.set_title(one.label, loc="left", fontsize=8.5, fontweight="bold")
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.tick_params(labelsize=7.5, which="both")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _mark(step: LoadStep) -> str:
    return PASSED if step.verdict == "pass" else UNSTABLE if step.burst else FAILED
