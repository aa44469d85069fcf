"""Pictures of a value by the levels of factors: a heat map of two of them, bars of one. SVG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from writepath.analysis.stats import Spread
from writepath.report.model import number
from writepath.report.plots import BLUE, GREY, SETTINGS, SMALL, WIDTH_INCHES, svg

CELL_INCHES, FRAME_INCHES = 0.42, 1.0
DARK = 0.6  # share of the colour scale from which text on it is white
COLOURS = "Blues"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A heat map: values by a level of both axes. None: nothing to rank there, and a word why."""

    title: str
    values: Mapping[tuple[str, str], float | None]  # by level across, level down
    words: Mapping[tuple[str, str], str]  # shown where there is no value


@mpl.rc_context(SETTINGS)
def heat_maps(
    panels: Sequence[Panel], across: tuple[str, Sequence[str]], down: tuple[str, Sequence[str]]
) -> bytes:
    """Next to each other, with one scale of colours. across, down: a factor and its levels."""
    (x_name, xs), (y_name, ys) = across, down
    figure = Figure(figsize=(WIDTH_INCHES, FRAME_INCHES + CELL_INCHES * len(ys)), layout="constrained")
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    known = [value for panel in panels for value in panel.values.values() if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    for axes, panel in zip(grid, panels, strict=True):
        rows = [[panel.values.get((x, y)) for x in xs] for y in ys]
        shades = [[math.nan if value is None else value for value in row] for row in rows]
        axes.imshow(shades, cmap=COLOURS, vmin=low, vmax=high if high > low else low + 1, aspect="auto")
        for at_y, row in enumerate(rows):
            for at_x, value in enumerate(row):
                words = panel.words.get((xs[at_x], ys[at_y]), "") if value is None else number(value)
                dark = value is not None and high > low and (value - low) / (high - low) > DARK
                colour = "white" if dark else "black"
                axes.text(at_x, at_y, words, ha="center", va="center", fontsize=SMALL, color=colour)
        axes.set_xticks(range(len(xs)), xs)
        axes.set_yticks(range(len(ys)), ys)
        axes.tick_params(length=0)
        axes.set_xlabel(x_name)
        axes.set_title(panel.title)
    grid[0].set_ylabel(y_name)
    return svg(figure)


@mpl.rc_context(SETTINGS)
def bars(rows: Sequence[tuple[str, Spread | None, str]], unit: str) -> bytes:
    """A bar a row, with its interval. rows: title, value and, where it is not ranked, a word why."""
    figure = Figure(
        figsize=(WIDTH_INCHES, FRAME_INCHES + CELL_INCHES * len(rows) / 1.5), layout="constrained"
    )
    axes = figure.subplots()
    for at, (_, value, word) in enumerate(rows):
        if value is None:
            axes.text(0, at, f"  {word or 'no value'}", va="center", fontsize=SMALL, color=GREY)
            continue
        faint: dict[str, Any] = {"alpha": 0.35, "hatch": "////"} if word else {}
        axes.barh(at, value.median, height=0.7, color=BLUE, **faint)
        axes.plot([value.low, value.high], [at, at], color=GREY, linewidth=1.2)
        end = max(value.high, value.median)
        text = f" {number(value.median)}{f'  {word}' if word else ''}"
        axes.annotate(text, (end, at), xytext=(3, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.set_yticks(range(len(rows)), [title for title, *_ in rows])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.margins(x=0.15)
    axes.set_xlabel(unit)
    axes.grid(axis="x")
    return svg(figure)
