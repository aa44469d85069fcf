"""What a write costs at a rate that several variants sustain, from the steps that passed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath.analysis import stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from writepath.analysis.stats import Spread
    from writepath.records.steps import LoadStep
    from writepath.report.capacity.figures import VariantFigures

    Get = Callable[[LoadStep], float | None]

GENERATOR = "k6"
MIB = 1 << 20


def per_1000(by_block: Iterable[Sequence[LoadStep]], get: Get) -> Spread | None:
    """Per 1,000 stored writes over blocks, each with all its steps together."""
    return stats.spread(_per_1000(steps, get) for steps in by_block if steps)


def cpu_s(step: LoadStep) -> float | None:
    """Of all components but the generator."""
    used = [one.cpu_seconds for name, one in step.resources.items() if name != GENERATOR]
    return sum(used) if used else None


def written_mib(step: LoadStep) -> float | None:
    """None where the runtime cannot tell it of every component."""
    written = [one.write_bytes for name, one in step.resources.items() if name != GENERATOR]
    known = [value for value in written if value is not None]
    return sum(known) / MIB if known and len(known) == len(written) else None


def cpu_s_by_block(one: VariantFigures, rate_per_s: float) -> dict[int, float]:
    """Per 1,000 stored writes, of the blocks that passed the rate."""
    return {
        run.block: used
        for run in one.runs
        if (steps := run.passed(rate_per_s)) and (used := _per_1000(steps, cpu_s)) is not None
    }


def _per_1000(steps: Sequence[LoadStep], get: Get) -> float | None:
    values, writes = [get(step) for step in steps], sum(map(_stored, steps))
    known = [value for value in values if value is not None]
    return sum(known) * 1000 / writes if writes and len(known) == len(values) else None


def _stored(step: LoadStep) -> float:
    """Writes that reached the final store while the load ran; of a ramp step those acknowledged."""
    if step.stored_per_s is None:
        return float(step.requests.acknowledged)
    return step.stored_per_s * step.seconds
