"""How does latency rise with the rate, up to where a path fails? One panel a variant; SVG, same data, same bytes."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from writepath.report.model import number
from writepath.report.plots import BLUE, ORANGE, RED, SETTINGS, svg
from writepath.report.render import drawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from writepath.records.capacity import Hold
    from writepath.report.capacity_figures import CapacityFigures, VariantFigures

CURVES = "capacity-curves.svg"
COLUMNS = 3
PANEL_INCHES = (3.1, 2.2)
ONE_INCHES = (4.6, 2.9)
LEGEND_INCHES = 0.45
FIRST_ROOM, LAST_ROOM = 0.85, 1.2
TOP_SLOS = 10.0  # of the axis: what is later fails by far, and is drawn at the edge
INK = "#010203"  # stands for the page's own colour of text; no drawing has it
GRID = "#dddddd"
PAGE_COLOURS = {INK: "--ink", GRID: "--line", BLUE: "--pass", ORANGE: "--unstable", RED: "--fail"}


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """How one kind of hold is drawn."""

    label: str
    style: dict[str, Any]


PASSED = _Mark(label="passed", style={"marker": "o", "color": BLUE})
UNSTABLE = _Mark(
    label="acknowledged, but the backlog grows",
    style={"marker": "s", "color": ORANGE, "markerfacecolor": "none"},
)
FAILED = _Mark(label="failed", style={"marker": "x", "color": RED})
MARKS = (PASSED, UNSTABLE, FAILED)


def curves(hosts: Sequence[tuple[str, CapacityFigures]], name: str = CURVES) -> dict[str, bytes]:
    """By file name, one drawing per host that has a step to draw. name: of the first file."""
    stem, _, ending = name.rpartition(".")
    drawn: dict[str, bytes] = {}
    for host, figures in hosts:
        if any(one.holds for one in figures.variants):
            file = f"{stem}-{len(drawn) + 1}.{ending}" if drawn else name
            drawn[file] = _curves(figures, host if len(hosts) > 1 else None)
    return drawn


def _curves(figures: CapacityFigures, title: str | None) -> bytes:
    shown = [one for one in figures.variants if one.holds]
    rows = math.ceil(len(shown) / COLUMNS)
    columns = min(COLUMNS, len(shown))
    width, height = PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows + LEGEND_INCHES
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        for axes, one in zip(panels, shown, strict=False):
            _panel(axes, figures, one, ink="black")
            axes.set_title(one.label, loc="left", fontsize=8.5, fontweight="bold")
        if title is not None:
            figure.suptitle(title, x=0.01, ha="left", fontsize=9)
        figure.supxlabel("rate (1/s, log scale)", fontsize=9)
        figure.supylabel("p99 from the scheduled send time (ms, log scale)", fontsize=9)
        drawn = [_mark(hold) for one in shown for hold in one.holds if hold.verdict != "noise"]
        handles = [axes_handle(mark) for mark in MARKS if any(mark is one for one in drawn)]
        figure.legend(handles=handles, loc="outside upper right", ncols=len(MARKS), frameon=False)
        return svg(figure)


def axes_handle(mark: _Mark) -> Any:
    """An entry of the legend."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - its type is not known to the checker

    return Line2D([], [], linestyle="none", markersize=5, label=mark.label, **mark.style)


def inline(host: str, figures: CapacityFigures, one: VariantFigures) -> str:
    """One variant's panel for a page of HTML: its text is text, and takes the page's colours."""
    settings = SETTINGS | {"svg.fonttype": "none", "svg.hashsalt": f"writepath {host} {one.variant.name}"}
    with mpl.rc_context(settings):
        figure = Figure(figsize=ONE_INCHES, facecolor="none", layout="constrained")
        axes = figure.subplots()
        _panel(axes, figures, one, ink=INK)
        axes.set_xlabel("rate (1/s)", color=INK)
        axes.set_ylabel("p99 (ms)", color=INK)
        return drawing.inline(svg(figure).decode("utf-8"), PAGE_COLOURS)


def _panel(axes: Axes, figures: CapacityFigures, one: VariantFigures, *, ink: str) -> None:
    slo = figures.suite.slo_ms
    low, high = _limits(figures)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*_rates(figures))
    axes.set_ylim(low, high)
    axes.axhline(slo, color=ink, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.annotate(
        f"SLO {number(slo)} ms", (0.01, slo), xycoords=("axes fraction", "data"), xytext=(0, 2),
        textcoords="offset points", fontsize=7, color=ink,
    )  # fmt: skip
    if one.sustained.per_s:
        axes.axvline(one.sustained.per_s, color=BLUE, linewidth=0.8, alpha=0.7)
    if one.burst.per_s > one.sustained.per_s:
        axes.axvline(one.burst.per_s, color=ORANGE, linewidth=0.8, alpha=0.9)
    _line(axes, one)
    for hold in one.holds:
        if hold.verdict != "noise":
            _point(axes, hold, high)
    _axes(axes, ink)


def _line(axes: Axes, one: VariantFigures) -> None:
    """Through the medians of what was answered at each rate, all blocks together."""
    by_rate: dict[float, list[float]] = {}
    for hold in one.holds:
        if (hold.verdict == "pass" or hold.burst) and hold.planned_latency_ms.p99 is not None:
            by_rate.setdefault(hold.rate_per_s, []).append(hold.planned_latency_ms.p99)
    rates = sorted(by_rate)
    medians = [statistics.median(by_rate[rate]) for rate in rates]
    axes.plot(rates, medians, color=BLUE, linewidth=0.9, alpha=0.6)


def _mark(hold: Hold) -> _Mark:
    return PASSED if hold.verdict == "pass" else UNSTABLE if hold.burst else FAILED


def _point(axes: Axes, hold: Hold, high: float) -> None:
    """At the upper edge where p99 falls on an unserved request; steps of the ramp are smaller."""
    p99 = hold.planned_latency_ms.p99
    size = 2.5 if hold.kind == "ramp" else 4.5
    style = _mark(hold).style
    value = high if p99 is None else min(p99, high)
    axes.plot([hold.rate_per_s], [value], linestyle="none", markersize=size, clip_on=False, **style)


def _axes(axes: Axes, ink: str) -> None:
    plain = FuncFormatter(lambda value, _: f"{value:,.10g}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.tick_params(colors=ink, labelsize=7.5, which="both")
    for spine in axes.spines.values():
        spine.set_color(ink)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_facecolor("none")


def _rates(figures: CapacityFigures) -> tuple[float, float]:
    rates = [hold.rate_per_s for hold in _all(figures)]
    return min(rates) * FIRST_ROOM, max(rates) * LAST_ROOM


def _limits(figures: CapacityFigures) -> tuple[float, float]:
    """From a power of ten below what was measured to ten times the SLO."""
    values = [hold.planned_latency_ms.p99 for hold in _all(figures)]
    lowest = min((p99 for p99 in values if p99), default=figures.suite.slo_ms / 10)
    return 10.0 ** math.floor(math.log10(min(lowest, figures.suite.slo_ms))), figures.suite.slo_ms * TOP_SLOS


def _all(figures: CapacityFigures) -> Sequence[Hold]:
    return [hold for one in figures.variants for hold in one.holds]
