"""Samples of one load: what each component used, the depth of the queue, the load generator, and values over time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from writepath.analysis import stats
from writepath.analysis.stats import US_PER_S, Floats, Ints
from writepath.load.parquet import column_of
from writepath.records.measures import Resource

Series = Mapping[tuple[str, str], tuple[Ints, Floats]]  # (component, metric): epoch us, values

HOST, K6 = "host", "k6"
GENERATOR_SIDE, SYSTEM_SIDE = "generator", "system"  # where each has separate processors
SIDES = tuple(
    f"{side}_{name}_seconds" for side in (GENERATOR_SIDE, SYSTEM_SIDE) for name in ("busy", "total")
)
NOTHING = (np.empty(0, np.int64), np.empty(0))
PEAK_WINDOW_S = 10.0
RESIDENT = "rss_bytes"
HOST_METRICS = ("total_seconds", "busy_seconds", "runner_seconds", "disk_write_bytes", *SIDES)
QUEUE_METRICS = ("queue_ready", "queue_unacknowledged")
POOL_WAITING, TIME_WAIT = "pool_waiting", "time_wait_sockets"
READ_METRICS = (  # counters of an application that reads
    *("sql_statements", "sql_rows", "read_requests"),
    *("pool_acquired", "pool_acquire_seconds", "pool_used", "pool_usage_seconds"),
)
METRICS = (
    *("cpu_seconds", RESIDENT, "write_bytes", POOL_WAITING, TIME_WAIT),
    *(*QUEUE_METRICS, *HOST_METRICS, *READ_METRICS),
)
SAMPLES_SCHEMA = pa.schema(
    [("at_us", pa.int64()), ("component", pa.string()), ("metric", pa.string()), ("value", pa.float64())]
)
NATIVE = "native"


def needed(samples: pa.Table, also: Callable[[str], bool] = lambda _: False) -> pa.Table:
    """The samples that figures are made of, by component, metric and time. also: whether a metric is one, too."""
    order = [(name, "ascending") for name in ("component", "metric", "at_us")]
    seen = pc.unique(column_of(samples, "metric")).to_pylist()
    metrics = pa.array([name for name in seen if name in METRICS or also(name)], pa.string())
    own = samples.filter(pc.is_in(column_of(samples, "metric"), metrics))
    return own.sort_by(order).select(SAMPLES_SCHEMA.names)


def series(samples: pa.Table) -> Series:
    """By component and metric, times in microseconds and values."""
    at_us, value = (column_of(samples, name).to_numpy() for name in ("at_us", "value"))
    words = zip(*(column_of(samples, name).to_pylist() for name in ("component", "metric")), strict=True)
    places: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(words):
        places.setdefault(key, []).append(place)
    return {key: (at_us[own], value[own]) for key, own in places.items()}


def inside(seen: Series, from_us: int, seconds: float) -> Series:
    """What was sampled from a moment on, for so long."""
    to_us = from_us + round(seconds * US_PER_S)
    return {
        key: (at_us[within], value[within])
        for key, (at_us, value) in seen.items()
        if (within := (at_us >= from_us) & (at_us <= to_us)).any()
    }


def is_split(series: Series) -> bool:
    """Whether load generator and system had separate processors."""
    return (HOST, SIDES[-1]) in series


def queue_depth(seen: Series) -> tuple[Ints, Floats]:
    """Epoch us, and posts ready and unacknowledged: the most that any service sees of the one queue."""
    depth: dict[int, float] = {}
    for (component, metric), (at_us, ready) in seen.items():
        if metric != "queue_ready":
            continue
        moments, unacknowledged = seen.get((component, "queue_unacknowledged"), NOTHING)
        held = dict(zip(moments.tolist(), unacknowledged.tolist(), strict=True))
        for at, value in zip(at_us.tolist(), ready.tolist(), strict=True):
            depth[at] = max(depth.get(at, 0.0), value + held.get(at, 0.0))
    at = sorted(depth)
    return np.array(at, np.int64), np.array([depth[moment] for moment in at], np.float64)


def growth(seen: Series, component: str, metric: str) -> float | None:
    """Between the first and the last sample; None where there are no two."""
    _, values = seen.get((component, metric), NOTHING)
    return float(values[-1] - values[0]) if len(values) > 1 else None


def _of_host(seen: Series, metric: str) -> float:
    """Growth between the first and the last sample; 0 where there are no two."""
    return growth(seen, HOST, metric) or 0.0


def shared_busy_share(seen: Series) -> float | None:
    """Of all processor time between the first and the last sample; None where there are no two.

    None, too, where the load generator has separate processors: then the system's work takes nothing from it.
    """
    total = 0.0 if is_split(seen) else _of_host(seen, "total_seconds")
    return _of_host(seen, "busy_seconds") / total if total > 0 else None


def foreign_share(seen: Series) -> float | None:
    """Of all processor time, what neither the run nor its runner used; the larger share of generator and system."""
    runner = _of_host(seen, "runner_seconds")
    used = {
        component: float(stats.accumulated(value)[-1])
        for (component, metric), (_, value) in seen.items()
        if metric == "cpu_seconds"
    }
    generator, system = runner + used.pop(K6, 0.0), sum(used.values())
    sides = {GENERATOR_SIDE + "_": generator, SYSTEM_SIDE + "_": system}
    shares = [
        max(0.0, (_of_host(seen, f"{side}busy_seconds") - ours) / total)
        for side, ours in (sides if is_split(seen) else {"": generator + system}).items()
        if (total := _of_host(seen, f"{side}total_seconds")) > 0
    ]
    return max(shares, default=None)


def resources(seen: Series) -> dict[str, Resource]:
    """By component, what it used between the first and the last sample."""
    return {
        component: Resource(
            cpu_seconds=float(stats.accumulated(cpu)[-1]),
            rss_peak_bytes=int(seen[component, RESIDENT][1].max()),
            write_bytes=_written(seen, component),
        )
        for (component, metric), (_, cpu) in seen.items()
        if metric == "cpu_seconds" and (component, RESIDENT) in seen
    }


def _written(seen: Series, component: str) -> int | None:
    """Unknown where no reading could tell, or only some: those were of another process."""
    _, written = seen.get((component, "write_bytes"), NOTHING)
    known = len(written) == len(seen[component, "cpu_seconds"][1])
    return int(stats.accumulated(written)[-1]) if known else None


def disk_written(seen: Series) -> int | None:
    """To all disks of the host; None where they were not sampled."""
    written = seen.get((HOST, "disk_write_bytes"))
    return None if written is None else int(stats.accumulated(written[1])[-1])


def pool_waiting(seen: Series) -> Floats:
    """Requests that waited for a connection in each sample, of the service with the most; empty where none tells."""
    found = [value for (_, metric), (_, value) in seen.items() if metric == POOL_WAITING]
    return max(found, key=lambda value: float(value.sum()), default=np.empty(0))


def time_wait(seen: Series, runtime: str) -> Floats:
    """Sockets in TIME_WAIT in each sample; empty where the load's sockets are not the host's, as in containers."""
    return seen.get((HOST, TIME_WAIT), NOTHING)[1] if runtime == NATIVE else NOTHING[1]


def system_shares(seen: Series, cores: int) -> dict[str, float]:
    """By component but the load generator, what it used of so many processors; empty without two samples."""
    used = {
        component: (at_us, float(stats.accumulated(value)[-1]))
        for (component, metric), (at_us, value) in seen.items()
        if metric == "cpu_seconds" and component != K6
    }
    span_us = max((int(at_us[-1] - at_us[0]) for at_us, _ in used.values()), default=0)
    return {name: cpu * US_PER_S / (span_us * cores) for name, (_, cpu) in used.items()} if span_us else {}


def system_share(seen: Series, cores: int) -> float | None:
    """Of so many processors, what all components but the load generator used; None without two samples."""
    shares = system_shares(seen, cores)
    return sum(shares.values()) if shares else None


def queue_peak(seen: Series) -> float | None:
    """The highest sum of ready and unacknowledged posts in one reading."""
    _, depth = queue_depth(seen)
    return float(depth.max()) if len(depth) else None


def generator_share(seen: Series) -> tuple[float, float, int]:
    """Of one core, k6's mean and its highest mean of 10 s (or of all, if shorter); and how many samples say so."""
    at_us, cpu = seen.get((K6, "cpu_seconds"), NOTHING)
    if not at_us.size or at_us[-1] <= at_us[0]:
        return 0.0, 0.0, len(cpu)
    at_s, used = at_us / US_PER_S, stats.accumulated(cpu)
    mean = used[-1] / (at_s[-1] - at_s[0])
    first = np.searchsorted(at_s, at_s - PEAK_WINDOW_S, side="right") - 1  # the last sample that long before
    last = np.flatnonzero(first >= 0)
    first = first[last]
    peak = ((used[last] - used[first]) / (at_s[last] - at_s[first])).max(initial=mean)
    return float(mean), float(peak), len(cpu)


WINDOW_US = 5 * US_PER_S  # a second's reading of a queue is chance; five together are a level
COUNTERS = ("_seconds", "_bytes", "_rejected", "_refused", "consumed")  # ends of metrics that only grow


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """One value over time."""

    at_us: Ints
    value: Floats

    def since(self, begin_us: int) -> float:
        """Its mean from then on; 0 where nothing was read since."""
        chosen = self.value[self.at_us >= begin_us]
        return float(chosen.mean()) if chosen.size else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """The samples of one load, as lines."""

    series: Series
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
