"""How much does a path sustain against the baseline in the same block, where host and day were the same?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report.capacity_figures import times
from writepath.report.comparison import ratio_cell
from writepath.report.model import Cell, Column, text

if TYPE_CHECKING:
    from writepath.report.capacity_figures import CapacityFigures, VariantFigures

BY_BASELINE = Column(key="by_baseline", title="× baseline")


def by_baseline(figures: CapacityFigures, one: VariantFigures) -> Cell:
    """Block by block, with the interval over blocks; empty for the baseline itself, or without it."""
    base = figures.one(figures.suite.baseline)
    if base is None or base is one:
        return Cell()
    if figures.compare(one.sustained, base.sustained) == "not resolved":
        return text("not resolved")
    return ratio_cell(times(one.sustained, base.sustained))


def baseline_in_words(figures: CapacityFigures) -> str:
    """What BY_BASELINE is, of which variant."""
    base = figures.one(figures.suite.baseline)
    if base is None:
        return ""
    return (
        f" × baseline: highest passing rate ÷ that of {base.label} in the same block; geometric mean over the blocks,"
        " with its 95 % interval if there are several (Student's t on the logarithms)."
    )
