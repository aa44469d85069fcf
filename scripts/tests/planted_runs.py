"""Suite runs of kind `load` on disk, as the engine leaves them: every result follows from the raw files beside it."""

import dataclasses
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from planted_index import entry_of, index_of, record_of
from planted_tables import HALVES, HOST, WRITES, Planted
from writepath.analysis.evidence import save_facts
from writepath.experiments.load.kind import LoadExperiment, LoadParams
from writepath.load.parquet import SUFFIX, save_table
from writepath.records.base import to_data, write_json
from writepath.records.cell import CellRecord, save_cell
from writepath.records.index import CellEntry, Index, Role, VariantRecord, cell_name, save_index
from writepath.records.measures import Durability, Verdict

LATER = "20260203T040506Z"
PARAMS = LoadParams(
    scenario="flat",
    script="k6/scenarios/ramp.js",
    model="open",
    phases=HALVES,
    virtual_users=None,
    seconds=10.0,
    warm_up_requests=100,
    warm_up_per_s=50.0,
)
SETTINGS = {"app": {"POSTGRES_PASSWORD": "hunter2", "DATA": "/srv/data of me", "POOL_SIZE": "5"}}


@dataclass(kw_only=True)
class PlantedCell:
    """One cell of a suite run."""

    variant: str = "jpa"
    block: int = 1
    levels: dict[str, str] = field(default_factory=dict)
    control: bool = False  # the A/A control
    load: Planted = field(default_factory=Planted)
    cpu_model: str = HOST.cpu_model
    failed: str | None = None

    @property
    def role(self) -> Role:
        """In the index."""
        return "A/A control" if self.control else "measured"

    @property
    def name(self) -> str:
        """In the index."""
        return cell_name(self.variant, self.levels, self.role)

    @property
    def folder(self) -> str:
        """Below the suite run's."""
        return f"{self.name}/block-{self.block:02d}"


def slower(times: int) -> Planted:
    """Every write takes so many times as long."""
    return Planted(duration_us=100 * times * np.arange(1, WRITES + 1) - 10)


def losing(*sequences: int) -> Planted:
    """These writes were acknowledged, and neither read has them: the verdict is invalid."""
    kept = np.where(np.isin(np.arange(WRITES), sequences), 0, 1)
    return Planted(copies=(kept, kept))


def unseen() -> Planted:
    """One store could not be read: the verdict is unknown."""
    planted = Planted()
    return Planted(facts=dataclasses.replace(planted.known(), unread=("planted: nobody looked",)))


def write(root: Path, *cells: PlantedCell, **changes: Any) -> Path:
    """Below root/results; its folder. changes: fields of the index."""
    index = _index(cells, **changes)
    folder = root / "results" / index.suite / index.stamp
    entries = tuple(_write(cell, position, index, folder) for position, cell in enumerate(cells, 1))
    save_index(dataclasses.replace(index, cells=entries), folder)
    return folder


def _index(cells: tuple[PlantedCell, ...], **changes: Any) -> Index:
    variants = [_variant(name) for name in dict.fromkeys(cell.variant for cell in cells)]
    return index_of(cells, variants, to_data(PARAMS), **changes)


def _variant(name: str) -> VariantRecord:
    return VariantRecord(
        name=name, title=name.upper(), family=name, acknowledges="flushed", profiles=(name,), settings={}
    )


def _write(cell: PlantedCell, position: int, index: Index, folder: Path) -> CellEntry:
    """Its raw files and its record."""
    place = folder / cell.folder
    place.mkdir(parents=True)
    for name, parts in cell.load.raw().items():
        save_table(pa.concat_tables(parts), place / f"{name}{SUFFIX}")
    save_facts(to_data(dataclasses.replace(cell.load.known(), host=None)), place)
    write_json(SETTINGS, place / "settings.json")
    record = _record(cell, position, index)
    if cell.failed is None:
        kind = LoadExperiment()
        assert record.host is not None
        result = kind.derive(kind.reduce(place, record.host))
        record = dataclasses.replace(record, verdict=result.verdict, result=to_data(result))
    save_cell(record, place)
    return entry_of(record)


def _record(cell: PlantedCell, position: int, index: Index) -> CellRecord:
    """Of a cell that failed."""
    verdict = Verdict(status="invalid", reasons=(f"failed: {cell.failed}",))
    return record_of(
        _variant(cell.variant),
        kind=index.kind,
        run_id=hashlib.sha256(f"{index.stamp}{cell.folder}".encode()).hexdigest()[:15],
        suite=index.suite,
        levels=cell.levels,
        role=cell.role,
        block=cell.block,
        position=position,
        runtime=index.runtime,
        seed=index.seed,
        settings={**index.settings, **cell.levels},
        dataset=index.dataset,
        code=index.code,
        error=cell.failed,
        verdict=verdict,
        durability=Durability(level="A", settings={"fsync": "on"}),
        host=dataclasses.replace(HOST, cpu_model=cell.cpu_model),
    )
