"""The sentences that a load suite's page opens with; no ranking where the cells cannot decide it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.analysis.stats import spread
from writepath.report import load_ranks
from writepath.report.model import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from writepath.analysis.stats import Spread
    from writepath.experiments.load.figures import Suite
    from writepath.records.load import LoadResult

CLEAR = 2.0  # times: with one repetition a smaller difference may be noise
ONE_REPETITION = "One repetition: small differences may be noise."


@dataclass(frozen=True, kw_only=True)
class _Known:
    """A row's value of one rank."""

    title: str
    value: Spread


def answer(data: Suite) -> tuple[str, ...]:
    """How long the 201 takes, and whether anything acknowledged was lost. data: without controls."""
    known = {name: list(_known(data, name)) for name in ("median", "p99")}
    told = [_times(name, rows) for name, rows in known.items() if rows]
    if not told:
        times = "No cell has valid figures; the table of runs has the reasons."
    else:
        times = f"{_load(data)}{', '.join(told)}."
        if data.index.repetitions == 1 and len(data.rows) > 1:
            times += f" {ONE_REPETITION}"
    return times, losses(data)


def _load(data: Suite) -> str:
    """At which rate, where it is the same for all."""
    peaks = {result.planned_peak_per_s for result in _results(data)}
    peak = peaks.pop() if len(peaks) == 1 else None
    return "Time until the 201: " if peak is None else f"Time until the 201 at up to {number(peak)}/s: "


def _results(data: Suite) -> Iterator[LoadResult]:
    """Of the cells that count."""
    yield from (one.result for one in data.cells if one.counts and one.result is not None)


def _known(data: Suite, name: str) -> Iterator[_Known]:
    for row in data.rows:
        value = spread(
            load_ranks.accepted(one.result, name)
            for one in data.of(row)
            if one.counts and one.result is not None
        )
        if value is not None:
            yield _Known(title=row.title, value=value)


def _times(name: str, rows: list[_Known]) -> str:
    """`median 2.58 to 8.24 ms (highest: Elasticsearch, 8 shards)`."""
    ordered = sorted(rows, key=lambda row: row.value.median)
    lowest, highest = ordered[0], ordered[-1]
    words = f"{name} {_range(lowest.value.median, highest.value.median)}"
    if len(ordered) == 1:
        return f"{words} ({lowest.title})"
    named = [
        f"{which}: {own.title}"
        for which, own, low, high in (
            ("lowest", lowest, ordered[0], ordered[1]),
            ("highest", highest, ordered[-2], ordered[-1]),
        )
        if _clear(low.value, high.value)
    ]
    return f"{words} ({'; '.join(named)})" if named else words


def _clear(low: Spread, high: Spread) -> bool:
    """Whether two neighbours differ: no overlap of the repetitions; of a single one a factor of two."""
    if min(low.repetitions, high.repetitions) > 1:
        return low.high < high.low
    return high.median >= CLEAR * low.median and not math.isinf(low.median)


def _range(low: float, high: float) -> str:
    """`2.58 to 8.24 ms`; ∞ where the rank falls on a request that was not acknowledged."""
    ends = list(dict.fromkeys(number(value) for value in (low, high)))
    return " to ".join(ends) + ("" if math.isinf(low) else " ms")


def losses(data: Suite) -> str:
    """Acknowledged writes that the audit did not find, over all cells: a cell with losses does not count."""
    audits = [(one.record.title, one.result.audit) for one in data.cells if one.result is not None]
    lost: dict[str, int] = {}
    for title, audit in audits:
        count = audit.lost + audit.stranded + (audit.vanished or 0)
        if count:
            lost[title] = lost.get(title, 0) + count
    unread = len(data.cells) - sum(1 for _, audit in audits if audit.reads)
    words = [f"{count:,} acknowledged writes were lost ({title})" for title, count in lost.items()]
    if unread:
        words.append(f"in {unread} of {len(data.cells)} cells the store was not read back")
    if not words:
        return "No acknowledged write was lost."
    text = "; ".join(words)
    return f"{text[0].upper()}{text[1:]}."
