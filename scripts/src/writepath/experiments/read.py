"""Reads suite runs, raw and published, into what reports are made of. Every figure is derived from evidence again."""

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from writepath.analysis import evidence as files
from writepath.analysis.evidence import Evidence
from writepath.errors import UsageError, WritepathError
from writepath.experiments.registry import kind_of
from writepath.records.base import inside, to_data
from writepath.records.cell import CELL_FILE, CellRecord, load_cell, result_of
from writepath.records.index import INDEX_FILE, CellEntry, Index, load_index
from writepath.report.data import CellData, SuiteData

LATEST = "results/latest"
Design = tuple[tuple[str, Callable[[Index], Any]], ...]
DESIGN: Design = (  # what all blocks of a suite have in common
    ("kind", attrgetter("kind")),
    ("RUNTIME", attrgetter("runtime")),
    ("PROCESSORS", attrgetter("processors")),
    ("the baseline", attrgetter("baseline")),
    ("settings", attrgetter("settings")),
    ("factors", lambda index: {factor.name: ",".join(factor.levels) for factor in index.factors}),
    ("what suites.yaml or an option says of the load", lambda index: _known(index.params)),
    ("references (`bench` has none)", attrgetter("references")),
)


def _known(params: Mapping[str, Any]) -> dict[str, Any]:
    """An index that is older than a field has no null there."""
    return {name: value for name, value in params.items() if value is not None}


def raw(folder: Path) -> SuiteData[Any]:
    """A suite run below results/: evidence is reduced from raw files."""

    def reduced(place: Path, record: CellRecord) -> Evidence:
        if record.host is None:
            raise UsageError(f"{place / CELL_FILE}: host=null; the figures cannot be derived without it")
        return kind_of(record.kind).reduce(place, record.host)

    return _suite(folder, reduced)


def published(folder: Path) -> SuiteData[Any]:
    """A suite run below results/published/: evidence is what was published."""
    return _suite(folder, lambda place, _: files.load(place))


def saved(folder: Path) -> SuiteData[Any]:
    """As `raw`, with the results as they were saved: nothing is derived."""
    return _suite(folder, None)


def differing(design: Design, one: Index, other: Index) -> Iterator[tuple[str, Any, Any]]:
    """What differs between two suite runs, in words and with both values; of mappings, what differs in them."""
    for words, get in design:
        old, new = get(one), get(other)
        if isinstance(old, dict) and isinstance(new, dict):
            same = {key for key in old if key in new and old[key] == new[key]}
            old, new = ({key: one[key] for key in one if key not in same} for one in (old, new))
        if old != new:
            yield words, old, new


def suite_folder(root: Path, path: Path | None) -> Path:
    """The newest suite run in, above or right below what is given; UsageError where there is none."""
    places = (root / LATEST,) if path is None else (root / path, root / "results" / path)
    for given in places:
        above = [folder for folder in (given, *given.parents) if folder.is_relative_to(root)]
        for folder in above:
            if (folder / INDEX_FILE).is_file():
                return folder.resolve()
        if below := sorted(given.glob(f"*/{INDEX_FILE}")):
            return max(below, key=lambda one: load_index(one.parent).started_at).parent.resolve()
    if path is None:
        what = "no results yet"
    elif not places[0].exists():
        what = f"RUN={path}: no such folder"
    else:
        what = f"RUN={path}: no index of a suite run in this folder, above it or one level below it"
    raise UsageError(f"{what}; `make bench-all` writes results to results/<suite>/<stamp>")


Load = Callable[[Path, CellRecord], Evidence] | None  # None: results as they were saved


def _suite(folder: Path, load: Load) -> SuiteData[Any]:
    index = load_index(folder)
    cells = [_cell(inside(folder, entry.folder), entry, load) for entry in index.cells]
    return SuiteData(
        index=index,
        cells=tuple(cell for cell in cells if cell.entry.role != "reference"),
        references=tuple(cell for cell in cells if cell.entry.role == "reference"),
    )


def _cell(place: Path, entry: CellEntry, load: Load) -> CellData[Any]:
    found = load_cell(place)
    problems = list(_disagreeing(entry, found))
    result = evidence = None
    if load is None:
        result = result_of(found, kind_of(found.kind).result)
    elif found.result is not None:
        try:
            evidence = load(place, found)
            result = kind_of(found.kind).derive(evidence)
            problems += differences(found.result, to_data(result))
        except (WritepathError, ValueError, LookupError) as error:
            problems.append(f"the figures cannot be derived ({error})")
    return CellData(entry=entry, record=found, result=result, evidence=evidence, problems=tuple(problems))


SAME = ("name", "variant", "levels", "role", "block", "position", "outcome")


def _disagreeing(entry: CellEntry, found: CellRecord) -> Iterator[str]:
    """Fields of the index that are not as in the cell's own record."""
    own = {name: getattr(found, name) for name in SAME}
    own |= {"verdict": found.verdict.status, "reasons": found.verdict.reasons}
    for name, value in own.items():
        if getattr(entry, name) != value:
            yield f"{name}: {value} in {CELL_FILE}, {getattr(entry, name)} in {INDEX_FILE}"


def differences(recorded: Any, derived: Any, name: str = "result") -> Iterator[str]:
    """Figures of a record that its evidence does not give, with both values."""
    if isinstance(recorded, dict) and isinstance(derived, dict):
        for key in dict.fromkeys((*recorded, *derived)):
            yield from differences(recorded.get(key), derived.get(key), f"{name}.{key}")
    elif isinstance(recorded, list) and isinstance(derived, list) and len(recorded) == len(derived):
        for number, (left, right) in enumerate(zip(recorded, derived, strict=True), 1):
            yield from differences(left, right, f"{name}.{number}")
    elif recorded != derived:
        yield f"{name}: {recorded}, recomputed {derived}"
