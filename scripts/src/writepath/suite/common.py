"""What the kinds that do not use the engine yet have in common: the order of blocks, and the start of a suite run."""

from __future__ import annotations

import dataclasses
import random
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from writepath.experiments.shared import STAMP, link_latest, variant_records
from writepath.measure.facts import dataset_facts, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from writepath.experiments.plan import Plan
    from writepath.records.index import Status
    from writepath.runtime.base import Runtime
    from writepath.suite.resume import Index


def orders(names: Sequence[str], repetitions: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """By block, every name once; a function of the seed alone."""
    order = random.Random(f"writepath:{seed}")  # noqa: S311 - an order, not a secret
    return tuple(tuple(order.sample(names, len(names))) for _ in range(repetitions))


def facts(plan: Plan, runtime: Runtime) -> dict[str, Any]:
    """What every suite's index says of a suite run that starts now."""
    now = datetime.now(UTC)
    return {
        "suite": plan.suite.name,
        "title": plan.suite.title,
        "stamp": now.strftime(STAMP),
        "status": "running",
        "started_at": moment(now.timestamp()),
        "finished_at": None,
        "seed": plan.seed,
        "repetitions": plan.repetitions,
        "runtime": runtime.name,
        "variants": variant_records(plan.variants),
        "overrides": dict(plan.settings),
        "dataset": dataset_facts(plan.dataset),
        "code": plan.code,
    }


def begun(
    plan: Plan,
    index: Index,
    newest: Callable[[Index, Path], tuple[Index, Path]],
    save: Callable[[Index, Path], None],
) -> tuple[Index, Path]:
    """The index and its folder: new ones, or those of the suite run that is to be continued. Saved, and the latest."""
    if plan.resumed:
        index, folder = newest(index, plan.results)
    else:
        folder = plan.results / plan.suite.name / index.stamp
        folder.mkdir(parents=True)
    save(index, folder)
    link_latest(plan.results, folder)
    return index, folder


def ended(index: Index, status: Status) -> Index:
    """The index of a suite run that ends now."""
    return dataclasses.replace(index, status=status, finished_at=moment(time.time()))
