"""A load that climbs beyond what the path sustains: where it leaves the SLO, goodput and errors beyond, backlog."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from writepath.analysis import stats
from writepath.analysis.load_aggregates import DURABLE
from writepath.analysis.stats import US_PER_S
from writepath.analysis.times import times
from writepath.config.registry import Phase
from writepath.load.ledger import INTERRUPTED, REFUSED_BY_STORE, UNREAD
from writepath.load.parquet import column_of, whole
from writepath.records.load import Climb
from writepath.records.load_facts import LoadFacts, PhaseFacts

P99 = 0.99
HOP_NAMES = ("proxy", "application", "store", "generator")
PROXY_STATUSES = (502, 504)
NO_ANSWER = 0


def hops(status: NDArray[Any], error_code: NDArray[Any]) -> NDArray[np.int8]:
    """Of requests that were not acknowledged: where each of them failed, as an index into HOP_NAMES.

    Without an answer it was the proxy's connection, as the client has no other; a 503 says itself whose it is.
    """
    found = np.full(len(status), HOP_NAMES.index("application"), np.int8)
    found[error_code == REFUSED_BY_STORE] = HOP_NAMES.index("store")
    found[np.isin(status, PROXY_STATUSES) | (status == NO_ANSWER)] = HOP_NAMES.index("proxy")
    found[np.isin(error_code, (INTERRUPTED, UNREAD))] = HOP_NAMES.index("generator")
    return found


def climbing(phases: Sequence[Phase | PhaseFacts]) -> int:
    """Index of the phase that rises to the highest rate."""
    return max(
        range(len(phases)), key=lambda at: (phases[at].to_per_s > phases[at].from_per_s, phases[at].to_per_s)
    )


def climb_of(
    facts: LoadFacts, tables: Mapping[str, pa.Table], origin_us: int, failed: Mapping[str, Any], dropped: int
) -> Climb | None:
    """Of aggregates; None of a load without an SLO. failed: status, error code and number of what was not acknowledged.

    The path leaves the SLO at the rate of the first second of the climb after the last one that was within it. A second
    is within it where the p99 of the requests scheduled in it is, from their scheduled send time; one that was not
    acknowledged counts as infinite. A short stall before that is no departure.
    """
    if facts.slo_ms is None:
        return None
    at = climbing(facts.phases)
    climb, before = facts.phases[at], facts.phases[at - 1]
    begin = sum(phase.seconds for phase in facts.phases[:at])
    seconds = slice(round(begin), round(begin + climb.seconds))
    planned, in_time = (whole(tables["seconds"], name)[seconds] for name in ("planned", "within"))
    ranks = np.array([stats.rank(count, P99) for count in planned.tolist()])
    good = np.flatnonzero(in_time >= ranks)
    first = int(good[-1]) + 1 if len(good) else 0  # second of the climb
    left = first < len(planned)
    stored = column_of(tables["phases"], "durable_last_us").to_pylist()[: at + 1]
    last_us = max((moment for moment in stored if moment is not None), default=None)
    ended_us = origin_us + round((begin + climb.seconds) * US_PER_S)
    hop = hops(failed["status"], failed["error_code"])
    errors = {name: int(failed["count"][hop == place].sum()) for place, name in enumerate(HOP_NAMES)}
    errors["generator"] += dropped
    return Climb(
        slo_ms=facts.slo_ms,
        before=before.name,
        before_per_s=before.to_per_s,
        highest_per_s=climb.to_per_s,
        leaves_slo_per_s=(float(planned[first]) if first else climb.from_per_s) if left else None,
        goodput_per_s=round(float(in_time[first:].mean()), 3) if left else None,
        errors_by_hop=errors,
        durable_latency_ms=times(tables, DURABLE, at - 1).latency(
            int(whole(tables["phases"], "planned")[at - 1])
        ),
        drained_seconds=None if last_us is None else round(max(0.0, (last_us - ended_us) / US_PER_S), 3),
    )
