"""Compares cells of every kind by its metrics: with the baseline within blocks, and between suite runs."""

from __future__ import annotations

from writepath.report.comparison.baseline import (
    COLUMNS,
    FEWEST_BLOCKS,
    WORDS,
    caption,
    few,
    judge_by_metric,
    ratio_cell,
    table_row,
    with_baseline,
    worded,
)
from writepath.report.comparison.suites import (
    APART,
    FEWEST_REPETITIONS,
    NOISE_COLUMNS,
    compared,
    letters,
)

__all__ = [
    "APART",
    "COLUMNS",
    "FEWEST_BLOCKS",
    "FEWEST_REPETITIONS",
    "NOISE_COLUMNS",
    "WORDS",
    "caption",
    "compared",
    "few",
    "judge_by_metric",
    "letters",
    "ratio_cell",
    "table_row",
    "with_baseline",
    "worded",
]
