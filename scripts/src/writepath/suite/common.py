"""What do all suites have in common? The order of blocks, folders that nothing overwrites, what their runs share."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import random
import shutil
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from writepath import pidfile
from writepath.result import SuiteVariant
from writepath.run import host
from writepath.run.draft import dataset_facts, moment
from writepath.run.host import CanaryCage
from writepath.run.runner import Bench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from writepath.load.dataset import Dataset
    from writepath.progress import Progress
    from writepath.registry import Variant
    from writepath.result import SuiteStatus
    from writepath.runtime.base import Runtime
    from writepath.suite.resume import Index
    from writepath.suite.suite_run import SuitePlan

STAMP = "%Y%m%dT%H%M%SZ"
LATEST = "latest"
INTERRUPTED = 130


def orders(names: Sequence[str], repetitions: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """By block, every name once; a function of the seed alone."""
    order = random.Random(f"writepath:{seed}")  # noqa: S311 - an order, not a secret
    return tuple(tuple(order.sample(names, len(names))) for _ in range(repetitions))


def worst(codes: Iterator[int]) -> int:
    """Of exit codes: infrastructure (10+) over invalid (1) over unknown (3) over valid (0)."""
    order = {0: 0, 3: 1, 1: 2}
    return max(codes, key=lambda code: order.get(code, code), default=0)


def records(variants: Sequence[Variant]) -> tuple[SuiteVariant, ...]:
    """Variants as they are defined now, for an index."""
    return tuple(
        SuiteVariant(
            name=v.name,
            title=v.title,
            family=v.family,
            acknowledges=v.acknowledges,
            profiles=v.profiles,
            settings=dict(v.settings),
            naive_twin_of=v.naive_twin_of,
            tutorial_of=v.tutorial_of,
            control_of=v.control_of,
        )
        for v in variants
    )


def facts(plan: SuitePlan, runtime: Runtime) -> dict[str, Any]:
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
        "variants": records(plan.variants),
        "overrides": dict(plan.overrides),
        "dataset": dataset_facts(plan.dataset),
        "code": plan.code,
    }


def begun(
    plan: SuitePlan,
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


def ended(index: Index, status: SuiteStatus) -> Index:
    """The index of a suite run that ends now."""
    return dataclasses.replace(index, status=status, finished_at=moment(time.time()))


def set_aside(place: Path) -> None:
    """What a run left that was stopped, failed or says nothing: never counted, but kept."""
    if place.exists():
        names = (place.with_name(f"{place.name}-replaced-{number}") for number in itertools.count(1))
        place.rename(next(name for name in names if not name.exists()))


def link_latest(results: Path, folder: Path) -> None:
    """results/latest names the newest suite run."""
    link, new = results / LATEST, results / f".{LATEST}.part"
    new.unlink(missing_ok=True)
    new.symlink_to(folder.relative_to(results), target_is_directory=True)
    new.replace(link)


@contextlib.contextmanager
def bench(root: Path, state: Path, dataset: Dataset, runtime: Runtime, progress: Progress) -> Iterator[Bench]:
    """What every run of a suite shares. state: the ignored folder of what a checkout keeps at run time."""
    content = state / "content.json"
    dataset.write(content)
    pids = state / "run" / f"load-{os.getpid()}"
    pids.mkdir(parents=True, exist_ok=True)
    pidfile.claim(pids)
    try:
        yield Bench(
            runtime=runtime,
            progress=progress,
            cage=CanaryCage(folder=state),
            host=host.facts(state),
            content=content,
            pids=pids,
            root=root,
        )
    finally:
        shutil.rmtree(pids, ignore_errors=True)
