"""Which variants are asked for the contract? Named ones, all, or one of those that differ in numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from writepath.config.registry import Registry, Variant

ALL = "all"


def chosen_of(known: Registry, words: str) -> list[Variant]:
    """words: names with commas between, `all`, or nothing. Naive twins and controls only where they are named."""
    wanted = [name for name in words.split(",") if name]
    if wanted and wanted != [ALL]:
        return [known.variant(name) for name in wanted]
    promising = [
        variant
        for variant in known.variants.values()
        if variant.naive_twin_of is None and variant.control_of is None
    ]
    return promising if wanted else one_per_code(promising)


def one_per_code(variants: Sequence[Variant]) -> list[Variant]:
    """How many shards, consumers or seconds changes no line that runs: of such variants the one listed last."""
    return list({_code(variant): variant for variant in variants}.values())


def _code(variant: Variant) -> tuple[object, ...]:
    words = {name: value for name, value in variant.settings.items() if not value[:1].isdecimal()}
    return (variant.ingress, variant.inspector, tuple(sorted(words.items())))
