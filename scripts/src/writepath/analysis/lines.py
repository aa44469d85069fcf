"""Samples of one load as lines over time: gauges, growth of counters, and shares of one in another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from writepath.analysis import stats
from writepath.analysis.stats import US_PER_S, Floats, Ints

HOST, K6 = "host", "k6"
GENERATOR_SIDE, SYSTEM_SIDE = "generator", "system"  # where each has separate processors
SIDES = tuple(
    f"{side}_{name}_seconds" for side in (GENERATOR_SIDE, SYSTEM_SIDE) for name in ("busy", "total")
)
WINDOW_US = 5 * US_PER_S  # a second's reading of a queue is chance; five together are a level
COUNTERS = (
    "_seconds",
    "_bytes",
    "_rejected",
    "_refused",
    "consumed",
)  # ends of the names of metrics that only grow


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """One value over time."""

    at_us: Ints
    value: Floats

    def since(self, begin_us: int) -> float:
        """Its mean from then on; 0 where nothing was read since."""
        chosen = self.value[self.at_us >= begin_us]
        return float(chosen.mean()) if chosen.size else 0.0


def is_split(series: Mapping[tuple[str, str], object]) -> bool:
    """Whether load generator and system had separate processors."""
    return (HOST, SIDES[-1]) in series


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """The samples of one load, as lines."""

    series: Mapping[tuple[str, str], tuple[Ints, Floats]]
    cores: int  # that the system could use

    @property
    def start_us(self) -> int:
        """Of the first reading; 0 without any."""
        return min((int(at.min()) for at, _ in self.series.values() if at.size), default=0)

    @property
    def span_us(self) -> int:
        """From the first reading to the last."""
        return max((int(at.max()) for at, _ in self.series.values() if at.size), default=0) - self.start_us

    def having(self, metric: str) -> list[str]:
        """The components that tell it."""
        return sorted(component for component, name in self.series if name == metric)

    def named(self, component: str, prefix: str) -> list[str]:
        """A component's metrics that begin so."""
        return sorted(name for owner, name in self.series if owner == component and name.startswith(prefix))

    def line(self, component: str, metric: str) -> Line | None:
        """A gauge, or the growth of a counter per second, smoothed; else the host's. None without readings."""
        found = self.series.get((component, metric), self.series.get((HOST, metric)))
        if found is None or not found[0].size:
            return None
        at_us, value = found
        if not metric.partition("@")[0].endswith(COUNTERS):
            return Line(at_us=at_us, value=_trailing_means(at_us, value))
        if at_us.size == 1:
            return None  # a second's worth needs two readings
        total = stats.accumulated(value)
        before = np.minimum(_window_starts(at_us), np.arange(at_us.size) - 1)[1:]
        passed_s = np.maximum(at_us[1:] - at_us[before], 1000) / US_PER_S
        return Line(at_us=at_us[1:], value=(total[1:] - total[before]) / passed_s)

    def share(self, component: str, metrics: str) -> Line | None:
        """Of a metric, or of `one / another` at the moments both have; where that is 0 the one is none of it."""
        part, *whole = (self.line(component, metric) for metric in metrics.split(" / "))
        if not whole:
            return part
        return together(
            part, whole[0], lambda one, all_: np.divide(one, all_, out=np.zeros(one.size), where=all_ > 0)
        )


def _window_starts(at_us: Ints) -> np.ndarray:
    """For each reading, the first one that is no more than a window older."""
    return np.searchsorted(at_us, at_us - WINDOW_US)


def _trailing_means(at_us: Ints, value: Floats) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(value)))
    starts, ends = _window_starts(at_us), np.arange(1, at_us.size + 1)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts))


def together(one: Line | None, other: Line | None, of: Callable[[Floats, Floats], Floats]) -> Line | None:
    """A function of two lines, at the moments both have."""
    if one is None or other is None:
        return None
    at_us, ours, theirs = np.intersect1d(one.at_us, other.at_us, return_indices=True)
    return Line(at_us=at_us, value=of(one.value[ours], other.value[theirs])) if at_us.size else None
