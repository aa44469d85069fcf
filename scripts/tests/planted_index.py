"""The index of a planted suite run of kind `load`."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from writepath.records.index import SCHEMA_VERSION, Factor, Index, VariantRecord
from writepath.records.measures import Code, DatasetFacts

STAMP = "20260102T030405Z"
STARTED = "2026-01-02T03:04:05.000Z"
CODE = Code(commit="0" * 40, dirty=False)
DATASET = DatasetFacts(name="embedded", sha256="f" * 64, lines=1000)


class Cell(Protocol):
    """What the index needs of a planted cell."""

    @property
    def name(self) -> str:
        """In the index."""
        ...

    @property
    def block(self) -> int:
        """From 1."""
        ...

    @property
    def levels(self) -> dict[str, str]:
        """Of the factors."""
        ...


def index_of(
    planted: Sequence[Cell], /, variants: Sequence[VariantRecord], params: Mapping[str, Any], **changes: Any
) -> Index:
    """An index without entries; its factors and blocks are those of the planted cells. changes: fields of it."""
    blocks = sorted({cell.block for cell in planted})
    levels: dict[str, dict[str, None]] = {}
    for name, level in (item for cell in planted for item in cell.levels.items()):
        levels.setdefault(name, {})[level] = None
    index = Index(
        schema_version=SCHEMA_VERSION,
        kind="load",
        suite="default",
        title="A suite",
        stamp=STAMP,
        status="finished",
        started_at=STARTED,
        finished_at=STARTED,
        seed=1,
        repetitions=len(blocks),
        runtime="native",
        baseline=None,
        variants=tuple(variants),
        factors=tuple(Factor(name=name, scope="stack", levels=tuple(own)) for name, own in levels.items()),
        settings={},
        params=dict(params),
        dataset=DATASET,
        code=CODE,
        order=tuple(tuple(cell.name for cell in planted if cell.block == block) for block in blocks),
    )
    return dataclasses.replace(index, **changes)
