"""What do the stores' own tools reach on this host? Each store alone, with the settings that the variants give it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from writepath.capacity import elasticsearch_load, perf_test, pgbench
from writepath.capacity.ceiling_tool import Spans, Target
from writepath.config import registry
from writepath.errors import LoadError, SetupError, StartError
from writepath.measure.facts import moment
from writepath.records import capacity
from writepath.records.capacity import Ceiling, Ceilings
from writepath.runtime import topology

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from writepath.config.registry import Variant
    from writepath.measure.bench import Bench
    from writepath.runtime.base import Stack

_READY_SECONDS = 120.0
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class _Store:
    """A service of the compose file, a variant whose settings it has, and who asks it."""

    service: str
    variant: str
    measure: Callable[[Target], list[Ceiling]]


STORES = (
    _Store(service="postgres", variant="jpa", measure=pgbench.measure),
    _Store(service="rabbitmq", variant="rabbitmq-jpa", measure=perf_test.measure),
    _Store(service="elasticsearch", variant="elasticsearch-1s0r", measure=elasticsearch_load.measure),
)


def run(
    block: int,
    folder: Path,
    bench: Bench,
    overrides: Mapping[str, str],
    *,
    spans: Spans | None = None,
    only: Collection[str] | None = None,
) -> Ceilings:
    """All of one block; ceilings.json and what each tool said are in the folder then. only: these services.

    A store whose tool is missing here or fails has a reason instead of a figure.
    """
    folder.mkdir(parents=True, exist_ok=True)
    started_at = moment(datetime.now(UTC).timestamp())
    known = registry.load(bench.root)
    variants = {each: known.variant(each.variant) for each in STORES if only is None or each.service in only}
    bench.runtime.prepare(list(variants.values()), bench.progress.say)
    found: list[Ceiling] = []
    missing: dict[str, str] = {}
    versions: dict[str, str] = {}
    for store, variant in variants.items():
        bench.progress.say(f"ceiling of {store.service}: running its own tool")
        try:
            found += _one(store, variant, folder, bench, overrides, spans or Spans())
        except (SetupError, LoadError) as error:
            missing[store.service] = str(error)
            bench.progress.say(f"no ceiling of {store.service}: {error}")
        versions |= bench.runtime.versions(variant)
    ceilings = Ceilings(
        schema_version=capacity.CAPACITY_SCHEMA_VERSION,
        block=block,
        started_at=started_at,
        finished_at=moment(datetime.now(UTC).timestamp()),
        runtime=bench.runtime.name,
        ceilings=tuple(found),
        missing=missing,
        versions=versions,
    )
    capacity.save_ceilings(ceilings, folder)
    return ceilings


def _one(
    store: _Store, variant: Variant, folder: Path, bench: Bench, overrides: Mapping[str, str], spans: Spans
) -> list[Ceiling]:
    settings = {**variant.settings, **overrides}
    service = topology.load(bench.root, settings).services[store.service]
    say = bench.progress.say
    with bench.runtime.start(variant, overrides=overrides, say=say, only=[store.service]) as stack:
        _await(stack, store.service)
        return store.measure(Target(bench=bench, stack=stack, service=service, folder=folder, spans=spans))


def _await(stack: Stack, service: str) -> None:
    """A container runs before its server serves, and here no application waits for it."""
    deadline = time.monotonic() + _READY_SECONDS
    while not stack.is_ready(service):
        if time.monotonic() > deadline:
            raise StartError(f"{service}: not ready {_READY_SECONDS:.0f} s after its start")
        time.sleep(_PAUSE_SECONDS)
