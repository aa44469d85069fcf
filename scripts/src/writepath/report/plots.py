"""Draws latency over the load, its percentiles, and the README's picture. SVG; the same data give the same bytes."""

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from writepath.analysis.stats import Bands, Spread
from writepath.records.warm_up import WarmUpWindow
from writepath.report.facts import Facts
from writepath.report.model import number

# Okabe and Ito's palette: told apart with every kind of colour vision, and by lightness in grey.
BLUE, ORANGE, SKY, RED, GREY = "#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#555555"
RANK_COLOURS = (SKY, BLUE, "#1B2A41")  # of median, p95 and p99
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "writepath",  # ids of clip paths: else random
    "svg.fonttype": "path",  # the reader's fonts do not matter
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9,
    "text.parse_math": False,  # a title is text, dollar signs too
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "path.simplify_threshold": 0.5,
}
PANEL_INCHES, WIDTH_INCHES = 1.5, 9.0
TOP_INCHES, BOTTOM_INCHES = 0.6, 0.5
SMALL = 7.5  # points
BAR_INCHES = 0.24
PATH_DATA = re.compile(rb' d="[^"]*"')
HASHED_ID = re.compile(rb'(?<=["#])[a-z][0-9a-f]{10}(?=["\)])')
LONG_NUMBER = re.compile(rb"-?\d+\.\d{3,}")
NO_DATES = {"Date": None, "Creator": None}
ROOM_RIGHT = 1.6  # of a logarithmic axis, for the figures at the bars' ends


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One percentile of a row; None: too few requests for it."""

    name: str
    colour: str
    value: Spread | None


@dataclass(frozen=True, kw_only=True)
class Drawable:
    """What is drawn of a row of the report."""

    title: str
    bands: Bands | None  # of one repetition
    bars: tuple[Bar, ...]


@mpl.rc_context(SETTINGS)
def over_time(rows: Sequence[Drawable], phases: Sequence[tuple[str, float]], *, rates: bool = False) -> bytes:
    """A panel of each row with bands. phases: name and seconds; where there is none, the bands say how long it was.

    rates: next to each a panel of scheduled and acknowledged requests.
    """
    drawn = [(row.title, row.bands) for row in rows if row.bands is not None]
    height = TOP_INCHES + PANEL_INCHES * len(drawn) + BOTTOM_INCHES
    figure = Figure(figsize=(WIDTH_INCHES, height))
    grid = figure.subplots(len(drawn), 2 if rates else 1, sharex=True, sharey="col", squeeze=False)
    first = grid[0, 0]
    figure.subplots_adjust(
        left=0.085, right=0.985, top=1 - TOP_INCHES / height, bottom=BOTTOM_INCHES / height, hspace=0.42
    )
    for (latency, *others), (title, bands) in zip(grid, drawn, strict=True):
        _panel(latency, title, bands)
        for axes in others:
            _rates(axes, bands)
        for axes in (latency, *others):
            _phase_lines(axes, phases, labelled=axes is first)
    seconds = sum(own for _, own in phases) or float(max(len(bands.served) for _, bands in drawn))
    first.set_yscale("log")
    first.set_xlim(0, seconds)
    first.set_ylim(*_decades([bands for _, bands in drawn]))
    plain_ticks(first.yaxis)
    for axes in grid[-1]:
        axes.set_xlabel("time since the start of the load (s)")
    figure.text(0.005, 0.5, "accept latency per second (ms, log scale)", rotation=90, va="center")
    small = {"fontsize": SMALL} if rates else {}  # six labels in one row
    _legend(figure, grid.flat, loc="upper right", borderaxespad=0.2, **small)
    return svg(figure)


def _legend(figure: Figure, panels: Iterable[Axes], **options: Any) -> None:
    """Each label once, in the order drawn."""
    named: dict[str, Any] = {}
    for axes in panels:
        for drawn, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, drawn)
    figure.legend(list(named.values()), list(named), **{"ncols": len(named), **options})


def svg(figure: Figure) -> bytes:
    """Its bytes: the same for the same data."""
    buffer = io.BytesIO()
    FigureCanvasSVG(figure).print_svg(buffer, metadata=NO_DATES)  # type: ignore[no-untyped-call]
    rounded = PATH_DATA.sub(lambda found: LONG_NUMBER.sub(_two_decimals, found[0]), buffer.getvalue())
    return b"\n".join(line.rstrip() for line in _renamed(rounded).split(b"\n"))


def _renamed(drawn: bytes) -> bytes:
    """Ids are hashes of unrounded numbers, which differ between processors: numbered in the order of their use."""
    names = dict.fromkeys(found[0] for found in HASHED_ID.finditer(drawn))
    numbered = {name: b"%b%d" % (name[:1], number) for number, name in enumerate(names, 1)}
    return HASHED_ID.sub(lambda found: numbered[found[0]], drawn)


def _two_decimals(found: re.Match[bytes]) -> bytes:
    """A hundredth of a point is below a pixel; more digits are size, and noise between processors."""
    return b"%.2f" % float(found[0])


def _decades(bands: list[Bands]) -> tuple[float, float]:
    """Whole powers of ten around all values: room above the lines, and at least two labelled ticks."""
    values = np.concatenate([each for one in bands for each in (one.median, one.max)])
    served = values[values > 0]  # not those without a value
    if not served.size:
        return 1.0, 10.0
    return 10.0 ** math.floor(math.log10(served.min())), 10.0 ** math.ceil(math.log10(served.max() * 1.2))


def _panel(axes: Axes, title: str, bands: Bands) -> None:
    middle = np.arange(len(bands.served)) + 0.5
    axes.fill_between(middle, bands.median, bands.p95, color=SKY, alpha=0.35, linewidth=0)
    axes.plot(middle, bands.max, color=GREY, linewidth=0.6, alpha=0.8, label="max")
    axes.plot(middle, bands.p95, color=ORANGE, linewidth=1.1, label="p95")
    axes.plot(middle, bands.median, color=BLUE, linewidth=1.5, label="median")
    missed = bands.unserved > 0
    if missed.any():
        title += f"  ({int(bands.unserved.sum()):,} not acknowledged)"
        axes.plot(
            middle[missed],
            [1.0] * int(missed.sum()),
            "|",
            color=RED,
            markersize=7,
            clip_on=False,
            transform=axes.get_xaxis_transform(),
            label="second with requests not acknowledged",
        )
    axes.set_title(title)
    axes.grid(axis="y")


def _rates(axes: Axes, bands: Bands) -> None:
    middle = np.arange(len(bands.served)) + 0.5
    axes.plot(middle, bands.served + bands.unserved, color=GREY, linewidth=1.1, label="scheduled/s")
    axes.plot(middle, bands.served, color=BLUE, linewidth=1.5, linestyle="--", label="acknowledged/s")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")


def _phase_lines(axes: Axes, phases: Sequence[tuple[str, float]], *, labelled: bool) -> None:
    begin = 0.0
    for name, seconds in phases:
        if begin:
            axes.axvline(begin, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        if labelled:
            axes.annotate(
                name, (begin, 1), xycoords=("data", "axes fraction"), xytext=(4, -2),
                textcoords="offset points", fontsize=8, color=GREY, va="top",
            )  # fmt: skip
        begin += seconds


@mpl.rc_context(SETTINGS)
def percentiles(rows: Sequence[Drawable], of: str = "requests", unserved: str = "not acknowledged") -> bytes:
    """The bars of each row. A bar at infinity fills the axis, and says so. of: what the percentiles rank."""
    lines = sum(len(row.bars) + 1 for row in rows)
    figure = Figure(figsize=(WIDTH_INCHES, BAR_INCHES * lines + 1.0), layout="constrained")
    axes = figure.subplots()
    values = [bar.value for row in rows for bar in row.bars if bar.value is not None]
    finite = [edge for value in values for edge in (value.low, value.median) if math.isfinite(edge)]
    low, high = (min(finite), max(finite)) if finite else (1.0, 10.0)
    limits = (10 ** math.floor(math.log10(low * 0.9)), high * ROOM_RIGHT)
    axes.set_xscale("log")
    axes.set_xlim(limits)
    at, ticks = 0, []
    for row in rows:
        ticks.append(at + (len(row.bars) - 1) / 2)
        for bar in row.bars:
            _bar(axes, at, bar, limits, unserved)
            at += 1
        at += 1
    axes.set_yticks(ticks, [row.title for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    plain_ticks(axes.xaxis)
    axes.set_xlabel(f"time since sending (ms, log scale); percentiles over scheduled {of}")
    axes.grid(axis="x")
    _legend(figure, [axes], loc="outside upper right")
    return svg(figure)


def _bar(axes: Axes, at: int, bar: Bar, limits: tuple[float, float], unserved: str) -> None:
    floor, ceiling = limits
    if bar.value is None:
        axes.text(floor * 1.03, at, "too few requests", va="center", fontsize=SMALL, color=GREY)
        return
    value = bar.value.median
    drawn: dict[str, Any] = {"height": 0.86, "color": bar.colour, "label": bar.name}
    if math.isinf(value):
        axes.barh(at, ceiling - floor, left=floor, hatch="////", alpha=0.6, **drawn)
        right, words, place, side = ceiling, f"∞ {unserved}", -4, "right"
    else:
        axes.barh(at, value - floor, left=floor, **drawn)
        right, words, place, side = value, number(value), 3, "left"
        if bar.value.repetitions > 1:
            right = min(bar.value.high, ceiling)
            axes.plot([bar.value.low, right], [at, at], color=GREY, linewidth=1.2, solid_capstyle="butt")
    axes.annotate(
        words,
        (right, at),
        xytext=(place, 0),
        textcoords="offset points",
        va="center",
        ha=side,
        fontsize=SMALL,
    )


@mpl.rc_context(SETTINGS)
def warm_up(rows: Mapping[str, Sequence[WarmUpWindow]]) -> bytes:
    """By row of the report, what a request cost and how long it took, window by window."""
    figure = Figure(figsize=(WIDTH_INCHES, 2.6 + 0.15 * len(rows)), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True)
    names = (
        ("cpu_us_per_request", "CPU per request (µs, log scale)"),
        ("median_ms", "median latency (ms, log scale)"),
    )
    for axes, (name, title) in zip(panels, names, strict=True):
        for row, windows in rows.items():
            values = np.array([getattr(one, name) for one in windows], np.float64)  # NaN where there is none
            axes.plot([one.until_s for one in windows], values, marker=".", linewidth=1.2, label=row)
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.set_xlim(left=0)
        axes.set_title(title)
        axes.set_xlabel("time since the first answer (s)")
        axes.grid()
    _legend(figure, panels[:1], loc="outside lower left", ncols=3)
    return svg(figure)


def plain_ticks(axis: Any) -> None:
    """Ticks in plain numbers on a logarithmic axis."""
    axis.set_major_formatter("{x:,.10g}")
    axis.set_minor_formatter("")


SHAPES = {"A": "s", "B": "D", "C": "o"}  # by durability class
LATER_MARK: dict[str, Any] = {"marker": "|", "markersize": 13, "markeredgewidth": 3}
FRONT_INCHES, ROW_INCHES, FRAME_INCHES = 7.2, 0.46, 1.1
ROOM = 1.5  # of the logarithmic axis, left and right of the marks
Times = tuple[float | None, float | None, float | None]


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
    with mpl.rc_context({**SETTINGS, "font.size": 10.5, "grid.linewidth": 0.7}):
        return {name: _draw(rows, theme, facts.rate_per_s) for name, theme in THEMES.items()}


def clocks_ms(facts: Facts, name: str) -> Times:
    """99th percentiles from sending to the 201, to the row in its store where that is later, and to a search hit."""
    known = [facts.p99_ms(name, clock) for clock in ("acknowledged", "durable", "searchable")]
    acknowledged, stored, searchable = (None if one is None or math.isinf(one) else one for one in known)
    return acknowledged, stored if facts.durable_later(name) else None, searchable


def _draw(rows: list[tuple[str, str, Times]], theme: Theme, rate_per_s: str) -> bytes:
    size = (FRONT_INCHES, FRAME_INCHES + ROW_INCHES * len(rows))
    figure = Figure(figsize=size, facecolor="none", layout="constrained")
    axes = figure.subplots()
    for at, (_, durability, times) in enumerate(rows):
        _row(axes, at, durability, times, theme)
    axes.set_yticks(range(len(rows)), [title for title, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.75)
    known = [time for *_, times in rows for time in times if time]
    axes.set_facecolor("none")
    axes.set_xscale("log")
    axes.set_xlim(min(known) / ROOM, max(known) * ROOM)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    plain_ticks(axes.xaxis)
    axes.grid(axis="x", color=theme.grid)
    axes.tick_params(colors=theme.ink, which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"p99 since the POST was sent, at up to {rate_per_s}/s (ms, log scale)", color=theme.ink)
    _legend(figure, [axes], loc="outside upper left", labelcolor=theme.ink)
    return svg(figure)


def _row(axes: Axes, at: int, durability: str, times: Times, theme: Theme) -> None:
    known = [time for time in times if time is not None]
    axes.axhline(at, color=theme.grid, linewidth=0.7, zorder=0)
    axes.plot(known, [at] * len(known), color=theme.grid, linewidth=3.5, zorder=1)
    above, below = (0, 8), (0, -16)  # of the mark, in points: an early 201 and its stored row may be close
    marks = (
        (
            f"201 (durability class {durability})",
            above,
            {"marker": SHAPES.get(durability, "x"), "markersize": 8},
        ),
        ("stored, where later", below, LATER_MARK),
        ("searchable", above, LATER_MARK),
    )
    for time, colour, (label, place, mark) in zip(times, theme.clocks, marks, strict=True):
        if time is None:
            continue
        axes.plot([time], [at], color=colour, zorder=2, linestyle="", label=label, **mark)
        axes.annotate(
            number(time), (time, at), xytext=place, textcoords="offset points", ha="center", fontsize=8.5,
            color=theme.ink,
        )  # fmt: skip
