"""A climb beyond what a path sustains: where it leaves the SLO, what limits it there, goodput beyond and backlog."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from writepath.analysis import stats
from writepath.analysis.load_aggregates import DURABLE
from writepath.analysis.samples import Series, inside
from writepath.analysis.saturation import limited_by
from writepath.analysis.stats import US_PER_S
from writepath.analysis.times import times
from writepath.config.registry import Phase
from writepath.load.ledger import NO_TIME
from writepath.load.parquet import whole
from writepath.records.load import Climb
from writepath.records.load_facts import LoadFacts, PhaseFacts
from writepath.records.measures import Generator
from writepath.records.steps import LimitedBy

P99 = 0.99


def climbing(phases: Sequence[Phase | PhaseFacts]) -> int:
    """Index of the phase that rises to the highest rate."""
    return max(
        range(len(phases)), key=lambda at: (phases[at].to_per_s > phases[at].from_per_s, phases[at].to_per_s)
    )


LEFT_S = 10  # after a path has left the SLO: samples are smoothed over 5 s, and only what lasts is a limit


def climb_of(
    facts: LoadFacts,
    tables: Mapping[str, pa.Table],
    origin_us: int,
    seen: Series,
    errors_by_hop: dict[str, int],
    generator: Generator,
) -> Climb | None:
    """Where the path leaves the SLO, goodput beyond, backlog; None of a load without an SLO. tables: aggregates.

    The path leaves the SLO at the rate of the first second of the climb after the last one that was within it. A second
    is within it where the p99 of the requests scheduled in it is, from their scheduled send time; one that was not
    acknowledged counts as infinite. A short stall before that is no departure.
    """
    if facts.slo_ms is None:
        return None
    at = climbing(facts.phases)
    climb, before = facts.phases[at], facts.phases[at - 1]
    begin_s = sum(phase.seconds for phase in facts.phases[:at])
    end_s = begin_s + climb.seconds
    planned, in_time = (
        whole(tables["seconds"], name)[round(begin_s) : round(end_s)] for name in ("planned", "within")
    )
    ranks = np.array([stats.rank(count, P99) for count in planned.tolist()])
    good = np.flatnonzero(in_time >= ranks)
    first = int(good[-1]) + 1 if len(good) else 0  # second of the climb
    left = first < len(planned)
    last_us = int(whole(tables["phases"], "durable_last_us")[: at + 1].max())
    ended_us = origin_us + round(end_s * US_PER_S)
    sampled = inside(seen, origin_us + round(begin_s * US_PER_S), min(climb.seconds, first + LEFT_S))
    sent_before = int(whole(tables["phases"], "planned")[at - 1])
    return Climb(
        slo_ms=facts.slo_ms,
        before=before.name,
        before_per_s=before.to_per_s,
        highest_per_s=climb.to_per_s,
        leaves_slo_per_s=(float(planned[first]) if first else climb.from_per_s) if left else None,
        goodput_per_s=round(float(in_time[first:].mean()), 3) if left else None,
        errors_by_hop=errors_by_hop,
        durable_latency_ms=times(tables, DURABLE, at - 1).latency(sent_before),
        drained_seconds=None if last_us == NO_TIME else round(max(0, last_us - ended_us) / US_PER_S, 3),
        limited_by=_bottleneck(facts, sampled, generator) if left else None,
    )


def _bottleneck(facts: LoadFacts, sampled: Series, generator: Generator) -> LimitedBy | None:
    """None of a host that nobody looked at."""
    return None if facts.host is None else limited_by(sampled, facts.host.system_cores, generator)
