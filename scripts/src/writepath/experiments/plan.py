"""What the user asked for, checked: an experiment's suite with its variants, factors and seed, before it runs."""

import dataclasses
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from writepath.config.registry import Suite, Variant
from writepath.config.settings import Factor, combinations
from writepath.experiments.base import Cell, Experiment
from writepath.load.dataset import Dataset
from writepath.records.index import Role, cell_name
from writepath.records.measures import Code

RERUNS = 2  # of a cell that a noisy host made unknown: a host that is noisy three times stays so
FEWEST_REPETITIONS = 2  # of one block the A/A control says nothing


@dataclass(frozen=True, kw_only=True)
class References:
    """Cells of another kind that run in each block, next to the suite's own."""

    suite: Suite
    kind: Experiment[Any]
    params: Any


@dataclass(frozen=True, kw_only=True)
class Plan:
    """An experiment to be run or continued."""

    root: Path
    state: Path  # the ignored folder of everything a checkout keeps at run time
    suite: Suite
    params: Any  # the kind's, from suites.yaml
    variants: tuple[Variant, ...]
    repetitions: int  # blocks
    seed: int
    settings: Mapping[str, str]  # of all cells
    dataset: Dataset
    code: Code
    resumed: bool
    factors: tuple[Factor, ...] = ()
    reruns: int = RERUNS  # at most, of a noisy cell
    only: Mapping[str, Mapping[str, Sequence[str]]] = field(
        default_factory=dict
    )  # by variant, levels of a factor
    jobs: int = 1  # cells at a time
    alone: frozenset[str] = frozenset()  # names of cells that need the machine to themselves
    references: References | None = None

    @property
    def results(self) -> Path:
        """Where all suite runs are."""
        return self.root / "results"

    @property
    def started(self) -> tuple[Variant, ...]:
        """Every variant of which a stack is started, each once."""
        others = self.references.suite.variants if self.references is not None else ()
        return tuple({variant.name: variant for variant in (*self.variants, *others)}.values())

    @property
    def baseline(self) -> Variant | None:
        """What the others are compared with, where it is among what runs."""
        return self.suite.baseline if self.suite.baseline in self.variants else None

    @property
    def control(self) -> Variant | None:
        """The baseline, where it runs twice in each block."""
        return self.baseline if self.repetitions >= FEWEST_REPETITIONS else None


Group = tuple[Cell, ...]  # cells that differ only in factors of scope `load`: they share one stack


def groups(plan: Plan) -> Iterator[tuple[Group, ...]]:
    """By block, every cell once: groups, and cells within a group, in an order that the seed alone decides."""
    order = random.Random(f"writepath:{plan.seed}")  # noqa: S311 - an order, not a secret
    setups = list(_setups(plan))
    for block in range(1, plan.repetitions + 1):
        shuffled = [
            tuple(order.sample(own, len(own))) if len(own) > 1 else own
            for own in order.sample(setups, len(setups))
        ]
        yield _placed(shuffled, block)


def order_of(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """By block, the cells' names in the order they run."""
    return tuple(tuple(cell.name for group in block for cell in group) for block in groups(plan))


def _setups(plan: Plan) -> Iterator[Group]:
    """The groups of a block, unshuffled: cells that have no place yet."""
    per_stack = [factor for factor in plan.factors if factor.scope == "stack"]
    per_load = [factor for factor in plan.factors if factor.scope == "load"]

    def group(variant: Variant, own: Mapping[str, str]) -> Group:
        levels = ({**own, **more} for more in combinations(per_load))
        return tuple(
            _unplaced(variant, {factor.name: one[factor.name] for factor in plan.factors}) for one in levels
        )

    for variant in plan.variants:
        only = plan.only.get(variant.name, {})
        for own in combinations(per_stack):
            if all(level in only.get(name, (level,)) for name, level in own.items()):
                yield group(variant, own)
    if plan.control is not None:
        first = {factor.name: factor.levels[0] for factor in plan.factors}
        yield (_unplaced(plan.control, first, "A/A control"),)
    if (others := plan.references) is not None:
        for variant in others.suite.variants:
            yield (_unplaced(variant, {}, "reference", others.kind.kind),)


def _unplaced(variant: Variant, levels: dict[str, str], role: Role = "measured", kind: str = "") -> Cell:
    name = cell_name(variant.name, levels, role, kind)
    return Cell(name=name, variant=variant, levels=levels, block=0, position=0, role=role)


def _placed(setups: Sequence[Group], block: int) -> tuple[Group, ...]:
    position = itertools.count(1)
    return tuple(
        tuple(dataclasses.replace(cell, block=block, position=next(position)) for cell in own)
        for own in setups
    )


def behind(cell: Cell, last_position: int) -> Cell:
    """The same cell, rerun behind all others of its block."""
    return dataclasses.replace(cell, position=last_position + 1, noisy=cell.noisy + 1)
