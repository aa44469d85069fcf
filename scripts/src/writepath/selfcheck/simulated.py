"""What would suites look like whose truth we know? Simulated on recorded noise: its sizes, its outliers, its memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import lfilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.analysis.stats import Floats

RECORDED = Path(__file__).with_name("recorded_noise.json")
SETTLE = 50  # values before the first one that is used: an autoregression begins nowhere in particular


@dataclass(frozen=True, kw_only=True, eq=False)
class Noise:
    """Of a run's values, as logarithms: x(t) = memory * x(t-1) + a recorded shock."""

    source: str
    metrics: tuple[str, ...]
    memory: Floats  # by metric, lag-1 autocorrelation
    shocks: Floats  # recorded, one row a moment: metrics stay together
    spread: Floats  # by metric, standard deviation of a run's value


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """A simulated suite: values by block (rows) and metric (columns)."""

    base: Floats
    again: Floats
    other: Floats


def recorded(path: Path = RECORDED) -> Noise:
    """The noise of the committed file."""
    known = json.loads(path.read_text(encoding="utf-8"))
    series = [np.array(one["values"]) for one in known["series"]]
    return fitted(series, known["metrics"], known["source"], course=known["within_a_run"])


def fitted(series: Sequence[Floats], metrics: Sequence[str], source: str, *, course: bool) -> Noise:
    """Series: of one variant each, by time (rows) and metric; a variant's own level is no noise.

    course: the values are of one run; that it grows faster or slower all along is the course of every run alike.
    """
    logs = [_without_level(np.log(one), course=course) for one in series]
    before, after = (np.concatenate([one[part] for one in logs]) for part in (slice(-1), slice(1, None)))
    memory = np.clip((before * after).sum(axis=0) / (before**2).sum(axis=0), 0.0, 0.95)
    shocks = after - memory * before
    shocks -= shocks.mean(axis=0)
    freedom = sum(len(one) - 1 - course for one in logs)
    spread = np.sqrt(sum((one**2).sum(axis=0) for one in logs) / freedom)
    shocks *= spread * np.sqrt(1 - memory**2) / shocks.std(axis=0)
    return Noise(source=source, metrics=tuple(metrics), memory=memory, shocks=shocks, spread=spread)


def _without_level(logs: Floats, *, course: bool) -> Floats:
    at = np.arange(len(logs), dtype=np.float64)
    fit = np.polynomial.polynomial.polyfit(at, logs, 1 if course else 0)
    return logs - np.polynomial.polynomial.polyval(at, fit).T


def suite(noise: Noise, blocks: int, factor: float, rng: np.random.Generator) -> Cells:
    """Three runs a block in random order: the baseline, again, and a variant that is slower by `factor`."""
    drawn = noise.shocks[rng.integers(len(noise.shocks), size=SETTLE + 3 * blocks)]
    run = np.column_stack(
        [lfilter([1.0], [1.0, -memory], drawn[:, index]) for index, memory in enumerate(noise.memory)]
    )[SETTLE:]
    order = np.argsort(rng.random((blocks, 3)), axis=1) + 3 * np.arange(blocks)[:, None]
    base, again, other = (np.exp(run[order[:, cell]]) for cell in range(3))
    return Cells(base=base, again=again, other=other * factor)
