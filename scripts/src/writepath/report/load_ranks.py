"""Ranks of a load's result: one that is null is infinite or has no value, and these functions tell which."""

import math
from collections.abc import Sequence

from writepath.analysis import stats
from writepath.analysis.stats import Spread
from writepath.analysis.times import QUANTILES
from writepath.records.load import LoadPhase, LoadResult
from writepath.records.measures import Latency
from writepath.report.model import number


def rank(latency: Latency | None, name: str, requests: int | None) -> float | None:
    """Infinite where it falls on a request that was not served; None where there are too few requests for it."""
    if latency is None or requests is None:
        return None
    value: float | None = getattr(latency, name)
    if value is None and stats.carries(requests, QUANTILES[name]):
        return math.inf
    return value


def accepted(result: LoadResult, name: str) -> float | None:
    """From sending to the 201, over scheduled requests."""
    return rank(result.accept_latency_ms, name, result.requests.planned)


def steady(result: LoadResult) -> LoadPhase:
    """The phase at the constant rate that is compared: before the climb, else the last one."""
    before = None if result.climb is None else result.climb.before
    return next((phase for phase in result.phases if phase.name == before), result.phases[-1])


def steady_rank(result: LoadResult, name: str) -> float | None:
    """From the scheduled send time to the 201, in that phase; None of a closed load, which has no schedule."""
    if not result.phases:
        return None
    return rank(steady(result).planned_latency_ms, name, steady(result).planned)


def usual(result: LoadResult, name: str) -> float | None:
    """From sending to the 201, below the path's limit: of the phase before a climb, else of all phases."""
    if result.climb is None:
        return accepted(result, name)
    return rank(steady(result).accept_latency_ms, name, steady(result).planned)


def usual_durable(result: LoadResult, name: str) -> float | None:
    """The same until the row was in its final store."""
    if result.climb is None:
        return durable(result, name)
    known = result.climb.durable_latency_ms
    return None if known.max is None else rank(known, name, steady(result).planned)


def leaves_slo(result: LoadResult) -> str | float | None:
    """The rate from which p99 is above the SLO; text where no rate of the climb was too high; None without a climb."""
    climb = result.climb
    if climb is None:
        return None
    return climb.leaves_slo_per_s or f"> {number(climb.highest_per_s)}"


def from_schedule(result: LoadResult, name: str) -> float | None:
    """From the scheduled send time to the 201; None of a closed load, which has no schedule."""
    if result.planned_per_s is None:
        return None
    return rank(result.planned_latency_ms, name, result.requests.planned)


def durable(result: LoadResult, name: str) -> float | None:
    """From sending until the row was in its final store, over scheduled requests; None where no time is known."""
    known = result.time_to_durable_ms
    return None if known.max is None else rank(known, name, result.requests.planned)


def durable_later(result: LoadResult, name: str) -> float | None:
    """The same over acknowledged requests, and only where it is later than the 201."""
    if not result.durable_later:
        return None
    return rank(result.durable_of_acknowledged_ms, name, result.requests.acknowledged)


def visible(result: LoadResult, name: str) -> float | None:
    """From sending until a search found the row, over the sampled requests."""
    return rank(result.time_to_visible_ms, name, result.visible_samples)


CLEAR = 2.0  # times: with one repetition a smaller difference may be noise


def range_in_words(name: str, known: Sequence[tuple[str, Spread]], slowdown_times: float = 1.0) -> str:
    """`median 2.58 to 8.24 ms (highest: Elasticsearch, 8 shards)`; ∞ where the rank falls on an unserved request.

    known: at least one row's title and its value of the rank. slowdown_times: of the host between the cells; with one
    repetition a row is named only where it differs by more than that explains.
    """
    ordered = sorted(known, key=lambda row: row[1].median)
    (lowest, low), (highest, high) = ordered[0], ordered[-1]
    ends = dict.fromkeys(number(value.median) for value in (low, high))
    words = f"{name} {' to '.join(ends)}{'' if math.isinf(low.median) else ' ms'}"
    if len(ordered) == 1:
        return f"{words} ({lowest})"
    named = [
        *([f"lowest: {lowest}"] if _clear(low, ordered[1][1], slowdown_times) else []),
        *([f"highest: {highest}"] if _clear(ordered[-2][1], high, slowdown_times) else []),
    ]
    return f"{words} ({'; '.join(named)})" if named else words


def _clear(low: Spread, high: Spread, slowdown_times: float) -> bool:
    """Whether two neighbours differ: no overlap of the repetitions; of a single one twice the host's own change."""
    if min(low.repetitions, high.repetitions) > 1:
        return low.high < high.low
    return high.median >= CLEAR * slowdown_times * low.median and not math.isinf(low.median)
