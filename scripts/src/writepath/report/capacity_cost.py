"""What does a write cost, and how late is it, at a rate that several variants sustain? Pure, from steps that passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.analysis import stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from writepath.analysis.stats import Spread
    from writepath.records.capacity import Hold
    from writepath.report.capacity_figures import VariantFigures

GENERATOR = "k6"
MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of a thousand writes really stored."""

    cpu_s: Spread | None  # of all components but the generator
    written_mib: Spread | None


def passed_at(one: VariantFigures, rate_per_s: float) -> list[list[Hold]]:
    """By block, the holds of a rate that passed."""
    return [
        [hold for hold in found.search.holds if hold.rate_per_s == rate_per_s and hold.verdict == "pass"]
        for found in one.searches
    ]


def passed_at_capacity(one: VariantFigures) -> list[list[Hold]]:
    """By block, the counted holds that passed at its last pass."""
    return [
        [
            hold
            for hold in found.counted
            if hold.verdict == "pass"
            and found.search.sustained is not None
            and hold.rate_per_s == found.search.sustained.last_pass_per_s
        ]
        for found in one.searches
    ]


def p99_at(one: VariantFigures, rate_per_s: float) -> Spread | None:
    """Over blocks, each block's slowest hold of that rate."""
    values = [
        [hold.planned_latency_ms.p99 for hold in holds if hold.planned_latency_ms.p99 is not None]
        for holds in passed_at(one, rate_per_s)
    ]
    return stats.spread(max(own) for own in values if own)


def cost(by_block: Iterable[Sequence[Hold]]) -> Cost:
    """Over blocks, each with all its holds together; of all components but the generator."""
    given = [holds for holds in by_block if holds]
    return Cost(
        cpu_s=stats.spread(_per_1000(holds, _cpu) for holds in given),
        written_mib=stats.spread(_per_1000(holds, _written) for holds in given),
    )


def cpu_s_by_block(one: VariantFigures, rate_per_s: float) -> dict[int, float]:
    """Of a thousand writes really stored, of all components but the generator; of the blocks that passed the rate."""
    return {
        found.search.block: used
        for found, holds in zip(one.searches, passed_at(one, rate_per_s), strict=True)
        if holds and (used := _per_1000(holds, _cpu)) is not None
    }


def stored(hold: Hold) -> float:
    """Writes that reached the final store while the load ran."""
    return (
        float(hold.requests.acknowledged) if hold.stored_per_s is None else hold.stored_per_s * hold.seconds
    )


def _per_1000(holds: Sequence[Hold], get: Callable[[Hold], float | None]) -> float | None:
    values, writes = [get(hold) for hold in holds], sum(stored(hold) for hold in holds)
    known = [value for value in values if value is not None]
    return sum(known) * 1000 / writes if writes and len(known) == len(values) else None


def _cpu(hold: Hold) -> float | None:
    used = [one.cpu_seconds for name, one in hold.resources.items() if name != GENERATOR]
    return sum(used) if used else None


def _written(hold: Hold) -> float | None:
    """None where the runtime cannot tell it of every component."""
    written = [one.write_bytes for name, one in hold.resources.items() if name != GENERATOR]
    known = [value for value in written if value is not None]
    return sum(known) / MIB if known and len(known) == len(written) else None
