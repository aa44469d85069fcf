"""Which ceiling bounds a path? The stores' own limits that its writes run into, by what it does to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PGBENCH = "pgbench"  # one row a transaction
PGBENCH_BATCH = "pgbench-batch"  # 500 rows a transaction, as our consumer writes
PUBLISHED = "rabbitmq-perf-test"
CONSUMED = "rabbitmq-perf-test-consumed"
SINGLE = "elasticsearch-single"
BULK = "elasticsearch-bulk"


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Names of ceilings; the lowest of several bounds. Empty: none is known."""

    burst: tuple[str, ...]
    sustained: tuple[str, ...]


def of(family: str, settings: Mapping[str, str]) -> Bounds:
    """Of a variant by its family and its settings, as variants.yaml has them and capacity.json keeps them."""
    index = SINGLE if settings.get("ELASTICSEARCH_WRITE_MODE") == "single" else BULK
    if family == "jpa":
        return Bounds(burst=(PGBENCH,), sustained=(PGBENCH,))
    if family == "rabbitmq-jpa":
        rows = PGBENCH if settings.get("STYLE") == "tutorial" else PGBENCH_BATCH
        return Bounds(burst=(PUBLISHED,), sustained=(CONSUMED, rows))
    if family == "rabbitmq-elasticsearch":
        return Bounds(burst=(PUBLISHED,), sustained=(CONSUMED, index))
    if family.startswith("elasticsearch-"):
        return Bounds(burst=(index,), sustained=(index,))
    return Bounds(burst=(), sustained=())
