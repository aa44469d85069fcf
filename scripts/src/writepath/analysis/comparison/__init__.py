"""Is a difference real? Ratios with intervals, a rank check, a correction for several comparisons, and a word.

Pure functions on one value a run; nothing here reads a file. A run is the unit: the requests within it hang together
and are never taken for independent samples.
"""

from __future__ import annotations

from writepath.analysis.comparison.ratio import Better, Estimate, apart, middle, paired, unpaired
from writepath.analysis.comparison.words import FEWEST_PAIRS, SAME_PERCENT, Judged, Judgement, judge

__all__ = [
    "FEWEST_PAIRS",
    "SAME_PERCENT",
    "Better",
    "Estimate",
    "Judged",
    "Judgement",
    "apart",
    "judge",
    "middle",
    "paired",
    "unpaired",
]
