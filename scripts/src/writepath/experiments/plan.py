"""Makes the plan of a suite run from suites.yaml and what the user asked for, and its cells in seeded blocks."""

import dataclasses
import itertools
import random
from collections.abc import Iterable, Iterator

from writepath import checkout
from writepath.config import registry
from writepath.config.registry import Registry, Suite, Variant
from writepath.config.settings import CONDITION, Factor, Given, combinations
from writepath.errors import UsageError
from writepath.experiments.base import Cell, Plan, References
from writepath.experiments.registry import KINDS, kind_of
from writepath.load import dataset
from writepath.measure import loading
from writepath.options import Asked, Call
from writepath.records.index import Role, cell_name
from writepath.runtime import aot, delay

Group = tuple[Cell, ...]  # cells that differ only in factors of scope `load`: they share one stack


def groups(plan: Plan) -> Iterator[tuple[Group, ...]]:
    """By block, every cell once: groups, and cells within a group, in an order that the seed alone decides."""
    order = random.Random(f"writepath:{plan.seed}")  # noqa: S311 - an order, not a secret
    setups = list(_setups(plan))
    for block in range(1, plan.repetitions + 1):
        position = itertools.count(1)
        shuffled = [
            order.sample(own, len(own)) if len(own) > 1 else own for own in order.sample(setups, len(setups))
        ]
        yield tuple(
            tuple(dataclasses.replace(cell, block=block, position=next(position)) for cell in own)
            for own in shuffled
        )


def order_of(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """By block, the cells' names in the order they run."""
    return tuple(tuple(cell.name for group in block for cell in group) for block in groups(plan))


def _setups(plan: Plan) -> Iterator[Group]:
    """The groups of a block, unshuffled: cells that have no place yet."""
    per_stack = [factor for factor in plan.factors if factor.scope == "stack"]
    per_load = [factor for factor in plan.factors if factor.scope == "load"]
    for variant in plan.variants:
        only = plan.only.get(variant.name, {})
        for own in combinations(per_stack):
            if all(level in only.get(name, (level,)) for name, level in own.items()):
                yield tuple(
                    _unplaced(variant, {one.name: (own | more)[one.name] for one in plan.factors})
                    for more in combinations(per_load)
                )
    if plan.control is not None:
        yield (_unplaced(plan.control, _baseline_levels(plan, plan.control), "A/A control"),)
    if (others := plan.references) is not None:
        for variant in others.suite.variants:
            yield (_unplaced(variant, {}, "reference", others.kind.kind),)


def _baseline_levels(plan: Plan, control: Variant) -> dict[str, str]:
    """Those that the suite names, where they run; else the first of each factor."""
    named, only = plan.suite.baseline_levels, plan.only.get(control.name, {})
    levels = {factor.name: only.get(factor.name, factor.levels) for factor in plan.factors}
    return {name: named[name] if named.get(name) in own else own[0] for name, own in levels.items()}


def _unplaced(variant: Variant, levels: dict[str, str], role: Role = "measured", kind: str = "") -> Cell:
    name = cell_name(variant.name, levels, role, kind)
    return Cell(name=name, variant=variant, levels=levels, block=0, position=0, role=role)


def plan(call: Call, asked: Asked) -> Plan:
    """UsageError for an option or a setting that the kind does not have."""
    known = registry.load(call.root)
    suite = known.suite(asked.suite)
    variants = suite.variants if asked.variants is None else tuple(map(known.variant, asked.variants))
    kind = kind_of(suite.kind)
    _require_options(call, asked, suite, known)
    given = asked.settings.over(suite.settings, suite.factors)
    _require_served(suite, variants, given)
    given.refuse(kind.unused, f"'{suite.name}' is a {suite.kind} suite")
    given.refuse(("TRACES",), "a write would pay for its trace; only `up` takes it")
    if suite.scenario is not None:
        loading.require_rates(suite, given)
        suite = suite.scaled(float(given.values.get(loading.RATE_SCALE, "1")))
        if loading.SECONDS in given.values:
            suite = suite.lasting(float(given.values[loading.SECONDS]))
    for name, own in (suite.conditions or {}).items():
        asked.settings.refuse(own, f"condition '{name}' of '{suite.name}' sets it")
    given, only = delay.only_where_it_applies(call.root, variants, given)
    field_of = dict(kind.options)
    params = kind.params_of(suite, {field_of[name]: value for name, value in asked.of_kind.items()})
    texts = getattr(params, "documents", None)  # searches need one for each post
    made = Plan(
        root=call.root,
        suite=suite,
        kind=kind,
        params=params,
        variants=variants,
        repetitions=asked.reps or suite.repetitions,
        seed=asked.seed,
        settings=given.values,
        factors=(*_conditions(suite), *given.factors),
        only=only,
        dataset=dataset.choose(asked.dataset, asked.dataset_lines or texts, asked.seed),
        code=checkout.code(call.root),
        resumed=asked.resume,
        reruns=asked.reruns,
        jobs=asked.jobs,
        references=None if call.command == "bench" else _references(suite.references, known),
        runtime=asked.runtime,
        processors=asked.processors or suite.processors,
    )
    return kind.designed(made, known, asked)


def _require_served(suite: Suite, variants: Iterable[Variant], given: Given) -> None:
    """UsageError for a variant that does not serve what the suite sends, and for training by what it does not."""
    wanted = "reads" if suite.scenario is not None and suite.scenario.reads else "writes"
    for variant in variants:
        if variant.serves != wanted:
            raise UsageError(
                f"VARIANTS={variant.name}: serves {variant.serves}, and '{suite.name}' sends {wanted}; omit it"
            )
    if wanted == "reads" and aot.TRAINED in given.levels(aot.SETTING):
        raise UsageError(
            f"{aot.SETTING}={aot.TRAINED}: the training run writes, and '{suite.name}' sends reads; omit it"
        )


def _conditions(suite: Suite) -> Iterator[Factor]:
    if suite.conditions:
        yield Factor(name=CONDITION, scope="stack", levels=tuple(suite.conditions))


def _references(name: str | None, known: Registry) -> References | None:
    if name is None:
        return None
    suite = known.suite(name)
    kind = kind_of(suite.kind)
    return References(suite=suite, kind=kind, params=kind.params_of(suite, {}))


def _require_options(call: Call, asked: Asked, suite: Suite, known: Registry) -> None:
    for name, value in asked.of_kind.items():
        having = [other.kind for other in KINDS.values() if name in dict(other.options)]
        if suite.kind not in having:
            example = next(other.name for other in known.suites.values() if other.kind in having)
            raise UsageError(
                f"{name}={value}: applies only to {' and '.join(having)} suites; '{suite.name}' is a {suite.kind}"
                f" suite. Omit it, or run: make {call.command} SUITE={example} {name}={value}"
            )
