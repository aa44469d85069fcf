"""Raw tables of a small load whose figures are known beforehand: 1,000 writes at 100/s, each in the store."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pyarrow as pa

from writepath.analysis.evidence import Evidence
from writepath.analysis.load_result import derive_load, reduce_load
from writepath.load.ledger import NO_TIME
from writepath.records.load import LoadResult
from writepath.records.load_facts import DrainFacts, LoadFacts, OperationFacts, PhaseFacts
from writepath.records.measures import Audit, Canary, Drain, Durability, Host, Reading

WRITES, RATE, SECONDS = 1000, 100, 10
GAP_US = 10_000  # between scheduled send times, the first one so long after the load's start
ORIGIN_US = 1_763_683_200_000_000
DURABLE_BEFORE_US = 50  # each row is durable so long before its 201
RUN = "0123456789abcde"
CANARY = Canary(
    fsync_ms_p50=1.0,
    fsync_ms_p99=2.0,
    cpu_ms=50.0,
    steal_share=0.0,
    load_average_1m=0.2,
    disk_free_bytes=1 << 40,
)
HOST = Host(
    cpu_model="a", cores=2, memory_bytes=1, kernel="k", filesystem="ext4", before=CANARY, after=CANARY
)
HALVES = (
    PhaseFacts(name="first", seconds=5.0, from_per_s=100.0, to_per_s=100.0),
    PhaseFacts(name="second", seconds=5.0, from_per_s=100.0, to_per_s=100.0),
)
FACTS = LoadFacts(
    run_id=RUN,
    runtime="docker",
    declared_level="A",
    model="open",
    phases=HALVES,
    virtual_users=50,
    seconds=10.0,
    operations=(OperationFacts(name="write", served=(201,)),),
    queue_path=False,
    load_started_at="2025-11-21T00:00:00.000Z",
    load_finished_at="2025-11-21T00:00:10.000Z",
    dropped=0,
    exit_code=0,
    generator_faults=(),
    samples_late=0,
    withheld=None,
    drain=DrainFacts(
        waited_seconds=5.1234,
        busy_seconds=0.5,
        capped=False,
        queue_ready_left=0,
        queue_unacknowledged_left=0,
        dead_letters=0,
    ),
    suppressed_duplicates=0,
    durability=Durability(level="A", settings={}),
    host=HOST,
)
SAMPLES: dict[tuple[str, str], Sequence[float]] = {
    ("k6", "cpu_seconds"): [0.1 * second for second in range(SECONDS + 1)],
    ("k6", "rss_bytes"): [100.0] * (SECONDS + 1),
    ("app", "cpu_seconds"): [0.0, 1.0, 0.5, *[1.0] * (SECONDS - 2)],  # it was restarted once
    ("app", "rss_bytes"): [10.0, 30.0, *[20.0] * (SECONDS - 1)],
    ("app", "write_bytes"): [0.0, 5.0, *[7.0] * (SECONDS - 1)],
    ("app", "queue_ready"): [0.0, 4.0, *[1.0] * (SECONDS - 1)],
    ("app", "queue_unacknowledged"): [0.0, 2.0, *[1.0] * (SECONDS - 1)],
    ("host", "total_seconds"): [2.0 * second for second in range(SECONDS + 1)],
    ("host", "busy_seconds"): [0.35 * second for second in range(SECONDS + 1)],
    ("host", "runner_seconds"): [0.05 * second for second in range(SECONDS + 1)],
    ("host", "disk_write_bytes"): [100.0 * second for second in range(SECONDS + 1)],
    ("host", "context_switches"): [1.0] * (SECONDS + 1),  # no figure needs it
}


class OfWrites(LoadResult):
    """A result of a load of writes, as type checkers see it."""

    audit: Audit
    drain: Drain


def result_of(evidence: Evidence) -> OfWrites:
    """With an audit and a drain."""
    return cast("OfWrites", derive_load(evidence))


@dataclass(kw_only=True)
class Planted:
    """Arrays by sequence; others: stored rows that no request sent, by read, with a sequence or a foreign id."""

    facts: LoadFacts = FACTS
    operation: str = "write"
    sequence: Any = field(default_factory=lambda: np.arange(WRITES))
    start_us: Any = field(default_factory=lambda: ORIGIN_US + GAP_US * np.arange(1, WRITES + 1))
    blocked_us: Any = field(default_factory=lambda: np.full(WRITES, 10))
    duration_us: Any = field(default_factory=lambda: 100 * np.arange(1, WRITES + 1) - 10)
    status: Any = field(default_factory=lambda: np.full(WRITES, 201))
    error_code: Any = field(default_factory=lambda: np.zeros(WRITES, np.int64))
    copies: tuple[Any, Any] = field(default_factory=lambda: (np.ones(WRITES, int), np.ones(WRITES, int)))
    differs: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    durable_at_us: Any = None  # default: a little before the 201
    others: list[tuple[int, int | None, str | None]] = field(default_factory=list)
    left: int = 0  # messages in the queue
    visible: list[tuple[int, int | None, int | None]] | None = None
    samples: dict[tuple[str, str], Sequence[float]] = field(default_factory=lambda: dict(SAMPLES))
    reads: int = 2

    def raw(self) -> dict[str, list[pa.Table]]:
        """As a cell's folder has them."""
        times = {name: _moments(getattr(self, name)) for name in ("start_us", "blocked_us", "duration_us")}
        requests = {
            "sequence": pa.array(self.sequence, pa.int64()),
            "operation": pa.array([self.operation] * len(self.sequence)).dictionary_encode(),
            **times,
            "status": pa.array(self.status, pa.int16()),
            "error_code": pa.array(self.error_code, pa.int32()),
        }
        tables = {
            "requests": [pa.table(requests)],
            "stored": self._stored(),
            "samples": [_samples(self.samples)],
        }
        if self.visible is not None:
            rows = list(zip(*self.visible, strict=True))
            names = ("sequence", "not_before_us", "visible_at_us")
            tables["visible"] = [
                pa.table({name: pa.array(rows[place], pa.int64()) for place, name in enumerate(names)})
            ]
        return tables

    def _stored(self) -> list[pa.Table]:
        at = self.start_us + self.blocked_us + self.duration_us - DURABLE_BEFORE_US
        at = at if self.durable_at_us is None else self.durable_at_us
        tables = []
        for read in range(self.reads):
            places = np.repeat(np.arange(len(self.sequence)), self.copies[read])
            columns = {
                "read": pa.array(np.full(len(places), read + 1), pa.int8()),
                "sequence": pa.array(self.sequence[places], pa.int64()),
                "content_ok": pa.array(~np.isin(places, list(self.differs[read]))),
                "durable_at_us": _moments(at[places]),
                "foreign_id": pa.nulls(len(places), pa.string()),
            }
            tables.append(pa.table(columns))
        for read, sequence, foreign_id in self.others:
            row: dict[str, Any] = {
                "read": read,
                "sequence": sequence,
                "content_ok": None if sequence is None else True,
            }
            row |= {"durable_at_us": None, "foreign_id": foreign_id}
            tables.append(pa.Table.from_pylist([row], schema=tables[0].schema))
        return tables

    def known(self) -> LoadFacts:
        """The facts, with what the store counted."""
        rows = [
            int(self.copies[read].sum()) + sum(of == read + 1 for of, *_ in self.others)
            for read in range(self.reads)
        ]
        reads = tuple(Reading(store_rows=number, left_in_queue=self.left) for number in rows)
        return dataclasses.replace(self.facts, reads=self.facts.reads or reads)

    def evidence(self) -> Evidence:
        """What is published of it."""
        return reduce_load(self.raw(), self.known())


def _moments(values: Any) -> pa.Array:
    values = np.asarray(values)
    return pa.array(values, pa.int64(), mask=values == NO_TIME)


def _samples(samples: Mapping[tuple[str, str], Sequence[float]]) -> pa.Table:
    rows = [
        {
            "at_us": ORIGIN_US + 1_000_000 * second,
            "component": component,
            "metric": metric,
            "value": float(value),
        }
        for (component, metric), values in samples.items()
        for second, value in enumerate(values)
    ]
    columns = {"at_us": pa.int64(), "component": pa.string(), "metric": pa.string(), "value": pa.float64()}
    return pa.Table.from_pylist(rows, schema=pa.schema(list(columns.items())))
