"""The cells of a faults suite: its part of suites.yaml, narrowed by FAULT=, VARIANTS= and TRIALS=."""

import dataclasses
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from writepath.config.checked import Names, entry
from writepath.config.registry import Registry, Suite, Variant
from writepath.config.settings import Factor
from writepath.errors import UsageError
from writepath.experiments.base import Plan
from writepath.experiments.faults import catalogue
from writepath.experiments.faults.catalogue import Fault
from writepath.options import Asked
from writepath.records.faults import FaultParams
from writepath.records.index import cell_name
from writepath.runtime import topology

FACTOR = "FAULT"
OPTIONS = ("FAULT", "TRIALS")  # of the command line
ALONE = "overload"  # needs the machine to itself
Trials = Annotated[int, Field(ge=1, le=1_000)]


@entry
class FaultSuite:
    """The part `faults:` of a suite. Its `variants` get every fault that applies to them."""

    trials: Annotated[Trials, Field(description="faults per cell")]
    trials_of: Annotated[dict[str, Trials], Field(description="by fault: faults per cell if different")]
    only: Annotated[
        dict[str, Names],
        Field(
            description="by variant: the faults that only this variant gets;"
            " for a weakened control those that must show a loss"
        ),
    ]


def designed(plan: Plan, known: Registry, asked: Asked) -> Plan:
    """The plan with the cells that are asked for. UsageError for what the registry or the catalogue do not know."""
    file = _checked(plan.suite, known)
    found: dict[str, dict[str, int]] = {}  # by variant and fault, how often it strikes
    for name in asked.variants or (*(variant.name for variant in plan.suite.variants), *file.only):
        own = dict(_faults(plan.root, file, known.variant(name), asked))
        found |= {name: own} if own else {}
    if not found:
        faults, variants = ",".join(asked.of_kind.get("FAULT", ())), ",".join(asked.variants or ())
        raise UsageError(
            f"FAULT={faults} VARIANTS={variants}: none of these faults applies to these variants;"
            " `make bench-faults FAULT=help` lists which faults apply to which"
        )
    levels = tuple(key for key in catalogue.FAULTS if any(key in own for own in found.values()))
    trials = {cell_name(name, {FACTOR: key}): n for name, own in found.items() for key, n in own.items()}
    return dataclasses.replace(
        plan,
        variants=tuple(known.variant(name) for name in found),
        factors=(Factor(name=FACTOR, scope="stack", levels=levels),),
        only={name: {FACTOR: tuple(own)} for name, own in found.items()},
        alone=frozenset(name for name in trials if name.endswith(f"={ALONE}")),
        params=FaultParams(rate_per_s=plan.suite.load.phases[0].from_per_s, trials=trials),
    )


def _checked(suite: Suite, known: Registry) -> FaultSuite:
    file = suite.checked_params(FaultSuite)
    for name in file.only:
        known.variant(name)
    for key in (*file.trials_of, *(key for keys in file.only.values() for key in keys)):
        catalogue.fault(key)
    return file


def _faults(root: Path, file: FaultSuite, variant: Variant, asked: Asked) -> Iterator[tuple[str, int]]:
    """Some variants are struck by some faults only; by another one only where the user names both."""
    only, components = file.only.get(variant.name), components_of(root, variant)
    keys = asked.of_kind.get("FAULT")
    chosen = None if keys is None else [catalogue.fault(key) for key in keys]
    both = chosen is not None and asked.variants is not None
    for fault in catalogue.possible(variant, components) if chosen is None else chosen:
        if catalogue.applies(fault, variant, components) and (only is None or fault.key in only or both):
            yield fault.key, asked.of_kind.get("TRIALS") or _trials(file, variant, fault, components)


def _trials(file: FaultSuite, variant: Variant, fault: Fault, components: Collection[str]) -> int:
    """Few faults show that a weakened control loses; many must show that a correct variant does not."""
    if fault.action == "kill-each":
        return len(catalogue.parts(variant, components))
    return file.trials if variant.name in file.only else file.trials_of.get(fault.key, file.trials)


def components_of(root: Path, variant: Variant) -> frozenset[str]:
    """The compose services of a variant."""
    known = topology.load(root, dict(variant.settings))
    return frozenset(known.active(variant.profiles))


def listing(root: Path, suite: Suite) -> str:
    """Every fault in words, and the variants of the suite that can suffer it."""
    parts = [(variant, components_of(root, variant)) for variant in suite.variants]
    lines = []
    for fault in catalogue.FAULTS.values():
        able = [variant.name for variant, own in parts if catalogue.applies(fault, variant, own)]
        lines.append(f"  {fault.key:23} {fault.words:66} {', '.join(able) or '-'}")
    return "\n".join(lines)
