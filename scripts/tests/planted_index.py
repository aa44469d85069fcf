"""The records of planted suite runs: index, entries and cells."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from writepath.config.settings import Factor
from writepath.experiments import read
from writepath.records.cell import CellRecord
from writepath.records.index import SCHEMA_VERSION, CellEntry, Index, VariantRecord, cell_name
from writepath.records.measures import Code, DatasetFacts, Verdict

STAMP = "20260102T030405Z"
STARTED = "2026-01-02T03:04:05.000Z"
CODE = Code(commit="0" * 40, dirty=False)
DATASET = DatasetFacts(name="embedded", sha256="f" * 64, lines=1000)


def record_of(variant: VariantRecord, **changes: Any) -> CellRecord:
    """A valid cell of kind `load` that was measured. changes: fields of it."""
    fields: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "kind": "load",
        "run_id": "0123456789abcde",
        "suite": "default",
        "variant": variant.name,
        "title": variant.title,
        "family": variant.family,
        "acknowledges": variant.acknowledges,
        "levels": {},
        "role": "measured",
        "block": 1,
        "position": 1,
        "runtime": "native",
        "seed": 1,
        "settings": {},
        "dataset": DATASET,
        "code": CODE,
        "started_at": STARTED,
        "finished_at": STARTED,
        "error": None,
        "verdict": Verdict(status="valid"),
        "versions": {"postgresql": "18.6"},
    } | changes
    outcome = "finished" if fields["error"] is None else "failed"
    name = cell_name(variant.name, fields["levels"], fields["role"], fields["kind"])
    return CellRecord(**{"name": name, "outcome": outcome, **fields})


def entry_of(record: CellRecord) -> CellEntry:
    """Of the index."""
    return CellEntry(
        **{name: getattr(record, name) for name in read.SAME},
        folder=f"{record.name}/block-{record.block:02d}",
        verdict=record.verdict.status,
        reasons=record.verdict.reasons,
        seconds=30.0,
        exit_code=record.verdict.exit_code,
    )


def index_of(
    planted: Sequence[Any], /, variants: Sequence[VariantRecord], params: Mapping[str, Any], **changes: Any
) -> Index:
    """An index without entries; its factors and blocks are those of the planted cells. changes: fields of it.

    planted: with name, block and levels.
    """
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
