"""The records of kind `ceilings`, the rates that the stores' own tools reach, and which of them bounds a path."""

from collections.abc import Mapping

from writepath.records.base import record
from writepath.records.measures import Verdict

PGBENCH = "pgbench"  # one row a transaction
PGBENCH_BATCH = "pgbench-batch"  # 500 rows a transaction, as many as our batches have at most
PUBLISHED = "rabbitmq-perf-test"
CONSUMED = "rabbitmq-perf-test-consumed"
SINGLE = "elasticsearch-single"
BULK = "elasticsearch-bulk"


@record
class ToolRun:
    """One run of a store's own tool."""

    tool: str  # pgbench-batch: its name in experiments/ceilings.py
    clients: int
    file: str  # its output, in the cell's raw folder
    output: str | None = None  # the same, in evidence


@record
class CeilingsFacts:
    """facts.json of a cell of kind `ceilings`."""

    store: str  # postgres, rabbitmq, elasticsearch
    version: str | None  # of the tool, where its output does not say it
    warm_up_seconds: float
    seconds: float
    runs: tuple[ToolRun, ...] = ()
    missing: str | None = None  # why the tool gave no figure, in words


@record
class Ceiling:
    """The rate that a store's own tool reaches on the same host, with the best number of clients."""

    name: str
    store: str
    tool: str  # with its version
    what: str  # in words: what one write is, and how durable
    clients: int
    seconds: float
    writes_per_s: float
    latency_ms_mean: float | None
    raw_file: str  # the tool's output


@record
class CeilingsResult:
    """The ceilings of one store."""

    store: str
    ceilings: tuple[Ceiling, ...]
    missing: str | None  # why there is none, in words
    verdict: Verdict


def of(family: str, settings: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the ceilings that bound a variant's sustained rate, the lowest of them; empty where none is known.

    By its family and its settings, as variants.yaml has them and an index keeps them.
    """
    index = SINGLE if settings.get("ELASTICSEARCH_WRITE_MODE") == "single" else BULK
    if family == "jpa":
        return (PGBENCH_BATCH if settings.get("POSTGRES_WRITE_MODE") == "batched" else PGBENCH,)
    if family == "rabbitmq-jpa":
        tutorial = "tutorial" in (settings.get("STORE"), settings.get("STYLE"))  # STYLE: of earlier runs
        return (CONSUMED, PGBENCH if tutorial else PGBENCH_BATCH)
    if family == "rabbitmq-elasticsearch":
        return (CONSUMED, index)
    return (index,) if family.startswith("elasticsearch-") else ()
