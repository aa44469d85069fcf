"""Counts what requests were answered with: by outcome, status, kind of error, and column of the answers table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from writepath.analysis.audit_classes import ACKNOWLEDGED, REJECTED
from writepath.load.ledger import ACKNOWLEDGED_STATUS, END_OF_FILE, WRONG_ACK, error_kind
from writepath.records import Requests

if TYPE_CHECKING:
    from writepath.analysis.stats import Ints, Marks

STATUSES = (500, 502, 503, 504)  # with columns of their own
K6_TIME_OUT, K6_DIAL_TIME_OUT = 1050, 1211
K6_REFUSED, K6_RESET, K6_BROKEN_PIPE = 1212, 1220, 1201


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """Arrays are parallel, one entry a kind of answer."""

    status: Ints
    error_code: Ints
    client: Ints  # as in audit_classes
    count: Ints

    @property
    def started(self) -> int:
        """All requests."""
        return int(self.count.sum())

    @property
    def completed(self) -> int:
        """With an answer of any status."""
        return self.of(self.status > 0)

    def of(self, marks: Marks) -> int:
        """Requests of these kinds."""
        return int(self.count[marks].sum())

    def requests(self, planned: int, dropped: int) -> Requests:
        """By what became of each."""
        acknowledged, rejected = self.of(self.client == ACKNOWLEDGED), self.of(self.client == REJECTED)
        return Requests(
            planned=planned,
            started=self.started,
            dropped=dropped,
            acknowledged=acknowledged,
            rejected=rejected,
            indeterminate=self.started - acknowledged - rejected,
            by_status={
                str(status): self.of(self.status == status) for status in np.unique(self.status).tolist()
            },
            by_error=self._by_error(),
        )

    def _by_error(self) -> dict[str, int]:
        """By kind in words; of acknowledged ones, only those with a wrong ack are in it."""
        faulty = (self.client != ACKNOWLEDGED) | (self.error_code == WRONG_ACK)
        columns = (self.status, self.error_code, self.count)
        totals: dict[str, int] = {}
        for status, code, count in zip(*(column[faulty].tolist() for column in columns), strict=True):
            kind = error_kind(status, code)
            totals[kind] = totals.get(kind, 0) + count
        return totals

    def by_column(self, planned: int) -> dict[str, int]:
        """Counts that sum to planned."""
        status, silent = self.status, self.status == 0
        counts = {
            "status_201": self.of(status == ACKNOWLEDGED_STATUS),
            "status_4xx": self.of((status >= 400) & (status < 500)),  # noqa: PLR2004 - the class of statuses
        }
        counts |= {f"status_{code}": self.of(status == code) for code in STATUSES}
        counts["status_other"] = self.of(~silent) - sum(counts.values())
        kinds = {
            "refused": (K6_REFUSED,),
            "reset": (K6_RESET, K6_BROKEN_PIPE),
            "closed": (END_OF_FILE,),
            "timed_out": (K6_TIME_OUT, K6_DIAL_TIME_OUT),
        }
        errors = {kind: self.of(silent & np.isin(self.error_code, codes)) for kind, codes in kinds.items()}
        timed_out = errors.pop("timed_out")
        unknown = self.of(silent) - sum(errors.values()) - timed_out
        rest = {"no_answer": unknown, "timed_out": timed_out, "dropped": planned - self.started}
        return counts | errors | rest
