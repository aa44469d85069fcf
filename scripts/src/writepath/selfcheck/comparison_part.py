"""Whether two of the same are called different too often, and a slower one is seen: simulated, on recorded noise."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import lfilter

from writepath.analysis.comparison import Word, judge, middle, paired
from writepath.analysis.stats import Floats
from writepath.errors import UsageError
from writepath.experiments import read
from writepath.records.load import LoadResult
from writepath.report.data import SuiteData
from writepath.selfcheck.scale import missed

RECORDED = Path(__file__).with_name("recorded_noise.json")
METRICS = ("median", "p95", "p99")
FEWEST_RUNS = 12  # of a series: six blocks, two runs each
SUITES = 1000  # of each kind, so that the rates are stable
PAIRS, DIFFERENT_GOAL = 40, 2  # of so many A/A pairs at most so many are called different
TRIALS, SLOWER_GOAL = 10, 9  # of so many suites with a slowed variant at least so many call it slower
BLOCKS, FACTOR = 10, 1.1
GOALS = (  # factor of one variant's times, the words that count, of how many suites exactly, and what is said
    (1.0, ("faster", "slower"), PAIRS, "identical variants called different in {} of the first {} pairs"),
    (
        FACTOR,
        ("slower",),
        TRIALS,
        f"variant slower by {FACTOR - 1:.0%} called slower in {{}} of the first {{}} suites of {BLOCKS} blocks",
    ),
)
SEED = 20261122
SLOWED_FIGURE = "median"  # what a slowdown moves as a whole; the others are printed without a goal
SETTLE = 50  # values before the first one that is used: an autoregression begins nowhere in particular


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """Of a run's values, as logarithms: x(t) = memory * x(t-1) + a recorded shock."""

    source: str
    metrics: tuple[str, ...]
    memory: Floats  # by metric, lag-1 autocorrelation
    shocks: Floats  # recorded, one row a moment: metrics stay together
    spread: Floats  # by metric, standard deviation of a run's value


def run(say: Callable[[str], None], noise: Noise | None = None, suites: int = SUITES) -> bool:
    """Whether both goals are met: by the first suites exactly, and by the rates over all of them."""
    noise = noise or recorded()
    say(f"  simulated with recorded noise: {noise.source}")
    for index, name in enumerate(noise.metrics):
        say(
            f"  {name}: standard deviation of a run {noise.spread[index]:.1%}, autocorrelation between runs"
            f" {noise.memory[index]:.2f}"
        )
    good = []
    for factor, called, first_of, what in GOALS:
        found = words(noise, factor, suites)
        for index, name in enumerate(noise.metrics):
            hits = [one[index] in called for one in found]
            first, rate = sum(hits[:first_of]), sum(hits) / len(hits)
            if factor == 1.0:
                goal, met = f"goal {DIFFERENT_GOAL} of {PAIRS}", max(first, rate * PAIRS) <= DIFFERENT_GOAL
            elif name == SLOWED_FIGURE:
                goal, met = f"goal {SLOWER_GOAL} of {TRIALS}", min(first, rate * TRIALS) >= SLOWER_GOAL
            else:
                goal, met = "no goal", True
            told = what.format(first, min(first_of, len(hits)))
            say(f"  {name}: {told} ({goal}), {rate:.1%} of {len(hits):,}{missed(met)}")
            good.append(met)
    return all(good)


def words(noise: Noise, factor: float, suites: int) -> list[tuple[Word, ...]]:
    """By suite, the word of each figure; a function of the seed alone."""
    rng = np.random.default_rng(SEED)
    return [_words(suite(noise, BLOCKS, factor, rng)) for _ in range(suites)]


def _words(cells: Sequence[Floats]) -> tuple[Word, ...]:
    found = []
    for base, again, other in zip(*(one.T.tolist() for one in cells), strict=True):
        estimate = paired(other, middle(base, again), "lower")
        found.append(judge([estimate], "lower", paired(again, base, "lower"))[0].word)
    return tuple(found)


def suite(
    noise: Noise, blocks: int, factor: float, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """A simulated suite, values by block and metric: baseline, its A/A control, a variant slower by `factor`."""
    drawn = noise.shocks[rng.integers(len(noise.shocks), size=SETTLE + 3 * blocks)]
    run = np.column_stack(
        [lfilter([1.0], [1.0, -memory], drawn[:, index]) for index, memory in enumerate(noise.memory)]
    )[SETTLE:]
    order = np.argsort(rng.random((blocks, 3)), axis=1) + 3 * np.arange(blocks)[:, None]
    base, again, other = (np.exp(run[order[:, cell]]) for cell in range(3))
    return base, again, other * factor


def recorded(path: Path = RECORDED) -> Noise:
    """The noise of the committed file."""
    known = json.loads(path.read_text(encoding="utf-8"))
    series = [np.array(one["values"]) for one in known["series"]]
    return fitted(series, known["metrics"], known["source"], course=known["within_a_run"])


def fitted(series: Sequence[Floats], metrics: Sequence[str], source: str, *, course: bool) -> Noise:
    """Series: of one variant each, by time (rows) and metric; a variant's own level is no noise.

    course: the values are of one run; that it grows faster or slower all along is the course of every run alike.
    """
    logs = []
    for one in series:
        at = np.arange(len(one), dtype=np.float64)
        fit = np.polynomial.polynomial.polyfit(at, np.log(one), 1 if course else 0)
        logs.append(np.log(one) - np.polynomial.polynomial.polyval(at, fit).T)
    before, after = (np.concatenate([one[part] for one in logs]) for part in (slice(-1), slice(1, None)))
    memory = np.clip((before * after).sum(axis=0) / (before**2).sum(axis=0), 0.0, 0.95)
    shocks = after - memory * before
    shocks -= shocks.mean(axis=0)
    freedom = sum(len(one) - 1 - course for one in logs)
    spread = np.sqrt(sum((one**2).sum(axis=0) for one in logs) / freedom)
    shocks *= spread * np.sqrt(1 - memory**2) / shocks.std(axis=0)
    return Noise(source=source, metrics=tuple(metrics), memory=memory, shocks=shocks, spread=spread)


def noise_of(folders: Sequence[Path]) -> dict[str, Any]:
    """The content of the committed file, of suite runs: the values of the baseline's cells in the order of time."""
    series, names = [], []
    for folder in folders:
        data: SuiteData[LoadResult] = read.saved(folder)
        own = [one for one in data.cells if one.record.variant == data.index.baseline and one.counts]
        own.sort(key=lambda one: one.record.started_at)
        rows = [
            [getattr(one.result.accept_latency_ms, name) for name in METRICS] for one in own if one.result
        ]
        values = [row for row in rows if None not in row]
        if len(values) < FEWEST_RUNS:
            raise UsageError(
                f"{folder}: {len(values)} usable baseline runs, {FEWEST_RUNS} are needed;"
                " make bench-all SUITE=compare VARIANTS=jpa REPS=10 makes 20"
            )
        series.append({"variant": data.index.baseline, "values": values})
        names.append(f"{data.index.suite} {data.index.stamp}")
    source = f"baseline runs of {', '.join(names)}, two per block: {', '.join(METRICS)} of accept latency, ms"
    return {"source": source, "within_a_run": False, "metrics": list(METRICS), "series": series}


# In scripts/: PYTHONPATH=src python -m writepath.selfcheck.comparison_part <suite run>
if __name__ == "__main__":
    noise_found = noise_of([Path(name) for name in sys.argv[1:]])
    RECORDED.write_text(json.dumps(noise_found, indent=1) + "\n", encoding="utf-8")
