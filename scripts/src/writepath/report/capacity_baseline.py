"""How much does a path carry beside the baseline in the same block, where host and day were the same?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.report.comparison_table import ratio_cell
from writepath.report.model import Cell, Column

if TYPE_CHECKING:
    from writepath.report.capacity_figures import CapacityFigures, VariantFigures

BY_BASELINE = Column(key="by_baseline", title="by the baseline's", unit="1 = as much")


def by_baseline(figures: CapacityFigures, one: VariantFigures) -> Cell:
    """Block by block, with the interval over blocks; nothing of the baseline itself, or without it."""
    compared = figures.by_baseline(one)
    return Cell() if compared is None else ratio_cell(compared)


def baseline_in_words(figures: CapacityFigures) -> str:
    """What BY_BASELINE is, of which variant."""
    base = figures.one(figures.suite.baseline)
    if base is None:
        return ""
    return (
        f" By the baseline's: last pass by that of {base.label} in the same block; geometric mean over the blocks,"
        " and where there are several its 95 % interval (Student's t on the logarithms)."
    )
