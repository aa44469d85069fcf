"""Which cells are asked for? faults.yaml, narrowed by FAULT=, VARIANTS= and TRIALS=."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from writepath.config import faults_file
from writepath.errors import UsageError
from writepath.faults import catalogue
from writepath.faults.matrix import Wanted
from writepath.runtime import topology

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from writepath.config.faults_file import FaultsFile
    from writepath.config.registry import Registry, Variant
    from writepath.faults.catalogue import Fault


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the user narrows it to; None: as the file says."""

    faults: Sequence[str] | None = None
    variants: Sequence[str] | None = None
    trials: int | None = None


def load(root: Path, registry: Registry) -> FaultsFile:
    """UsageError for what the model, the registry or the catalogue do not know."""
    file = faults_file.load(root)
    for name in (*file.variants, *file.only):
        registry.variant(name)
    for key in (*file.trials_of, *(key for keys in file.only.values() for key in keys)):
        catalogue.fault(key)
    return file


def cells(root: Path, registry: Registry, file: FaultsFile, asked: Asked) -> tuple[Wanted, ...]:
    """In the order they are run: those that take longest first, so that lanes end together."""
    chosen = None if asked.faults is None else [catalogue.fault(key) for key in asked.faults]
    found = []
    for name in asked.variants or (*file.variants, *file.only):
        variant = registry.variant(name)
        components = components_of(root, variant)
        for fault in _faults(file, variant, components, chosen, explicit=asked.variants is not None):
            trials = asked.trials or _trials(file, variant, fault, catalogue.parts(variant, components))
            found.append(Wanted(variant=variant, fault=fault, trials=trials))
    if not found:
        raise UsageError(
            f"FAULT={','.join(asked.faults or ())} VARIANTS={','.join(asked.variants or ())}: none of these faults"
            " applies to these variants; `make bench-faults FAULT=help` lists which faults apply to which"
        )
    return tuple(sorted(found, key=lambda wanted: -wanted.trials))


def _trials(file: FaultsFile, variant: Variant, fault: Fault, parts: Sequence[str]) -> int:
    """Few faults show that a weakened control loses; many must show that a correct variant does not."""
    if fault.action == "kill-each":
        return len(parts)
    return file.trials if variant.name in file.only else file.trials_of.get(fault.key, file.trials)


def _faults(
    file: FaultsFile,
    variant: Variant,
    components: Collection[str],
    chosen: Sequence[Fault] | None,
    *,
    explicit: bool,
) -> Iterator[Fault]:
    """Some are struck by some faults only; by another one only where the user names both."""
    only = file.only.get(variant.name)
    for fault in catalogue.possible(variant, components) if chosen is None else chosen:
        able = catalogue.applies(fault, variant, components)
        if able and (only is None or fault.key in only or (chosen is not None and explicit)):
            yield fault


def components_of(root: Path, variant: Variant) -> frozenset[str]:
    """The compose services of a variant."""
    known = topology.load(root, dict(variant.settings))
    return frozenset(known.active(variant.profiles))


def listing(root: Path, registry: Registry, file: FaultsFile) -> str:
    """Every fault in words, and the variants of faults.yaml that can suffer it."""
    variants = [registry.variant(name) for name in file.variants]
    parts = {variant.name: components_of(root, variant) for variant in variants}
    lines = []
    for fault in catalogue.FAULTS.values():
        able = [v.name for v in variants if catalogue.applies(fault, v, parts[v.name])]
        lines.append(f"  {fault.key:23} {fault.words:66} {', '.join(able) or '-'}")
    return "\n".join(lines)
