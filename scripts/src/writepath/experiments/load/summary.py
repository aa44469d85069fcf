"""The sentences and pictures that a load suite's page opens with; no ranking where the cells cannot decide it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from writepath.analysis.stats import spread
from writepath.report import load_ranks
from writepath.report.model import Plot, number
from writepath.report.rows import RANKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from writepath.analysis.stats import Bands, Spread
    from writepath.experiments.load.tables import Own, Suite
    from writepath.records.load import LoadResult
    from writepath.report.plots import Bar

    BandsOf = Callable[[Own], Bands | None]
    Known = tuple[str, Spread]  # title of a row and its value of a rank

CLEAR = 2.0  # times: with one repetition a smaller difference may be noise
ONE_REPETITION = "One repetition: small differences may be noise."


def answer(data: Suite) -> tuple[str, ...]:
    """How long the 201 takes, and whether anything acknowledged was lost. data: without controls."""
    told = [_times(name, rows) for name in ("median", "p99") if (rows := _known(data, name))]
    if not told:
        times = "No cell has valid figures; the table of runs has the reasons."
    else:
        peaks = {one.result.planned_peak_per_s for one in data.cells if one.counts and one.result is not None}
        peak = peaks.pop() if len(peaks) == 1 else None
        rate = "" if peak is None else f" at up to {number(peak)}/s"
        times = f"Time until the 201{rate}: {', '.join(told)}."
        if data.index.repetitions == 1 and len(data.rows) > 1:
            times += f" {ONE_REPETITION}"
    return times, _losses(data)


def _known(data: Suite, name: str) -> list[Known]:
    found = (
        (row.title, spread(load_ranks.accepted(one.result, name) for one in data.of(row) if one.counts and one.result))
        for row in data.rows
    )  # fmt: skip
    return [(title, value) for title, value in found if value is not None]


def _times(name: str, rows: Sequence[Known]) -> str:
    """`median 2.58 to 8.24 ms (highest: Elasticsearch, 8 shards)`; ∞ where the rank falls on an unserved request."""
    ordered = sorted(rows, key=lambda row: row[1].median)
    (lowest, low), (highest, high) = ordered[0], ordered[-1]
    ends = dict.fromkeys(number(value.median) for value in (low, high))
    words = f"{name} {' to '.join(ends)}{'' if math.isinf(low.median) else ' ms'}"
    if len(ordered) == 1:
        return f"{words} ({lowest})"
    named = [
        *([f"lowest: {lowest}"] if _clear(low, ordered[1][1]) else []),
        *([f"highest: {highest}"] if _clear(ordered[-2][1], high) else []),
    ]
    return f"{words} ({'; '.join(named)})" if named else words


def _clear(low: Spread, high: Spread) -> bool:
    """Whether two neighbours differ: no overlap of the repetitions; of a single one a factor of two."""
    if min(low.repetitions, high.repetitions) > 1:
        return low.high < high.low
    return high.median >= CLEAR * low.median and not math.isinf(low.median)


def _losses(data: Suite) -> str:
    """Acknowledged writes that the audit did not find, over all cells: a cell with losses does not count."""
    audits = [(one.record.title, one.result.audit) for one in data.cells if one.result is not None]
    lost: dict[str, int] = {}
    for title, audit in audits:
        if count := audit.lost + audit.stranded + (audit.vanished or 0):
            lost[title] = lost.get(title, 0) + count
    unread = len(data.cells) - sum(1 for _, audit in audits if audit.reads)
    words = [f"{count:,} acknowledged writes were lost ({title})" for title, count in lost.items()]
    if unread:
        words.append(f"in {unread} of {len(data.cells)} cells the store was not read back")
    text = "; ".join(words) or "no acknowledged write was lost"
    return f"{text[0].upper()}{text[1:]}."


def pictures(data: Suite, bands: BandsOf) -> tuple[Plot | None, Plot | None]:
    """Percentiles and course of the rows that have served a request; None where there is nothing to draw."""
    from writepath.report import plots  # noqa: PLC0415 - matplotlib takes half a second to load, and 30 MB

    drawable, phases = [], set()
    for row in data.rows:
        cells = [one for one in data.shown(row) if one.result is not None]
        results = [one.result for one in cells if one.result is not None]
        if any(one.requests.acknowledged for one in results):
            # of several repetitions the first that counts is drawn over time
            drawable.append(plots.Drawable(title=row.title, bands=bands(cells[0]), bars=_bars(results)))
            phases |= {tuple((phase.name, phase.seconds) for phase in one.phases) for one in results}
    if not drawable:
        return None, None
    first = Plot(
        file="latency-percentiles.svg",
        alt="Percentiles of accept latency: median, p95 and p99 of each variant",
        svg=plots.percentiles(drawable),
    )
    if not any(one.bands for one in drawable):
        return first, None
    alt = "Accept latency over time, per second: median, p95 and maximum of each variant"
    shared = phases.pop() if len(phases) == 1 else ()
    return first, Plot(file="latency-over-time.svg", alt=alt, svg=plots.over_time(drawable, shared))


def _bars(results: Sequence[LoadResult]) -> tuple[Bar, ...]:
    from writepath.report import plots  # noqa: PLC0415 - as above

    bars = [
        plots.Bar(
            name=f"{name} until the 201",
            colour=colour,
            value=spread(load_ranks.accepted(one, name) for one in results),
        )
        for name, colour in zip(RANKS, plots.RANK_COLOURS, strict=True)
    ]
    if later := [load_ranks.durable_later(one, "p99") for one in results if one.durable_later]:
        bars.append(plots.Bar(name="p99 until durable", colour=plots.ORANGE, value=spread(later)))
    return tuple(bars)
