"""Words for capacities: bounds, bottlenecks, and the smallest detectable difference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from writepath.analysis.saturation import RESOURCES
from writepath.report.capacity.bounds import UNKNOWN
from writepath.report.model import number
from writepath.report.rows import DAGGER

if TYPE_CHECKING:
    from writepath.records.steps import Saturated
    from writepath.report.capacity.bounds import Capacity
    from writepath.report.capacity.figures import CapacityFigures, Limit

HOST = "host"
UNSATURATED = "none saturated"
SUSPECTED = "load generator (suspected)"
LOWER = "≥ marks a lower bound: the load generator or its host ended the run, or no rate failed within 5 %."
UPPER = "< marks an upper bound: the lowest rate tried failed."
INCONCLUSIVE = "Inconclusive: the run ended before its limit was known to 5 %."
UNRESOLVED = (
    "Not resolved: one of the two rates is a bound or inconclusive, so there is no ratio and no order."
)
LATER = f"{DAGGER} The 201 is sent before the row is in its final store."


def resolution_in_words(figures: CapacityFigures) -> str:
    """The smallest detectable difference, from the A/A control."""
    if not figures.controls:
        return "There is no A/A control: the smallest detectable difference is not known."
    if not figures.control_ratios:
        return "A/A control: not resolved. The smallest detectable difference is not known."
    ratios = ", ".join(f"{ratio:.2f}" for ratio in figures.control_ratios)
    return (
        f"A/A control: measured twice in each block, the baseline sustained {ratios} × its own rate."
        f" Differences below {100 * figures.resolution:.2g} % are within noise."
    )


def limit_in_words(limit: Limit) -> str:
    """`connection pool (jpa-writer), 2 of 3`; the load generator first where it is suspected."""
    if not limit.steps:
        return "not reached"
    if limit.first is not None:
        words = resource_in_words(limit.first)
        words += f", {limit.times} of {limit.steps}" if limit.steps > 1 else ""
    else:
        near = limit.nearest
        words = UNSATURATED if near is None else f"{UNSATURATED}; highest use: {resource_in_words(near)}"
    return f"{SUSPECTED}; {words}" if limit.generator_bound else words


def resource_in_words(found: Saturated) -> str:
    """Which, and whose where it is not the host's."""
    title = RESOURCES.get(found.resource, found.resource)
    return title if found.component == HOST else f"{title} ({found.component})"


def about(capacity: Capacity) -> str:
    """`~2,300/s`, `at least 2,300/s`, `below 200/s`; two digits, rounded down, as a run ends at 5 %."""
    low, high = capacity.limits
    if low:
        words = f"{'~' if low == high else 'at least '}{two_digits(low)}/s"
    else:
        words = UNKNOWN if high == math.inf else f"below {number(high)}/s"
    blocks = len(capacity.by_block)
    if unsure := capacity.inconclusive:
        words += f", inconclusive in {unsure} of {blocks} block{'s' if blocks > 1 else ''}"
    return words


def two_digits(per_s: float) -> str:
    """Rounded down."""
    unit = 10.0 ** (math.floor(math.log10(per_s)) - 1)
    return f"{math.floor(per_s / unit) * unit:,.0f}"
