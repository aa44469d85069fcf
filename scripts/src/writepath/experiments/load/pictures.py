"""The plots of a load suite: percentiles of each row, and latency over the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis.stats import spread
from writepath.report import load_ranks
from writepath.report.model import Plot
from writepath.report.rows import RANKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from writepath.analysis.stats import Bands
    from writepath.experiments.load.figures import Cell, Suite
    from writepath.records.load import LoadResult
    from writepath.report.data import RowKey
    from writepath.report.plots import Bar, Drawable

    BandsOf = Callable[[Cell], Bands | None]

PERCENTILES = "latency-percentiles.svg", "Percentiles of accept latency: median, p95 and p99 of each variant"
OVER_TIME = (
    "latency-over-time.svg",
    "Accept latency over time, per second: median, p95 and maximum of each variant",
)


def pictures(data: Suite, bands: BandsOf) -> tuple[Plot | None, Plot | None]:
    """Percentiles and course of the rows that have served a request; None where there is nothing to draw."""
    from writepath.report import plots  # noqa: PLC0415 - matplotlib takes half a second to load, and 30 MB

    found = [(row, cells) for row in data.rows if (cells := _served(data, row))]
    drawable = [_drawable(row, cells, bands) for row, cells in found]
    if not drawable:
        return None, None
    file, alt = PERCENTILES
    first = Plot(file=file, alt=alt, svg=plots.percentiles(drawable))
    if not any(one.bands for one in drawable):
        return first, None
    file, alt = OVER_TIME
    return first, Plot(file=file, alt=alt, svg=plots.over_time(drawable, _phases(found)))


def _served(data: Suite, row: RowKey) -> list[Cell]:
    """The row's cells with figures; none where no request was served."""
    cells = [one for one in data.shown(row) if one.result is not None]
    return cells if any(one.result.requests.acknowledged for one in cells if one.result) else []


def _drawable(row: RowKey, cells: list[Cell], bands: BandsOf) -> Drawable:
    """Of several repetitions the first that counts is drawn over time."""
    from writepath.report.plots import Drawable  # noqa: PLC0415 - as above

    results = [one.result for one in cells if one.result is not None]
    return Drawable(title=row.title, bands=bands(cells[0]), bars=_bars(results))


def _bars(results: list[LoadResult]) -> tuple[Bar, ...]:
    from writepath.report import plots  # noqa: PLC0415 - as above

    bars = [
        plots.Bar(
            name=f"{name} until the 201",
            colour=colour,
            value=spread(load_ranks.accepted(one, name) for one in results),
        )
        for name, colour in zip(RANKS, plots.RANK_COLOURS, strict=True)
    ]
    later = [one for one in results if one.durable_later]
    if later:
        value = spread(load_ranks.durable_later(one, "p99") for one in later)
        bars.append(plots.Bar(name="p99 until durable", colour=plots.ORANGE, value=value))
    return tuple(bars)


def _phases(found: list[tuple[RowKey, list[Cell]]]) -> list[tuple[str, float]]:
    """Names and seconds, where all rows have the same."""
    every = {
        tuple((phase.name, phase.seconds) for phase in one.result.phases)
        for _, cells in found
        for one in cells
        if one.result is not None
    }
    return list(every.pop()) if len(every) == 1 else []
