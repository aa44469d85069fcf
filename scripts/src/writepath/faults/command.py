"""The matrix that `bench-faults` was asked for: builds the plan, runs it, prints the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writepath import checkout
from writepath.faults import matrix, wanted
from writepath.load import dataset
from writepath.runtime import topology

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from writepath.config.registry import Registry
    from writepath.faults.matrix import MatrixPlan
    from writepath.options import Faults
    from writepath.runtime.base import Runtime

HELP = "help"  # FAULT=help lists the faults
PASSWORD = "RABBITMQ_PASSWORD"  # noqa: S105 - the variable's name


def listing(root: Path, registry: Registry) -> str:
    """Every fault, and who can suffer it."""
    return wanted.listing(root, registry, wanted.load(root, registry))


def plan(root: Path, state: Path, registry: Registry, options: Faults) -> MatrixPlan:
    """UsageError for anything that cannot be done, before anything is started."""
    file = wanted.load(root, registry)
    asked = wanted.Asked(faults=options.faults, variants=options.variants, trials=options.trials)
    settings = options.settings.of_scope("stack")
    return matrix.MatrixPlan(
        root=root,
        state=state,
        wanted=wanted.cells(root, registry, file, asked),
        jobs=options.jobs,
        seed=options.seed,
        rate_per_s=file.rate_per_s,
        overrides=settings,
        dataset=dataset.choose(None, None, options.seed),
        code=checkout.code(root),
        broker_password=topology.value(root, PASSWORD, settings) or "writepath",
        resumed=options.resume,
    )


def run(plan: MatrixPlan, runtime: Runtime, say: Callable[[str], None]) -> int:
    """The matrix, then its tables."""
    code, folder = matrix.run(plan, runtime, say)
    if code != matrix.INTERRUPTED:
        from writepath.report.faults import print_matrix  # noqa: PLC0415 - a report is made when there is one

        print_matrix(folder)
    return code
