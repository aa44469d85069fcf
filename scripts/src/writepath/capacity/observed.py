"""Makes figures of what was observed during a load, as the modules of `writepath.analysis` take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis.raw import known
from writepath.analysis.stats import US_PER_S
from writepath.measure import sampler
from writepath.records import Generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.analysis.audit import Stored
    from writepath.analysis.figures import Figures
    from writepath.analysis.raw import Sample
    from writepath.analysis.samples import Series
    from writepath.measure.drain import Drained
    from writepath.measure.drive import Driven


def series(samples: Sequence[Sample], from_us: int, to_us: int) -> Series:
    """By component and metric, in the order sampled; only what was sampled from one moment to the other."""
    found: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        if from_us <= sample.at_us <= to_us:
            found.setdefault((sample.component, sample.metric), []).append(sample)
    return {
        key: (np.array([one.at_us for one in own], np.int64), np.array([one.value for one in own]))
        for key, own in found.items()
    }


def drain_seconds(drained: Drained, stored: Stored, load_ended_us: int) -> float:
    """To the last durable row; where no moment is known, to the last change that polling saw."""
    moments_us = known(stored.durable_at_us)
    if not len(moments_us):
        return round(drained.busy_seconds, 3)
    return round(max(0, int(moments_us.max()) - load_ended_us) / US_PER_S, 3)


def generator(driven: Driven, figures: Figures) -> Generator:
    """Whether k6 kept its plan."""
    mean, peak = sampler.cpu_shares(driven.samples, sampler.K6)
    return Generator(
        cpu_share_mean=round(mean, 4),
        cpu_share_peak=round(peak, 4),
        lateness_ms_p99=None if figures.lateness_ms_p99 is None else round(figures.lateness_ms_p99, 3),
        lateness_ms_max=None if figures.lateness_ms_max is None else round(figures.lateness_ms_max, 3),
        exit_code=driven.result.exit_code,
        samples=sum(1 for s in driven.samples if s.component == sampler.K6 and s.metric == "cpu_seconds"),
        samples_late=driven.late,
    )
