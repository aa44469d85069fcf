"""What does `bench-faults` do with the user's words? Checks them, builds the plan, runs it, prints the table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from writepath import checkout
from writepath.faults import matrix, wanted
from writepath.load import dataset
from writepath.runtime import topology

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.faults.matrix import MatrixPlan
    from writepath.faults.wanted import Asked
    from writepath.options import Options
    from writepath.registry import Registry
    from writepath.runtime.base import Runtime

HELP = "help"
SEED_MAX = 2**31 - 1
JOBS_MAX = 8
PASSWORD = "RABBITMQ_PASSWORD"  # noqa: S105 - the variable's name


def asked(options: Options) -> Asked | None:
    """None: the user wants the list of faults."""
    faults = options.names("FAULT")
    if faults == [HELP]:
        return None
    trials = options.whole("TRIALS", None, low=1, high=1000)
    return wanted.Asked(faults=faults, variants=options.names("VARIANTS"), trials=trials)


def listing(root: Path, registry: Registry) -> str:
    """Every fault, and who can suffer it."""
    return wanted.listing(root, registry, wanted.load(root, registry))


def plan(root: Path, state: Path, registry: Registry, options: Options, words: Asked) -> MatrixPlan:
    """UsageError for anything that cannot be done, before anything is started."""
    file = wanted.load(root, registry)
    seed = options.whole("SEED", 1, low=0, high=SEED_MAX) or 0
    return matrix.MatrixPlan(
        root=root,
        state=state,
        wanted=wanted.cells(root, registry, file, words),
        jobs=options.whole("JOBS", 1, low=1, high=JOBS_MAX) or 1,
        seed=seed,
        rate_per_s=file.rate_per_s,
        overrides=options.overrides,
        dataset=dataset.choose(None, None, seed),
        code=checkout.code(root),
        broker_password=topology.value(root, PASSWORD, os.environ) or "writepath",
        resumed=options.flag("RESUME"),
    )


def run(plan: MatrixPlan, runtime: Runtime, say: Callable[[str], None]) -> int:
    """The matrix, then its tables."""
    code, folder = matrix.run(plan, runtime, say)
    if code != matrix.INTERRUPTED:
        from writepath.report.faults import print_matrix  # noqa: PLC0415 - a report is made when there is one

        print_matrix(folder)
    return code
