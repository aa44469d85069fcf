"""What became of a load's requests? Counted by the columns of the answers table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from writepath.load.ledger import ACKNOWLEDGED_STATUS, END_OF_FILE

if TYPE_CHECKING:
    from writepath.stats import Ints

STATUSES = (500, 502, 503, 504)  # with columns of their own
K6_TIME_OUT, K6_DIAL_TIME_OUT = 1050, 1211
K6_REFUSED, K6_RESET, K6_BROKEN_PIPE = 1212, 1220, 1201


def by_column(status: Ints, error: Ints, planned: int) -> dict[str, int]:
    """Counts that sum to planned. status, error: of all requests that were started."""
    silent = status == 0
    counts = {
        "status_201": int((status == ACKNOWLEDGED_STATUS).sum()),
        "status_4xx": int(((status >= 400) & (status < 500)).sum()),  # noqa: PLR2004 - the class of statuses
    }
    counts |= {f"status_{code}": int((status == code).sum()) for code in STATUSES}
    counts["status_other"] = int((~silent).sum()) - sum(counts.values())
    kinds = {
        "refused": (K6_REFUSED,),
        "reset": (K6_RESET, K6_BROKEN_PIPE),
        "closed": (END_OF_FILE,),
        "timed_out": (K6_TIME_OUT, K6_DIAL_TIME_OUT),
    }
    errors = {kind: int((silent & np.isin(error, codes)).sum()) for kind, codes in kinds.items()}
    timed_out = errors.pop("timed_out")
    unknown = int(silent.sum()) - sum(errors.values()) - timed_out
    return (
        counts
        | errors
        | {
            "no_answer": unknown,
            "timed_out": timed_out,
            "dropped": planned - len(status),
        }
    )
