"""What was sampled while a load lasted? Series, as `writepath.sampled` and `writepath.saturation` take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.run.sampler import Sample
    from writepath.sampled import Series


def series(samples: Sequence[Sample], from_ms: float, to_ms: float) -> Series:
    """By component and metric, in the order sampled; only what was sampled from one moment to the other."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for sample in samples:
        if from_ms <= sample.at_ms <= to_ms:
            found.setdefault((sample.component, sample.metric), []).append((sample.at_ms, sample.value))
    arrays = {key: np.asarray(points, dtype=np.float64) for key, points in found.items()}
    return {key: (points[:, 0], points[:, 1]) for key, points in arrays.items()}
