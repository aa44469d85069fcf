"""Draws the README's picture: for each write path, when a post is acknowledged, stored and searchable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from writepath.report.model import number
from writepath.report.plots import SETTINGS, milliseconds, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from writepath.report.facts import Facts

SHAPES = {"A": "s", "B": "D", "C": "o"}  # by durability class
CLOCKS = ("201", "stored, where later", "searchable")
WIDTH_INCHES, ROW_INCHES, FRAME_INCHES = 7.2, 0.46, 1.1
ROOM = 1.5  # of the logarithmic axis, left and right of the marks


@dataclass(frozen=True, kw_only=True)
class Theme:
    """Colours that are readable on a page's background."""

    ink: str
    grid: str
    clocks: tuple[str, str, str]


THEMES = {
    "write-paths-light.svg": Theme(ink="#1f2328", grid="#d0d7de", clocks=("#0969da", "#9a6700", "#8250df")),
    "write-paths-dark.svg": Theme(ink="#e6edf3", grid="#30363d", clocks=("#58a6ff", "#d29922", "#bc8cff")),
}


def pictures(facts: Facts) -> dict[str, bytes]:
    """By file name, one SVG for light pages and one for dark ones; none where no time is known."""
    rows = [
        (one.title, facts.durability_class(one.name), clocks_ms(facts, one.name)) for one in facts.variants
    ]
    if not any(time for *_, times in rows for time in times):
        return {}
    with mpl.rc_context({**SETTINGS, "font.size": 10.5}):
        return {name: svg(_draw(rows, theme, facts.rate_per_s)) for name, theme in THEMES.items()}


def clocks_ms(facts: Facts, name: str) -> tuple[float | None, float | None, float | None]:
    """99th percentiles from sending to the 201, to the row in its store where that is later, and to a search hit."""
    stored = facts.durable_ms(name) if facts.durable_later(name) else None
    known = (facts.acknowledged_ms(name), stored, facts.searchable_ms_p99(name))
    acknowledged, later, searchable = (None if one is None or math.isinf(one) else one for one in known)
    return acknowledged, later, searchable


Row = tuple[str, str, tuple[float | None, float | None, float | None]]  # title, durability class, times


def _draw(rows: list[Row], theme: Theme, rate_per_s: str) -> Figure:
    size = (WIDTH_INCHES, FRAME_INCHES + ROW_INCHES * len(rows))
    figure = Figure(figsize=size, facecolor="none", layout="constrained")
    axes = figure.subplots()
    for at, (_, durability, times) in enumerate(rows):
        _row(axes, at, SHAPES.get(durability, "x"), times, theme)
    axes.set_yticks(range(len(rows)), [title for title, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.75)
    _style(axes, rows, theme)
    axes.set_xlabel(f"p99 since the POST was sent, at up to {rate_per_s}/s (ms, log scale)", color=theme.ink)
    figure.legend(
        handles=_legend(rows, theme), loc="outside upper left", ncols=5, frameon=False, labelcolor=theme.ink
    )
    return figure


def _row(
    axes: Axes, at: int, shape: str, times: tuple[float | None, float | None, float | None], theme: Theme
) -> None:
    known = [time for time in times if time is not None]
    axes.axhline(at, color=theme.grid, linewidth=0.7, zorder=0)
    axes.plot(known, [at] * len(known), color=theme.grid, linewidth=3.5, zorder=1)
    above, below = (0, 8), (0, -16)  # of the mark, in points: an early 201 and its stored row may be close
    for time, marker, colour, place in zip(
        times, (shape, "|", "|"), theme.clocks, (above, below, above), strict=True
    ):
        if time is not None:
            axes.plot([time], [at], color=colour, zorder=2, **_mark(marker))
            axes.annotate(
                number(time),
                (time, at),
                xytext=place,
                textcoords="offset points",
                ha="center",
                fontsize=8.5,
                color=theme.ink,
            )


def _mark(marker: str) -> dict[str, Any]:
    size = {"markersize": 13, "markeredgewidth": 3} if marker == "|" else {"markersize": 8}
    return {"marker": marker, "linestyle": "", **size}


def _legend(rows: list[Row], theme: Theme) -> list[Line2D]:
    """Of the marks that were drawn."""
    handles = [
        Line2D(
            [],
            [],
            color=theme.clocks[0],
            label=f"201 (durability class {durability})",
            **_mark(SHAPES[durability]),
        )
        for durability in sorted({durability for _, durability, _ in rows} & SHAPES.keys())
    ]
    later = [
        Line2D([], [], color=theme.clocks[clock], label=CLOCKS[clock], **_mark("|"))
        for clock in (1, 2)
        if any(times[clock] for *_, times in rows)
    ]
    return handles + later


def _style(axes: Axes, rows: list[Row], theme: Theme) -> None:
    known = [time for *_, times in rows for time in times if time]
    axes.set_facecolor("none")
    axes.set_xscale("log")
    axes.set_xlim(min(known) / ROOM, max(known) * ROOM)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    milliseconds(axes.xaxis)
    axes.grid(axis="x", color=theme.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=theme.ink, which="both", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
