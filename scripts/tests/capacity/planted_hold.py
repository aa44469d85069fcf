"""A load as it never went: a plan, what became of each request, and samples, without k6 or a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis.figures import figures
from writepath.analysis.noise import Withheld
from writepath.analysis.raw import Sample
from writepath.capacity.rig import Loaded
from writepath.load.k6 import LoadResult
from writepath.load.ledger import OPERATIONS, RECORD, WRITE, Ledger
from writepath.measure.drive import Driven

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from writepath.load.plan import ArrivalPlan

ORIGIN_US = 1_790_000_000_000_000
QUIET = Withheld(steal_share=0.0, throttled_share=None, swapped_pages=0)


def answers(plan: ArrivalPlan, took_us: int = 5000) -> NDArray[np.void]:
    """A record for each planned request, sent on time and acknowledged; to be spoilt by the test."""
    records = np.zeros(plan.planned, RECORD)
    records["seq"] = np.arange(plan.planned)
    records["start_us"] = ORIGIN_US + (plan.starts_ns + 500) // 1000
    records["duration_us"] = took_us
    records["status"] = WRITE.served[0]
    return records


def loaded(
    plan: ArrivalPlan,
    records: NDArray[np.void],
    samples: Sequence[Sample] = (),
    *,
    complete: bool = True,
    withheld: Withheld = QUIET,
) -> Loaded:
    """Records that the test left out were dropped: k6 numbers those that it started."""
    records = records.copy()
    records["seq"] = np.arange(len(records))
    taken, dropped = Ledger(records=records, operations=OPERATIONS), plan.planned - len(records)
    result = LoadResult(
        exit_code=0 if complete else 105,
        meaning="ended normally" if complete else "stopped by a signal",
        complete=complete,
        ledger=Path("ledger.csv"),
        started=len(records),
        interrupted=0,
        dropped=dropped,
    )
    driven = Driven(result=result, samples=samples, taken=1, late=0, began_at=0.0, ended_at=0.0)
    return Loaded(
        run_id="0" * 15,
        plan=plan,
        driven=driven,
        taken=taken,
        dropped=dropped,
        figures=figures(plan, taken, dropped),
        withheld=withheld,
    )


def sampled(component: str, metric: str, by_second: Mapping[float, float]) -> Iterator[Sample]:
    """Values by the second since the load's start."""
    for at_s, value in by_second.items():
        yield Sample(
            at_us=ORIGIN_US + round(at_s * 1_000_000), component=component, metric=metric, value=value
        )
