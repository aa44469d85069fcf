"""Turns samples into the share of a limit, and finds since when it is over a threshold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from writepath.analysis import stats
from writepath.analysis.stats import US_PER_S, Floats, Ints

WINDOW_US = 5 * US_PER_S  # a second's reading of a queue is chance; five together are a level
STAYS_SHARE = 0.8  # of the readings from then on: one good second in five does not end a saturation
FEWEST_READINGS = 5  # fewer tell a peak from a level no more
SHORTEST_SHARE = 0.1  # of the load: what began in its last moments cannot have limited it


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """One value over time."""

    at_us: Ints
    value: Floats

    def since(self, begin_us: int) -> float:
        """Its mean from then on; 0 where nothing was read since."""
        chosen = self.value[self.at_us >= begin_us]
        return float(chosen.mean()) if chosen.size else 0.0


@dataclass(frozen=True, eq=False)
class Signal:
    """What of a resource's limit is used: 1.0 is all of it. words: the evidence from a moment on."""

    resource: str  # a key of RESOURCES
    component: str
    used: Line
    threshold: float
    words: Callable[[int], str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """The samples of one load, as lines."""

    series: Mapping[tuple[str, str], tuple[Ints, Floats]]

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

    def amount(self, component: str, metric: str, begin_us: int) -> float:
        """The sum of all readings from then on."""
        at_us, value = self.series[component, metric]
        return float(value[at_us >= begin_us].sum())

    def level(self, component: str, metric: str) -> Line | None:
        """A gauge, smoothed."""
        found = self.series.get((component, metric))
        if found is None or not found[0].size:
            return None
        at_us, value = found
        return Line(at_us=at_us, value=_trailing_means(at_us, value))

    def rate_per_s(self, component: str, metric: str) -> Line | None:
        """The growth of a counter, smoothed; a second's worth needs two readings."""
        found = self.series.get((component, metric))
        if found is None or found[0].size < 2:  # noqa: PLR2004
            return None
        at_us, total = found[0], stats.accumulated(found[1])
        before = np.minimum(_window_starts(at_us), np.arange(at_us.size) - 1)[1:]
        passed_s = np.maximum(at_us[1:] - at_us[before], 1000) / US_PER_S
        return Line(at_us=at_us[1:], value=(total[1:] - total[before]) / passed_s)


def ratio(part: Line | None, whole: Line | None) -> Line | None:
    """At the moments both have; where the whole is 0 the part is none of it."""
    if part is None or whole is None:
        return None
    at_us, ours, theirs = np.intersect1d(part.at_us, whole.at_us, return_indices=True)
    if not at_us.size:
        return None
    below = whole.value[theirs]
    value = np.divide(part.value[ours], below, out=np.zeros(at_us.size), where=below > 0)
    return Line(at_us=at_us, value=value)


def where(used: Line | None, condition: Line | None, least: float) -> Line | None:
    """What is used while another line is at least so high; elsewhere nothing."""
    if used is None or condition is None:
        return None
    at_us, ours, theirs = np.intersect1d(used.at_us, condition.at_us, return_indices=True)
    if not at_us.size:
        return None
    return Line(at_us=at_us, value=np.where(condition.value[theirs] >= least, used.value[ours], 0.0))


def begins_us(signal: Signal) -> int | None:
    """The first moment over the threshold from which it stays so: soon after, and to the end."""
    over = signal.used.value >= signal.threshold
    count = over.size
    if count < FEWEST_READINGS:
        return None
    fewest = max(FEWEST_READINGS, int(np.ceil(SHORTEST_SHARE * count)))
    sums = np.concatenate(([0], np.cumsum(over)))
    for first in np.flatnonzero(over[: count - fewest + 1]):
        soon = (sums[first + FEWEST_READINGS] - sums[first]) / FEWEST_READINGS
        to_the_end = (sums[count] - sums[first]) / (count - first)
        if min(soon, to_the_end) >= STAYS_SHARE:
            return int(signal.used.at_us[first])
    return None


def _window_starts(at_us: Ints) -> np.ndarray:
    """For each reading, the first one that is no more than a window older."""
    return np.searchsorted(at_us, at_us - WINDOW_US)


def _trailing_means(at_us: Ints, value: Floats) -> Floats:
    sums = np.concatenate(([0.0], np.cumsum(value)))
    starts, ends = _window_starts(at_us), np.arange(1, at_us.size + 1)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts))
